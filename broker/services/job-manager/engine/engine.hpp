// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the manager's core: posting events to jobs in order, and the actions for a job's state.
//   Holds every component; components know the engine and through it one another.
// Must not know: payloads of requests (the components do).
// RFC 21. One flush a reactor iteration: disk, then messages, so that an answer is on disk before it is sent. The sync
//   runs in another thread; what comes meanwhile is the next flush, so many requests share a sync.
#pragma once
#include <flux/core.h>

#include <deque>
#include <memory>
#include <optional>
#include <string>

#include "broker/services/job-manager/engine/guest_turns.hpp"
#include "broker/services/job-manager/engine/rpc.hpp"
#include "broker/services/job-manager/journal/job_store.hpp"
#include "broker/services/job-manager/journal/queue_file.hpp"
#include "broker/services/job-manager/tables/job_table.hpp"
#include "broker/services/job-manager/tables/queues.hpp"

namespace weir::broker::jobs {

class Alloc;
class Exec;
class EventStreams;
class JobInfo;
class JobList;
class Dependencies;
class Jobtap;
class Submit;
class Control;
class Waits;
class Admin;
struct RestartOrder;

class Engine {
  public:
    explicit Engine(flux_t* h);
    ~Engine();
    Engine(const Engine&) = delete;
    Engine& operator=(const Engine&) = delete;

    /// Reads configuration and journal, loads plugins, registers handlers and services. Error: what stopped it.
    Status start();
    /// After the reactor stopped: last flush, streams end with ENODATA.
    void stop();

    /// Posts an event; if the job is busy with another one, after that one. A volatile event reaches listeners and the
    /// live job, but neither the eventlog nor the disk. Error: RFC 21 forbids the event; nothing changed.
    Status post(Job& job, std::string name, Json context = {}, bool is_volatile = false);
    /// As post(), with the time of the event as an argument (the submit event).
    Status post_at(Job& job, Event event, bool is_volatile);
    /// Performs the actions of the job's state. Idempotent.
    void act(Job& job);
    /// To be called before the executor is asked to start the job: see launch_mark.
    void mark_launch(Job& job);
    /// There was no executor that could have taken the job.
    void mark_launch_refused(Job& job);
    /// Posts an exception and publishes job-exception. `userid` FLUX_USERID_UNKNOWN = not named.
    struct Exception {
        std::string type;
        int severity = 0;
        std::string note;
        std::uint32_t userid = FLUX_USERID_UNKNOWN;
        int wait_status = -1;
    };
    Status raise(Job& job, const Exception& exception);
    /// Merges into the job's annotations and notifies listeners.
    void annotate(Job& job, const json_t* update);
    /// Removes one key of the annotations, or all when null.
    void clear_annotations(Job& job, const char* key);
    /// Sets the job's priority (held and expedited jobs keep theirs) by a priority event if anything changes.
    /// `one_shot`: the queues and the scheduler are notified at once, and not by the caller afterwards.
    Status reprioritize(Job& job, std::int64_t priority, bool one_shot);
    Status reprioritize_all();

    /// Continues a slice of the old broker's eligible jobs, so that a deep queue does not delay answers. Nothing goes
    /// to the scheduler before the last, since a job of higher priority may follow.
    void resume_slice();
    /// What is due before the reactor sleeps: a slice, a turn of the guests, a flush.
    void iterate();
    /// Disk, then messages. Runs before the reactor sleeps. While the disk accepts no writes, and while a sync runs, no
    /// message is sent that reports or causes what is not on the disk; queries are answered (Outbox).
    void flush();
    /// The same, and waits until all of it was sent or the disk refuses.
    void flush_through();
    /// Reserves space in the journal for a new job, or for a request to a plugin's service. Error: as
    /// JobStore::flush().
    Status make_room();
    /// A message that a plugin's service sends itself. A response is queued and sent by the next flush(); before any
    /// other message the disk is written. True: queued.
    bool take_over(const flux_msg_t& msg);

