// SPDX-License-Identifier: LGPL-3.0-only
// Owns: PartitionKeeper's configuration, and the requests of operators.
#include <unistd.h>

#include <algorithm>

#include "modules/common/monotonic_clock.hpp"
#include "modules/common/parent_link.hpp"
#include "modules/job-route/partition_checks.hpp"
#include "modules/job-route/partition_keeper.hpp"
#include "modules/job-route/resource_map.hpp"

namespace weir::route {
namespace {

using flux::Failure;
using flux::value_or_throw;

constexpr double fit_s = 10.;  ///< real seconds that the scheduler has to say whether a size is possible

bool has_name(const json_t* list, const std::string& name) {
    std::size_t i = 0;
    const json_t* one = nullptr;
    json_array_foreach(list, i, one) {
        if (json_is_string(one) && name == json_string_value(one)) {
            return true;
        }
    }
    return false;
}

std::string text_of(const Json& request, const char* key) {
    const auto text = request.string_at(key);
    if (!text) {
        throw Failure(EPROTO, std::string("partition-change wants ") + key + ":s");
    }
    return *text;
}

bool is_drain(const std::string& op) {
    return op == "drain" || op == "resume";
}

/// Of a request about one partition or several.
std::vector<std::string> partitions_named(const Json& request) {
    const Json list = request.at("names");
    std::vector<std::string> names;
    std::size_t i = 0;
    const json_t* name = nullptr;
    json_array_foreach(list.get(), i, name) {
        if (!json_is_string(name)) {
            throw Failure(EPROTO, "partition-change wants names:[s]");
        }
        names.emplace_back(json_string_value(name));
    }
    return names.empty() ? std::vector<std::string>{text_of(request, "name")} : names;
}

std::string state_of(const PartitionTable::Partition& partition) {
    const bool is_up = partition.current && partition.current->is_attached;
    return !partition.is_wanted   ? "ending"
           : partition.is_drained ? "drained"
           : is_up                ? "up"
           : partition.is_down    ? "down"
           : partition.is_off     ? "off"
                                  : "starting";
}

}  // namespace

// ---- the configuration ----

Status PartitionKeeper::check_queues(const std::vector<PartitionSpec>& specs, const json_t* queues,
                                     const json_t* route) const {
    for (const PartitionSpec& spec : specs) {
        std::vector<std::string> named = spec.queues;
        named.insert(named.end(), spec.overflow.begin(), spec.overflow.end());
        for (std::size_t i = 0; i < named.size(); i++) {
            const std::string& queue = named[i];
            const std::string lead =
                "[partition " + spec.name + "] " + (i < spec.queues.size() ? "queues" : "overflow") + ": ";
            if (json_object_get(queues, queue.c_str()) == nullptr) {
                return Error{std::errc::invalid_argument,
                             lead + "there is no queue " + queue + "; write a table [queues." + queue + "]"};
            }
            if (route != nullptr && !has_name(route, queue)) {
                return Error{std::errc::invalid_argument,
                             lead + "jobs of the queue " + queue +
                                 " run in this instance itself; write it into [weir.route] queues, or a [[partition]] "
                                 "for it into the configuration"};
            }
        }
    }
    return Done{};
}

/// Throws Failure. `array` is the new configuration; a command cannot route further queues.
std::vector<PartitionSpec> PartitionKeeper::checked(const json_t* array) const {
    const json_t* queues = queues_.get();
    const json_t* route = route_.get();
    auto specs = value_or_throw(decode_partitions(array, users_.get()));
    (void)value_or_throw(check_queues(specs, queues, nullptr));
    Json routed = Json::array();
    for (const std::string& queue : partition_queues(configured_.get())) {
        routed.append(queue);
    }
    if (json_t* named = json_object_get(route, "queues"); json_is_array(named)) {
        json_array_extend(routed.get(), named);
    }
    if (array != configured_.get()) {
        (void)value_or_throw(check_queues(specs, queues, routed.get()));
    }
    return specs;
}

/// What operators have set is on top of a new configuration: it must be valid there.
void PartitionKeeper::check_changes(const json_t* configured, const json_t* users, const json_t* queues) const {
    const auto specs = decode_partitions(changes_.applied_to(configured).get(), users);
    const Status is_valid = specs ? check_queues(*specs, queues, nullptr) : Status(specs.error());
    if (!is_valid) {
        throw Failure(EINVAL,
                      is_valid.error().message + "; `weir partition` has set that, and can change or remove it");
    }
}

/// The configuration has been checked. The file of changes was valid with a former one: if it is not now, its tables
/// are ignored, but what is drained stays so. What is dropped leaves the file as well: otherwise it would be in force
/// again when the former table returns.
void PartitionKeeper::put_in_force() {
    const std::vector<std::string> forgotten = changes_.forget_stale(configured_.get());
    in_force_ = changes_.applied_to(configured_.get());
    for (const std::string& name : forgotten) {
        flux::log(h_, LOG_NOTICE,
                  "The configuration of the partition " + name +
                      " has changed: what `weir partition` had set for it is dropped.");
    }
    if (const Status is_written = forgotten.empty() ? Status(Done{}) : write(changes_); !is_written) {
        flux::log(h_, LOG_ERR, is_written.error().message + ": the file still has what is dropped");
    }
    auto specs = decode_partitions(in_force_.get(), users_.get());
    if (!specs) {
        flux::log(h_, LOG_ERR, changes_file_ + ": " + specs.error().message + "; the partitions are as configured");
        changes_.forget_tables();
        in_force_ = changes_.applied_to(configured_.get());
        specs = value_or_throw(decode_partitions(in_force_.get(), users_.get()));
    }
    std::vector<std::string> names;
    for (PartitionSpec& spec : *specs) {
        names.push_back(spec.name);
        spec.is_added = partition_table_of(configured_.get(), spec.name) == nullptr;
        spec.folder = changes_.folder_of(spec.name);
    }
    table_.configure(std::move(*specs));
    for (const std::string& name : names) {
        (void)table_.set_drained(name, changes_.is_drained(name));
    }
    if (is_ready_) {
        notify_plugin();
    }
}

/// Nothing changes unless the machine could hold every partition that is new or changed.
void PartitionKeeper::config_reload(const flux_msg_t* msg) {
    json_t* array = nullptr;
    json_t* queues = nullptr;
    json_t* route = nullptr;
    json_t* users = nullptr;
    json_t* access = nullptr;
    flux::unpack(msg, "{s?o s?o s?o s?{s?o s?o}}", "partition", &array, "queues", &queues, "access", &access, "weir",
                 "route", &route, "users", &users);
    const auto specs = value_or_throw(decode_partitions(array, users));
    (void)value_or_throw(check_queues(specs, queues, nullptr));
    (void)value_or_throw(check_instances(specs, place_));
    check_changes(array, users, queues);
    if (value_or_throw(decode_route_settings(route)) != started_with_) {
        flux::log(h_, LOG_WARNING, "[weir.route] lost-after and hand-down take effect at the next start");
    }
    const auto reload = std::make_shared<Reload>(Reload{flux::keep(msg),
                                                        Json::ref(array).deep_copy(),
                                                        Json::ref(queues).deep_copy(),
                                                        Json::ref(route).deep_copy(),
                                                        Json::ref(users).deep_copy(),
                                                        flux::PrivateMode(access),
                                                        1,
                                                        {}});
    for (const PartitionSpec& spec : specs) {
        const auto known = table_.partitions().find(spec.name);
        if (known == table_.partitions().end() || known->second.spec.digest != spec.digest) {
            reload->asked += 1;
            ask_scheduler(spec, {{}, {}, {}, spec.name, reload});
        }
    }
    end_reload(*reload);
}

/// One answer is there, or all questions were asked.
void PartitionKeeper::end_reload(Reload& reload) {
    if (--reload.asked > 0) {
        return;
    }
    if (!reload.refused.empty()) {
        flux::respond_error(h_, reload.msg.get(), EINVAL, reload.refused);
        return;
    }
    configured_ = std::move(reload.partitions);
    queues_ = std::move(reload.queues);
    route_ = std::move(reload.route);
    users_ = std::move(reload.users);
    privacy_ = reload.privacy;
    put_in_force();
    look();
    flux::respond(h_, reload.msg.get(), {});
}

// ---- people ----

Json PartitionKeeper::table_of(const std::string& name, const char* key) const {
    const json_t* table = json_object_get(partition_table_of(in_force_.get(), name), key);
    return table != nullptr ? Json::ref(table).deep_copy() : Json::object();
}

Json PartitionKeeper::view_of(const std::string& name, const PartitionTable::Partition& partition,
                              const std::vector<ChildView>& children) const {
    const PartitionSpec& spec = partition.spec;
    const Duration now = duration_from_seconds(flux::monotonic_seconds());
    Json queues = Json::array(), instances = Json::array();
    for (const std::string& queue : spec.queues) {
        queues.append(queue);
    }
    const auto add = [&](const PartitionInstance& instance, const char* role) {
        const PartitionPaths paths = partition_paths(spec, place_, instance.folder);
        Json one = Json::object();
        one.set("job", instance.job.value).set("role", role).set("rundir", paths.rundir).set("log", paths.log);
        one.set("drained", drained_hosts(routes_.R_of(instance.job), drains_));
        for (const ChildView& child : children) {
            if (child.job == instance.job && instance.job.value != 0) {
                one.set("uri", child.uri).set("attached", child.is_attached).set("cores", child.cores);
                one.set("pending", child.pending).set("running", child.running).set("own", child.own_jobs);
            }
        }
        instances.append(std::move(one));
    };
    if (partition.current) {
        add(*partition.current, "current");
    }
    for (const PartitionInstance& instance : partition.old) {
        add(instance, "draining");
    }
    Json overflow = Json::array(), view = Json::object();
    for (const std::string& queue : spec.overflow) {
        overflow.append(queue);
    }
    view.set("overflow", std::move(overflow)).set("place", static_cast<long long>(spec.place));
    view.set("takes", table_of(name, "takes")).set("rules", rules_text(spec.takes));
    view.set("limits", table_of(name, "limits")).set("limits_text", limits_text(spec.limits));
    view.set("name", name).set("state", state_of(partition)).set("queues", std::move(queues));
    view.set("down", partition.is_down).set("deaths", partition.revival.deaths()).set("why", partition.why);
    view.set("for", to_seconds(now - partition.changed));
    view.set("next_in", to_seconds(partition.revival.next() - now));
    view.set("nodes", spec.nodes).set("cores", spec.cores).set("memory_per_node_mib", spec.memory_per_node_mib);
    view.set("scheduler", partition_scheduler(spec, place_));
    view.set("start", spec.is_on_demand ? "on-demand" : "at-once").set("idle_time", to_seconds(spec.idle));
    const bool is_living = partition.current && !partition.is_down;
    view.set("log", partition_paths(spec, place_, is_living ? partition.current->folder : partition.last_folder).log);
    const json_t* configured = partition_table_of(configured_.get(), name);
    view.set("changed", configured == nullptr || !json_equal(configured, partition_table_of(in_force_.get(), name)));
    return std::move(view.set("instances", std::move(instances)));
}

// Guest: reads what partitions there are and how they are, as `weir tree` shows it.
Json PartitionKeeper::partitions(const flux_msg_t*) {
    Json list = Json::array();
    const std::vector<ChildView> children = routes_.children();
    for (const auto& [name, partition] : table_.partitions()) {
        list.append(view_of(name, partition, children));
    }
    std::set<std::string> closed = table_.closed_queues();
    for (const ChildView& child : children) {  // also one that is no partition
        for (const std::string& queue : routes_.is_drained(child.job) ? std::vector<std::string>() : child.serves) {
            closed.erase(queue);
        }
    }
    Json names = Json::array(), answer = Json::object();
    for (const std::string& queue : closed) {
        names.append(queue);
    }
    return std::move(answer.set("partitions", std::move(list)).set("closed", std::move(names)));
}

/// The changes with this one, of which the whole has been checked; a null table removes.
PartitionChanges PartitionKeeper::changes_with(const std::string& name, Json table) const {
    auto parsed = value_or_throw(PartitionChanges::parse(changes_.text()));
    parsed.set(configured_.get(), name, std::move(table));
    const Json array = parsed.applied_to(configured_.get());
    (void)checked(array.get());
    return parsed;
}

void PartitionKeeper::set_table(const std::string& name, Json table) {
    (void)value_or_throw(put_changes(changes_with(name, std::move(table))));
    put_in_force();
}

Json PartitionKeeper::added(const Json& request, const std::string& name) const {
    if (partition_table_of(in_force_.get(), name) != nullptr) {
        throw Failure(EEXIST, "there is a partition " + name + " already");
    }
    return request.at("table").deep_copy();
}

Json PartitionKeeper::resized(const Json& request, const std::string& name) const {
    Json table = Json::ref(partition_table_of(in_force_.get(), name)).deep_copy();
    if (!table) {
        throw Failure(table_.unknown(name));
    }
    if (request.at("cores")) {
        json_object_del(table.get(), "nodes");
        json_object_del(table.get(), "cores-per-node");
    } else if (request.at("nodes")) {
        json_object_del(table.get(), "cores");
    }
    for (const char* key : {"cores", "nodes", "cores-per-node", "memory-per-node"}) {
        if (Json value = request.at(key)) {
            table.set(key, std::move(value));
        }
    }
    return table;
}

/// Whether the machine could ever hold the partition that a request asks for, before anything changes.
void PartitionKeeper::ask_fit(const flux_msg_t* msg, const Json& request) {
    const Change change = change_of(request);
    (void)changes_with(change.name, change.table.share());
    Json one = Json::array();
    one.append(change.table.share());
    const auto specs = value_or_throw(decode_partitions(one.get(), users_.get()));
    (void)value_or_throw(check_instances(specs, place_));
    ask_scheduler(specs.front(), {{}, flux::keep(msg), request.share(), change.name});
}

void PartitionKeeper::ask_scheduler(const PartitionSpec& spec, Fit fit) {
    Json payload = Json::object();
    payload.set("jobspec", value_or_throw(Json::parse(partition_jobspec(spec, place_, 0))));
    fit.future = flux::rpc(h_, "feasibility.check", payload);
    flux_future_t* key = fit.future.get();
    flux::then<&PartitionKeeper::on_fit>(key, this, flux::real_seconds(h_, fit_s));
    fits_.emplace(key, std::move(fit));
}

/// A scheduler that does not answer has no say.
void PartitionKeeper::on_fit(flux_future_t* f) {
    const auto found = fits_.find(f);
    if (found == fits_.end()) {
        return;
    }
    Fit fit = std::move(found->second);
    fits_.erase(found);
    const flux::Caught refused = flux::catching([f] { (void)flux::rpc_get(f, "the scheduler says"); });
    const bool is_impossible = refused.errnum != 0 && refused.errnum != ENOSYS && refused.errnum != ETIMEDOUT;
    const std::string refusal = is_impossible ? "The partition " + fit.name +
                                                    " cannot have this size, and nothing is changed: " + refused.message
                                              : "";
    if (fit.reload) {
        Reload& reload = *fit.reload;
        reload.refused += (reload.refused.empty() || refusal.empty() ? "" : "\n") + refusal;
        end_reload(reload);
        return;
    }
    const flux::Caught caught = flux::catching([&] {
        if (is_impossible) {
            throw Failure(refused.errnum, refusal);
        }
        flux::respond(h_, fit.msg.get(), apply(fit.request, change_of(fit.request)));
    });
    if (caught.errnum != 0) {
        flux::respond_error(h_, fit.msg.get(), caught.errnum, caught.message);
    }
}

/// {op, name, ...}: add {table}, remove {kill?}, resize {cores | nodes, cores-per-node?, memory-per-node?, kill?},
/// restart {kill?}, close; drain and resume {name or names}.
void PartitionKeeper::change(const flux_msg_t* msg) {
    const char* payload = nullptr;
    if (flux_request_decode(msg, nullptr, &payload) < 0) {
        flux::fail_errno("partition-change");
    }
    const Json request = Json::parse_payload(payload != nullptr ? payload : "");
    const std::string op = text_of(request, "op");
    if (op == "add" || op == "resize") {
        ask_fit(msg, request);
        return;
    }
    flux::respond(h_, msg, apply(request, change_of(request)));
}

PartitionKeeper::Change PartitionKeeper::change_of(const Json& request) const {
    Change change;
    change.op = text_of(request, "op");
    if (change.op != "close" && !is_drain(change.op)) {
        change.name = change.op == "add" ? text_of(request.at("table"), "name") : text_of(request, "name");
    }
    if (change.op == "add") {
        change.table = added(request, change.name);
    } else if (change.op == "resize") {
        change.table = resized(request, change.name);
    }
    return change;
}

/// All or none of them. \return those that were so already
Json PartitionKeeper::set_drained(const std::vector<std::string>& names, bool is_drained) {
    auto changes = value_or_throw(PartitionChanges::parse(changes_.text()));
    std::vector<std::string> changed;
    Json same = Json::array();
    for (const std::string& name : names) {
        (void)value_or_throw(table_.check_wanted(name));
        if (table_.partitions().at(name).is_drained == is_drained) {
            same.append(name);
        } else {
            changes.set_drained(configured_.get(), name, is_drained);
            changed.push_back(name);
        }
    }
    if (!changed.empty()) {
        (void)value_or_throw(put_changes(std::move(changes)));
    }
    for (const std::string& name : changed) {
        (void)value_or_throw(table_.set_drained(name, is_drained));
    }
    return same;
}

/// \return {warnings: [s], unchanged: b, drained: b}; same: [s] of drain and resume, the names that were so already
Json PartitionKeeper::apply(const Json& request, const Change& change) {
    const auto& [op, name, table] = change;
    const bool is_killed = request.boolean_at("kill").value_or(false);
    const bool is_same = table && json_equal(table.get(), partition_table_of(in_force_.get(), name)) == 1;
    Json same;
    if (op == "close") {
        queues_kept_.clear();  // the next start has them again
        table_.close();
    } else if (table) {
        set_table(name, table.share());
        if (is_killed && !is_same) {
            (void)table_.restart(name,
                                 true);  // before look(): the next instance has the folder of the one that is killed
        }
    } else if (op == "remove") {
        const bool is_ending = table_.partitions().count(name) > 0;
        if (partition_table_of(in_force_.get(), name) != nullptr) {
            set_table(name, Json::own(json_null()));
        } else if (!is_killed || !is_ending) {
            throw is_ending ? Failure(ENOENT, "the partition " + name + " is ending already; --kill ends its jobs too")
                            : Failure(table_.unknown(name));
        }
    } else if (is_drain(op)) {
        same = set_drained(partitions_named(request), op == "drain");
    } else if (op == "restart") {
        (void)value_or_throw(table_.restart(name, is_killed));
    } else {
        throw Failure(EPROTO, "unknown op " + op);
    }
    look();
    Json warnings = Json::array();
    for (const std::string& warning : warnings_) {
        warnings.append(warning);
    }
    if (is_killed) {
        (void)table_.kill_old(name);
    }
    perform();
    Json answer = Json::object();
    const auto partition = table_.partitions().find(name);
    const bool is_drained = partition != table_.partitions().end() && partition->second.is_drained;
    answer.set("warnings", std::move(warnings)).set("unchanged", is_same).set("drained", is_drained);
    answer.set("same", std::move(same));
    return answer;
}

}  // namespace weir::route
