// SPDX-License-Identifier: LGPL-3.0-only
// Owns: one sync of a file at a time, in a thread of its own, so that the reactor goes on meanwhile.
// Must not know: what is in the file, reactors.
#pragma once
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace weir::broker::jobs {

class Syncer {
  public:
    /// \return 0 or an errno, as of fdatasync(2).
    using Sync = std::function<int(int fd)>;
    explicit Syncer(Sync sync);
    /// Waits for the sync that runs.
    ~Syncer();
    Syncer(const Syncer&) = delete;
    Syncer& operator=(const Syncer&) = delete;

    /// An event file descriptor: readable when a sync has ended. -1: the process has no more of these.
    int fd() const { return event_fd_; }
    /// REQUIRES: none runs, fd() is not -1.
    void begin(int fd);
    /// From begin() until end().
    bool is_running() const { return is_running_; }
    /// Waits for the one that runs. \return 0 or its errno.
    int end();
    int sync_now(int fd) const { return sync_(fd); }

  private:
    void work();

    Sync sync_;
    int event_fd_;
    bool is_running_ = false;  ///< of the owner's thread alone
    std::mutex mutex_;
    std::condition_variable changed_;
    int to_sync_ = -1;  ///< under the mutex, as all below
    int result_ = 0;
    bool is_done_ = false;
    bool is_over_ = false;
    std::thread thread_;  ///< begins with the first sync
};

}  // namespace weir::broker::jobs
