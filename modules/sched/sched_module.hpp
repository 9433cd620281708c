// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the scheduler as a broker module: the RFC 27 conversation with the job-manager, the resource stream, R in the
// KVS before an alloc is answered, one scheduling pass for all waiting messages. Must not decide anything:
// weir::Scheduler does. The same code is sched-weir-fcfs and sched-weir-easy.
#pragma once
#include <flux/core.h>

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "libsched/forecast.hpp"
#include "libsched/scheduler.hpp"
#include "modules/common/flux_cpp.hpp"
#include "modules/common/private_mode.hpp"
#include "modules/sched/arguments.hpp"
#include "modules/sched/wire.hpp"

namespace weir::sched {

class SchedModule {
  public:
    /// Registers the services and starts the handshake, which goes on in the reactor: resource.acquire, sched-hello,
    /// the R of every running job, sched-ready. Throws flux::Failure.
    SchedModule(flux_t* h, const Settings& settings);
    flux_t* flux() const { return h_; }

  private:
    // Requests (RFC 27).
    void alloc(const flux_msg_t* msg);
    /// The answer to an alloc request of a job that can never run.
    void deny(const flux_msg_t* alloc, JobId id, const std::string& why);
    void free(const flux_msg_t* msg);
    void cancel(const flux_msg_t* msg);
    void disconnect(const flux_msg_t* msg);
    void prioritize(const flux_msg_t* msg);
    /// The order of the jobs, from job-priority: see order_of().
    Json order(const flux_msg_t* msg);
    Json expiration(const flux_msg_t* msg);
    Json feasibility(const flux_msg_t* msg);
    Json stats(const flux_msg_t* msg);
    /// Why a job waits, and its estimated start; any user.
    Json why(const flux_msg_t* msg);
    Forecast forecast_of(JobId id, Instant now);
    /// Whether the course may answer: it is what a new one would be, or was begun a moment ago.
    bool course_holds(Instant now) const;
    Json config_reload(const flux_msg_t* msg);
    /// Sets measured loads: {"nodes": [...]}, see loads_of(). The instance's owner only.
    Json load(const flux_msg_t* msg);

    // Handshake and resource stream.
    void acquire();
    void on_resources(flux_future_t* f);
    void resources_gone();
    void resources_again(const Json& answer);
    void first_resources(const Json& answer);
    void on_hello(flux_future_t* f);
    struct Hello;
    void look_up_r(Hello hello);
    void on_hello_r(flux_future_t* f);
    void hello_failed(JobId id, const std::string& why);
    void ready_when_done();
    void on_ready(flux_future_t* f);
    void on_confirmed(flux_future_t* f);
    void greet();
    void follow_job_manager();
    void on_journal(flux_future_t* f);
    /// The job-manager does not answer. If one was greeted before, the module waits for it to be loaded again;
    /// otherwise the module ends.
    void job_manager_failed(const flux::Failure& failure);
    void forget_job_manager();

    // Reactor phases: one pass an iteration, and none while messages are waiting.
    void before_poll();
    void after_poll();
    void run_pass();
    /// Asks the job-manager about a job that may have an R of before, which it would take for its allocation.
    void ask_for_allocation(Scheduler::Start start);
    void on_allocation(flux_future_t* f);
    void set_aside(JobId id);
    void commit(std::vector<Scheduler::Start> started);
    bool revoke(JobId id);
    void remove_r(const std::vector<JobId>& jobs);
    void on_commit(flux_future_t* f);
    void on_annotate_timer();
    void on_due() { scheduler_.set_due(); }
    void annotate(JobId id, Json what);

    /// Sorts the jobs concerned again.
    void reorder(const OrderChange& change);
    /// The message to answer an alloc request with: one of an earlier request of the same sender, or this one.
    std::shared_ptr<const flux_msg_t> envelope_of(const flux_msg_t* msg);

    /// To the broker's log, unless `log-level` leaves such messages out.
    void log(int severity, const std::string& text) const;
    /// Ends the module, which the broker reports: a scheduler without resources is useless.
    void give_up(const std::string& why);

    struct Asked {
        std::shared_ptr<const flux_msg_t> request;
        std::uint32_t number;  ///< the job-manager's priority
        std::uint32_t userid;
        bool was_before;  ///< it was submitted before this job-manager was greeted
    };
    struct Question {
        flux::Future future;
        Scheduler::Start start;
    };
    struct Commit {
        flux::Future future;
        std::vector<std::pair<JobId, Json>> r;  ///< each job's R, to be sent when the commit is done
    };
    struct Hello {
        flux::Future future;
        JobId id;
        bool of_kvs = false;  ///< the KVS was asked for R
    };

    flux_t* h_;
    std::string name_;
    Scheduler scheduler_;
    std::optional<ForecastCourse> course_;
    std::uint64_t course_passes_ = 0;  ///< passes of scheduler_ when course_ began
    Instant course_asked_{};           ///< the end of the question that began it
    Settings settings_;
    flux::PrivateMode private_;
    HostNames hosts_;
    NodeProperties properties_;
    ResourceSet machine_;  ///< what was acquired first
    /// Alloc requests without a final answer. Requests of one sender differ in their payload alone, which was decoded,
    /// so they share one message to answer: a message of its own would cost each waiting job its jobspec once more.
    std::unordered_map<JobId, Asked> requests_;
    JobOrder order_;                              ///< by job-priority
    std::int64_t nonce_ = 0;                      ///< names this load to job-priority
    std::shared_ptr<const flux_msg_t> envelope_;  ///< the newest one of requests_
    std::unordered_map<flux_future_t*, Question> questions_;
    std::vector<Scheduler::Start> starts_;  ///< whose R is committed in this iteration of the reactor
    std::unordered_map<flux_future_t*, Commit> commits_;
    std::unordered_set<JobId> set_aside_;  ///< they have a request here and wait for another job-manager
    Instant greeted_{};
    std::unordered_map<flux_future_t*, Hello> hellos_;
    std::unordered_set<JobId> confirmed_;               ///< jobs of the second hello
    std::optional<Scheduler::Annotation> to_announce_;  ///< of the present head, sent by the timer
    std::optional<JobId> annotated_;                    ///< the job whose annotations the job-manager has
    bool wants_annotations_ = false;                    ///< the job-manager complains of an allocation without any
    bool has_resources_ = false;
    bool is_acquired_ = false;  ///< the stream of resource.acquire is open
    bool hello_ended_ = false;
    bool is_ready_ = false;
    bool was_ready_ = false;  ///< the handshake with a job-manager was completed
    bool gave_up_ = false;
    unsigned postponed_ = 0;  ///< iterations for which a pass has been put off
    std::uint64_t commit_count_ = 0;
    std::uint64_t denied_ = 0;

    flux::Future acquire_;
    flux::Future hello_;
    flux::Future ready_;
    flux::Future confirm_;
    flux::Future journal_;
    flux::Watcher prepare_;
    flux::Watcher check_;
    flux::Watcher idle_;
    flux::Watcher annotate_timer_;
    flux::Watcher due_timer_;
    flux::Watcher greet_timer_;
    flux::Watcher acquire_timer_;
    flux::Watcher silence_timer_;
    flux::Handlers sched_handlers_;
    flux::Handlers feasibility_handlers_;
    flux::Handlers own_handlers_;
};

}  // namespace weir::sched
