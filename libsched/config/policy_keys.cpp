// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the table of policy keys. See policy_keys.hpp.
#include "libsched/config/policy_keys.hpp"

#include <algorithm>
#include <cmath>

#include "libfairshare/algorithms/algorithm.hpp"
#include "libsched/config/key_table.hpp"
#include "libsched/config/policy_tables.hpp"

namespace weir::config {
namespace {

constexpr double usage_factor_max = 1000;

constexpr unsigned bit(PolicyKind policy) {
    return 1U << static_cast<unsigned>(policy);
}
constexpr unsigned multifactor = bit(PolicyKind::multifactor);
constexpr unsigned lsf = bit(PolicyKind::lsf);
constexpr unsigned moab = bit(PolicyKind::moab);
constexpr unsigned load = bit(PolicyKind::load_threshold);
constexpr unsigned all = multifactor | lsf | moab | load | bit(PolicyKind::fcfs);

using Policies = std::map<std::string, PolicyKind, std::less<>>;

/// By name. REQUIRES: fcfs is the last kind.
Policies policies_by_name() {
    Policies named;
    for (unsigned kind = 0; kind <= static_cast<unsigned>(PolicyKind::fcfs); ++kind) {
        const auto policy = static_cast<PolicyKind>(kind);
        named.emplace(name_of(policy), policy);
    }
    return named;
}

const Policies policies = policies_by_name();

void read_weights(Reader& reader, Value value, PolicySettings& s) {
    Weights& w = s.weights;
    const std::array<NumberKey, factor_count> keys{{{"wait", &w.wait},
                                                    {"fairshare", &w.fairshare},
                                                    {"qos", &w.qos},
                                                    {"queue", &w.queue},
                                                    {"size", &w.size},
                                                    {"user", &w.user},
                                                    {"association", &w.association},
                                                    {"site", &w.site},
                                                    {"resources", &w.resources}}};
    reader.table("weights", value, "must be a table: [weir.weights]", [&](const std::string& key, Value inner) {
        s.given.insert("weights." + key);
        if (!read_number(reader, keys, "weights." + key, key, inner)) {
            reader.unknown("weights." + key, inner,
                           "wait, fairshare, qos, queue, size, user, association, site, resources", "weights");
        }
    });
}

/// [weir.associations.PATH]: each has one key, priority.
void read_associations(Reader& reader, Value value, PolicySettings& s) {
    reader.table("associations", value, "must be a table of tables: [weir.associations.PATH]",
                 [&](const std::string& entry, Value inner) {
                     const std::string path = "associations." + entry;
                     const Value priority = json_object_get(inner, "priority");
                     if (!json_is_object(inner) || json_object_size(inner) != 1 || priority == nullptr) {
                         reader.complain(path, inner, "must hold one key, priority, such as priority = 10");
                     } else {
                         reader.number(path + ".priority", priority, s.associations[entry]);
                     }
                 });
}

void read_billing_weights(Reader& reader, const std::string& key, Value value, BillingWeights& into) {
    Result<BillingWeights> weights = BillingWeights::parse(json_is_string(value) ? json_string_value(value) : "=");
    if (weights) {
        into = std::move(*weights);
    } else {
        reader.complain(key, value,
                        json_is_string(value) ? weights.error().message
                                              : "must be a text such as \"cpu=1.0,mem=0.25G,gres/gpu=2.0\"");
    }
}

/// [weir.qos.NAME], [weir.queues.NAME]: the priority, and what their jobs cost.
void read_classes(Reader& reader, const std::string& name, Value value, PolicySettings& s) {
    const bool is_queue = name == "queues";
    std::map<std::string, double>& priorities = is_queue ? s.queues : s.qos;
    reader.table(name, value, "must be a table of tables: [weir." + name + ".NAME]",
                 [&](const std::string& entry, Value inner) {
                     if (!json_is_object(inner)) {
                         reader.complain(name + "." + entry, inner, "must be a table, such as { priority = 10 }");
                         return;
                     }
                     auto& factors = is_queue ? s.billing.factors.queue : s.billing.factors.qos;
                     fixed_table(reader, name + "." + entry, inner,
                                 std::string("priority, usage-factor") + (is_queue ? ", billing-weights" : ""),
                                 [&](const std::string& path, const std::string& key, Value v) {
                                     if (key == "priority") {
                                         reader.number(path, v, priorities[entry]);
                                     } else if (key == "usage-factor") {
                                         factors[entry] = 1;
                                         reader.number(path, v, 0, usage_factor_max, factors[entry]);
                                     } else if (key == "billing-weights" && is_queue) {
                                         read_billing_weights(reader, path, v, s.billing.queue_weights[entry]);
                                     } else {
                                         return false;
                                     }
                                     s.given.insert(name + "." + key);
                                     return true;
                                 });
                 });
}

void read_billing(Reader& reader, Value value, PolicySettings& s) {
    const auto rule = billing_rule_named(json_is_string(value) ? json_string_value(value) : "");
    if (rule) {
        s.billing.rule = *rule;
    } else {
        reader.complain("billing", value, rule.error().message);
    }
}

void read_resources(Reader& reader, Value value, PolicySettings& s) {
    reader.table("resources", value, "must be a table: [weir.resources]", [&](const std::string& name, Value inner) {
        const std::string path = "resources." + name;
        if (s.resources.size() == resource_kinds_max && !s.resources.contains(name)) {
            reader.complain(path, inner, "is one too many: at most " + std::to_string(resource_kinds_max) + " types");
            return;
        }
        ResourceRule& rule = s.resources[name];
        double total = 0;
        if (!json_is_object(inner)) {
            reader.number(path, inner, -weight_max, weight_max, rule.weight);
            return;
        }
        const std::array<NumberKey, 2> keys{{{"weight", &rule.weight, -weight_max}, {"total", &total, 1e-6, 1e15}}};
        fixed_table(reader, path, inner, "weight, total", [&](const std::string& at, const std::string& key, Value v) {
            return read_number(reader, keys, at, key, v);
        });
        if (total > 0) {
            rule.total = total;
        }
    });
}

void read_raw_factors(Reader& reader, Value list, PolicySettings& s) {
    std::set<std::string> known;
    for (const Factor factor : raw_factor_names) {
        known.insert(factor_names[index_of(factor)]);
    }
    bool is_good = json_is_array(list);
    s.raw_factors.clear();
    std::size_t index = 0;
    json_t* entry = nullptr;
    json_array_foreach(const_cast<json_t*>(list), index, entry) {
        const std::string name = json_is_string(entry) ? json_string_value(entry) : "";
        is_good = is_good && known.contains(name);
        s.raw_factors.insert(name);
    }
    if (!is_good) {
        std::string names;
        for (const std::string& name : known) {
            names += (names.empty() ? "\"" : ", \"") + name + "\"";
        }
        reader.complain("raw-factors", list, "must be a list of some of " + names);
    }
}

void read_algorithm(Reader& reader, Value value, PolicySettings& s) {
    const std::string name = json_is_string(value) ? json_string_value(value) : "";
    if (const auto found = algorithm_named(name)) {
        s.algorithm = name;
    } else {
        reader.complain("algorithm", value, found.error().message);
    }
}

void read_window(Reader& reader, Value value, PolicySettings& s) {
    fixed_table(reader, "window", value, "interval, depth, factor",
                [&](const std::string& path, const std::string& key, Value inner) {
                    double depth = s.window.depth;
                    const double asked = json_number_value(inner);
                    if (key == "interval") {
                        reader.duration(path, inner, duration_min, s.window.interval);
                    } else if (key == "depth" && asked != std::floor(asked)) {
                        reader.complain(path, inner, "must be a whole number of intervals");
                    } else if (key == "depth") {
                        reader.number(path, inner, 1, WindowPolicy::depth_max, depth);
                        s.window.depth = static_cast<unsigned>(depth);
                    } else if (key == "factor") {
                        reader.number(path, inner, 0, 1, s.window.factor);
                    } else {
                        return false;
                    }
                    return true;
                });
}

void read_wait_after(Reader& reader, Value value, PolicySettings& s) {
    if (!json_is_object(value)) {
        WaitAfter read{s.wait_after.time, 0};
        reader.duration("wait-after", value, Duration{}, read.time);
        s.wait_after = read;
        return;
    }
    fixed_table(reader, "wait-after", value, "time, limits",
                [&](const std::string& path, const std::string& key, Value inner) {
                    if (key == "time") {
                        reader.duration(path, inner, Duration{}, s.wait_after.time);
                    } else if (key == "limits") {
                        reader.number(path, inner, 0, WaitAfter::limits_max, s.wait_after.limits);
                    } else {
                        return false;
                    }
                    return true;
                });
}

void read_reset(Reader& reader, Value value, PolicySettings& s) {
    const auto found = reset_period_named(json_is_string(value) ? json_string_value(value) : "");
    if (found) {
        s.usage_reset = *found;
    } else {
        reader.complain("usage-reset", value, found.error().message);
    }
}

void read_load_threshold(Reader& reader, Value value, PolicySettings& s) {
    LoadThresholdPolicy& p = s.load_threshold;
    const std::array<NumberKey, 9> keys{{{"per-minute", &p.rule.per_minute},
                                         {"threshold", &p.rule.threshold},
                                         {"score-min", &p.rule.score_min},
                                         {"cpu-weight", &p.weights.cpu_weight},
                                         {"ram-weight", &p.weights.ram_weight},
                                         {"cpu-speed-min", &p.weights.cpu_speed_min, 1e-6},
                                         {"ram-size-min", &p.weights.ram_size_min, 1e-6},
                                         {"cpu-speed", &p.cpu_speed},
                                         {"ram-size", &p.ram_size}}};
    fixed_table(reader, "load-threshold", value,
                "per-minute, threshold, score-min, cpu-weight, ram-weight, cpu-speed-min, ram-size-min, cpu-speed, "
                "ram-size",
                [&](const std::string& path, const std::string& key, Value inner) {
                    s.given.insert(path);
                    return read_number(reader, keys, path, key, inner);
                });
}

struct PolicyKey {
    std::string_view name;
    unsigned policies;  ///< that use it
    void (*read)(Reader&, Value, PolicySettings&);
};

const std::array<PolicyKey, 26> policy_keys{{
    {"policy", all, [](Reader& r, Value v, PolicySettings& s) { r.choice("policy", v, policies, s.policy); }},
    {"update-interval", all,
     [](Reader& r, Value v, PolicySettings& s) { r.duration("update-interval", v, Duration{}, s.update_interval); }},
    {"algorithm", multifactor, read_algorithm},
    {"decay", multifactor | moab,
     [](Reader& r, Value v, PolicySettings& s) {
         r.choice<DecayKind>(
             "decay", v,
             {{"half-life", DecayKind::half_life}, {"window", DecayKind::window}, {"none", DecayKind::none}}, s.decay);
     }},
    {"half-life", multifactor | moab,
     [](Reader& r, Value v, PolicySettings& s) { r.duration("half-life", v, duration_min, s.half_life); }},
    {"window", multifactor | moab, read_window},
    {"usage-reset", multifactor | moab, read_reset},
    {"charging", multifactor,
     [](Reader& r, Value v, PolicySettings& s) {
         r.choice<Charging>("charging", v,
                            {{"as-it-runs", Charging::as_it_runs}, {"at-dispatch", Charging::at_dispatch}},
                            s.billing.charging);
     }},
    {"billing", multifactor, read_billing},
    {"billing-weights", multifactor,
     [](Reader& r, Value v, PolicySettings& s) { read_billing_weights(r, "billing-weights", v, s.billing.weights); }},
    {"weights", multifactor, read_weights},
    {"wait-max", multifactor,
     [](Reader& r, Value v, PolicySettings& s) { r.duration("wait-max", v, duration_min, s.wait_max); }},
    {"wait-after", multifactor, read_wait_after},
    {"size-favors", multifactor,
     [](Reader& r, Value v, PolicySettings& s) {
         r.choice<bool>("size-favors", v, {{"large", true}, {"small", false}}, s.is_large_favored);
     }},
    {"size-rule", multifactor,
     [](Reader& r, Value v, PolicySettings& s) {
         r.choice<SizeRule>("size-rule", v,
                            {{"cores", SizeRule::cores},
                             {"nodes-and-cores", SizeRule::nodes_and_cores},
                             {"over-time", SizeRule::over_time}},
                            s.size_rule);
     }},
    {"rounding", multifactor,
     [](Reader& r, Value v, PolicySettings& s) {
         r.choice<Rounding>("rounding", v, {{"nearest", Rounding::nearest}, {"down", Rounding::down}}, s.rounding);
     }},
    {"ageing", multifactor,
     [](Reader& r, Value v, PolicySettings& s) {
         r.choice<AgeRule>("ageing", v,
                           {{"while-eligible", AgeRule::while_eligible},
                            {"since-eligible", AgeRule::since_eligible},
                            {"since-last-eligible", AgeRule::since_last_eligible},
                            {"since-submit", AgeRule::since_submit}},
                           s.ageing);
     }},
    {"raw-factors", multifactor, read_raw_factors},
    {"only-raises", multifactor,
     [](Reader& r, Value v, PolicySettings& s) { r.flag("only-raises", v, s.only_raises); }},
    {"qos", multifactor, [](Reader& r, Value v, PolicySettings& s) { read_classes(r, "qos", v, s); }},
    {"queues", multifactor | lsf | load,
     [](Reader& r, Value v, PolicySettings& s) { read_classes(r, "queues", v, s); }},
    {"associations", multifactor, read_associations},
    {"resources", multifactor, read_resources},
    {"lsf", lsf | multifactor, read_lsf},
    {"moab", moab, read_moab},
    {"load-threshold", load, read_load_threshold},
}};

const PolicyKey* find(std::string_view name) {
    const auto found =
        std::find_if(policy_keys.begin(), policy_keys.end(), [&](const PolicyKey& key) { return key.name == name; });
    return found == policy_keys.end() ? nullptr : &*found;
}

}  // namespace

bool read_policy_key(Reader& reader, const std::string& key, const json_t* value, PolicySettings& settings) {
    const PolicyKey* known = find(key);
    if (known == nullptr) {
        return false;
    }
    settings.given.insert(key);
    known->read(reader, value, settings);
    return true;
}

void finish_policy(PolicySettings& settings) {
    if (settings.policy == PolicyKind::moab && !settings.given.contains("decay")) {
        settings.decay = DecayKind::window;
    }
}

std::string policy_key_names() {
    std::string names;
    for (const PolicyKey& key : policy_keys) {
        names += (names.empty() ? "" : ", ") + std::string(key.name);
    }
    return names;
}

bool heeds(PolicyKind policy, std::string_view key) {
    const PolicyKey* known = find(key);
    return known == nullptr || (known->policies & bit(policy)) != 0;
}

std::string heeding(std::string_view key) {
    std::string names;
    for (const auto& [name, policy] : policies) {
        if (const PolicyKey* known = find(key); known != nullptr && (known->policies & bit(policy)) != 0) {
            names += (names.empty() ? "" : ", ") + name;
        }
    }
    return names;
}

}  // namespace weir::config
