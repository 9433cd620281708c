// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see site_partitions.hpp.
#include "cmd/sim/site_partitions.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>
#include <string_view>

#include "cmd/common/text.hpp"
#include "libfairshare/base/fsd.hpp"
#include "libfairshare/base/nearest_name.hpp"
#include "modules/job-route/partition_json.hpp"

namespace weir::cmd {
namespace {

constexpr std::int64_t hand_down_max = 100'000;  ///< as job-route has it
constexpr std::string_view module_prefix = "sched-weir-";

std::int64_t cores_of(const std::vector<SitePartition>& partitions) {
    std::int64_t sum = 0;
    for (const SitePartition& one : partitions) {
        sum += one.partition.cores;
    }
    return sum;
}

std::set<std::string> served_by(const std::vector<SitePartition>& partitions) {
    std::set<std::string> served;
    for (const SitePartition& one : partitions) {
        served.insert(one.partition.queues.begin(), one.partition.queues.end());
    }
    return served;
}

class SiteReader {
  public:
    SiteReader(const TomlPlaces& places, SitePartitions& into) : places_(places), into_(into) {}

    /// `users`: [weir.users].
    void read_partitions(const json_t* array, const json_t* users) {
        const auto specs = route::decode_partitions(array, users);
        if (!specs) {
            complain_lines(specs.error().message);
            return;
        }
        into_.partitions = read_all(*specs, "", users);
    }

    void read_hand_down(const json_t* value) {
        if (value == nullptr) {
            return;
        }
        into_.hand_down = json_is_integer(value) ? json_integer_value(value) : 0;
        if (into_.hand_down < 1 || into_.hand_down > hand_down_max) {
            complain("weir.route.hand-down", "[weir.route] hand-down",
                     "must be a whole number from 1 to " + std::to_string(hand_down_max));
        }
    }

    Duration read_duration(const char* key, const json_t* value) {
        if (value == nullptr || (json_is_integer(value) && json_integer_value(value) == 0)) {
            return {};
        }
        const auto read = parse_fsd_with_unit(json_is_string(value) ? json_string_value(value) : "");
        if (!read || *read > std::chrono::hours(24)) {
            complain(std::string("sim.") + key, std::string("[sim] ") + key,
                     "must be a duration with its unit, as \"5ms\", and at most a day");
            return {};
        }
        return *read;
    }

    void read_queues(const json_t* table) {
        if (table != nullptr && !json_is_object(table)) {
            complain("sim.queues", "[sim] queues", "must be a table: 3 = \"batch\" names the log's queue 3");
        }
        const char* key = nullptr;
        json_t* value = nullptr;
        json_object_foreach(const_cast<json_t*>(table), key, value) {  // it only walks
            const auto number = number_of(key);
            if (!number || !json_is_string(value)) {
                complain(std::string("sim.queues.") + key, std::string("[sim.queues] ") + key,
                         "must be the number of a queue of the log, and the name of a queue in quotes");
            } else {
                into_.queues.named[*number] = json_string_value(value);
            }
        }
    }

    void read_default_queue(const json_t* value) {
        if (value != nullptr && json_string_length(value) == 0) {
            complain("sim.default-queue", "[sim] default-queue", "must be the name of a queue in quotes");
        }
        into_.queues.otherwise = json_is_string(value) ? json_string_value(value) : "";
    }

    /// After all else. `queues`: the tables [queues.NAME] of an instance's file, or none.
    void check_overflow(const json_t* queues) { check_overflow(into_.partitions, "", known_queues(queues)); }

    const std::string& complaints() const { return complaints_; }

