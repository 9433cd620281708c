// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the requests of instances.hpp.
#include "cmd/common/instances.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <iterator>
#include <system_error>

#include "cmd/common/instance_clock.hpp"
#include "cmd/common/instance_queue.hpp"
#include "cmd/common/jobs.hpp"
#include "cmd/common/reader.hpp"
#include "cmd/common/text.hpp"
#include "cmd/common/time_text.hpp"
#include "libfairshare/base/json/r.hpp"

namespace weir::cmd {
namespace {

constexpr std::size_t depth_max = 16;

/// Child instances are asked side by side: those that hang cost one wait together. So many threads serve the whole
/// tree; where they are in use, a child is asked on the thread of its parent.
class Threads {
  public:
    /// `task` has run when the future is ready; at once, if there is no thread.
    template <typename Task>
    std::future<void> run(Task task) {
        if (free_.fetch_sub(1) > 0) {
            try {
                return std::async(std::launch::async, [this, task] {
                    task();
                    ++free_;
                });
            } catch (const std::system_error&) {  // the system gives no thread
            }
        }
        ++free_;
        task();
        std::promise<void> done;
        done.set_value();
        return done.get_future();
    }

  private:
    std::atomic<int> free_ = 32;
};

std::vector<std::string> texts_at(const json_t* object, const char* key) {
    std::vector<std::string> texts;
    for (const json_t* text : items_at(object, key)) {
        texts.emplace_back(json_is_string(text) ? json_string_value(text) : "");
    }
    return texts;
}

/// The row of a partition whose instance does not answer now.
Instance child_to_come(const PartitionState& state) {
    Instance child;
    child.serves = state.queues;
    child.partition = child.name = state.name;
    child.jobid = state.job;
    child.problem = absent_text(state);
    child.cores_busy = 0;
    if (state.is_down) {
        child.down = state;
    }
    return child;
}

/// Partitions first, in the order of the configuration, whichever started last; then the others as they are.
void sort_as_configured(std::vector<Instance>& children, const std::vector<std::string>& partitions) {
    const auto place_of = [&partitions](const Instance& child) {
        return std::find(partitions.begin(), partitions.end(), child.partition) - partitions.begin();
    };
    std::stable_sort(children.begin(), children.end(),
                     [&](const Instance& a, const Instance& b) { return place_of(a) < place_of(b); });
}

/// The URIs of the instances above one, from the top.
using Way = std::vector<std::string>;

void ask_child(const ChildEntry& entry, Instance& child, const Way& way, Threads& threads);

void ask_children(const std::vector<ChildEntry>& entries, std::vector<Instance>& children, const Way& way,
                  Threads& threads) {
    children.resize(entries.size());
    std::vector<std::future<void>> asked;
    for (std::size_t i = 0; i < entries.size(); ++i) {
        asked.push_back(threads.run(
            [&entry = entries[i], &child = children[i], &way, &threads] { ask_child(entry, child, way, threads); }));
    }
    for (const std::future<void>& one : asked) {
        one.wait();
    }
}

Instance row_of(const ChildEntry& entry) {
    Instance child;
    child.jobid = entry.jobid;
    child.lost_since = entry.lost_since;
    child.is_drained = entry.is_drained;
    child.serves = entry.serves;
    child.partition = entry.partition;
    child.name = entry.name;
    return child;
}

/// Takes the children that are not to be opened out of `entries`. Returns their rows.
std::vector<Instance> rows_of_others(Client& client, std::vector<ChildEntry>& entries) {
    std::vector<Instance> rows;
    const auto others = std::stable_partition(entries.begin(), entries.end(), may_open);
    if (others == entries.end()) {
        return rows;
    }
    const Users users = Users::of(client);
    for (auto entry = others; entry != entries.end(); ++entry) {
        rows.push_back(row_of(*entry));
        rows.back().problem = "an instance of " + users.name(entry->userid) + "; it is not asked";
    }
    entries.erase(others, entries.end());
    return rows;
}

/// The figures of one that refuses this user; false: none are known.
bool show_told(Instance& child, const ChildEntry& entry) {
    if (!entry.told) {
        return false;
    }
    child.cores = entry.told->cores;
    child.jobs.pending = entry.told->pending;
    child.jobs.running = entry.told->running;
    child.modules = entry.scheduler.empty() ? std::vector<std::string>() : std::vector<std::string>{entry.scheduler};
    child.problem = told_problem;
    return true;
}

void ask_instance(Client& client, Instance& instance, Way way, Threads& threads) {
    instance.uri = client.uri();
    instance.version = client.attribute("version").value_or("");
    instance.level =
        static_cast<int>(parse_integer(client.attribute("instance-level").value_or("0"), 0, 1000).value_or(0));
    if (auto answer = client.call("module.list")) {
        for (const json_t* module : items_at(answer->get(), "mods")) {
            instance.modules.push_back(text_at(module, "name"));
        }
    }
    if (auto answer = client.call("resource.sched-status")) {
        instance.cores = cores_of_r(json_object_get(answer->get(), "all"));
        instance.cores_busy = cores_of_r(json_object_get(answer->get(), "allocated"));
    }
    instance.jobs = job_counts(client);
    if (auto answer = client.call("sched.stats-get", Json::object(), child_answer_s)) {
        if (const json_t* told = json_object_get(answer->get(), "estimates")) {
            instance.estimates = EstimateErrors{integer_at(told, "count"), number_at(told, "total_s")};
        }
    }
    std::vector<PolicyState> policies;
    if (auto answer = client.call("job-priority.weights")) {
        instance.policy = policy_state(json_object_get(answer->get(), "in_force"));
        policies = policies_below(json_object_get(answer->get(), "in_force"));
    }
    if (way.size() >= depth_max) {
        return;
    }
    way.push_back(client.uri());
    std::vector<PartitionState> states = told_partition_states(client);
    std::vector<std::string> configured;
    for (const PartitionState& state : states) {
        configured.push_back(state.name);
    }
    std::vector<ChildEntry> entries = children_of(client);
    add_told(entries, states);
    std::erase_if(states,
                  [&entries](const PartitionState& state) {  // one that died is listed, one that is lost is not
                      return std::any_of(entries.begin(), entries.end(), [&state](const ChildEntry& entry) {
                          return entry.partition == state.name && (entry.state == "attached" || !state.is_down);
                      });
                  });
    std::erase_if(entries, [&states](const ChildEntry& entry) {  // listed by its state
        return std::any_of(states.begin(), states.end(),
                           [&entry](const PartitionState& state) { return entry.partition == state.name; });
    });
    std::vector<Instance> others = rows_of_others(client, entries);
    ask_children(entries, instance.children, way, threads);
    for (Instance& child : instance.children) {
        for (const PolicyState& told : policies) {  // of an instance that refuses this user
            child.policy = told.jobid == child.jobid && child.policy.settings.empty() ? told : child.policy;
        }
    }
    for (const PartitionState& state : states) {
        instance.children.push_back(child_to_come(state));
    }
    sort_as_configured(instance.children, configured);
    std::move(others.begin(), others.end(), std::back_inserter(instance.children));
}

void ask_child(const ChildEntry& entry, Instance& child, const Way& way, Threads& threads) {
    child = row_of(entry);
    child.uri = entry.uri;
    auto client = open_child(entry);
    if (!client && client.error().code == std::errc::operation_not_permitted && show_told(child, entry)) {
        child.is_told = true;
    } else if (!client) {
        child.problem = client.error().message.substr(0, client.error().message.find('\n'));
    } else if (std::find(way.begin(), way.end(), client->uri()) != way.end()) {
        child.problem = "its URI is that of an instance above it";
    } else {
        ask_instance(*client, child, way, threads);  // it knows the URI by which it was reached
    }
}

/// The children in an answer of job-route.tree.
std::vector<ChildEntry> children_in(const json_t* answer) {
    std::vector<ChildEntry> children;
    const std::int64_t owner = integer_at(answer, "owner", FLUX_USERID_UNKNOWN);
    for (const json_t* child : items_at(answer, "children")) {
        ChildEntry entry;
        entry.jobid = static_cast<std::uint64_t>(integer_at(child, "jobid"));
        entry.userid = static_cast<std::uint32_t>(integer_at(child, "userid", FLUX_USERID_UNKNOWN));
        entry.is_of_owner = entry.userid != FLUX_USERID_UNKNOWN && entry.userid == owner;
        entry.uri = text_at(child, "uri");
        entry.state = text_at(child, "state");
        entry.lost_since = number_at(child, "lost_since");
        entry.is_drained = json_is_true(json_object_get(child, "drained"));
        entry.serves = texts_at(child, "serves");
        entry.partition = text_at(child, "partition");
        entry.name = entry.partition.empty() && entry.is_of_owner ? listed(entry.serves) : entry.partition;
        children.push_back(std::move(entry));
    }
    return children;
}

/// The owner's, if this user is the owner: nobody else can end them. Partitions outlive job-route, and it knows none
/// until it has read the journal.
Result<std::set<std::uint64_t>> jobs_in_instance_queue(Client& client) {
    std::set<std::uint64_t> ids;
    if (client.attribute("security.owner") != std::to_string(getuid())) {
        return ids;
    }
    JobQuery query;
    query.limit = 0;  // all of them
    query.userid = getuid();
    query.queue = instance_queue;
    const Status done = list_jobs(client, query, [&ids](const Job& job) { ids.insert(job.id); });
    return done ? Result<std::set<std::uint64_t>>(std::move(ids)) : Result<std::set<std::uint64_t>>(done.error());
}

}  // namespace

std::int64_t cores_of_r(json_t* document) {
    if (!json_is_object(document)) {
        return 0;
    }
    const auto r = decode_r(document);
    return r ? static_cast<std::int64_t>(core_count(r->resources)) : 0;
}

PolicyState policy_state(const json_t* in_force) {
    return {text_at(in_force, "settings"), integer_at(in_force, "tree"), text_at(in_force, "from"),
            text_at(in_force, "refused"), static_cast<std::uint64_t>(integer_at(in_force, "jobid"))};
}

std::vector<PolicyState> policies_below(const json_t* in_force) {
    std::vector<PolicyState> policies;
    for (const json_t* child : items_at(in_force, "children")) {
        policies.push_back(policy_state(child));
    }
    return policies;
}

std::string policy_text(const PolicyState& policy, bool is_child) {
    if (policy.settings.empty()) {
        return "";
    }
    const bool is_own = is_child && policy.from == "own";
    return printable(std::to_string(policy.tree) + "/" + policy.settings) + (!policy.refused.empty() ? " refused"
                                                                             : is_own                ? " own"
                                                                                                     : "");
}

JobCounts job_counts(Client& client) {
    JobCounts counts;
    auto answer = client.call("job-list.job-stats", Json::object());
    if (!answer && answer.error().code == std::errc::operation_not_permitted) {  // a guest in a private instance
        if (auto sums = client.call("job-priority.stats-get", Json::object())) {
            counts.pending = integer_at(sums->get(), "pending");
            counts.running = integer_at(sums->get(), "running");
        }
    } else if (answer) {
        const json_t* states = json_object_get(answer->get(), "job_states");
        counts.pending = integer_at(states, "depend") + integer_at(states, "priority") + integer_at(states, "sched");
        counts.running = integer_at(states, "run") + integer_at(states, "cleanup");
        counts.inactive = integer_at(states, "inactive");
        counts.failed = integer_at(answer->get(), "failed");
        counts.canceled = integer_at(answer->get(), "canceled");
    }
    return counts;
}

Result<std::vector<PartitionState>> partition_states(Client& client) {
    const auto answer = client.call("job-route.partitions", Json::object());
    if (!answer) {
        return answer.error();
    }
    std::vector<PartitionState> states;
    for (const json_t* told : items_at(answer->get(), "partitions")) {
        PartitionState state;
        state.name = text_at(told, "name");
        state.state = text_at(told, "state");
        state.is_changed = json_is_true(json_object_get(told, "changed"));
        state.queues = texts_at(told, "queues");
        state.overflow = texts_at(told, "overflow");
        state.place = integer_at(told, "place");
        state.rules = text_at(told, "rules");
        state.takes = Json::ref(json_object_get(told, "takes")).dump();
        state.limits = Json::ref(json_object_get(told, "limits")).dump();
        state.limits_text = text_at(told, "limits_text");
        state.scheduler = text_at(told, "scheduler");
        state.start = text_at(told, "start");
        state.nodes = integer_at(told, "nodes");
        state.memory_per_node_mib = integer_at(told, "memory_per_node_mib");
        state.cores = integer_at(told, "cores");
        state.is_down = json_is_true(json_object_get(told, "down"));
        state.since = real_now() - number_at(told, "for");
        state.deaths = static_cast<int>(integer_at(told, "deaths"));
        state.why = text_at(told, "why");
        state.next = real_now() + number_at(told, "next_in");
        state.log = text_at(told, "log");
        for (const json_t* one : items_at(told, "instances")) {
            PartitionJob job{static_cast<std::uint64_t>(integer_at(one, "job")),
                             text_at(one, "role") == "current",
                             json_is_true(json_object_get(one, "attached")),
                             text_at(one, "uri"),
                             text_at(one, "rundir"),
                             integer_at(one, "cores"),
                             integer_at(one, "pending"),
                             integer_at(one, "running"),
                             integer_at(one, "own"),
                             text_at(one, "drained")};
            state.job = job.is_current ? job.job : state.job;
            state.jobs.push_back(std::move(job));
        }
        states.push_back(std::move(state));
    }
    std::stable_sort(states.begin(), states.end(), [](const auto& a, const auto& b) { return a.place < b.place; });
    return states;
}

std::vector<PartitionState> told_partition_states(Client& client) {
    auto states = partition_states(client);
    return states ? std::move(*states) : std::vector<PartitionState>();
}

std::string down_text(const PartitionState& state, double now) {
    const std::string deaths =
        state.deaths == 1 ? std::string("1 death") : std::to_string(state.deaths) + " deaths in a row, the last";
    const std::string next = state.job != 0 ? "it is starting as " + job_name(state.job)
                             : state.next >= now
                                 ? "next try in " + duration_text(duration_from_seconds(state.next - now))
                             : now - state.next < 10. ? std::string("it starts again now")
                                                      : "the next start is overdue; see weir log";
    return "down since " + local_time(state.since) + ", " + deaths + ": " + printable(state.why) + "; " + next;
}

std::string instance_name(const std::string& name, std::uint64_t jobid) {
    return name.empty() ? job_name(jobid) : name;
}

std::string absent_text(const PartitionState& state) {
    return state.is_down          ? down_text(state, real_now())
           : state.state == "off" ? "off; it starts when a job waits for it"
           : state.job != 0       ? state.state + " as " + job_name(state.job)
                                  : state.state;
}

std::vector<ChildEntry> children_of(Client& client) {
    auto answer = client.call("job-route.tree", Json::object());
    return answer ? children_in(answer->get()) : std::vector<ChildEntry>();
}

void add_told(std::vector<ChildEntry>& children, const std::vector<PartitionState>& states) {
    for (const PartitionState& state : states) {
        for (const PartitionJob& job : state.jobs) {
            for (ChildEntry& child : children) {
                if (child.jobid == job.job && job.job != 0) {
                    child.told = job;
                    child.scheduler = state.scheduler;
                }
            }
        }
    }
}

bool may_open(const ChildEntry& child) {
    return child.is_of_owner || child.userid == getuid();
}

Result<Client> open_child(const ChildEntry& child, double answer_s) {
    return may_open(child)
               ? Client::open(child.uri, answer_s)
               : Error{std::errc::operation_not_permitted, job_name(child.jobid) + " is an instance of another user"};
}

std::map<std::uint64_t, std::string> partition_names(Client& client) {
    std::map<std::uint64_t, std::string> names;
    for (const ChildEntry& child : children_of(client)) {
        names[child.jobid] = instance_name(child.name, child.jobid);
    }
    return names;
}

Result<std::set<std::uint64_t>> partition_jobs(Client& client) {
    const auto answer = client.call("job-route.tree", Json::object());
    if (!answer && answer.error().code != std::errc::function_not_supported) {
        return answer.error();
    }
    auto ids = jobs_in_instance_queue(client);
    if (!ids || !answer) {
        return ids;
    }
    for (const ChildEntry& child : children_in(answer->get())) {
        if (child.is_of_owner) {
            ids->insert(child.jobid);
        }
    }
    for (const json_t* id : items_at(answer->get(), "instances")) {
        ids->insert(static_cast<std::uint64_t>(json_integer_value(id)));
    }
    return ids;
}

Instance instance_tree(Client& client) {
    Instance instance;
    Threads threads;
    ask_instance(client, instance, {}, threads);
    return instance;
}

std::string scheduler_of(const std::vector<std::string>& modules) {
    for (const std::string_view prefix : {"sched-weir-", "sched-"}) {
        for (const std::string& name : modules) {
            if (name.starts_with(prefix)) {
                return name.substr(prefix.size());
            }
        }
    }
    return "";
}

}  // namespace weir::cmd
