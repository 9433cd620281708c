// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the memory and the connections of the broker that each user occupies. A limit for each connection would not
// bound a guest, who may have many. A charge is released with the last holder of its object, in any thread. Must not
// know messages or sockets.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <utility>

#include "libfairshare/base/thinned.hpp"

namespace weir::broker {

/// What one user occupies and may occupy.
class Quota {
  public:
    static constexpr std::size_t guest_bytes_max = std::size_t{64} << 20;
    static constexpr std::size_t guest_connections_max = 64;

    Quota(std::size_t bytes_max, std::size_t connections_max)
        : connections_max_(connections_max), bytes_max_(bytes_max) {}
    bool is_limited() const { return bytes_max_ != std::numeric_limits<std::size_t>::max(); }
    /// True if `more` bytes of messages are within the limit. Messages count until their service or reader has finished
    /// with them.
    bool has_room(std::size_t more) const { return more <= bytes_max_ && bytes_ <= bytes_max_ - more; }
    std::size_t bytes() const { return bytes_; }
    void add(std::size_t bytes) { bytes_ += bytes; }
    void remove(std::size_t bytes) { bytes_ -= bytes; }
    /// The same for incomplete messages. They have a limit of their own, so that a user with many open requests gets an
    /// error when he sends another.
    bool has_room_to_read(std::size_t more) const { return more <= bytes_max_ && unfinished_ <= bytes_max_ - more; }
    void add_unfinished(std::size_t bytes) { unfinished_ += bytes; }
    void remove_unfinished(std::size_t bytes) { unfinished_ -= bytes; }

    bool may_connect() const { return connections_ < connections_max_; }
    std::size_t connections() const { return connections_; }
    void connect() { ++connections_; }
    void disconnect() { --connections_; }

    /// Whether to log a guest's error: true for his 1st, 2nd, 4th, 8th ... error, so that he cannot fill the log.
    bool is_worth_telling() { return !is_limited() || errors_.is_next_told(); }

  private:
    const std::size_t connections_max_;
    const std::size_t bytes_max_;
    std::atomic<std::size_t> bytes_{0};
    std::size_t unfinished_ = 0;
    std::size_t connections_ = 0;
    Thinned errors_;
};

/// Bytes that are charged as long as this object lives. All copies of the message share it.
class Charge {
  public:
    Charge(std::shared_ptr<Quota> quota, std::size_t bytes) : quota_(std::move(quota)), bytes_(bytes) {
        quota_->add(bytes_);
    }
    ~Charge() { quota_->remove(bytes_); }
    Charge(const Charge&) = delete;
    Charge& operator=(const Charge&) = delete;

  private:
    std::shared_ptr<Quota> quota_;
    std::size_t bytes_;
};

/// The quotas of all users who have been connected.
class Quotas {
  public:
    /// \param owner has no limits. \param guests_max connections of all guests together.
    Quotas(std::uint32_t owner, std::size_t guests_max) : owner_(owner), guests_max_(guests_max) {}

    const std::shared_ptr<Quota>& of(std::uint32_t userid) {
        constexpr std::size_t none = std::numeric_limits<std::size_t>::max();
        auto& quota = users_[userid];
        if (!quota) {
            quota = userid == owner_ ? std::make_shared<Quota>(none, none)
                                     : std::make_shared<Quota>(Quota::guest_bytes_max, Quota::guest_connections_max);
        }
        return quota;
    }
    /// True if this user may have one more connection.
    bool may_connect(std::uint32_t userid) {
        const std::shared_ptr<Quota>& quota = of(userid);
        return quota->may_connect() && (!quota->is_limited() || guests() < guests_max_);
    }

  private:
    std::size_t guests() const {
        std::size_t sum = 0;
        for (const auto& [userid, quota] : users_) {
            sum += quota->is_limited() ? quota->connections() : 0;
        }
        return sum;
    }
    const std::uint32_t owner_;
    const std::size_t guests_max_;
    std::map<std::uint32_t, std::shared_ptr<Quota>> users_;
};

}  // namespace weir::broker
