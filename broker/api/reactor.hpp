// SPDX-License-Identifier: LGPL-3.0-only
// Owns: struct flux_reactor: one libuv loop with three additions: timers in nanoseconds on the scaled clock, sources
// that must be asked before waiting, and ready callbacks (futures). Must not know messages or futures.
#pragma once
#include <flux/core.h>
#include <uv.h>

#include <cstdint>
#include <set>
#include <vector>

namespace weir::broker {

/// An object whose readiness is not visible in a descriptor alone (a handle: requeued messages, ZeroMQ's edges).
struct Source {
    virtual ~Source() = default;
    /// Called before the loop waits: true if dispatch() has work already.
    virtual bool is_ready() = 0;
    /// Called after the loop woke.
    virtual void dispatch() = 0;
};

/// A callback that the loop calls once, soon.
class Ready {
  public:
    virtual ~Ready() = default;
    virtual void run_ready() = 0;

  private:
    friend struct ::flux_reactor;
    bool is_posted_ = false;
};

/// A place in the timer queue. Times are monotonic nanoseconds.
class Timer {
  public:
    virtual ~Timer() = default;
    /// Called when due; the timer is out of the queue by then. It may be destroyed inside.
    virtual void fire() = 0;

  private:
    friend struct ::flux_reactor;
    uint64_t due_ns_ = 0;
    uint64_t sequence_ = 0;
    bool is_queued_ = false;
};

}  // namespace weir::broker

/// Reference counted: the handle that made it, and every watcher on it. All members belong to one thread.
struct flux_reactor {
  public:
    /// nullptr with errno when libuv or the kernel has no more descriptors.
    static flux_reactor* create();
    void incref() { ++refcount_; }
    void decref();

    int run(int flags);
    void stop(bool is_error, int errnum);
    bool is_stopping() const { return is_stopping_; }
    /// Scaled time at which the loop last woke (the first question after waking decides).
    double now();
    void update_now() { now_ = -1; }
    uv_loop_t* loop() { return &loop_; }

    void add_source(weir::broker::Source* source);
    void remove_source(weir::broker::Source* source);
    /// Notes a descriptor as watched; false when it already is: libuv then needs a duplicate of it.
    bool claim_fd(int fd) { return watched_fds_.insert(fd).second; }
    void release_fd(int fd) { watched_fds_.erase(fd); }
    void post(weir::broker::Ready* ready);
    void unpost(weir::broker::Ready* ready);
    /// Runs what is posted, and what that posts, up to a bound.
    void run_ready();
    /// Queues a timer, or moves a queued one. Equal due times fire in the order they were queued. O(log n).
    void set_timer(weir::broker::Timer* timer, uint64_t due_ns);
    void cancel_timer(weir::broker::Timer* timer);

  private:
    struct Earlier {
        bool operator()(const weir::broker::Timer* a, const weir::broker::Timer* b) const {
            return a->due_ns_ != b->due_ns_ ? a->due_ns_ < b->due_ns_ : a->sequence_ < b->sequence_;
        }
    };

    flux_reactor() = default;
    ~flux_reactor() = default;
    bool open();
    void destroy();
    void before_wait();
    void after_wait();
    void arm_timerfd();
    void run_timers();

    uv_loop_t loop_{};
    uv_prepare_t prepare_{};
    uv_check_t check_{};
    uv_idle_t busy_{};  ///< active while something is ready, so that the loop does not wait
    uv_poll_t timer_poll_{};
    int timerfd_ = -1;
    int refcount_ = 1;
    int errnum_ = 0;
    bool is_running_ = false;
    bool is_stopping_ = false;
    bool has_failed_ = false;
    double now_ = -1;  ///< < 0: not asked yet since waking
    uint64_t armed_ns_ = 0;
    uint64_t sequence_ = 0;
    std::set<weir::broker::Timer*, Earlier> timers_;
    std::set<int> watched_fds_;
    std::vector<weir::broker::Source*> sources_;  ///< removed ones are null until the loop compacts
    std::vector<weir::broker::Ready*> ready_;     ///< in order; unposted ones are null
    size_t ready_begin_ = 0;
};