    flux_t* handle() const { return h_; }
    std::uint32_t owner() const { return owner_; }
    /// A job that is an instance of a partition. Another user's attribute is ignored.
    bool is_partition(const Job& job) const { return job.facts.is_partition && job.userid == owner_; }
    /// Reactor seconds in a real second.
    double time_scale() const { return scale_; }
    /// Scaled clock in microseconds, strictly increasing over all calls.
    std::int64_t next_time_us();
    std::int64_t now_us() const;
    const json_t* config() const { return config_.get(); }
    /// [access] private-mode: whether the sender of this request is told of his own jobs alone, and of no counts.
    bool is_restricted(const flux_msg_t* request) const;
    /// Whether the answer must be that of no such job.
    bool is_hidden(const Job& job, const flux_msg_t* request) const;
    /// Applies a new configuration. Error: what is wrong with it; the old one stays.
    Status configure(Json config);

    JobTable& jobs() { return jobs_; }
    Queues& queues() { return queues_; }
    /// Replaces the queues, once the state that a restart must know is on the disk. Error: the file and why it cannot
    /// be written; nothing changes then.
    Status set_queues(Queues changed);
    Outbox& outbox() { return outbox_; }
    GuestTurns& turns() { return turns_; }
    EnvironmentPool& environments() { return environments_; }
    std::uint64_t& next_sequence() { return next_sequence_; }
    Alloc& alloc() { return *alloc_; }
    Exec& exec() { return *exec_; }
    EventStreams& streams() { return *streams_; }
    JobInfo& info() { return *info_; }
    JobList& list() { return *list_; }
    Jobtap& jobtap() { return *jobtap_; }
    Dependencies& dependencies() { return *dependencies_; }
    Waits& waits() { return *waits_; }
    Admin& admin() { return *admin_; }

  private:
    Status open_store(RestoredJobs& restored);
    Status restore(RestoredJobs restored);
    std::int64_t last_seen_us() const;
    void resume(Job& job);
    void settle(const RestartOrder& order, std::int64_t seen_us);
    void resume_running(Job& job);
    void mark(Job& job, const char* name);
    Status process(Job& job, const Event& event, bool is_volatile);
    Status write_journal();
    void end_sync();
    void report_disk(bool was_written);
    static void on_synced(flux_reactor_t*, flux_watcher_t*, int, void* arg) noexcept;
    static void on_retry(flux_reactor_t*, flux_watcher_t*, int, void* arg) noexcept;
    void act_in_cleanup(Job& job);
    void act_inactive(Job& job);
    Status register_services();
    Status watch_reactor();

    flux_t* h_;
    std::uint32_t owner_;
    std::int64_t last_us_ = 0;
    std::optional<std::int64_t>
        standing_us_;  ///< while the jobs of the old broker are settled: the time of these events
    Json config_;
    EnvironmentPool environments_;  // outlives the jobs
    JobTable jobs_;
    Queues queues_;
    QueueFile queue_file_{""};
    Outbox outbox_;
    GuestTurns turns_;
    std::uint64_t next_sequence_ = 0;
    std::unique_ptr<JobStore> store_;
    Status written_ = Done{};  // the last attempt
    bool is_retry_due_ = false;
    bool is_private_ = false;
    double scale_ = 1;
    std::unique_ptr<Jobtap> jobtap_;
    std::unique_ptr<Dependencies> dependencies_;
    std::unique_ptr<Alloc> alloc_;
    std::unique_ptr<Exec> exec_;
    std::unique_ptr<EventStreams> streams_;
    std::unique_ptr<JobInfo> info_;
    std::unique_ptr<JobList> list_;
    std::unique_ptr<Waits> waits_;
    std::unique_ptr<Submit> submit_;
    std::unique_ptr<Control> control_;
    std::unique_ptr<Admin> admin_;
    std::deque<JobId> eligible_;  // jobs of the old broker that have not continued yet
    flux_watcher_t* prepare_ = nullptr;
    flux_watcher_t* idle_ = nullptr;  // active while there are such jobs
    flux_watcher_t* retry_ = nullptr;
    flux_watcher_t* synced_ = nullptr;  // a sync of the journal has ended
};

/// Base of every component: what the request trampoline needs.
class Component {
  public:
    explicit Component(Engine& engine) : engine_(engine) {}
    Outbox& outbox() { return engine_.outbox(); }
    GuestTurns& turns() { return engine_.turns(); }

  protected:
    Engine& engine_;
    Handlers handlers_;
};

/// "ƒABC" for messages to people.
std::string f58(JobId id);

}  // namespace weir::broker::jobs
