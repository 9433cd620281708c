// SPDX-License-Identifier: LGPL-3.0-only
// Owns: names, defaults and the check of policy settings. See policy_settings.hpp.
#include "libsched/config/policy_settings.hpp"

#include <algorithm>

#include "libfairshare/base/check.hpp"
#include "libfairshare/usage/warnings.hpp"
#include "libsched/config/engine_settings.hpp"
#include "libsched/config/policy_keys.hpp"

namespace weir {
namespace {

void add_foreign_keys(const PolicySettings& s, std::vector<std::string>& out) {
    for (const std::string& key : s.given) {
        if (key.find('.') == std::string::npos && !config::heeds(s.policy, key)) {
            out.push_back("\"" + key + "\" has no effect under policy \"" + std::string(name_of(s.policy)) +
                          "\"; it is for " + config::heeding(key));
        }
    }
}

void add_decay(const PolicySettings& s, const SiteFacts& facts, double fairshare_weight,
               std::vector<std::string>& out) {
    const auto idle = [&](const char* key, DecayKind needed, const char* name) {
        if (s.given.contains(key) && s.decay != needed) {
            out.push_back(std::string("\"") + key + "\" has no effect unless decay = \"" + name + "\"");
        }
    };
    idle("half-life", DecayKind::half_life, "half-life");
    idle("window", DecayKind::window, "window");
    if (s.decay == DecayKind::none && s.usage_reset == ResetPeriod::none) {
        out.emplace_back(
            "usage neither decays nor is reset: an association that was over-served once stays so; set usage-reset");
    }
    UsageSettings usage;
    usage.fairshare_weight = fairshare_weight;
    if (facts.wall_limit_max) {
        usage.wall_limit_max = *facts.wall_limit_max;
        usage.half_life = s.decay == DecayKind::half_life ? s.half_life : Duration{};
        usage.window = s.decay == DecayKind::window ? std::optional(s.window) : std::nullopt;
    }
    for (std::string& found : usage_warnings(usage)) {
        out.push_back(std::move(found));
    }
}

void add_classes(const PolicySettings& s, const SiteFacts& facts, std::vector<std::string>& out) {
    const auto one = [&](const char* table, const char* weight, double counts,
                         const std::map<std::string, double>& classes,
                         const std::optional<std::set<std::string>>& carried) {
        if (counts > 0 && s.given.contains(std::string("weights.") + weight) && classes.empty()) {
            out.push_back(std::string("weights.") + weight + " has no effect: no priority is given in [weir." + table +
                          ".NAME]");
        }
        if (carried && !classes.empty() && std::none_of(classes.begin(), classes.end(), [&](const auto& entry) {
                return carried->contains(entry.first);
            })) {
            out.push_back(std::string("[weir.") + table + "] has no effect: no job names one of them");
        }
    };
    one("qos", "qos", s.weights.qos, s.qos, facts.qos);
    one("queues", "queue", s.weights.queue, s.queues, facts.queues);
}

/// The engine's warnings about the settings. Totals that a site need not state count as known.
std::vector<std::string> engine_warnings(const PolicySettings& s) {
    PrioritySettings engine = engine_settings(s, {});
    for (const auto& [path, priority] : s.associations) {
        engine.association_priority.push_back(priority);
    }
    for (ResourceWeight& resource : engine.resources) {
        resource.total = {1.};
    }
    return warnings(engine);
}

void add_resources(const PolicySettings& s, const SiteFacts& facts, std::vector<std::string>& out) {
    const std::set<std::string> measured{"cores", "nodes", "gpus", "memory"};
    for (const auto& [name, rule] : s.resources) {
        if (facts.resources && !facts.resources->contains(name)) {
            out.push_back("resources." + name + " has no effect: it is not known of the jobs");
        } else if (!rule.total && !measured.contains(name) && !s.raw_factors.contains("resources")) {
            out.push_back("resources." + name + " has no effect: give its total, as in " + name +
                          " = { weight = " + "100, total = 20 }, or take \"resources\" into raw-factors");
        }
        if (rule.weight == 0) {
            out.push_back("resources." + name + " has no effect: its weight is 0");
        }
    }
    if (s.given.contains("weights.resources") && s.weights.resources > 0 && s.resources.empty()) {
        out.emplace_back("weights.resources has no effect: no type has a weight in [weir.resources]");
    }
}

void add_raw_factors(const PolicySettings& s, std::vector<std::string>& out) {
    const Weights& w = s.weights;
    const std::map<std::string, double> weights{
        {"qos", w.qos},   {"queue", w.queue},
        {"user", w.user}, {"association", w.association},
        {"site", w.site}, {"resources", s.resources.empty() ? 0. : w.resources}};
    for (const std::string& name : s.raw_factors) {
        if (weights.at(name) == 0) {
            out.push_back("raw-factors: \"" + name + "\" has no effect: its weight is 0");
        }
    }
}

void add_multifactor(const PolicySettings& s, const SiteFacts& facts, std::vector<std::string>& out) {
    const std::vector<std::string> engine = engine_warnings(s);
    const Weights& w = s.weights;
    out.insert(out.end(), engine.begin(), engine.end());
    if (std::any_of(engine.begin(), engine.end(), [](const auto& said) { return said.starts_with("all weights"); })) {
        return;
    }
    add_decay(s, facts, w.fairshare, out);
    add_classes(s, facts, out);
    const auto unless = [&](const char* key, double weight, const char* name) {
        if (s.given.contains(key) && weight == 0) {
            out.push_back(std::string("\"") + key + "\" has no effect: weights." + name + " is 0");
        }
    };
    unless("wait-max", w.wait, "wait");
    unless("wait-after", w.wait, "wait");
    unless("ageing", w.wait, "wait");
    unless("size-favors", w.size, "size");
    unless("size-rule", w.size, "size");
    for (const char* key : {"algorithm", "charging", "billing", "billing-weights", "queues.billing-weights",
                            "queues.usage-factor", "qos.usage-factor"}) {
        unless(key, w.fairshare, "fairshare");
    }
    if (s.given.contains("billing") && s.billing.weights.empty() && s.billing.queue_weights.empty()) {
        out.emplace_back("\"billing\" has no effect without billing-weights: a job costs its cores");
    }
    if (s.given.contains("lsf") && s.algorithm != "dynamic-user") {
        out.emplace_back("\"lsf\" has no effect unless algorithm = \"dynamic-user\", or policy = \"lsf\"");
    }
    if (w.association == 0 && !s.associations.empty()) {
        out.emplace_back("the weight of association is 0: the priorities in [weir.associations] have no effect");
    }
    add_resources(s, facts, out);
    add_raw_factors(s, out);
    if (w.site > 0 && facts.has_site_values == false) {
        out.emplace_back("weights.site has no effect: nothing sets a job's value");
    }
    if (!facts.knows_nodes && s.size_rule == SizeRule::nodes_and_cores) {
        out.emplace_back(
            "size-rule = \"nodes-and-cores\" counts cores alone: it is not known on how many nodes jobs run");
    }
}

void add_lsf(const PolicySettings& s, const SiteFacts& facts, std::vector<std::string>& out) {
    const LsfFactors& f = s.lsf.factors;
    if (f.cpu_time + f.run_time + f.committed_run_time + f.run_job + f.adjustment + f.gpu_run_time == 0) {
        out.emplace_back(
            "all factors of [weir.lsf] are 0: usage changes no priority, and jobs of users with the most shares start "
            "first");
    }
    if (s.lsf.aps) {
        const auto weight = [&](ApsPart part) { return s.lsf.aps->parts[static_cast<std::size_t>(part)].weight; };
        const bool has_rsrc = weight(ApsPart::proc) != 0 || weight(ApsPart::mem) != 0 || weight(ApsPart::swap) != 0;
        const bool has_work = weight(ApsPart::jprio) != 0 || weight(ApsPart::qprio) != 0;
        if ((weight(ApsPart::rsrc) == 0 || !has_rsrc) && (weight(ApsPart::work) == 0 || !has_work) &&
            weight(ApsPart::fs) == 0) {
            out.emplace_back("all weights of [weir.lsf.aps] are 0: jobs start in order of submission");
        }
        if ((has_rsrc && weight(ApsPart::rsrc) == 0) || (has_work && weight(ApsPart::work) == 0)) {
            out.emplace_back("lsf.aps: the weight of rsrc or work is 0, so its subfactors have no effect");
        }
        for (const ApsPart unknown : facts.unknown_aps) {
            if (weight(unknown) != 0) {
                out.push_back("lsf.aps." + std::string(aps_part_names[static_cast<std::size_t>(unknown)]) +
                              " has no effect: it is not known of the jobs");
            }
        }
        if (weight(ApsPart::qprio) != 0 && s.queues.empty()) {
            out.emplace_back("lsf.aps.qprio has no effect: no priority is given in [weir.queues.NAME]");
        }
    }
    if (s.given.contains("lsf.adjustment-factor") && f.adjustment > 0) {
        out.emplace_back("lsf.adjustment-factor has no effect: nothing sets a user's adjustment");
    }
    if (s.given.contains("lsf.gpu-run-time-factor") && f.gpu_run_time > 0) {
        out.emplace_back("lsf.gpu-run-time-factor has no effect: no job's GPUs are counted");
    }
    if (s.given.contains("lsf.hist-run-time") && s.lsf.history.enable_hist_run_time && f.run_time == 0) {
        out.emplace_back("lsf.hist-run-time has no effect: run-time-factor is 0");
    }
    if (s.given.contains("lsf.hist-hours") && f.cpu_time == 0 && !s.lsf.history.enable_hist_run_time) {
        out.emplace_back("lsf.hist-hours has no effect: cpu-time-factor is 0 and hist-run-time is false");
    }
}

/// Settings whose input is not known of the jobs, or is replaced by another input.
void add_moab_unknown(const PolicySettings& s, const SiteFacts& facts, std::vector<std::string>& out) {
    struct Row {
        MoabComponent component;
        const char* part;
        bool is_known;
        const char* otherwise;
    };
    const std::array<Row, 4> rows{
        {{MoabComponent::resource, "nodes", facts.knows_nodes,
          "counts processors: a log does not say on how many nodes"},
         {MoabComponent::resource, "memory", facts.knows_memory, "has no effect: it is not known of the jobs"},
         {MoabComponent::resource, "processor-equivalents", facts.knows_memory,
          "counts processors: a log does not say what else the machine has"},
         {MoabComponent::service, "user-priority", facts.knows_urgency, "has no effect: it is not known of the jobs"}}};
    for (const Row& row : rows) {
        if (!row.is_known && s.moab.part(row.component, row.part).weight != 0) {
            out.push_back("moab." + std::string(moab_component_names[static_cast<std::size_t>(row.component)]) + "." +
                          row.part + " " + row.otherwise);
        }
    }
}

void add_moab(const PolicySettings& s, const SiteFacts& facts, std::vector<std::string>& out) {
    add_moab_unknown(s, facts, out);
    bool counts = false;
    for (std::size_t c = 0; c < moab_components; c++) {
        const MoabPolicy::Component& component = s.moab.components[c];
        const bool has_part = std::any_of(component.parts.begin(), component.parts.end(),
                                          [](const MoabPolicy::Part& part) { return part.weight != 0; });
        const std::string name(moab_component_names[c]);
        if (has_part && component.weight == 0) {
            out.push_back("moab." + name + ": its weight is 0, so its parts have no effect");
        }
        if (!has_part && s.given.contains("moab." + name + ".weight")) {
            out.push_back("moab." + name + ".weight has no effect: none of its parts has a weight");
        }
        counts = counts || (has_part && component.weight != 0);
        for (std::size_t part : {std::size_t{0}, std::size_t{2}}) {
            if (c == static_cast<std::size_t>(MoabComponent::usage) && component.parts[part].weight != 0) {
                out.push_back("moab." + moab_part_name(c, part) + " has no effect: jobs that wait have used nothing");
            }
        }
    }
    if (!counts) {
        out.emplace_back("all weights of [weir.moab] are 0: jobs start in order of submission");
    }
    const auto index = static_cast<std::size_t>(MoabComponent::fairshare);
    const MoabPolicy::Component& fairshare = s.moab.components[index];
    double weight = 0;
    for (std::size_t kind = 0; kind < moab_credential_kinds; kind++) {
        const auto& named = s.moab.credentials[kind];
        const bool has_target =
            std::any_of(named.begin(), named.end(), [](const auto& entry) { return entry.second.target.has_value(); });
        const std::string name(moab_credential_names[kind]);
        if (fairshare.parts[kind].weight != 0 && !has_target) {
            out.push_back("moab." + moab_part_name(index, kind) + " has no effect: no target is given in [weir.moab." +
                          name + ".NAME]");
        }
        const bool weighs =
            fairshare.weight != 0 &&
            (fairshare.parts[kind].weight != 0 ||
             std::any_of(named.begin(), named.end(), [](const auto& entry) { return entry.second.weight != 0; }));
        if (has_target && !weighs) {
            out.push_back("targets in [weir.moab." + name +
                          "] have no effect: fair share is counted, but its weight is 0 (moab." +
                          moab_part_name(index, kind) + ")");
        }
        weight += weighs ? 1 : 0;
    }
    if (weight > 0) {
        add_decay(s, facts, weight, out);
    }
}

}  // namespace

Duration WaitAfter::of(Duration limit) const {
    if (limit == Duration::max()) {
        return time;
    }
    const auto most = static_cast<double>(config::duration_max.count());
    const double by_limit = limits * static_cast<double>(limit.count());
    return std::max(time, Duration{static_cast<Duration::rep>(std::min(by_limit, most))});
}

std::string_view name_of(PolicyKind policy) {
    constexpr std::array<std::string_view, 5> names{"multifactor", "lsf", "moab", "load-threshold", "fcfs"};
    return names[static_cast<std::size_t>(policy)];
}

double* lsf_factor_named(LsfFactors& f, std::string_view name) {
    const std::array<std::pair<std::string_view, double*>, 6> names{
        {{"cpu-time-factor", &f.cpu_time},
         {"run-time-factor", &f.run_time},
         {"committed-run-time-factor", &f.committed_run_time},
         {"run-job-factor", &f.run_job},
         {"adjustment-factor", &f.adjustment},
         {"gpu-run-time-factor", &f.gpu_run_time}}};
    const auto found = std::find_if(names.begin(), names.end(), [&](const auto& entry) { return entry.first == name; });
    return found == names.end() ? nullptr : found->second;
}

LsfFactors lsf_factors_of(const LsfPolicy& policy, const std::string& queue) {
    LsfFactors factors = policy.factors;
    if (const auto own = policy.queue_factors.find(queue); own != policy.queue_factors.end()) {
        for (const auto& [name, value] : own->second) {
            *lsf_factor_named(factors, name) = value;
        }
    }
    return factors;
}

std::string moab_part_name(std::size_t component, std::size_t part) {
    return std::string(moab_component_names[component]) + "." + std::string(moab_part_kinds[component][part].name);
}

MoabPolicy::Part& MoabPolicy::part(MoabComponent component, std::string_view name) {
    const auto index = static_cast<std::size_t>(component);
    const auto& kinds = moab_part_kinds[index];
    const auto found = std::find_if(kinds.begin(), kinds.end(), [&](const auto& kind) { return kind.name == name; });
    WEIR_CHECK(found != kinds.end());
    return components[index].parts[static_cast<std::size_t>(found - kinds.begin())];
}

const MoabPolicy::Part& MoabPolicy::part(MoabComponent component, std::string_view name) const {
    return const_cast<MoabPolicy*>(this)->part(component, name);
}

std::array<MoabPolicy::Component, moab_components> MoabPolicy::defaults() {
    std::array<Component, moab_components> made{};
    made[static_cast<std::size_t>(MoabComponent::service)].parts[0].weight = 1;
    return made;
}

std::vector<std::string> policy_warnings(const PolicySettings& settings, const SiteFacts& facts) {
    std::vector<std::string> out;
    add_foreign_keys(settings, out);
    if (settings.policy == PolicyKind::multifactor) {
        add_multifactor(settings, facts, out);
    } else if (settings.policy == PolicyKind::lsf) {
        add_lsf(settings, facts, out);
    } else if (settings.policy == PolicyKind::moab) {
        add_moab(settings, facts, out);
    } else if (settings.policy == PolicyKind::load_threshold && settings.load_threshold.rule.per_minute == 0) {
        out.emplace_back("load-threshold.per-minute is 0: no priority grows and none reaches the threshold");
    }
    return out;
}

}  // namespace weir
