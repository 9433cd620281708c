// SPDX-License-Identifier: LGPL-3.0-only
// Owns: a thread that runs one task after another, and the return of the results to a libuv loop. An instance's
// connector blocks, which the loop of the server must not. Must not know the tasks.
#pragma once
#include <uv.h>

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace weir::cmd {

class Worker {
  public:
    /// What the loop does with a result.
    using Then = std::function<void()>;
    /// Runs on the thread.
    using Task = std::function<Then()>;

    /// The loop must outlive it, and must run once more after close().
    explicit Worker(uv_loop_t* loop);
    Worker(const Worker&) = delete;
    Worker& operator=(const Worker&) = delete;
    ~Worker();

    /// Tasks run in their order; each result is given to the loop's thread. For the loop's thread only.
    void post(Task task);
    /// Tasks that wait or run.
    std::size_t pending() const { return pending_; }
    /// Ends the thread after the task that runs. The results of all tasks are dropped.
    void close();

  private:
    void run();
    void deliver();

    uv_async_t wake_{};
    std::size_t pending_ = 0;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<Task> tasks_;
    std::deque<Then> results_;
    bool is_closing_ = false;
    bool is_closed_ = false;
    std::thread thread_;
};

}  // namespace weir::cmd
