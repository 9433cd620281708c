// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the thread and the ring of pieces between it and the reader.
#include "libsched/sim/read_ahead.hpp"

#include <algorithm>
#include <array>
#include <condition_variable>
#include <cstring>
#include <memory>
#include <mutex>
#include <thread>

namespace weir {
namespace {

class ReadAhead {
  public:
    explicit ReadAhead(LineReader::Source source) : source_(std::move(source)), thread_([this] { fill(); }) {}
    ~ReadAhead() {
        {
            const std::lock_guard lock(mutex_);
            is_over_ = true;
        }
        changed_.notify_all();
        thread_.join();
    }
    ReadAhead(const ReadAhead&) = delete;
    ReadAhead& operator=(const ReadAhead&) = delete;

    Result<std::size_t> read(char* into, std::size_t size) {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return drained_ < filled_; });
        Piece& piece = ring_[drained_ % ring_.size()];
        lock.unlock();  // the piece is ours until drained_ says otherwise
        if (!piece.count) {
            return piece.count;
        }
        const std::size_t count = std::min(size, *piece.count - used_);
        std::memcpy(into, piece.bytes.data() + used_, count);
        used_ += count;
        if (used_ == *piece.count && *piece.count > 0) {  // the end stays, however often it is asked for
            used_ = 0;
            lock.lock();
            ++drained_;
            lock.unlock();
            changed_.notify_all();
        }
        return count;
    }

  private:
    struct Piece {
        std::vector<char> bytes = std::vector<char>(128 * 1024);
        Result<std::size_t> count = std::size_t{0};
    };

    void fill() {
        for (std::uint64_t i = 0;; ++i) {
            std::unique_lock lock(mutex_);
            changed_.wait(lock, [&] { return is_over_ || i < drained_ + ring_.size(); });
            if (is_over_) {
                return;
            }
            lock.unlock();
            Piece& piece = ring_[i % ring_.size()];
            piece.count = source_(piece.bytes.data(), piece.bytes.size());
            const bool is_last = !piece.count || *piece.count == 0;
            lock.lock();
            filled_ = i + 1;
            lock.unlock();
            changed_.notify_all();
            if (is_last) {
                return;
            }
        }
    }

    LineReader::Source source_;
    std::array<Piece, 4> ring_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::uint64_t filled_ = 0;   ///< pieces, since the start
    std::uint64_t drained_ = 0;  ///< <= filled_ <= drained_ + the ring's size
    bool is_over_ = false;
    std::size_t used_ = 0;  ///< bytes of the piece being drained; the reader's
    std::thread thread_;    // last: it uses all above
};

}  // namespace

LineReader::Source read_ahead(LineReader::Source source) {
    auto ahead = std::make_shared<ReadAhead>(std::move(source));
    return [ahead](char* into, std::size_t size) { return ahead->read(into, size); };
}

}  // namespace weir