  private:
    /// `above`: the place of the partition around them, with a dot.
    void check_overflow(const std::vector<SitePartition>& partitions, const std::string& above,
                        const std::set<std::string>& known) {
        const std::vector<std::string_view> names(known.begin(), known.end());
        for (const SitePartition& one : partitions) {
            const std::string place = above + "partition " + one.partition.name;
            for (const std::string& queue : one.partition.overflow) {
                if (known.contains(queue) || number_of(queue)) {
                    continue;
                }
                const std::string nearest = did_you_mean(queue, names);
                const std::string missing =
                    above.empty() ? "there is no queue " + queue : "no partition beside it serves the queue " + queue;
                const std::string whose = above.empty() ? "the queues of this file are " : "the queues there are ";
                complain(place + ".overflow", "[" + place + "] overflow",
                         missing + "; " + (nearest.empty() ? whose + listed({known.begin(), known.end()}) : nearest));
            }
            check_overflow(one.partitions, place + ".", served_by(one.partitions));
        }
    }
    std::set<std::string> known_queues(const json_t* queues) const {
        std::set<std::string> known = served_by(into_.partitions);
        for (const auto& [number, name] : into_.queues.named) {
            known.insert(name);
        }
        if (!into_.queues.otherwise.empty()) {
            known.insert(into_.queues.otherwise);
        }
        const char* key = nullptr;
        json_t* value = nullptr;
        json_object_foreach(const_cast<json_t*>(queues), key, value) {  // it only walks
            known.insert(key);
        }
        return known;
    }
    /// Of a queue of the log.
    static std::optional<std::uint16_t> number_of(std::string_view text) {
        std::uint16_t number = 0;
        const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
        return read.ec == std::errc{} && read.ptr == text.data() + text.size() ? std::optional(number) : std::nullopt;
    }

    /// `above`: the place of the partition around them, with a dot. REQUIRES: decode_partitions() has read all levels
    /// without an error, as it does where it reads the topmost.
    std::vector<SitePartition> read_all(const std::vector<route::PartitionSpec>& specs, const std::string& above,
                                        const json_t* users) {
        std::vector<SitePartition> partitions;
        for (const route::PartitionSpec& spec : specs) {
            const std::string place = above + "partition " + spec.name;
            partitions.push_back(read_partition(spec, place));
            if (!spec.partitions.empty()) {
                const auto below = route::decode_partitions(Json::parse(spec.partitions).value().get(), users);
                partitions.back().partitions = read_all(*below, place + ".", users);
                check_below(partitions.back(), place);
            }
        }
        return partitions;
    }
    void check_below(const SitePartition& one, const std::string& place) {
        const std::int64_t sum = cores_of(one.partitions);
        if (sum > one.partition.cores) {
            complain(place + ".partition", "[" + place + "] partition",
                     "its partitions have " + std::to_string(sum) + " cores, and it has " +
                         std::to_string(one.partition.cores));
        }
        if (one.has_own_scheduler && !one.partitions.empty()) {
            into_.warnings.push_back("[" + place +
                                     "] scheduler has no effect in a replay: its partitions have theirs.");
        }
    }

    SitePartition read_partition(const route::PartitionSpec& spec, const std::string& place) {
        SitePartition one;
        one.partition.name = spec.name;
        one.partition.cores = spec.cores_in_all();
        one.partition.queues = spec.queues;
        one.partition.overflow = spec.overflow;
        one.partition.rules = spec.takes;
        one.partition.rules.memory.reset();
        one.partition.limits = spec.limits;
        route::PartitionRules known;
        known.duration = spec.takes.duration;
        known.cores = spec.takes.cores;
        known.accounts = spec.takes.accounts;
        known.users = spec.takes.users;
        known.userids = spec.takes.userids;
        if (one.partition.rules != known) {
            complain(place + ".takes", "[" + place + "] takes",
                     "only rules by duration, cores, account and user are replayed");
        }
        if (!spec.scheduler.empty()) {
            const bool is_module = spec.scheduler.rfind(module_prefix, 0) == 0;
            const auto policy = policy_named(is_module ? spec.scheduler.substr(module_prefix.size()) : spec.scheduler);
            if (policy) {
                one.partition.scheduler = *policy;
                one.has_own_scheduler = true;
            } else {
                complain(place + ".scheduler", "[" + place + "] scheduler", policy.error().message);
            }
        }
        const bool is_idle = spec.is_on_demand || spec.idle != Duration{};
        if (!spec.options.empty() || !spec.config.empty() || is_idle || spec.memory_per_node_mib > 0) {
            into_.warnings.push_back(
                "[" + place + "] options, config, start, idle-time and memory-per-node have no effect in a replay.");
        }
        return one;
    }

