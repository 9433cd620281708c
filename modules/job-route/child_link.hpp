// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the child's side of a route: the parent's jobs that are here, the events to report about them, and the
// acknowledged ones. Rebuilt from the child's own journal after a restart, so that nothing is submitted twice.
// Must not know JSON, Flux, or a clock: facts go in, actions come out.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "modules/job-route/copy_ids.hpp"
#include "modules/job-route/journal_event.hpp"
#include "modules/job-route/messages.hpp"

namespace weir::route {

/// An action on a job of this child.
struct LocalOp {
    enum class Kind : std::uint8_t { raise, urgency, go, signal };
    Kind kind = Kind::raise;
    LocalId job;
    std::string type;
    std::string note;
    int urgency = 16;
    int signum = 0;
    friend bool operator==(const LocalOp&, const LocalOp&) = default;
};

/// The parent's priority of a pending copy; none: the copy is gone.
struct GivenPriority {
    JobId id;
    std::optional<std::int64_t> value;
    friend bool operator==(const GivenPriority&, const GivenPriority&) = default;
};

struct ChildActions {
    std::vector<GivenPriority> priorities;  ///< send these before the submits
    std::vector<Order> submits;             ///< of kind submit: answer with submit_done() or submit_failed()
    std::vector<LocalOp> ops;
};

class ChildLink {
  public:
    // ---- the link ----
    /// The jobs to list when a session is opened. Until attached() nothing is reported.
    std::vector<KnownJob> known() const;
    /// The parent accepted the attach: all events that it may not have are reported anew, with seq from 1.
    void attached();
    void lost();
    void order(const Order& order);
    /// The next unsent events, at most `max`; empty while a report is in flight, or if there are none.
    std::vector<ChildEvent> next_report(std::size_t max);
    void acked(std::uint64_t seq);

    // ---- this child's own jobs ----
    void submit_done(JobId id, LocalId local);
    /// \param is_transient this instance accepts no jobs at the moment: the job returns to the parent. Otherwise it
    /// fails.
    void submit_failed(JobId id, const std::string& why, bool is_transient);
    /// This instance did not carry out the action, and may do so later: its disk is full, a plugin is loaded anew.
    void failed(const LocalOp& op);
    /// Orders the failed actions again, as far as they are still needed. Call it after a pause.
    void repeat();
    /// A copy of the parent's job facts.upstream appeared in the journal.
    void submitted(LocalId local, const JournalEvent& event, const JobFacts& facts);
    void event(LocalId local, const JournalEvent& event);
    /// The journal's backlog is complete.
    void synced();

    ChildActions take() { return std::exchange(actions_, {}); }
    bool is_attached() const { return is_attached_; }
    /// Whether all jobs that the parent expected here at the attach of this session have been submitted here. Never
    /// without a link.
    bool is_complete() const { return is_complete_ordered_ && submitting_ == 0; }
    /// The parent's priorities of all copies that have one.
    std::vector<GivenPriority> priorities() const;
    std::size_t job_count() const { return jobs_.size(); }
    /// The ids of a job of the parent here, and of a job here at the parent; 0: unknown. Also of jobs that ended
    /// lately.
    LocalId local_of(JobId id) const { return copies_.local_of(id); }
    JobId parent_of(LocalId local) const { return copies_.id_of(local); }
    std::size_t unacked() const { return outbox_.size(); }

  private:
    struct Job {
        LocalId local;                         ///< 0 while it is being submitted
        int urgency = 16;                      ///< by the parent's last order
        int local_urgency = 16;                ///< of the copy, by this instance's journal
        std::optional<std::int64_t> priority;  ///< the parent's
        bool is_held_back = false;             ///< by a limit here: priority 0, though its user does not hold it
        bool is_allocated = false;
        bool has_go = false;
        bool is_cancel_asked = false;
        bool is_returned = false;
        bool is_submitting = false;  ///< the submission is not answered
        bool has_ended = false;
        std::string cancel_type;
        std::string cancel_note;
        std::vector<ChildEvent> history;
    };
    using Jobs = std::map<JobId, Job>;

    bool has(const Job& job, ChildEvent::Kind kind) const;
    void record(JobId id, Job& job, ChildEvent event);
    void record(JobId id, Job& job, ChildEvent::Kind kind);
    void append(ChildEvent event);
    void hold_back(JobId id, Job& job, bool is_held_back);
    void raise(LocalId local, const std::string& type, const std::string& note);
    void release(LocalId local);
    /// Of the copy, to what the parent has.
    void change_urgency(const Job& job);
    void follow_prolog(LocalId local, const JournalEvent& event);
    void disown(LocalId local);
    bool is_needed(const LocalOp& op) const;
    void on_exception(JobId id, Job& job, const JournalEvent& event);
    void on_clean(JobId id, Job& job);
    bool is_there(const Job& job, const JournalEvent& event) const;
    bool is_refused(const Job& job) const;
    /// A copy of the parent's job is here as `local`.
    void take_local(JobId id, LocalId local);
    void order_submit(const Order& order);
    void order_priority(JobId id, Job& job, std::int64_t priority);
    void order_cancel(Job& job, const Order& order);
    void order_urgency(Job& job, int urgency);
    void order_signal(const Job& job, int signum);

    bool is_synced_ = false;
    bool is_attached_ = false;
    bool is_complete_ordered_ = false;  ///< in this session
    std::size_t submitting_ = 0;        ///< submissions that are not answered
    std::uint64_t last_seq_ = 0;
    std::uint64_t sent_seq_ = 0;
    bool is_report_out_ = false;
    Jobs jobs_;
    std::map<LocalId, JobId> by_local_;
    CopyIds copies_;
    /// Local jobs that wait for `go` by their eventlog (the prolog is open), and whether they have ended meanwhile. The
    /// plugin closes the prolog of a job that ends, but after a restart it does not know that it opened one.
    std::map<LocalId, bool> held_;
    std::map<std::pair<LocalId, LocalOp::Kind>, LocalOp> failed_;
    std::set<LocalId> disowned_;  ///< second copies of a job, still active; they never get `go`
    std::vector<ChildEvent> outbox_;
    ChildActions actions_;
};

}  // namespace weir::route
