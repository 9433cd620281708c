// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the jobtap plugin job-route-tap.so: keeps jobs of routed queues away from this instance's own scheduler and
// executor, posts the events that the module reports for them, and holds copies of a parent's jobs until its order
// `go`. Refuses a job that no partition takes. Must not know which child runs what, nor any link. Registered as
// "jobroute": job-manager.jobroute.update and .partitions (owner only). Source: flux-jobtap-plugins(7), RFC 21.
#include <flux/core.h>
#include <flux/jobtap.h>
#include <unistd.h>

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>

#include "libfairshare/base/flat_json.hpp"
#include "libfairshare/base/json/json.hpp"
#include "modules/common/flux_cpp.hpp"
#include "modules/common/jobtap_cpp.hpp"
#include "modules/job-route/admission.hpp"
#include "modules/job-route/journal_event.hpp"
#include "modules/job-route/messages_json.hpp"
#include "modules/job-route/partition_json.hpp"
#include "modules/job-route/tap_args.hpp"

namespace weir::route {
namespace {

constexpr const char* plugin_name = "jobroute";
constexpr const char* mark_key = "job-route::mark";

/// The plugin's mark at a job, the latest of these. It lasts until the job-manager ends. After a restart the module
/// reads from the eventlog which prologs are open. The values are addresses of these statics, so that nothing has to be
/// freed.
enum class Mark : char {
    copy,      ///< of a job of the parent
    granted,   ///< a child allocates its resources
    held,      ///< a copy in RUN, until the parent says go
    released,  ///< its prolog was ended
};

void* mark_value(Mark mark) {
    static const Mark marks[] = {Mark::copy, Mark::granted, Mark::held, Mark::released};
    return const_cast<Mark*>(&marks[static_cast<int>(mark)]);
}

/// What a child reported with the allocation of a job; waits here until the job passes through SCHED.
struct Grant {
    Json R;
    Json annotations;
};

class Tap {
  public:
    explicit Tap(flux_plugin_t* p) : p_(p) {}
    flux_t* flux() const { return flux_jobtap_get_flux(p_); }
    void start();
    void ask_module();

    int on_validate(flux_plugin_t* p, flux_plugin_arg_t* args);
    int on_new(flux_plugin_t* p, flux_plugin_arg_t* args);
    int on_queue_update(flux_plugin_t* p, flux_plugin_arg_t* args);
    int on_duration_update(flux_plugin_t* p, flux_plugin_arg_t* args);
    int on_sched(flux_plugin_t* p, flux_plugin_arg_t* args);
    int on_run(flux_plugin_t* p, flux_plugin_arg_t* args);
    int on_cleanup(flux_plugin_t* p, flux_plugin_arg_t* args);
    int on_inactive(flux_plugin_t* p, flux_plugin_arg_t* args);
    int on_conf_update(flux_plugin_t* p, flux_plugin_arg_t* args);
    int on_query(flux_plugin_t* p, flux_plugin_arg_t* args);
    Json on_update(const flux_msg_t* msg);
    Json on_partitions(const flux_msg_t* msg);

  private:
    bool is_routed(const NewJob& job) const;
    bool is_from_parent(const NewJob& job) const;
    bool has_mark(flux_jobid_t id, Mark mark) const {
        return flux_jobtap_job_aux_get(p_, id, mark_key) == mark_value(mark);
    }
    void set_mark(flux_jobid_t id, Mark mark);
    void pass_sched_again(flux_jobid_t id, int urgency);
    void return_from_child(flux_jobid_t id);
    void apply(flux_jobid_t id, std::string_view op, json_t* order);
    void give(flux_jobid_t id, int state, json_t* order);
    void alloc(flux_jobid_t id, json_t* order);
    void clean(flux_jobid_t id, int state);
    void go(flux_jobid_t id);
    bool was_posted(const char* event) const {
        return flux_jobtap_job_event_posted(p_, FLUX_JOBTAP_CURRENT_JOB, event) == 1;
    }
    void hold_again();