    void complain(const std::string& path, const std::string& what, const std::string& right) {
        complaints_ += (complaints_.empty() ? "" : "\n") + places_.of(path) + what + ": " + right;
    }
    /// Lines "[partition NAME] key ...".
    void complain_lines(const std::string& text) {
        for (std::size_t begin = 0; begin < text.size();) {
            const std::size_t end = std::min(text.find('\n', begin), text.size());
            const std::string line = text.substr(begin, end - begin);
            const std::size_t close = line.find("] ");
            const std::size_t after = close == std::string::npos ? close : line.find_first_of(" :", close + 2);
            const std::string path = after == std::string::npos
                                         ? "partition"
                                         : line.substr(1, close - 1) + "." + line.substr(close + 2, after - close - 2);
            complaints_ += (complaints_.empty() ? "" : "\n") + places_.of(path) + line;
            begin = end + 1;
        }
    }

    const TomlPlaces& places_;
    SitePartitions& into_;
    std::string complaints_;
};

/// The queues that the tree's jobs are of.
QueueNames names_of(const SitePartitions& site, const QueueNames& log_queues) {
    const std::set<std::string> served = served_by(site.partitions);
    QueueNames names = site.queues;
    if (names.otherwise.empty() && served.size() == 1) {
        names.otherwise = *served.begin();
    }
    for (const auto& [number, name] : log_queues.named) {
        if (served.contains(name)) {
            names.named.emplace(number, name);
        }
    }
    return names;
}

std::vector<SimPartition> replayed(const std::vector<SitePartition>& partitions, const Policy& scheduler) {
    std::vector<SimPartition> all;
    for (const SitePartition& one : partitions) {
        all.push_back(one.partition);
        if (!one.has_own_scheduler) {
            all.back().scheduler = scheduler;
        }
        all.back().partitions = replayed(one.partitions, scheduler);
    }
    return all;
}

Json names_json(const std::vector<std::string>& names) {
    Json out = Json::array();
    for (const std::string& name : names) {
        out.append(Json::own(::json_string(name.c_str())));
    }
    return out;
}

/// Those that are replayed.
Json rules_json(const route::PartitionRules& rules) {
    Json out = Json::object();
    const auto add_duration = [&out](const char* key, const std::optional<Duration>& value) {
        if (value) {
            out.set(key, encode_fsd(*value));
        }
    };
    const auto add_count = [&out](const char* key, const std::optional<std::int64_t>& value) {
        if (value) {
            out.set(key, static_cast<long long>(*value));
        }
    };
    add_duration("duration-min", rules.duration.least);
    add_duration("duration-max", rules.duration.most);
    add_count("cores-min", rules.cores.least);
    add_count("cores-max", rules.cores.most);
    if (!rules.accounts.empty()) {
        out.set("accounts", names_json(rules.accounts));
    }
    if (!rules.users.empty()) {
        out.set("users", names_json(rules.users));
    }
    return out;
}

Json limits_json(const route::PartitionLimits& limits) {
    Json out = Json::object();
    for (const auto& [key, limit] : {std::pair("running-jobs-max", limits.running_jobs),
                                     {"cores-max", limits.cores},
                                     {"user-running-jobs-max", limits.user_running_jobs},
                                     {"user-cores-max", limits.user_cores}}) {
        if (limit) {
            out.set(key, static_cast<long long>(*limit));
        }
    }
    return out;
}

Json settings_json(const std::vector<SitePartition>& partitions) {
    Json out = Json::array();
    for (const auto& [partition, has_own_scheduler, below] : partitions) {
        Json one = Json::object();
        one.set("name", partition.name)
            .set("cores", static_cast<long long>(partition.cores))
            .set("queues", names_json(partition.queues))
            .set("overflow", names_json(partition.overflow));
        if (has_own_scheduler && below.empty()) {
            one.set("scheduler", name_of(partition.scheduler));
        }
        if (partition.rules != route::PartitionRules{}) {
            one.set("takes", rules_json(partition.rules));
        }
        if (!partition.limits.is_empty()) {
            one.set("limits", limits_json(partition.limits));
        }
        if (!below.empty()) {
            one.set("partition", settings_json(below));
        }
        out.append(std::move(one));
    }
    return out;
}

/// Each once, in the order of the partitions that have one. \return the number of these.
std::size_t add_schedulers(const std::vector<SimPartition>& partitions, std::vector<std::string>& names) {
    std::size_t count = 0;
    for (const SimPartition& partition : partitions) {
        if (!partition.partitions.empty()) {
            count += add_schedulers(partition.partitions, names);
            continue;
        }
        count++;
        const std::string name = name_of(partition.scheduler);
        if (std::find(names.begin(), names.end(), name) == names.end()) {
            names.push_back(name);
        }
    }
    return count;
}

}  // namespace

Result<SitePartitions> read_site_partitions(const json_t* document, const TomlPlaces& places) {
    SitePartitions site;
    SiteReader reader(places, site);
    const json_t* sim = json_object_get(document, "sim");
    const json_t* weir = json_object_get(document, "weir");
    reader.read_partitions(json_object_get(document, "partition"), json_object_get(weir, "users"));
    reader.read_hand_down(json_object_get(json_object_get(weir, "route"), "hand-down"));
    site.link_delay = reader.read_duration("link-delay", json_object_get(sim, "link-delay"));
    site.report_interval = reader.read_duration("report-interval", json_object_get(sim, "report-interval"));
    reader.read_queues(json_object_get(sim, "queues"));
    reader.read_default_queue(json_object_get(sim, "default-queue"));
    reader.check_overflow(json_object_get(document, "queues"));
    if (!reader.complaints().empty()) {
        return Error{std::errc::invalid_argument, reader.complaints()};
    }
    return site;
}

Result<SimTree> tree_of(const SitePartitions& site, const Policy& scheduler, std::int64_t cores,
                        const QueueNames& log_queues) {
    SimTree tree;
    tree.partitions = replayed(site.partitions, scheduler);
    if (const std::int64_t sum = cores_of(site.partitions); sum > cores) {
        return Error{std::errc::invalid_argument, "the partitions have " + std::to_string(sum) +
                                                      " cores, the machine has " + std::to_string(cores) +
                                                      ": make them smaller, or set the machine's size with --cores."};
    }
    tree.hand_down = site.hand_down;
    tree.link_delay = site.link_delay;
    tree.report_interval = site.report_interval;
    tree.queue_of = [names = names_of(site, log_queues)](const SimJob& job) { return names.of(job); };
    return tree;
}

Json queues_json(const QueueNames& queues) {
    Json out = Json::object();
    for (const auto& [number, name] : queues.named) {
        out.set(std::to_string(number).c_str(), name);
    }
    return out;
}

Json settings_json(const SitePartitions& site) {
    Json out = Json::object();
    out.set("partition", settings_json(site.partitions))
        .set("hand-down", static_cast<long long>(site.hand_down))
        .set("link-delay", encode_fsd(site.link_delay))
        .set("report-interval", encode_fsd(site.report_interval))
        .set("queues", queues_json(site.queues))
        .set("default-queue", site.queues.otherwise);
    return out;
}

std::string scheduler_text(const SimTree& tree) {
    std::vector<std::string> names;
    const std::size_t count = add_schedulers(tree.partitions, names);
    return listed(names) + " in " + std::to_string(count) + (count == 1 ? " partition" : " partitions");
}

}  // namespace weir::cmd
