// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see partition_json.hpp.
#include "modules/job-route/partition_json.hpp"

#include <pwd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <set>
#include <span>
#include <string_view>

#include "libfairshare/base/fsd.hpp"
#include "libfairshare/base/hostlist.hpp"
#include "libfairshare/base/memory_size.hpp"
#include "libfairshare/base/nearest_name.hpp"

namespace weir::route {
namespace {

constexpr std::array<std::string_view, 17> table_keys{
    "name",  "queues",     "overflow",  "takes",   "limits", "cores",     "nodes",  "cores-per-node", "memory-per-node",
    "hosts", "properties", "scheduler", "options", "start",  "idle-time", "config", "partition"};
constexpr std::array<std::string_view, 4> limit_keys{"running-jobs-max", "cores-max", "user-running-jobs-max",
                                                     "user-cores-max"};
constexpr std::array<std::string_view, 10> rule_keys{"duration-min", "duration-max", "cores-min", "cores-max",
                                                     "nodes-min",    "nodes-max",    "accounts",  "users",
                                                     "qos",          "properties"};
constexpr std::int64_t count_max = 1 << 24;
constexpr std::size_t name_max = 64;
constexpr std::size_t depth_max = 8;

std::string listed(std::span<const std::string_view> names) {
    std::string list;
    for (const std::string_view name : names) {
        list += (list.empty() ? "" : ", ") + std::string(name);
    }
    return list;
}

/// Reads one table; every complaint is a line of `mistakes`.
class TableReader {
  public:
    TableReader(const json_t* table, std::string place, std::string& mistakes)
        : table_(table), place_(std::move(place)), mistakes_(mistakes) {}

    void complain(const std::string& key, const std::string& right) {
        const json_t* value = json_object_get(table_, key.c_str());
        mistakes_ += (mistakes_.empty() ? "" : "\n") + std::string("[") + place_ + "] " + key +
                     (value != nullptr ? " = " + Json::ref(value).dump() : "") + ": " + right;
    }
    const json_t* value(const char* key) const { return json_object_get(table_, key); }
    bool has(const char* key) const { return value(key) != nullptr; }

    std::string text(const char* key, const char* right) {
        const json_t* found = value(key);
        if (found != nullptr && (!json_is_string(found) || json_string_length(found) == 0)) {
            complain(key, std::string("must be ") + right);
        }
        return json_is_string(found) ? json_string_value(found) : std::string();
    }
    std::int64_t count(const char* key, std::int64_t otherwise) {
        const json_t* found = value(key);
        if (found == nullptr) {
            return otherwise;
        }
        const json_int_t number = json_is_integer(found) ? json_integer_value(found) : 0;
        if (number < 1 || number > count_max) {
            complain(key, "must be a whole number from 1 to " + std::to_string(count_max));
            return otherwise;
        }
        return number;
    }
    std::vector<std::string> texts(const char* key, const char* right) {
        std::vector<std::string> list;
        const json_t* found = value(key);
        bool is_right = found == nullptr || json_is_array(found);
        std::size_t i = 0;
        const json_t* one = nullptr;
        json_array_foreach(found, i, one) {
            is_right = is_right && json_is_string(one) && json_string_length(one) > 0;
            list.emplace_back(json_is_string(one) ? json_string_value(one) : "");
        }
        if (!is_right) {
            complain(key, std::string("must be ") + right);
        }
        return list;
    }
    /// Above 0; nothing where there is none, or a mistake.
    std::optional<Duration> duration(const char* key) {
        const json_t* found = value(key);
        const auto duration = parse_fsd_with_unit(json_is_string(found) ? json_string_value(found) : "");
        if (found != nullptr && (!duration || *duration <= Duration::zero())) {
            complain(key, "must be a duration above 0 with its unit, as \"10m\"");
            return std::nullopt;
        }
        return found != nullptr ? std::optional(*duration) : std::nullopt;
    }
    /// MiB; 0 where there is none, or a mistake.
    std::uint32_t memory(const char* key) {
        const json_t* found = value(key);
        const auto mib = parse_mib(json_is_string(found) ? json_string_value(found) : "");
        if (found != nullptr && !mib) {
            complain(key, "must be an amount of memory with its unit, as \"64GiB\"");
        }
        return found != nullptr && mib ? *mib : 0;
    }
    void check_keys(std::span<const std::string_view> keys) {
        const char* key = nullptr;
        const json_t* ignored = nullptr;
        json_object_foreach(const_cast<json_t*>(table_), key, ignored) {
            if (std::find(keys.begin(), keys.end(), key) == keys.end()) {
                const std::string meant = did_you_mean(key, keys);
                complain(key, "unknown key; " + (meant.empty() ? "the keys are " + listed(keys) : meant));
            }
        }
    }

