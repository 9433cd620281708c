// SPDX-License-Identifier: LGPL-3.0-only
// Owns: notices of the kernel that jobs' output files grew. Must not know what is read. Source: inotify(7).
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "broker/services/service.hpp"
#include "libfairshare/base/result.hpp"

namespace weir::broker {

class OutputNotices {
  public:
    using Grew = std::function<void(std::uint64_t job)>;
    /// \return an error that says which limit of the kernel was reached.
    static Result<std::unique_ptr<OutputNotices>> open(flux_t* h, Grew grew);
    ~OutputNotices();
    OutputNotices(const OutputNotices&) = delete;
    OutputNotices& operator=(const OutputNotices&) = delete;

    /// `grew` is called when one of the files is written to. A file that cannot be watched is left out: its end is told
    /// by the job's end. Files that are watched already are watched once.
    void watch(std::uint64_t job, const std::vector<std::string>& paths);
    void forget(std::uint64_t job);

  private:
    OutputNotices(flux_t* h, int fd, Grew grew);
    static void on_readable(flux_reactor_t*, flux_watcher_t*, int, void* arg) noexcept;
    void read_notices();

    flux_t* h_;
    int fd_;
    Grew grew_;
    Watcher watcher_;
    std::map<int, std::uint64_t> jobs_;               // watch descriptor -> job
    std::map<std::uint64_t, std::set<int>> watches_;  // and back
};

}  // namespace weir::broker
