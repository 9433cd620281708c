// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the table of policy keys. See policy_keys.hpp.
#include "libsched/config/policy_keys.hpp"

#include <algorithm>
#include <span>

#include "libfairshare/algorithms/algorithm.hpp"
#include "libfairshare/algorithms/moab.hpp"

namespace weir::config {
namespace {

using Value = const json_t*;

constexpr unsigned bit(PolicyKind policy) {
    return 1U << static_cast<unsigned>(policy);
}
constexpr unsigned multifactor = bit(PolicyKind::multifactor);
constexpr unsigned lsf = bit(PolicyKind::lsf);
constexpr unsigned moab = bit(PolicyKind::moab);
constexpr unsigned load = bit(PolicyKind::load_threshold);
constexpr unsigned all = multifactor | lsf | moab | load | bit(PolicyKind::fcfs);

const std::map<std::string, PolicyKind, std::less<>> policies{{"multifactor", PolicyKind::multifactor},
                                                              {"lsf", PolicyKind::lsf},
                                                              {"moab", PolicyKind::moab},
                                                              {"load-threshold", PolicyKind::load_threshold},
                                                              {"fcfs", PolicyKind::fcfs}};

/// A table of fixed keys, each a number, a flag or a duration, or of its own kind: `visit(reader, path, name, value)`
/// answers whether it knows the name.
template <typename Visit>
void fixed_table(Reader& reader, const std::string& name, Value value, const std::string& known, Visit visit) {
    reader.table(name, value, "must be a table: [weir." + name + "]", [&](const std::string& key, Value inner) {
        if (!visit(name + "." + key, key, inner)) {
            reader.complain(name + "." + key, inner, "unknown key; the keys are " + known);
        }
    });
}

struct NumberKey {
    std::string_view name;
    double* into;
    double lowest = 0;
    double highest = weight_max;
};
bool read_number(Reader& reader, std::span<const NumberKey> keys, const std::string& path, std::string_view name,
                 Value value) {
    const auto found = std::find_if(keys.begin(), keys.end(), [&](const NumberKey& key) { return key.name == name; });
    if (found != keys.end()) {
        reader.number(path, value, found->lowest, found->highest, *found->into);
    }
    return found != keys.end();
}
struct FlagKey {
    std::string_view name;
    bool* into;
};
bool read_flag(Reader& reader, std::span<const FlagKey> keys, const std::string& path, std::string_view name,
               Value value) {
    const auto found = std::find_if(keys.begin(), keys.end(), [&](const FlagKey& key) { return key.name == name; });
    if (found != keys.end()) {
        reader.flag(path, value, *found->into);
    }
    return found != keys.end();
}

void read_weights(Reader& reader, Value value, PolicySettings& s) {
    Weights& w = s.weights;
    const std::array<NumberKey, 6> keys{{{"wait", &w.wait},
                                         {"fairshare", &w.fairshare},
                                         {"qos", &w.qos},
                                         {"queue", &w.queue},
                                         {"size", &w.size},
                                         {"user", &w.user}}};
    reader.table("weights", value, "must be a table: [weir.weights]", [&](const std::string& key, Value inner) {
        s.given.insert("weights." + key);
        if (!read_number(reader, keys, "weights." + key, key, inner)) {
            reader.complain("weights." + key, inner,
                            "unknown key; the weights are wait, fairshare, qos, queue, size, user");
        }
    });
}

/// [weir.qos.NAME] and [weir.queues.NAME]: each has one key, priority.
void read_classes(Reader& reader, const std::string& name, Value value, std::map<std::string, double>& into) {
    reader.table(name, value, "must be a table of tables: [weir." + name + ".NAME]",
                 [&](const std::string& entry, Value inner) {
                     const std::string path = name + "." + entry;
                     const Value priority = json_object_get(inner, "priority");
                     if (!json_is_object(inner) || json_object_size(inner) != 1 || priority == nullptr) {
                         reader.complain(path, inner, "must hold one key, priority, such as priority = 10");
                     } else {
                         reader.number(path + ".priority", priority, into[entry]);
                     }
                 });
}

void read_raw_factors(Reader& reader, Value list, PolicySettings& s) {
    bool is_good = json_is_array(list);
    s.raw_factors.clear();
    std::size_t index = 0;
    json_t* entry = nullptr;
    json_array_foreach(const_cast<json_t*>(list), index, entry) {
        const std::string name = json_is_string(entry) ? json_string_value(entry) : "";
        is_good = is_good && (name == "qos" || name == "queue");
        s.raw_factors.insert(name);
    }
    if (!is_good) {
        reader.complain("raw-factors", list, "must be a list of \"qos\" and \"queue\", or of one of them");
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
                    if (key == "interval") {
                        reader.duration(path, inner, duration_min, s.window.interval);
                    } else if (key == "depth") {
                        reader.number(path, inner, 1, WindowPolicy::depth_max, depth);
                        s.window.depth = static_cast<unsigned>(depth);
                    } else if (key == "factor") {
                        reader.number(path, inner, 0x1p-20, 1, s.window.factor);
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

void read_lsf(Reader& reader, Value value, PolicySettings& s) {
    LsfFactors& f = s.lsf.factors;
    LsfHistorySettings& h = s.lsf.history;
    const std::array<NumberKey, 7> numbers{{{"cpu-time-factor", &f.cpu_time},
                                            {"run-time-factor", &f.run_time},
                                            {"committed-run-time-factor", &f.committed_run_time, 0, 1},
                                            {"run-job-factor", &f.run_job},
                                            {"adjustment-factor", &f.adjustment},
                                            {"gpu-run-time-factor", &f.gpu_run_time},
                                            {"hist-hours", &h.hist_hours, 0, 876600}}};
    const std::array<FlagKey, 5> flags{{{"hist-run-time", &h.enable_hist_run_time},
                                        {"gpu-hist-run-time", &h.enable_gpu_hist_run_time},
                                        {"run-time-decay", &h.run_time_decay},
                                        {"counts-cpus", &h.counts_cpus},
                                        {"counts-jobs", &h.counts_jobs}}};
    fixed_table(reader, "lsf", value,
                "cpu-time-factor, run-time-factor, committed-run-time-factor, run-job-factor, adjustment-factor, "
                "gpu-run-time-factor, hist-hours, hist-run-time, gpu-hist-run-time, run-time-decay, counts-cpus, "
                "counts-jobs",
                [&](const std::string& path, const std::string& key, Value inner) {
                    s.given.insert(path);
                    return read_number(reader, numbers, path, key, inner) || read_flag(reader, flags, path, key, inner);
                });
}

std::string listed(std::span<const std::string_view> names) {
    std::string list;
    for (const std::string_view name : names) {
        if (!name.empty()) {
            list += (list.empty() ? "" : ", ") + std::string(name);
        }
    }
    return list;
}

/// A subcomponent: a weight alone, or { weight, cap }.
void read_part(Reader& reader, const std::string& path, Value value, MoabPolicy::Part& part) {
    if (!json_is_object(value)) {
        reader.number(path, value, -weight_max, weight_max, part.weight);
        return;
    }
    const std::array<NumberKey, 2> keys{{{"weight", &part.weight, -weight_max}, {"cap", &part.cap}}};
    fixed_table(reader, path, value, "weight, cap",
                [&](const std::string& inner_path, const std::string& key, Value v) {
                    return read_number(reader, keys, inner_path, key, v);
                });
}

void read_component(Reader& reader, std::size_t index, Value value, PolicySettings& s) {
    MoabPolicy::Component& component = s.moab.components[index];
    const auto& names = moab_part_names[index];
    const std::array<NumberKey, 2> keys{{{"weight", &component.weight, -weight_max}, {"cap", &component.cap}}};
    const std::string table = "moab." + std::string(moab_component_names[index]);
    fixed_table(reader, table, value, "weight, cap, " + listed(names),
                [&](const std::string& path, const std::string& key, Value inner) {
                    s.given.insert(path);
                    const auto part = std::find(names.begin(), names.end(), key);
                    if (part != names.end() && !key.empty()) {
                        read_part(reader, path, inner, component.parts[static_cast<std::size_t>(part - names.begin())]);
                        return true;
                    }
                    return read_number(reader, keys, path, key, inner);
                });
}

void read_credential(Reader& reader, const std::string& table, Value value, MoabPolicy::Credential& into) {
    const std::array<NumberKey, 3> keys{
        {{"priority", &into.priority, -weight_max}, {"weight", &into.weight, -weight_max}, {"xfactor", &into.xfactor}}};
    const auto target = [&](const std::string& path, Value text, auto parse, const char* right,
                            std::optional<FairShareTarget>& place) {
        const auto read = json_is_string(text)   ? parse(std::string_view(json_string_value(text)))
                          : json_is_number(text) ? parse(std::string_view(std::to_string(json_number_value(text))))
                                                 : std::nullopt;
        if (read) {
            place = *read;
        } else {
            reader.complain(path, text, right);
        }
    };
    fixed_table(reader, table, value, "priority, weight, target, cap, queue-time, xfactor",
                [&](const std::string& path, const std::string& key, Value inner) {
                    if (key == "target") {
                        target(path, inner, to_target, "must be percent, such as \"16.5+\" (+ a floor, - a ceiling)",
                               into.target);
                    } else if (key == "cap") {
                        target(path, inner, to_cap, "must be \"10%\" or, in core-seconds, \"16500^\"", into.cap);
                    } else if (key == "queue-time") {
                        reader.duration(path, inner, duration_min, into.queue_time);
                    } else {
                        return read_number(reader, keys, path, key, inner);
                    }
                    return true;
                });
}

void read_moab(Reader& reader, Value value, PolicySettings& s) {
    const std::string known = listed(moab_component_names) + ", " + listed(moab_credential_names) +
                              ", ratio, negative-priorities, xfactor-shortest";
    fixed_table(reader, "moab", value, known, [&](const std::string& path, const std::string& key, Value inner) {
        const auto component = std::find(moab_component_names.begin(), moab_component_names.end(), key);
        const auto kind = std::find(moab_credential_names.begin(), moab_credential_names.end(), key);
        if (component != moab_component_names.end()) {
            read_component(reader, static_cast<std::size_t>(component - moab_component_names.begin()), inner, s);
        } else if (kind != moab_credential_names.end()) {
            auto& named = s.moab.credentials[static_cast<std::size_t>(kind - moab_credential_names.begin())];
            reader.table(path, inner, "must be a table of tables: [weir." + path + ".NAME], \"*\" for all others",
                         [&](const std::string& name, Value one) {
                             read_credential(reader, path + "." + name, one, named[name]);
                         });
        } else if (key == "ratio") {
            reader.flag(path, inner, s.moab.is_ratio);
        } else if (key == "negative-priorities") {
            reader.flag(path, inner, s.moab.allows_negative);
        } else if (key == "xfactor-shortest") {
            reader.duration(path, inner, duration_min, s.moab.xfactor_shortest);
        } else {
            return false;
        }
        return true;
    });
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

struct Key {
    std::string_view name;
    unsigned policies;  ///< that heed it
    void (*read)(Reader&, Value, PolicySettings&);
};

const std::array<Key, 21> table{{
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
    {"weights", multifactor, read_weights},
    {"wait-max", multifactor,
     [](Reader& r, Value v, PolicySettings& s) { r.duration("wait-max", v, duration_min, s.wait_max); }},
    {"wait-after", multifactor,
     [](Reader& r, Value v, PolicySettings& s) { r.duration("wait-after", v, Duration{}, s.wait_after); }},
    {"size-favors", multifactor,
     [](Reader& r, Value v, PolicySettings& s) {
         r.choice<bool>("size-favors", v, {{"large", true}, {"small", false}}, s.is_large_favored);
     }},
    {"size-rule", multifactor,
     [](Reader& r, Value v, PolicySettings& s) {
         r.choice<SizeRule>("size-rule", v, {{"cores", SizeRule::cores}, {"over-time", SizeRule::over_time}},
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
    {"qos", multifactor, [](Reader& r, Value v, PolicySettings& s) { read_classes(r, "qos", v, s.qos); }},
    {"queues", multifactor | lsf | load,
     [](Reader& r, Value v, PolicySettings& s) { read_classes(r, "queues", v, s.queues); }},
    {"lsf", lsf, read_lsf},
    {"moab", moab, read_moab},
    {"load-threshold", load, read_load_threshold},
}};

const Key* find(std::string_view name) {
    const auto found = std::find_if(table.begin(), table.end(), [&](const Key& key) { return key.name == name; });
    return found == table.end() ? nullptr : &*found;
}

}  // namespace

bool read_policy_key(Reader& reader, const std::string& key, const json_t* value, PolicySettings& settings) {
    const Key* known = find(key);
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
    for (const Key& key : table) {
        names += (names.empty() ? "" : ", ") + std::string(key.name);
    }
    return names;
}

bool heeds(PolicyKind policy, std::string_view key) {
    const Key* known = find(key);
    return known == nullptr || (known->policies & bit(policy)) != 0;
}

std::string heeding(std::string_view key) {
    std::string names;
    for (const auto& [name, policy] : policies) {
        if (const Key* known = find(key); known != nullptr && (known->policies & bit(policy)) != 0) {
            names += (names.empty() ? "" : ", ") + name;
        }
    }
    return names;
}

}  // namespace weir::config
