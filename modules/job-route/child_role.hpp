// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the RPCs of the child's side: attaching to the parent, following its orders, reporting to it, submitting and
// controlling jobs here. Decides nothing. Source: RFC 6; payloads in README.md.
#pragma once
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "libfairshare/base/marks.hpp"
#include "modules/common/flux_cpp.hpp"
#include "modules/common/parent_link.hpp"
#include "modules/job-route/answers.hpp"
#include "modules/job-route/child_link.hpp"
#include "modules/job-route/drains.hpp"
#include "modules/job-route/jobspec_edit.hpp"
#include "modules/job-route/messages_json.hpp"

namespace weir::route {

class ChildRole {
  public:
    struct Config {
        std::string parent_uri;
        JobId jobid;  ///< this instance, as a job of the parent
        std::string uri;
        std::vector<std::string> serves;  ///< empty: the parent reads it from this instance's jobspec
        std::set<std::string> own_queues;
    };
    struct Callbacks {
        std::function<void()> changed;
        /// Passes `go` on for a copy that is routed to an instance below. \return false: it is not routed, start it
        /// here.
        std::function<bool(LocalId job)> pass_go;
        /// The parent says which nodes of this instance its operator has drained: all of them.
        std::function<void(Drains drains)> drained;
    };
    ChildRole(flux_t* h, Config config, ChildLink& link, Callbacks callbacks);
    flux_t* flux() const { return h_; }
    /// The link has read the journal: attach may happen.
    void ready();
    /// The link starts over: end the session.
    void reset(const std::string& why);
    void perform(ChildActions actions);
    /// Tells job-priority, once a session, that all the parent's jobs are here with their priorities.
    void report_if_complete();
    void send_report();
    /// Goes to the parent with each report, and at once when the first of these jobs comes, the last one ends, or their
    /// cores change.
    void report_own(std::int64_t jobs, std::int64_t cores);
    const std::vector<std::string>& serves() const { return config_.serves; }
    /// A client is gone.
    void disconnect(const flux_msg_t* msg);
    Json stats() const;

  private:
    void priorities(const flux_msg_t* msg);
    void send_priorities(const flux_msg_t* msg, const std::vector<GivenPriority>& priorities, bool is_all);
    void on_connected();
    void on_lost(const std::string& why);
    void look_up_resources();
    void on_resources(flux_future_t* f);
    void attach_if_ready();
    void on_attach(flux_future_t* f);
    void on_attach_failed(int errnum, const std::string& why);
    void follow(Result<std::vector<Order>> orders);
    void on_report(flux_future_t* f);
    void arm_heart();
    void beat();
    void on_beat(flux_future_t* f);
    Marks id_names(JobId id) const;
    void submit(const Order& order);
    void on_submitted(flux_future_t* f);
    void steer(const LocalOp& op);
    void on_steered(flux_future_t* f);
    void let_go(const std::vector<LocalId>& jobs);
    void on_let_go(flux_future_t* f);
    void repeat_later();
    void repeat();

    flux_t* h_;
    Config config_;
    ChildLink& link_;
    Callbacks callbacks_;
    bool is_ready_ = false;
    bool is_idle_ = false;  ///< the parent does not serve this instance: no more attempts
    bool is_complete_told_ = false;
    std::vector<flux::MessageRef> listeners_;  ///< streaming requests for the parent's priorities
    int resource_attempts_ = 0;
    bool has_resources_ = false;
    std::string resources_;
    std::int64_t cores_ = 0;
    std::uint64_t sessions_ = 0;
    std::string session_;
    std::string last_failure_;
    flux::Future resource_lookup_;
    flux::Watcher resource_retry_;
    flux::Watcher heart_;
    std::int64_t own_jobs_ = 0;
    std::int64_t own_cores_ = 0;
    std::int64_t beat_cores_ = 0;  ///< as the last heartbeat reported
    double heartbeat_s_ = 0;       ///< of real time; set by the parent
    std::map<flux_future_t*, std::pair<flux::Future, JobId>> submits_;
    std::map<flux_future_t*, std::pair<flux::Future, LocalOp>> steers_;
    std::map<flux_future_t*, std::pair<flux::Future, std::vector<LocalId>>> gos_;
    int go_errnum_ = 0;           ///< of the latest answer: a failure that lasts is logged once
    bool is_repeat_due_ = false;  ///< the timer runs
    flux::Watcher retry_;
    std::unique_ptr<flux::ParentLink>
        parent_;  ///< declared before the futures made on its handle, which are destroyed first
    std::unique_ptr<Answers> answers_;
    flux::Future attach_;
    flux::Future report_;
    flux::Future beat_;
    flux::Handlers handlers_;  // last: destroyed before what they call
};

}  // namespace weir::route
