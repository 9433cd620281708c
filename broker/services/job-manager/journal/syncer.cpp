// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the thread that syncs. See syncer.hpp.
// Must not know: what is in the file, reactors.
#include "broker/services/job-manager/journal/syncer.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdint>
#include <utility>

namespace weir::broker::jobs {

Syncer::Syncer(Sync sync) : sync_(std::move(sync)), event_fd_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {}

Syncer::~Syncer() {
    if (thread_.joinable()) {
        {
            const std::lock_guard lock(mutex_);
            is_over_ = true;
        }
        changed_.notify_all();
        thread_.join();
    }
    if (event_fd_ >= 0) {
        ::close(event_fd_);
    }
}

void Syncer::begin(int fd) {
    if (!thread_.joinable()) {
        thread_ = std::thread([this] { work(); });
    }
    is_running_ = true;
    {
        const std::lock_guard lock(mutex_);
        to_sync_ = fd;
        is_done_ = false;
    }
    changed_.notify_all();
}

int Syncer::end() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return is_done_; });
    std::uint64_t count = 0;
    (void)!::read(event_fd_, &count, sizeof count);
    is_running_ = false;
    return result_;
}

void Syncer::work() {
    std::unique_lock lock(mutex_);
    while (true) {
        changed_.wait(lock, [this] { return is_over_ || to_sync_ >= 0; });
        if (to_sync_ < 0) {
            return;
        }
        const int fd = std::exchange(to_sync_, -1);
        lock.unlock();
        const int result = sync_(fd);
        lock.lock();
        result_ = result;
        is_done_ = true;
        const std::uint64_t one = 1;
        (void)!::write(event_fd_, &one, sizeof one);
        changed_.notify_all();
    }
}

}  // namespace weir::broker::jobs
