// SPDX-License-Identifier: LGPL-3.0-only
// Owns: notices of the kernel that jobs' output files grew. Must not know what is read. Source: inotify(7).
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "broker/services/service.hpp"

namespace weir::broker {

class OutputNotices {
  public:
    using Grew = std::function<void(std::uint64_t job)>;
    OutputNotices(flux_t* h, Grew grew) : h_(h), grew_(std::move(grew)) {}
    ~OutputNotices();
    OutputNotices(const OutputNotices&) = delete;
    OutputNotices& operator=(const OutputNotices&) = delete;

    /// `grew` is called when one of the files is written to. A file that cannot be watched is left out: it is read at
    /// the job's end. Files that are watched already are watched once. The first call opens the descriptor: a user may
    /// have 128 of them by default, and a tree of instances has more brokers than that.
    void watch(std::uint64_t job, const std::vector<std::string>& paths);
    void forget(std::uint64_t job);

  private:
    bool open();
    static void on_readable(flux_reactor_t*, flux_watcher_t*, int, void* arg) noexcept;
    void read_notices();

    flux_t* h_;
    int fd_ = -1;
    bool has_failed_ = false;  // and that is logged
    Grew grew_;
    Watcher watcher_;
    std::map<int, std::uint64_t> jobs_;               // watch descriptor -> job
    std::map<std::uint64_t, std::set<int>> watches_;  // and back
};

}  // namespace weir::broker
