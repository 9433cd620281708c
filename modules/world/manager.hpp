// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the job-manager of an instance: the production state machine, tables and journal, between requests and messages
// that the world carries. It does what broker/services/job-manager/engine and protocols do with Flux. Must not know
// what the modules decide. RFC 21, 27; doc/architecture.md.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "broker/services/job-manager/journal/journal.hpp"
#include "broker/services/job-manager/tables/job_queue.hpp"
#include "broker/services/job-manager/tables/job_table.hpp"
#include "modules/world/disk.hpp"
#include "modules/world/part.hpp"
#include "modules/world/plugins.hpp"

namespace weir::world {

namespace jm = broker::jobs;

class Instance;

/// JSON that several receivers read.
using Payload = std::shared_ptr<const std::string>;
using Receiver = std::function<void(const Payload&)>;

using RunningJobs = std::vector<std::pair<jm::JobId, std::string>>;  ///< with their R

/// What the job-manager tells others. An instance passes each on to the part that it concerns.
struct ManagerMessages {
    Receiver to_priority;  ///< the journal's stream
    Receiver to_route;
    std::function<void(const RunningJobs&)> greet;  ///< the answer to the scheduler's hello
    std::function<void(jm::JobId, std::uint32_t userid, std::int64_t priority, Instant submit,
                       const std::string& jobspec)>
        alloc;
    std::function<void(jm::JobId)> cancel;
    std::function<void(jm::JobId, const std::string& R)> free;
    std::function<void(std::vector<std::pair<jm::JobId, std::int64_t>>)> prioritize;
    std::function<void(const jm::Job&)> start;  ///< the executor's request
    std::function<void(jm::JobId)> kill;        ///< a fatal exception, for the executor
};

class Manager : public Part {
  public:
    struct Facts {
        bool is_child = false;
        std::set<std::string> routed_queues;
    };
    Manager(Process& process, StateDir& disk, Facts facts, ManagerMessages messages);
    ~Manager() override;

    /// Takes up what the disk has.
    void start();
    /// The process is killed now: of a write that was under way a part reaches the file.
    void die_in_write();
    /// The machine loses power now.
    void lose_power() { is_power_lost_ = true; }
    /// Once, between the next change and the flush that brings it to the disk.
    void before_flush(Task task) { before_flush_ = std::move(task); }

    // ---- requests; an answer leaves when all that it tells of is on the disk ----
    using SubmitReply = std::function<void(const Result<jm::JobId>&)>;
    using Reply = std::function<void()>;
    void submit(const std::string& jobspec, std::uint32_t userid, int urgency, const SubmitReply& reply);
    void raise(jm::JobId id, const std::string& type, const std::string& text, const Reply& reply = {});
    void set_urgency(jm::JobId id, int urgency, const Reply& reply = {});
    /// {failed: [id, op]}: the requests of job-route's module to its plugin, as JSON.
    void update_routes(const std::vector<Json>& ops,
                       const std::function<void(const std::vector<std::pair<jm::JobId, std::string>>&)>& reply);
    /// The same of job-priority; the answer is the plugin's nonce.
    void update_priorities(const priority::Push& push, bool is_synced, const std::function<void(std::int64_t)>& reply);
    std::set<jm::JobId> withheld() const { return priority_tap_.withheld(); }
    /// Streams the events that `allow` names, of all jobs that there are, then of each as it happens.
    /// A message with the mark comes before it. A stream that is open ends.
    void open_journal_of_priority(const Json& allow, const std::string& mark) {
        std::erase_if(listeners_, [this](const Listener& one) { return one.to == &messages_.to_priority; });
        send([this, mark] { messages_.to_priority(std::make_shared<std::string>(mark)); });
        open_journal(allow, messages_.to_priority);
    }
    void open_journal_of_route(const Json& allow) { open_journal(allow, messages_.to_route); }

    // ---- the scheduler ----
    /// The running jobs and their R, then ready() brings the waiting ones.
    void hello();
    void scheduler_is_ready();
    void scheduler_is_gone();
    void allocated(jm::JobId id, const std::string& R);
    void denied(jm::JobId id, const std::string& text);
    void canceled(jm::JobId id);

    // ---- the executor ----
    void started(jm::JobId id);
    void finished(jm::JobId id, int status);

    const jm::JobTable& jobs() const { return jobs_; }
    const PriorityTap& priority_tap() const { return priority_tap_; }
    /// Nothing waits for the disk or to be sent.
    bool is_quiet() const { return outbox_.empty() && writer_.size() == 0 && !is_syncing_; }
    /// The jobs with an open request for cores.
    std::size_t asked() const { return sent_.size(); }

  private:
    friend class RouteTap;
    friend class PriorityTap;

    Status post(jm::Job& job, std::string name, Json context = {});
    Status post_at(jm::Job& job, jm::Event event);
    Status process_event(jm::Job& job, const jm::Event& event);
    void on_state(jm::Job& job);
    void act(jm::Job& job);
    void act_in_cleanup(jm::Job& job);
    void launch(jm::Job& job);
    void retire(jm::Job& job);
    Status raise_in(jm::Job& job, const std::string& type, int severity, const std::string& text);
    /// 0 for a job that is held, as the engine has it.
    void reprioritize(jm::Job& job, std::int64_t priority);
    std::int64_t next_time_us();
    void mark_clock(Instant until);
    void mark_clock_of(Instant at);
    void mark_events();
    void note_truth(const jm::Job& job, const std::string& event);

    void publish(const jm::Job& job, const std::string& name, const std::string& line);
    void open_journal(const Json& allow, const Receiver& to);
    void send(Task message) { outbox_.push_back(std::move(message)); }
    /// What a request did goes to the disk, and then out.
    void due();
    void flush();
    void write();
    void end_sync(std::size_t end, const std::vector<Task>& held);
    static void send_each(const std::vector<Task>& messages);

    void enqueue(jm::Job& job);
    void dequeue(jm::Job& job);
    void cancel_alloc(jm::Job& job, bool is_final);
    void requeue(jm::Job& job);

    void restore(jm::RestoredJobs restored);
    void settle(jm::Job& job);
    void resume(jm::Job& job);

    StateDir& disk_;
    Facts facts_;
    ManagerMessages messages_;
    jm::EnvironmentPool environments_;
    jm::JobTable jobs_;
    jm::JournalWriter writer_;
    std::unique_ptr<jm::IdGenerator> ids_;
    std::uint64_t next_sequence_ = 0;
    std::int64_t last_us_ = 0;
    std::int64_t standing_us_ = 0;  ///< while the jobs of the old broker are settled: the time of these events
    Instant began_;                 ///< in true time
    ClockMark first_mark_;          ///< that it found
    bool is_power_lost_ = false;
    bool is_up_ = false;  ///< what it found is settled on the disk: from now on the clock is marked
    jm::JobQueue queue_;
    jm::JobQueue sent_;
    bool is_online_ = false;  ///< the scheduler
    struct Listener {
        const Receiver* to;
        std::set<std::string, std::less<>> allow;  ///< names of events
    };
    std::vector<Listener> listeners_;
    std::vector<Task> outbox_;
    bool is_flush_due_ = false;
    bool is_syncing_ = false;  ///< the text of the last flush; its messages wait, and so does the next flush
    Task before_flush_;
    PriorityTap priority_tap_;
    RouteTap route_tap_;
};

}  // namespace weir::world
