// SPDX-License-Identifier: LGPL-3.0-only
// Owns: which queues of this instance are stopped (`flux queue stop`). The job-manager applies a stop only to jobs of
// its own scheduler. Must not know jobs. Source: RFC 33; job-manager.queue-list and .queue-status.
#pragma once
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "modules/common/flux_cpp.hpp"

namespace weir::flux {

class QueueWatch {
  public:
    /// \param told after each complete answer, with all stopped queues.
    QueueWatch(flux_t* h, std::function<void(const std::set<std::string>& stopped)> told);
    flux_t* flux() const { return h_; }
    /// One request for the names, and one for each queue. Until the first complete answer it is repeated.
    void ask();
    /// Whether each question has its answer.
    bool is_settled() const { return !names_ && statuses_.empty(); }
    /// As last told. An instance without named queues has one without a name.
    const std::set<std::string>& stopped() const { return stopped_; }

  private:
    void on_change(const flux_msg_t* msg);
    void on_names(flux_future_t* f);
    void ask_status(const std::string& name);
    void on_status(flux_future_t* f);
    void end();
    void fail(const std::string& why);

    flux_t* h_;
    std::function<void(const std::set<std::string>& stopped)> told_;
    std::set<std::string> stopped_;
    std::set<std::string> next_;  ///< as far as the answers say
    std::string failed_;          ///< why an answer is missing
    bool is_known_ = false;
    bool is_to_ask_again_ = false;
    Future names_;
    std::map<flux_future_t*, std::pair<Future, std::string>> statuses_;
    Watcher retry_;
    Handlers handlers_;  // last: gone before what they call
};

}  // namespace weir::flux
