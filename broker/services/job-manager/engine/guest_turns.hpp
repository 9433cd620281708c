// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the turns of guests' requests that look at many jobs or read files, so that the owner does not wait for them,
// however many are sent. Must not know what is asked.
#pragma once
#include <flux/core.h>

#include <functional>

#include "broker/services/job-manager/engine/rpc.hpp"
#include "libfairshare/base/guest_queue.hpp"

namespace weir::broker::jobs {

class GuestTurns {
  public:
    GuestTurns(flux_t* h, Outbox& outbox) : h_(h), outbox_(outbox) {}
    ~GuestTurns() { flux_watcher_destroy(timer_); }
    GuestTurns(const GuestTurns&) = delete;
    GuestTurns& operator=(const GuestTurns&) = delete;

    /// \param time_scale  reactor seconds in a real second
    Status start(double time_scale);
    /// Has `handler` called in a later turn, or refuses the request. O(users + 64).
    void add(const flux_msg_t* request, flux_msg_handler_f handler, void* arg);
    /// To be called once in each iteration of the reactor: serves at most one request, if a turn is due.
    /// \param flush  sends the answer; this is part of what the turn costs
    void turn(const std::function<void()>& flush);
    /// Forgets the requests of a connection that has ended.
    void drop(const flux_msg_t* disconnect);
    /// Refuses all that wait, since the module ends.
    void end_all();
    /// How many wait. O(users).
    std::size_t size() const { return queue_.size(); }

  private:
    struct Waiting {
        MessageRef request;
        flux_msg_handler_f handler;
        void* arg;
    };
    static constexpr std::size_t of_user_max = 64;

    flux_t* h_;
    Outbox& outbox_;
    double time_scale_ = 1;
    GuestQueue<Waiting> queue_{of_user_max};
    GuestPace pace_{0., true};
    flux_watcher_t* timer_ = nullptr;
};

/// C callback: the owner's request is handled at once, a guest's in its turn. T has turns().
template <typename T, flux_msg_handler_f handler>
void in_turn(flux_t* h, flux_msg_handler_t* mh, const flux_msg_t* msg, void* arg) noexcept {
    if (is_from_owner(msg)) {
        handler(h, mh, msg, arg);
        return;
    }
    try {
        static_cast<T*>(arg)->turns().add(msg, handler, arg);
    } catch (const std::exception& error) {
        flux_log(h, 3, "job-manager: %s", error.what());
    }
}

}  // namespace weir::broker::jobs
