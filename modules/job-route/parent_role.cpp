// SPDX-License-Identifier: LGPL-3.0-only
// Owns: ParentRole, without the requests of children (parent_children.cpp). See parent_role.hpp.
#include "modules/job-route/parent_role.hpp"

#include <unistd.h>

#include <cstring>

#include "libfairshare/base/json/kvs_value.hpp"
#include "modules/common/parent_link.hpp"
#include "modules/job-route/jobspec_edit.hpp"

namespace weir::route {
namespace {

using flux::Failure;
using flux::value_or_throw;

constexpr double fetch_pause = 1.;  ///< real seconds before a jobspec is asked for again
constexpr double answer_s = 60.;    ///< real seconds that another module of this instance has to answer
constexpr const char* lookup_topic = "job-info.lookup";

/// The KVS operation that stores a job's R where stock Flux looks for it.
Json commit_op(JobId id, const Json& R) {
    char key[128];
    if (flux_job_kvs_key(key, sizeof(key), id.value, "R") < 0) {
        flux::fail_errno("the KVS key of a job");
    }
    return kvs_put(key, R.dump());
}

}  // namespace

ParentRole::ParentRole(flux_t* h, RouteTable& table, double heartbeat_s, const Guests& guests, Callbacks callbacks)
    : h_(h),
      table_(table),
      heartbeat_s_(heartbeat_s),
      privacy_(guests.privacy),
      turns_(guests.turns),
      callbacks_(std::move(callbacks)) {
    const char* output_dir = flux_attr_get(h, "output-dir");
    output_dir_ = output_dir != nullptr ? output_dir : "";
    fetch_retry_.reset(
        flux_timer_watcher_create(flux_get_reactor(h), 0., 0., flux::on_watcher<&ParentRole::fetch_again>, this));
    if (!fetch_retry_) {
        flux::fail_errno("timer");
    }
    const int request = FLUX_MSGTYPE_REQUEST;
    handlers_ = flux::add_handlers(
        h, flux::service_name(h, "job-route"),
        {
            {request, "attach", flux::on_message<&ParentRole::on_attach>, FLUX_ROLE_USER},
            {request, "report", flux::on_message<&ParentRole::on_report>, FLUX_ROLE_USER},
            {request, "disconnect", flux::on_message<&ParentRole::disconnect>, FLUX_ROLE_USER},
            {request, "tree", flux::in_turn<ParentRole, flux::on_request<&ParentRole::tree>>, FLUX_ROLE_USER},
            {request, "locate", flux::in_turn<ParentRole, flux::on_request<&ParentRole::locate>>, FLUX_ROLE_USER},
        },
        this);
}

ParentRole::~ParentRole() {
    (void)flux::catching([this] { reset(); });
}

void ParentRole::reset() {
    while (!sessions_.empty()) {
        close(sessions_.begin()->first);
    }
    for (const std::vector<Reply>* replies : {&current_.replies, &next_.replies, &fresh_replies_}) {
        for (const Reply& reply : *replies) {
            flux::respond_error(h_, reply.request.get(), EOWNERDEAD, "this session is over: attach again");
        }
    }
    fresh_replies_.clear();
    commit_.reset();
    update_.reset();
    fetches_.clear();
    fetches_later_.clear();
    current_ = {};
    next_ = {};
}

// ---- what the table wants ----

void ParentRole::perform(ParentActions actions) {
    if (actions.tap.empty()) {
        answer(std::exchange(fresh_replies_, {}));
    } else {
        next_.ops.insert(next_.ops.end(), actions.tap.begin(), actions.tap.end());
        std::move(fresh_replies_.begin(), fresh_replies_.end(), std::back_inserter(next_.replies));
        fresh_replies_.clear();
    }
    for (const JobId child : actions.silent) {
        flux::log(
            h_, LOG_WARNING,
            "child " + std::to_string(child.value) +
                " has sent nothing although its link is up: it counts as lost, and its jobs that have not started "
                "go to others");
        close(child);
    }
    for (const JobId id : actions.fetch) {
        fetch(id, stores_J_);
    }
    for (const auto& [id, uri] : actions.uris) {
        Json memo = Json::object();
        memo.set("uri", uri);
        Json payload = Json::object();
        payload.set("id", id.value).set("volatile", false).set("memo", std::move(memo));
        (void)flux::rpc(h_, "job-manager.memo", payload, FLUX_RPC_NORESPONSE);
    }
    send_orders(std::move(actions.orders));
    start_batch();
}

/// R was decoded when it was reported. An op without one is left out; the others are sent.
ParentRole::Batch ParentRole::decoded(std::vector<TapOp> ops) {
    Batch batch;
    for (TapOp& op : ops) {
        Json R;
        if (op.kind == TapOp::Kind::alloc) {
            auto parsed = Json::parse(op.R);
            if (!parsed) {
                flux::log(h_, LOG_ERR, "R of job " + std::to_string(op.id.value) + ": " + parsed.error().message);
                continue;
            }
            R = std::move(parsed).value();
        }
        batch.ops.push_back(std::move(op));
        batch.documents.push_back(std::move(R));
    }
    return batch;
}

/// One batch at a time: R of all its allocations to the KVS, then all its orders to the plugin, in order.
void ParentRole::start_batch() {
    if (commit_ || update_ || next_.ops.empty()) {
        return;
    }
    Batch batch = decoded(next_.ops);
    Json ops = Json::array();
    for (std::size_t i = 0; i < batch.ops.size(); i++) {
        if (batch.documents[i]) {
            ops.append(commit_op(batch.ops[i].id, batch.documents[i]));
        }
    }
    batch.replies = std::exchange(next_, {}).replies;
    current_ = std::move(batch);
    if (json_array_size(ops.get()) == 0) {
        send_update();
        return;
    }
    commit_ = flux::rpc(h_, "kvs.commit", kvs_commit(std::move(ops)));
    flux::then<&ParentRole::on_committed>(commit_.get(), this, flux::real_seconds(h_, answer_s));
}

void ParentRole::on_committed(flux_future_t* f) {
    if (flux_rpc_get(f, nullptr) < 0) {
        const char* why = flux_future_error_string(f);
        flux::log(h_, LOG_WARNING, std::string("storing R in the KVS: ") + (why != nullptr ? why : ""));
    }
    commit_.reset();
    send_update();
}

void ParentRole::send_update() {
    Json jobs = Json::array();
    for (std::size_t i = 0; i < current_.ops.size(); i++) {
        jobs.append(encode(current_.ops[i], current_.documents[i]));
    }
    Json payload = Json::object();
    payload.set("jobs", std::move(jobs));
    update_ = flux::rpc(h_, update_topic, payload);
    flux::then<&ParentRole::on_updated>(update_.get(), this, flux::real_seconds(h_, answer_s));
}

void ParentRole::on_updated(flux_future_t* f) {
    Json answer;
    const flux::Caught caught = flux::catching([&] { answer = flux::rpc_get(f, update_topic); });
    update_.reset();
    if (caught.errnum != 0) {
        callbacks_.broken(caught.message);
        return;
    }
    callbacks_.mirrored();
    std::size_t index = 0;
    json_t* failed = nullptr;
    json_array_foreach(json_object_get(answer.get(), "failed"), index, failed) {
        json_int_t id = 0;
        const char* op = "";
        const char* why = "";
        if (json_unpack(failed, "[I,s,s]", &id, &op, &why) == 0) {
            flux::log(h_, LOG_DEBUG, std::string(op) + " of job " + std::to_string(id) + ": " + why);
            const bool is_give = std::strcmp(op, "give") == 0;
            table_.tap_failed(JobId{static_cast<std::uint64_t>(id)}, is_give ? TapOp::Kind::give : TapOp::Kind::clean);
        }
    }
    end_batch();
}

void ParentRole::end_batch() {
    mirrored_ += current_.ops.size();
    answer(std::exchange(current_, {}).replies);
    start_batch();
    callbacks_.changed();
}

void ParentRole::answer(const std::vector<Reply>& replies) {
    for (const Reply& reply : replies) {
        flux::respond(h_, reply.request.get(),
                      Json::own(json_pack("{s:I}", "seq_acked", static_cast<json_int_t>(reply.seq))));
    }
}

/// The journal's jobspec has no environment. Where the stored one has none either (stock Flux), it is in J. Flags 2
/// adds later updates to the jobspec, those that the stored eventlog has.
void ParentRole::fetch(JobId id, bool with_J) {
    Json keys = Json::array();
    keys.append(Json::string("jobspec"));
    if (with_J) {
        keys.append(Json::string("J"));
    }
    if (updates_of(id) > 0) {
        keys.append(Json::string("eventlog"));
    }
    Json payload = Json::object();
    payload.set("id", id.value).set("keys", std::move(keys)).set("flags", 2);
    flux::Future future = flux::rpc(h_, lookup_topic, payload);
    flux_future_t* f = future.get();
    flux::then<&ParentRole::on_fetched>(f, this, flux::real_seconds(h_, answer_s));
    fetches_.emplace(f, Fetch{std::move(future), id, with_J});
}

/// Only an answer about this job ends it. While job-info is loaded anew there is no answer.
void ParentRole::on_fetched(flux_future_t* f) {
    const auto found = fetches_.find(f);
    if (found == fetches_.end()) {
        return;
    }
    const Fetch done = std::move(found->second);
    fetches_.erase(found);
    const flux::Caught caught = flux::catching([&] { take_jobspec(done, f); });
    if (caught.errnum == ENOENT && done.with_J) {  // the embedded job-manager has no J, or the job is unknown
        fetch(done.id, false);
        return;
    }
    const bool is_about_the_job = caught.errnum == ENOENT || caught.errnum == EINVAL || caught.errnum == EPROTO;
    if (caught.errnum != 0 && !is_about_the_job) {
        if (fetches_later_.empty()) {
            flux::log(h_, caught.errnum == ESTALE ? LOG_DEBUG : LOG_WARNING,
                      caught.message + ": jobs wait until their jobspec can be read");
            flux_timer_watcher_reset(fetch_retry_.get(), flux::real_seconds(h_, fetch_pause), 0.);
            flux_watcher_start(fetch_retry_.get());
        }
        fetches_later_.emplace_back(done.id, done.with_J);
        return;
    }
    if (caught.errnum != 0) {
        table_.fetch_failed(done.id, caught.message);
    }
    callbacks_.changed();
}

void ParentRole::fetch_again() {
    for (const auto& [id, with_J] : std::exchange(fetches_later_, {})) {
        fetch(id, with_J);
    }
}

std::uint32_t ParentRole::updates_of(JobId id) const {
    const RouteJob* job = table_.active(id);
    return job != nullptr ? job->updates : 0;
}

/// A stock Flux tells an update before it stores it, so the jobspec may be that of before.
void ParentRole::take_jobspec(const Fetch& done, flux_future_t* f) {
    const Json answer = flux::rpc_get(f, lookup_topic);
    const char* jobspec = json_string_value(json_object_get(answer.get(), "jobspec"));
    const char* J = json_string_value(json_object_get(answer.get(), "J"));
    if (jobspec == nullptr || (done.with_J && J == nullptr)) {
        throw Failure(EPROTO, "job-info.lookup: the answer has no jobspec, or no J");
    }
    stores_J_ = done.with_J;
    if (updates_in(answer.string_at("eventlog").value_or("")) < updates_of(done.id)) {
        throw Failure(ESTALE, "an update of job " + std::to_string(done.id.value) + " is not stored yet");
    }
    const bool is_whole = !done.with_J || has_environment(jobspec);
    table_.jobspec_ready(done.id, is_whole ? jobspec : value_or_throw(with_environment(jobspec, J)));
}

// ---- people ----

/// By this instance's clock, in seconds since the epoch; 0: before this module was loaded.
double ParentRole::lost_since(const ChildView& child) const {
    return flux_reactor_now(flux_get_reactor(h_)) - flux::real_seconds(h_, static_cast<double>(child.lost_ticks));
}

/// The owner's instances are the partitions, which everybody may see.
bool ParentRole::is_told(const flux_msg_t* msg, JobId job, bool is_instance) const {
    const RouteJob* found = table_.active(job);
    const std::uint32_t userid = found != nullptr ? found->userid : FLUX_USERID_UNKNOWN;
    return privacy_.may_see(msg, userid) || (is_instance && userid == getuid());
}

// Guest: sees users, queues, sockets and job counts of the children; an answer takes time in proportion to the active
// jobs. Private: of the partitions and of his own instances.
Json ParentRole::tree(const flux_msg_t* msg) {
    Json children = Json::array();
    for (const ChildView& view : table_.children()) {
        if (!is_told(msg, view.job, true)) {
            continue;
        }
        Json serves = Json::array();
        for (const std::string& queue : view.serves) {
            serves.append(Json::string(queue));
        }
        Json jobs = Json::object();
        jobs.set("pending", static_cast<long long>(view.pending)).set("running", static_cast<long long>(view.running));
        jobs.set("done", static_cast<long long>(view.done));
        Json child = Json::object();
        child.set("jobid", view.job.value).set("serves", std::move(serves)).set("uri", view.uri);
        if (const RouteJob* host = table_.active(view.job)) {
            child.set("userid", host->userid);
            if (host->userid == getuid() && !host->facts.partition.empty()) {
                child.set("partition", host->facts.partition);
            }
        }
        child.set("state", view.is_attached ? "attached" : "lost").set("jobs", std::move(jobs));
        child.set("drained", table_.is_drained(view.job));
        if (!view.is_attached) {
            child.set("lost_since", lost_since(view));
        }
        child.set("cores", static_cast<long long>(view.cores)).set("own_cores", static_cast<long long>(view.own_cores));
        children.append(std::move(child));
    }
    Json instances = Json::array();
    for (const JobId id : table_.instance_jobs()) {
        if (table_.active(id)->userid == getuid()) {  // what a guest's jobspec says makes no partition
            instances.append(Json::own(json_integer(static_cast<json_int_t>(id.value))));
        }
    }
    Json answer = Json::object();
    answer.set("owner", getuid()).set("instances", std::move(instances));
    answer.set("children", std::move(children)).set("waiting", static_cast<long long>(table_.waiting()));
    return answer;
}

// Guest: learns which child has any job, under which id, which partitions do not take it or cannot run it, and why, and
// how many jobs or cores of its user, or of all, count against a limit that keeps it away. Private: his own.
Json ParentRole::locate(const flux_msg_t* msg) {
    json_int_t id = 0;
    flux::unpack(msg, "{s:I}", "id", &id);
    const JobId job{static_cast<std::uint64_t>(id)};
    if (!is_told(msg, job, false)) {  // the words of find() about none
        throw Failure(ENOENT, "job " + std::to_string(job.value) + " is not an active routed job");
    }
    const JobView view = value_or_throw(table_.find(job));
    Json answer = Json::object();
    answer.set("queue", view.queue).set("child", view.child.value).set("id", view.local.value);
    answer.set("uri", "").set("allocated", view.is_allocated);
    Json partitions = Json::array();
    for (const PartitionWord& word : table_.words_of(job)) {
        Json one = Json::object();
        one.set("name", word.name).set("takes", !word.misfit).set("rules", word.rules);
        if (word.misfit) {
            one.set("rule", word.misfit->rule).set("job", word.misfit->job);
        }
        if (!word.limit.empty()) {
            one.set("limit", word.limit);
        }
        if (!word.away.empty()) {
            one.set("away", word.away);
        }
        if (word.may_start) {
            one.set("may_start", true);
        }
        partitions.append(std::move(one));
    }
    answer.set("partitions", std::move(partitions));
    set_servers(job, answer);
    if (const auto child = table_.child_without_counts(view.child)) {
        answer.set("uri", child->uri);
        answer.set("lost_since", child->is_attached ? 0. : lost_since(*child));
    }
    return answer;
}

/// Whether an attached child that is not drained serves the job's queue, and one that is lost.
void ParentRole::set_servers(JobId job, Json& answer) const {
    bool is_served = false;
    for (const ChildView& child : table_.servers_of(job)) {
        is_served = is_served || (child.is_attached && !table_.is_drained(child.job));
        if (!child.is_attached) {
            Json lost = Json::object();
            lost.set("child", child.job.value).set("since", lost_since(child));
            answer.set("lost", std::move(lost));
        }
    }
    answer.set("served", is_served);
}

Json ParentRole::stats() const {
    return Json::own(json_pack("{s:I s:I s:I s:I s:I}", "children", static_cast<json_int_t>(sessions_.size()),
                               "waiting", static_cast<json_int_t>(table_.waiting()), "jobs",
                               static_cast<json_int_t>(table_.job_count()), "reports",
                               static_cast<json_int_t>(reports_), "orders", static_cast<json_int_t>(mirrored_)));
}

}  // namespace weir::route
