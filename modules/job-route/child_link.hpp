// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the child's side of a route: the parent's jobs that are here, the events to report about them, and the
// acknowledged ones. Rebuilt from the child's own journal after a restart, so that nothing is submitted twice.
// Must not know JSON, Flux, or a clock: facts go in, actions come out.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "modules/job-route/ended_copies.hpp"
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

/// The events of a job that its parent must be told of when it attaches again, in their order: each kind at most once.
class ToldEvents {
  public:
    struct Event {
        ChildEvent::Kind kind;
        int status;  ///< of `finished`
        LocalId local;
    };
    bool has(ChildEvent::Kind kind) const;
    void add(const Event& event) { events_.at(count_++) = event; }
    void remove(ChildEvent::Kind kind);
    const Event* begin() const { return events_.data(); }
    const Event* end() const { return events_.data() + count_; }

  private:
    /// In the record of the job: few jobs have less than five of them.
    std::array<Event, ChildEvent::kinds> events_;
    std::uint8_t count_ = 0;
};

class ChildLink {
  public:
    ChildLink() = default;
    ChildLink(ChildLink&&) = default;
    ChildLink& operator=(ChildLink&&) = default;

    // ---- the link ----
    /// The jobs to list when a session is opened, by id. Until attached() nothing is reported. O(jobs log jobs).
    std::vector<KnownJob> known() const;
    /// The parent accepted the attach: all events that it may not have are reported anew, with seq from 1.
    /// O(jobs log jobs).
    void attached();
    void lost();
    void order(Order order);
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
    /// The parent's priorities of all copies that have one, by id. O(jobs log jobs).
    std::vector<GivenPriority> priorities() const;
    std::size_t job_count() const { return jobs_.size(); }
    /// The ids of a job of the parent here, and of a job here at the parent; 0: unknown. Also of jobs that ended
    /// lately. O(1) expected.
    LocalId local_of(JobId id) const;
    JobId parent_of(LocalId local) const;
    std::size_t unacked() const { return outbox_.size(); }

  private:
    /// Of the few jobs that have some of these.
    struct Words {
        std::string cancel_type;
        std::string cancel_note;
        std::string failure_type;
        int failure_severity = 0;
        std::string failure_note;
        std::string uri;
    };
    struct Job {
        LocalId local;                         ///< 0 while it is being submitted
        std::optional<std::int64_t> priority;  ///< the parent's
        int urgency = 16;                      ///< by the parent's last order
        int local_urgency = 16;                ///< of the copy, by this instance's journal
        bool is_held_back = false;             ///< by a limit here: priority 0, though its user does not hold it
        bool is_allocated = false;
        bool has_go = false;
        bool is_cancel_asked = false;
        bool is_returned = false;
        bool is_submitting = false;  ///< the submission is not answered
        bool has_ended = false;
        ToldEvents told;
        std::string R;  ///< that was told
        std::unique_ptr<Words> words;

        bool has(ChildEvent::Kind kind) const { return told.has(kind); }
    };
    using Jobs = std::unordered_map<JobId, Job>;
    using Entry = Jobs::value_type;

    /// An event that the parent has not acknowledged. Few say more than what happened.
    struct Unacked {
        std::uint64_t seq = 0;
        JobId id;
        ToldEvents::Event told;
        std::unique_ptr<const ChildEvent> text;  ///< the whole event, if it has R or words
    };

    std::vector<const Entry*> by_id() const;
    static Words& words_of(Job& job);
    static ChildEvent event_of(const Entry& entry, const ToldEvents::Event& told);
    void record(Entry& entry, ChildEvent event);
    void record(Entry& entry, ChildEvent::Kind kind);
    void append(ChildEvent event);
    static ChildEvent full_event(const Unacked& unacked);
    void hold_back(Entry& entry, bool is_held_back);
    void raise(LocalId local, const std::string& type, const std::string& note);
    void release(LocalId local);
    /// Of the copy, to what the parent has.
    void change_urgency(const Job& job);
    void follow_prolog(LocalId local, const JournalEvent& event);
    void disown(LocalId local);
    bool is_needed(const LocalOp& op) const;
    void on_exception(Entry& entry, const JournalEvent& event);
    void on_clean(Entry& entry);
    bool is_there(const Job& job, const JournalEvent& event) const;
    bool is_refused(const Job& job) const;
    /// A copy of the parent's job is here as `local`. \param found  the job; none: it is not known
    void take_local(Jobs::iterator found, LocalId local);
    /// The job's copy is no longer one of the parent's.
    void drop_local(const Entry& entry);
    void forget(Jobs::iterator job);
    void order_submit(Order order);
    void order_priority(Entry& entry, std::int64_t priority);
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
    std::unordered_map<LocalId, Entry*> by_local_;
    EndedCopies ended_;
    /// Local jobs that wait for `go` by their eventlog (the prolog is open), and whether they have ended meanwhile. The
    /// plugin closes the prolog of a job that ends, but after a restart it does not know that it opened one.
    std::map<LocalId, bool> held_;
    std::map<std::pair<LocalId, LocalOp::Kind>, LocalOp> failed_;
    std::set<LocalId> disowned_;  ///< second copies of a job, still active; they never get `go`
    std::vector<Unacked> outbox_;
    ChildActions actions_;
};

}  // namespace weir::route