    flux_plugin_t* p_;
    std::set<std::string> queues_;
    Admission admission_;
    bool has_own_conf_ = false;
    bool is_child_ = false;
    std::unordered_map<flux_jobid_t, Grant> grants_;
    json_int_t captured_ = 0;
    json_int_t mirrored_ = 0;
};

void check(int rc, const char* what) {
    if (rc < 0) {
        flux::fail_errno(what);
    }
}

void Tap::start() {
    json_t* queues = nullptr;
    if (flux_plugin_conf_unpack(p_, "{s?o}", "queues", &queues) == 0 && queues != nullptr) {
        queues_ = names_of(queues, "conf queues");
        has_own_conf_ = true;
    }
    is_child_ = flux_attr_get(flux(), "parent-uri") != nullptr;
    admission_.set_runs_as_owner(flux::is_embedded(flux()));
}

/// A job that is itself a child instance (weir.serves), or that brings its own R, is this instance's to run. The latter
/// is believed of the owner alone: others would pass the partitions by it.
bool Tap::is_routed(const NewJob& job) const {
    const bool has_own_R = job.bypass != nullptr && job.userid == static_cast<json_int_t>(getuid());
    return job.queue != nullptr && !has_own_R && queues_.count(job.queue) > 0 &&
           json_object_get(job.weir, "serves") == nullptr;
}

/// Only the module submits these, as the owner of this child; the attribute in another user's jobspec is ignored.
bool Tap::is_from_parent(const NewJob& job) const {
    return is_child_ && job.userid == static_cast<json_int_t>(getuid()) &&
           json_object_get(job.weir, "jobid") != nullptr;
}

void Tap::set_mark(flux_jobid_t id, Mark mark) {
    check(flux_jobtap_job_aux_set(p_, id, mark_key, mark_value(mark), nullptr), "remembering a job's mark");
}

/// A job-manager accepts R from a plugin only when a job enters SCHED. An urgency event sends the job through PRIORITY
/// and changes nothing else.
void Tap::pass_sched_again(flux_jobid_t id, int urgency) {
    check(flux_jobtap_event_post_pack(p_, id, "urgency", "{s:I s:i}", "userid", static_cast<json_int_t>(getuid()),
                                      "urgency", urgency),
          "sending a job through SCHED again");
}

/// A limit holds the job back (priority 0), so it must not start, whatever its child did: it is recalled.
void Tap::return_from_child(flux_jobid_t id) {
    grants_.erase(id);
    check(flux_jobtap_event_post_pack(p_, id, "weir.route", "{s:i}", "child", 0), "posting weir.route");
}

// ---- the job-manager's calls ----

/// A copy was admitted by the parent.
int Tap::on_validate(flux_plugin_t* p, flux_plugin_arg_t* args) {
    json_int_t userid = 0;
    json_t* jobspec = nullptr;
    if (flux_plugin_arg_unpack(args, FLUX_PLUGIN_ARG_IN, "{s:I s:o}", "userid", &userid, "jobspec", &jobspec) < 0) {
        throw flux::Failure(EPROTO, flux_plugin_arg_strerror(args));
    }
    const std::string text = Json::ref(jobspec).dump();
    FlatJson reader;
    const JobFacts facts = decode_facts(reader.read(text));
    const bool is_mine = userid == static_cast<json_int_t>(getuid());
    const bool is_from_above = is_child_ && is_mine && facts.upstream != 0;
    if (is_from_above || (is_mine && (facts.has_own_R || !facts.serves.empty()))) {
        return 0;
    }
    const auto sentence = queues_.count(facts.queue) == 0
                              ? admission_.refusal_here(facts.queue, is_mine)
                              : admission_.refusal(facts, static_cast<std::uint32_t>(userid), is_mine);
    return sentence ? flux_jobtap_reject_job(p, args, "%s", sentence->c_str()) : 0;
}

/// Called for every new job, for every active job after a restart, and for every active job when the plugin is loaded.
/// A job in SCHED is left alone: either it has the flag already, or a scheduler has it, and taking it back is a race.
int Tap::on_new(flux_plugin_t*, flux_plugin_arg_t* args) {
    const NewJob job = unpack_new(args);
    const int before_sched = FLUX_JOB_STATE_NEW | FLUX_JOB_STATE_DEPEND | FLUX_JOB_STATE_PRIORITY;
    if (is_from_parent(job)) {
        set_mark(FLUX_JOBTAP_CURRENT_JOB, Mark::copy);
    }
    if (is_routed(job) && (job.state & before_sched) != 0) {
        check(flux_jobtap_job_set_flag(p_, FLUX_JOBTAP_CURRENT_JOB, "alloc-bypass"), "setting alloc-bypass");
        captured_ += 1;
    } else if (job.state == FLUX_JOB_STATE_RUN) {
        hold_again();
    }
    return 0;
}

/// Whether this instance's scheduler may have a job is settled at its submission (on_new).
int Tap::on_queue_update(flux_plugin_t* p, flux_plugin_arg_t* args) {
    const NewJob job = unpack_new(args);
    NewJob changed = job;
    changed.queue = queue_update_of(args);
    const bool is_mine = job.userid == static_cast<json_int_t>(getuid());
    if (const auto sentence = admission_.refusal_here(changed.queue, is_mine)) {
        return flux_jobtap_error(p, args, "%s", sentence->c_str());
    }
    if (is_routed(job) == is_routed(changed)) {
        return 0;
    }
    const char* former = job.queue != nullptr ? job.queue : "none";
    return flux_jobtap_error(p, args, "partitions serve the queue %s, and not the queue %s: submit the job anew",
                             is_routed(job) ? former : changed.queue, is_routed(job) ? changed.queue : former);
}

/// The child that runs a job ends it at the time limit that it began with.
int Tap::on_duration_update(flux_plugin_t* p, flux_plugin_arg_t* args) {
    if (unpack_new(args).state != FLUX_JOB_STATE_RUN || !was_posted("weir.route")) {
        return 0;
    }
    return flux_jobtap_error(p, args, "the job runs in a partition, where its time limit does not change any more");
}

/// A kill can cut an eventlog between alloc and prolog-start; nothing would then keep the job from starting here. Where
/// the job-manager does not know the events from before its restart (stock Flux), it has stored both or neither.
void Tap::hold_again() {
    if (!was_posted("submit") || was_posted("prolog-start") || was_posted("start")) {
        return;
    }
    if (was_posted("weir.route")) {
        check(flux_jobtap_prolog_start(p_, mirror_prolog), "holding a routed job");
    } else if (has_mark(FLUX_JOBTAP_CURRENT_JOB, Mark::copy)) {
        set_mark(FLUX_JOBTAP_CURRENT_JOB, Mark::held);
        check(flux_jobtap_prolog_start(p_, go_prolog), "holding a job until the parent says go");
    }
}

int Tap::on_sched(flux_plugin_t*, flux_plugin_arg_t* args) {
    const auto grant = grants_.find(id_of(args));
    if (grant == grants_.end()) {
        return 0;
    }
    if (priority_of(args) == 0) {
        return_from_child(grant->first);
        return 0;
    }
    set_mark(FLUX_JOBTAP_CURRENT_JOB, Mark::granted);
    check(flux_plugin_arg_pack(args, FLUX_PLUGIN_ARG_OUT, "{s:O s:O}", "R", grant->second.R.get(), "annotations",
                               grant->second.annotations.get()),
          "setting R");
    // Posted from inside the callback it is queued, and handled once R is in place.
    check(flux_jobtap_event_post_pack(p_, FLUX_JOBTAP_CURRENT_JOB, "alloc", "{s:O s:b}", "annotations",
                                      grant->second.annotations.get(), "bypass", 1),
          "posting alloc");
    grants_.erase(grant);
    mirrored_ += 1;
    return 0;
}

int Tap::on_run(flux_plugin_t* p, flux_plugin_arg_t*) {
    if (has_mark(FLUX_JOBTAP_CURRENT_JOB, Mark::granted)) {
        check(flux_jobtap_prolog_start(p, mirror_prolog), "holding a routed job");
    } else if (has_mark(FLUX_JOBTAP_CURRENT_JOB, Mark::copy)) {
        set_mark(FLUX_JOBTAP_CURRENT_JOB, Mark::held);
        check(flux_jobtap_prolog_start(p, go_prolog), "holding a job until the parent says go");
    }
    return 0;
}

/// A job that ends while it waits for `go` does not wait any longer.
int Tap::on_cleanup(flux_plugin_t*, flux_plugin_arg_t* args) {
    const flux_jobid_t id = id_of(args);
    if (has_mark(FLUX_JOBTAP_CURRENT_JOB, Mark::held)) {
        go(id);
    }
    grants_.erase(id);
    return 0;
}

int Tap::on_inactive(flux_plugin_t*, flux_plugin_arg_t* args) {
    grants_.erase(id_of(args));
    return 0;
}

int Tap::on_conf_update(flux_plugin_t*, flux_plugin_arg_t* args) {
    if (has_own_conf_) {
        return 0;
    }
    const flux::Caught caught = flux::catching([&] {
        json_t* queues = nullptr;
        json_t* partitions = nullptr;
        json_t* users = nullptr;
        if (flux_plugin_arg_unpack(args, FLUX_PLUGIN_ARG_IN, "{s:{s?{s?{s?o} s?o} s?o}}", "conf", "weir", "route",
                                   "queues", &queues, "users", &users, "partition", &partitions) < 0) {
            throw flux::Failure(EINVAL, std::string("[weir.route]: ") + flux_plugin_arg_strerror(args));
        }
        std::set<std::string> names = names_of(queues, "[weir.route] queues");
        admission_.set_shared(names);
        admission_.set_partitions(partitions, users);
        for (const std::string& queue : partition_queues(partitions)) {
            names.insert(queue);
        }
        queues_ = std::move(names);
    });
    if (caught.errnum != 0) {
        flux_plugin_arg_pack(args, FLUX_PLUGIN_ARG_OUT, "{s:s}", "errmsg", caught.message.c_str());
        return -1;
    }
    ask_module();
    return 0;
}

/// The module, if it runs, knows the partitions that commands added.
void Tap::ask_module() {
    (void)flux::rpc(flux(), "job-route.tap-loaded", Json::object(), FLUX_RPC_NORESPONSE);
}

int Tap::on_query(flux_plugin_t*, flux_plugin_arg_t* args) {
    Json queues = Json::array();
    for (const std::string& queue : queues_) {
        queues.append(Json::string(queue));
    }
    return flux_plugin_arg_pack(args, FLUX_PLUGIN_ARG_OUT, "{s:O s:b s:I s:I s:I s:I}", "queues", queues.get(), "child",
                                is_child_ ? 1 : 0, "captured", captured_, "mirrored", mirrored_, "grants",
                                static_cast<json_int_t>(grants_.size()), "partitions",
                                static_cast<json_int_t>(admission_.partition_count()));
}

// ---- job-manager.jobroute.update {jobs:[{id, op, ...}]} -> {failed:[[id, op, why]]} ----

/// Records which child has the job, before that child gets it. Reports of an earlier child no longer count.
void Tap::give(flux_jobid_t id, int state, json_t* order) {
    if (state != FLUX_JOB_STATE_SCHED && state != FLUX_JOB_STATE_PRIORITY) {
        throw flux::Failure(EINVAL, "the job is not waiting");
    }
    grants_.erase(id);
    json_int_t child = 0;
    const char* queue = nullptr;
    if (json_unpack(order, "{s:I s:s}", "child", &child, "queue", &queue) < 0) {
        throw flux::Failure(EPROTO, "give wants {child:I, queue:s}");
    }
    if (!admission_.runs_as_owner() && userid_of(p_, id) != userid_of(p_, static_cast<flux_jobid_t>(child))) {
        throw flux::Failure(EPERM, "the child would run another user's job as its own user");
    }
    check(flux_jobtap_event_post_pack(p_, id, "weir.route", "{s:I s:s}", "child", child, "queue", queue),
          "posting weir.route");
}

void Tap::alloc(flux_jobid_t id, json_t* order) {
    const Standing now = standing_of(p_, id);
    json_t* R = nullptr;
    json_t* annotations = nullptr;
    if (json_unpack(order, "{s:o s:o}", "R", &R, "annotations", &annotations) < 0) {
        throw flux::Failure(EPROTO, "alloc wants {R:o, annotations:o}");
    }
    if (now.state != FLUX_JOB_STATE_SCHED && now.state != FLUX_JOB_STATE_PRIORITY) {
        throw flux::Failure(EINVAL, "the job is not waiting");
    }
    if (now.state == FLUX_JOB_STATE_SCHED && now.priority == 0) {
        return_from_child(id);
        return;
    }
    grants_.insert_or_assign(id, Grant{Json::ref(R), Json::ref(annotations)});
    if (now.state == FLUX_JOB_STATE_SCHED) {
        pass_sched_again(id, now.urgency);
    }
}

/// Lets a routed job go INACTIVE. Never while it is in RUN: the end of the prolog would start it here.
void Tap::clean(flux_jobid_t id, int state) {
    if (state == FLUX_JOB_STATE_RUN) {
        check(flux_jobtap_raise_exception(p_, id, "child-lost", 0, "the child ended it without a result"), "exception");
    } else if (state != FLUX_JOB_STATE_CLEANUP) {
        throw flux::Failure(EINVAL, "the job has not run");
    }
    if (has_mark(id, Mark::released)) {
        return;
    }
    set_mark(id, Mark::released);
    check(flux_jobtap_event_post_pack(p_, id, "release", "{s:s s:b}", "ranks", "all", "final", 1), "posting release");
    check(flux_jobtap_prolog_finish(p_, id, mirror_prolog, 0), "releasing a routed job");
}

/// The module asks for it only where the eventlog says that the prolog is open, and again if this fails.
void Tap::go(flux_jobid_t id) {
    if (!has_mark(id, Mark::released)) {
        set_mark(id, Mark::released);
        if (flux_jobtap_prolog_finish(p_, id, go_prolog, 0) < 0) {
            const int errnum = errno;
            set_mark(id, Mark::held);
            throw flux::Failure(errnum, std::string("letting a job go: ") + flux_strerror(errnum));
        }
    }
}

void Tap::apply(flux_jobid_t id, std::string_view op, json_t* order) {
    const int state = standing_of(p_, id).state;
    if (op == "give") {
        give(id, state, order);
    } else if (op == "alloc") {
        alloc(id, order);
    } else if (op == "start") {
        if (state == FLUX_JOB_STATE_RUN) {
            check(flux_jobtap_event_post_pack(p_, id, "start", nullptr), "posting start");
        }
    } else if (op == "finish") {
        int status = 0;
        check(json_unpack(order, "{s:i}", "status", &status), "finish wants {status:i}");
        check(flux_jobtap_event_post_pack(p_, id, "finish", "{s:i}", "status", status), "posting finish");
    } else if (op == "exception") {
        const char* type = nullptr;
        const char* note = "";
        int severity = 0;
        check(json_unpack(order, "{s:s s:i s?s}", "type", &type, "severity", &severity, "note", &note),
              "exception wants {type:s, severity:i, note:s}");
        check(flux_jobtap_raise_exception(p_, id, type, severity, "%s", note), "raising an exception");
    } else if (op == "clean") {
        clean(id, state);
    } else if (op == "go") {
        go(id);
    } else {
        throw flux::Failure(EPROTO, "unknown op " + std::string(op));
    }
}

Json Tap::on_update(const flux_msg_t* msg) {
    json_t* jobs = nullptr;
    flux::unpack(msg, "{s:o}", "jobs", &jobs);
    Json failed = Json::array();
    std::size_t index = 0;
    json_t* order = nullptr;
    json_array_foreach(jobs, index, order) {
        json_int_t id = 0;
        const char* op = nullptr;
        if (json_unpack(order, "{s:I s:s}", "id", &id, "op", &op) < 0) {
            throw flux::Failure(EPROTO, "each job wants {id:I, op:s, ...}");
        }
        const flux::Caught caught = flux::catching([&] { apply(static_cast<flux_jobid_t>(id), op, order); });
        if (caught.errnum != 0) {
            failed.append(Json::own(json_pack("[I,s,s]", id, op, caught.message.c_str())));
        }
    }
    Json answer = Json::object();
    answer.set("failed", std::move(failed));
    return answer;
}

/// The tables in force, with the changes of `weir partition`.
Json Tap::on_partitions(const flux_msg_t* msg) {
    json_t* partitions = nullptr;
    json_t* users = nullptr;
    flux::unpack(msg, "{s:o s:o}", "partitions", &partitions, "users", &users);
    admission_.set_partitions(partitions, users);
    return Json::object();
}

void destroy_tap(void* arg) noexcept {
    delete static_cast<Tap*>(arg);
}

int init(flux_plugin_t* p) {
    auto owned = std::make_unique<Tap>(p);
    Tap* tap = owned.get();
    if (flux_plugin_aux_set(p, "weir::route", tap, destroy_tap) < 0) {
        return -1;
    }
    owned.release();  // the plugin owns it now
    const flux_plugin_handler handlers[] = {
        {"job.validate", flux::on_plugin<&Tap::on_validate>, tap},
        {"job.new", flux::on_plugin<&Tap::on_new>, tap},
        {"job.update.attributes.system.queue", flux::on_plugin<&Tap::on_queue_update>, tap},
        {"job.update.attributes.system.duration", flux::on_plugin<&Tap::on_duration_update>, tap},
        {"job.state.sched", flux::on_plugin<&Tap::on_sched>, tap},
        {"job.state.run", flux::on_plugin<&Tap::on_run>, tap},
        {"job.state.cleanup", flux::on_plugin<&Tap::on_cleanup>, tap},
        {"job.state.inactive", flux::on_plugin<&Tap::on_inactive>, tap},
        {"conf.update", flux::on_plugin<&Tap::on_conf_update>, tap},
        {"plugin.query", flux::on_plugin<&Tap::on_query>, tap},
        {nullptr, nullptr, nullptr},
    };
    if (flux_plugin_register(p, plugin_name, handlers) < 0) {
        return -1;
    }
    return flux::guard(tap->flux(), "jobroute", [tap, p] {
        tap->start();
        check(flux_jobtap_service_register(p, "update", flux::on_request<&Tap::on_update>, tap), "registering update");
        check(flux_jobtap_service_register(p, "partitions", flux::on_request<&Tap::on_partitions>, tap),
              "registering partitions");
        tap->ask_module();
    });
}

}  // namespace
}  // namespace weir::route

extern "C" __attribute__((visibility("default"))) int flux_plugin_init(flux_plugin_t* p);
int flux_plugin_init(flux_plugin_t* p) {
    int rc = -1;
    const auto caught = weir::flux::catching([&] { rc = weir::route::init(p); });
    return caught.errnum == 0 ? rc : -1;
}