  private:
    const json_t* table_;
    std::string place_;
    std::string& mistakes_;
};

bool is_partition_name(std::string_view name) {
    return !name.empty() && name.size() <= name_max && name[0] != '-' &&
           std::all_of(name.begin(), name.end(), [](unsigned char c) {
               return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
                      c == '_';
           });
}

std::string module_of(const std::string& scheduler) {
    return scheduler == "easy" || scheduler == "fcfs" ? "sched-weir-" + scheduler : scheduler;
}

/// No job requests more than its nodes have.
PartitionMemory memory_of(const PartitionSpec& spec) {
    return spec.memory_per_node_mib == 0
               ? PartitionMemory{}
               : PartitionMemory{spec.memory_per_node_mib, std::max<std::int64_t>(1, spec.nodes)};
}

void read_size(TableReader& reader, PartitionSpec& spec) {
    const bool has_nodes = reader.has("nodes");
    if (has_nodes == reader.has("cores")) {
        reader.complain(has_nodes ? "nodes" : "cores", "give either cores = N, or nodes = N with cores-per-node = M");
    } else if (has_nodes && !reader.has("cores-per-node")) {
        reader.complain("nodes", "needs cores-per-node = M beside it");
    } else if (!has_nodes && reader.has("cores-per-node")) {
        reader.complain("cores-per-node", "goes with nodes = N; cores = N counts those of all nodes");
    }
    spec.nodes = reader.count("nodes", 0);
    spec.cores = has_nodes ? reader.count("cores-per-node", 1) : reader.count("cores", 1);
    spec.memory_per_node_mib = reader.memory("memory-per-node");
    spec.takes.memory = memory_of(spec);
    spec.hosts = reader.text("hosts", "a host list, as \"node[0-3]\"");
    if (!spec.hosts.empty() && !hostlist_decode(spec.hosts)) {
        reader.complain("hosts", "must be a host list, as \"node[0-3]\"");
    }
    spec.properties = reader.texts("properties", "a list of names, as [\"gpu\"]");
}

void read_start(TableReader& reader, PartitionSpec& spec) {
    const std::string start = reader.text("start", "\"at-once\" or \"on-demand\"");
    if (!start.empty() && start != "at-once" && start != "on-demand") {
        reader.complain("start", "must be \"at-once\" or \"on-demand\"");
    }
    spec.is_on_demand = start == "on-demand";
    spec.idle = reader.duration("idle-time").value_or(Duration::zero());
}

template <typename T>
void check_order(TableReader& reader, const Range<T>& range, const std::string& name) {
    if (range.least && range.most && *range.most < *range.least) {
        reader.complain(name + "-max", "must not be less than " + name + "-min");
    }
}

Range<std::int64_t> read_counts(TableReader& reader, const std::string& name) {
    Range<std::int64_t> range;
    for (auto [end, into] : {std::pair("-min", &range.least), std::pair("-max", &range.most)}) {
        if (const std::string key = name + end; reader.has(key.c_str())) {
            *into = reader.count(key.c_str(), 1);
        }
    }
    check_order(reader, range, name);
    return range;
}

std::vector<std::string> read_list(TableReader& reader, const char* key, const char* example) {
    const std::string right = std::string("a list of names, as ") + example;
    std::vector<std::string> list = reader.texts(key, right.c_str());
    if (json_is_array(reader.value(key)) && list.empty()) {
        reader.complain(key, "must be " + right + "; without the key it takes those of all");
    }
    return list;
}

/// By [weir.users], else by the machine, else a number.
std::optional<std::uint32_t> userid_named(const std::string& name, const json_t* users) {
    if (const json_t* id = json_object_get(users, name.c_str()); json_is_integer(id)) {
        return static_cast<std::uint32_t>(json_integer_value(id));
    }
    constexpr std::size_t entry_max = 1 << 16;
    std::vector<char> space(entry_max);
    passwd entry{};
    passwd* found = nullptr;
    if (getpwnam_r(name.c_str(), &entry, space.data(), space.size(), &found) == 0 && found != nullptr) {
        return entry.pw_uid;
    }
    std::uint32_t number = 0;
    const auto [end, failed] = std::from_chars(name.data(), name.data() + name.size(), number);
    return failed == std::errc() && end == name.data() + name.size() ? std::optional(number) : std::nullopt;
}

PartitionRules read_rules(TableReader& reader, const PartitionSpec& spec, const json_t* users) {
    PartitionRules rules = spec.takes;
    reader.check_keys(rule_keys);
    rules.duration = {reader.duration("duration-min"), reader.duration("duration-max")};
    check_order(reader, rules.duration, "duration");
    rules.cores = read_counts(reader, "cores");
    rules.nodes = read_counts(reader, "nodes");
    const std::int64_t cores = spec.cores_in_all();
    if (rules.cores.least && *rules.cores.least > cores) {
        reader.complain("cores-min", "must be at most " + std::to_string(cores) + ", the cores of the partition");
    }
    rules.accounts = read_list(reader, "accounts", "[\"physics\", \"bio/lab\"]");
    rules.qos = read_list(reader, "qos", "[\"high\"]");
    rules.properties = read_list(reader, "properties", "[\"gpu\"], or [\"^gpu\"] for jobs that do not require it");
    rules.users = read_list(reader, "users", "[\"alice\"]");
    for (const std::string& user : rules.users) {
        if (const auto id = userid_named(user, users)) {
            rules.userids.insert(*id);
        } else if (!user.empty()) {
            reader.complain("users",
                            "there is no user " + user + " on this machine; [weir.users] can give it a number");
        }
    }
    return rules;
}

PartitionLimits read_limits(TableReader& reader, const PartitionSpec& spec) {
    PartitionLimits limits;
    reader.check_keys(limit_keys);
    const auto read = [&reader](const char* key, std::optional<std::int64_t>& into) {
        if (reader.has(key)) {
            into = reader.count(key, 1);
        }
    };
    read("running-jobs-max", limits.running_jobs);
    read("cores-max", limits.cores);
    read("user-running-jobs-max", limits.user_running_jobs);
    read("user-cores-max", limits.user_cores);
    const std::int64_t least = spec.takes.cores.least.value_or(1);
    for (const auto& [key, limit] : {std::pair("cores-max", limits.cores), {"user-cores-max", limits.user_cores}}) {
        if (limit && *limit < least) {
            reader.complain(key, "must be at least " + std::to_string(least) + ", the cores-min of takes");
        }
    }
    return limits;
}

/// No job is larger than a limit.
void take_within(PartitionSpec& spec) {
    std::optional<std::int64_t>& most = spec.takes.cores.most;
    for (const std::optional<std::int64_t>& limit : {spec.limits.cores, spec.limits.user_cores}) {
        if (limit) {
            most = std::min(most.value_or(*limit), *limit);
        }
    }
}

/// The table without what may change in a running instance.
std::string digest_of(const json_t* table) {
    const Json copy = Json::own(json_copy(const_cast<json_t*>(table)));
    json_object_del(copy.get(), "start");
    json_object_del(copy.get(), "idle-time");
    json_object_del(copy.get(), "overflow");
    json_object_del(copy.get(), "takes");
    json_object_del(copy.get(), "limits");
    return copy.dump(JSON_COMPACT | JSON_SORT_KEYS);
}

struct Reading {
    const json_t* users;  ///< [weir.users]
    std::string mistakes = {};
};

std::vector<PartitionSpec> read_array(const json_t* array, const std::string& above, std::size_t depth,
                                      Reading& reading);

PartitionSpec read_table(const json_t* table, const std::string& place, std::size_t depth, Reading& reading) {
    TableReader reader(table, place, reading.mistakes);
    PartitionSpec spec;
    reader.check_keys(table_keys);
    spec.name = reader.text("name", "a name");
    if (!is_partition_name(spec.name)) {
        reader.complain("name", "must be a name of at most 64 letters, digits, - and _");
    }
    spec.queues = reader.texts("queues", "a list of names of queues");
    if (spec.queues.empty()) {
        spec.queues = {spec.name};
    }
    spec.overflow = reader.texts("overflow", "a list of names of queues");
    for (const std::string& queue : spec.overflow) {
        if (std::find(spec.queues.begin(), spec.queues.end(), queue) != spec.queues.end()) {
            reader.complain("overflow", "the partition serves the queue " + queue + " as its own: name others");
        }
    }
    read_size(reader, spec);
    spec.scheduler = module_of(reader.text("scheduler", "\"easy\", \"fcfs\" or the name of a scheduler's module"));
    spec.options = reader.texts("options", "a list of the scheduler's arguments, as [\"queue-depth=64\"]");
    read_start(reader, spec);
    if (const json_t* takes = reader.value("takes"); takes != nullptr && !json_is_object(takes)) {
        reader.complain("takes", "must be a table, as { duration-max = \"1h\" }");
    } else if (takes != nullptr) {
        TableReader below(takes, place + ".takes", reading.mistakes);
        spec.takes = read_rules(below, spec, reading.users);
    }
    if (const json_t* limits = reader.value("limits"); limits != nullptr && !json_is_object(limits)) {
        reader.complain("limits", "must be a table, as { running-jobs-max = 10 }");
    } else if (limits != nullptr) {
        TableReader below(limits, place + ".limits", reading.mistakes);
        spec.limits = read_limits(below, spec);
        take_within(spec);
    }
    if (const json_t* config = reader.value("config"); config != nullptr) {
        if (!json_is_object(config)) {
            reader.complain("config", "must be a table");
        }
        spec.config = Json::ref(config).dump();
    }
    if (const json_t* below = reader.value("partition"); below != nullptr) {
        (void)read_array(below, place + ".", depth + 1, reading);
        spec.partitions = Json::ref(below).dump();
    }
    spec.digest = digest_of(table);
    return spec;
}

std::vector<PartitionSpec> read_array(const json_t* array, const std::string& above, std::size_t depth,
                                      Reading& reading) {
    const auto complain = [&mistakes = reading.mistakes](const std::string& place, const std::string& what) {
        mistakes += (mistakes.empty() ? "" : "\n") + std::string("[") + place + "] " + what;
    };
    std::vector<PartitionSpec> specs;
    if (!json_is_array(array) || depth > depth_max) {
        complain(above + "partition", depth > depth_max ? "partition: at most 8 levels of partitions are possible"
                                                        : "partition: write a table [[partition]] for each");
        return specs;
    }
    std::set<std::string> names;
    std::size_t i = 0;
    const json_t* table = nullptr;
    json_array_foreach(array, i, table) {
        const json_t* name = json_object_get(table, "name");
        const std::string shown = json_is_string(name) ? json_string_value(name) : "#" + std::to_string(i + 1);
        const std::string place = above + "partition " + shown;
        if (!json_is_object(table)) {
            complain(place, "partition: must be a table");
            continue;
        }
        specs.push_back(read_table(table, place, depth, reading));
        specs.back().place = i;
        if (!names.insert(specs.back().name).second) {
            complain(place, "name = \"" + specs.back().name + "\": another partition has this name");
        }
    }
    return specs;
}

}  // namespace

Result<std::vector<PartitionSpec>> decode_partitions(const json_t* array, const json_t* users) {
    Reading reading{users};
    std::vector<PartitionSpec> specs;
    if (array != nullptr && !json_is_null(array)) {
        specs = read_array(array, "", 1, reading);
    }
    if (!reading.mistakes.empty()) {
        return Error{std::errc::invalid_argument, reading.mistakes};
    }
    return specs;
}

std::vector<std::string> partition_queues(const json_t* array) {
    std::vector<std::string> queues;
    const auto add = [&queues](const json_t* name) {
        const std::string queue = json_is_string(name) ? json_string_value(name) : "";
        if (!queue.empty() && std::find(queues.begin(), queues.end(), queue) == queues.end()) {
            queues.push_back(queue);
        }
    };
    std::size_t i = 0;
    const json_t* table = nullptr;
    json_array_foreach(array, i, table) {
        const json_t* list = json_object_get(table, "queues");
        std::size_t j = 0;
        const json_t* queue = nullptr;
        json_array_foreach(list, j, queue) {
            add(queue);
        }
        if (json_array_size(list) == 0) {
            add(json_object_get(table, "name"));
        }
    }
    return queues;
}

json_t* partition_table_of(const json_t* array, const std::string& name) {
    std::size_t i = 0;
    json_t* table = nullptr;
    json_array_foreach(const_cast<json_t*>(array), i, table) {
        const json_t* found = json_object_get(table, "name");
        if (json_is_string(found) && name == json_string_value(found)) {
            return table;
        }
    }
    return nullptr;
}

}  // namespace weir::route
