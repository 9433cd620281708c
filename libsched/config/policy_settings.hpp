// SPDX-License-Identifier: LGPL-3.0-only
// Owns: a site's settings for the order of its queue (policy, weights, flags, decays), as values with defaults, and
// warnings of settings without effect. Must not know: how they are written (policy_keys), who uses them (job-priority,
// the simulator).
#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "libfairshare/algorithms/lsf.hpp"
#include "libfairshare/base/time.hpp"
#include "libfairshare/tree/node_terms.hpp"
#include "libfairshare/usage/billing.hpp"
#include "libfairshare/usage/counted_usage.hpp"
#include "libfairshare/usage/lsf_history.hpp"
#include "libfairshare/usage/reset.hpp"
#include "libfairshare/usage/window.hpp"
#include "libsched/priority/ageing.hpp"
#include "libsched/priority/aps.hpp"
#include "libsched/priority/load_threshold.hpp"
#include "libsched/priority/settings.hpp"

namespace weir {

enum class PolicyKind : std::uint8_t {
    multifactor,     ///< the weighted sum of factors (Slurm, Flux)
    lsf,             ///< queue priority, then the user's dynamic priority, which drops with each dispatch, then FCFS
    moab,            ///< components and subcomponents with weights and caps, fair-share targets
    load_threshold,  ///< min(Y + k * integral of E, P_th), E from the machine's load
    fcfs,            ///< submission alone
};
std::string_view name_of(PolicyKind policy);

struct Weights {
    double wait = 50000;
    double fairshare = 10000;
    double qos = 1000;
    double queue = 1000;
    double size = 500;
    double user = 1000;
    // Factors that only some sites use.
    double association = 0;
    double site = 0;
    double resources = 1;  ///< of the sum over PolicySettings::resources
    friend bool operator==(const Weights&, const Weights&) = default;
};

/// A type of resource with a weight: "cores", "nodes", "gpus", "memory" (GiB) or the name in a jobspec.
struct ResourceRule {
    double weight = 0;            ///< may be negative
    std::optional<double> total;  ///< the machine's total, if the instance does not know it; > 0
    friend bool operator==(const ResourceRule&, const ResourceRule&) = default;
};

struct LsfPolicy {
    LsfFactors factors;
    LsfHistorySettings history;
    /// By queue: factors of lsb.queues that replace the common ones, by their names in the configuration.
    std::map<std::string, std::map<std::string, double>> queue_factors;
    std::optional<ApsRule> aps;  ///< APS_PRIORITY: replaces the order of queues and users
    friend bool operator==(const LsfPolicy&, const LsfPolicy&) = default;
};

/// A factor of [weir.lsf] by its name; nullptr for others.
double* lsf_factor_named(LsfFactors& factors, std::string_view name);
/// A queue's factors: its own, else the common ones.
LsfFactors lsf_factors_of(const LsfPolicy& policy, const std::string& queue);

/// How much and when a job is charged.
struct BillingPolicy {
    Charging charging = Charging::as_it_runs;
    BillingRule rule = BillingRule::sum;
    BillingWeights weights;                               ///< empty: a job costs its cores
    std::map<std::string, BillingWeights> queue_weights;  ///< by queue; they replace the common ones
    UsageFactors factors;
    friend bool operator==(const BillingPolicy&, const BillingPolicy&) = default;
};

/// Moab's components and their parts, by index; the names are those of the configuration.
enum class MoabComponent : std::uint8_t { credential, fairshare, resource, service, target, usage };
inline constexpr std::size_t moab_components = 6;
inline constexpr std::array<std::string_view, moab_components> moab_component_names{
    "credential", "fairshare", "resource", "service", "target", "usage"};
/// A part of a component: its name in the configuration and its unit in explanations. MoabPriorities::values() has a
/// job's values in this order. Source: Maui 3.3.1 manual 5.1.2, without the parts that no job of Flux has (swap, disk,
/// deadlines, generic resources).
struct MoabPartKind {
    std::string_view name;  ///< empty: the component has fewer parts
    const char* unit = "";
};
inline constexpr std::size_t moab_parts = 8;
inline constexpr std::array<std::array<MoabPartKind, moab_parts>, moab_components> moab_part_kinds{{
    {{{"user", "priority"},
      {"group", "priority"},
      {"account", "priority"},
      {"qos", "priority"},
      {"class", "priority"}}},
    {{{"user", "% below"}, {"group", "% below"}, {"account", "% below"}, {"qos", "% below"}, {"class", "% below"}}},
    {{{"processors", "cores"},
      {"processor-seconds", "core-s"},
      {"wall-time", "s"},
      {"nodes", "nodes"},
      {"memory", "MiB"},
      {"processor-equivalents", "cores"},
      {"user-processors", "cores"},
      {"user-jobs", "jobs"}}},
    {{{"queue-time", "min"}, {"xfactor", "times"}, {"bypass", "times"}, {"user-priority", "above normal"}}},
    {{{"queue-time", "1/min2"}, {"xfactor", "nearness"}}},
    {{{"consumed", "core-s"}, {"remaining", "core-s"}, {"percent", "%"}}},
}};
/// "service.bypass".
std::string moab_part_name(std::size_t component, std::size_t part);
/// The kinds of credential are the parts of `credential`.
inline constexpr std::size_t moab_credential_kinds = 5;
inline constexpr std::array<std::string_view, moab_credential_kinds> moab_credential_names{
    "users", "groups", "accounts", "qos", "classes"};

struct MoabPolicy {
    struct Part {
        double weight = 0;
        double cap = 0;  ///< 0: none
        friend bool operator==(const Part&, const Part&) = default;
    };
    struct Component {
        double weight = 1;
        double cap = 0;
        std::array<Part, moab_parts> parts{};
        friend bool operator==(const Component&, const Component&) = default;
    };
    struct Credential {
        double priority = 0;                    ///< of the credential component
        double weight = 0;                      ///< Moab's FSWEIGHT of one credential: added to its kind's
        std::optional<FairShareTarget> target;  ///< FSTARGET: the target of fair share
        std::optional<FairShareTarget> cap;     ///< FSCAP: jobs beyond it wait
        Duration queue_time{};                  ///< target of QTTARGET; 0: none
        double xfactor = 0;                     ///< target of XFTARGET; 0: none
        friend bool operator==(const Credential&, const Credential&) = default;
    };
    std::array<Component, moab_components> components = defaults();
    /// By kind and name; "*" is Moab's DEFAULT.
    std::array<std::map<std::string, Credential>, moab_credential_kinds> credentials;
    bool is_ratio = false;  ///< discrepancy = 1 - usage / target (Maui's FSPOLICY "%")
    bool allows_negative = false;
    Duration xfactor_shortest = std::chrono::minutes(2);
    friend bool operator==(const MoabPolicy&, const MoabPolicy&) = default;

    /// REQUIRES: the component has a part of this name.
    Part& part(MoabComponent component, std::string_view name);
    const Part& part(MoabComponent component, std::string_view name) const;
    /// Maui's: queue time in minutes counts 1, all else nothing.
    static std::array<Component, moab_components> defaults();
};

struct LoadThresholdPolicy {
    LoadThreshold rule;
    ResourceWeights weights;
    double cpu_speed = 1;    ///< of every node without better information, GHz
    double ram_size = 1024;  ///< the same, MB
    friend bool operator==(const LoadThresholdPolicy&, const LoadThresholdPolicy&) = default;
};

/// The factors that may also be used without normalisation.
inline constexpr std::array<Factor, 6> raw_factor_names{Factor::qos,         Factor::queue, Factor::user,
                                                        Factor::association, Factor::site,  Factor::resources};

/// When a job's wait begins to count: `time` after it could first start, or so many of its time limits after that,
/// whichever is longer. Until then fair share alone decides.
struct WaitAfter {
    Duration time = std::chrono::hours(84);  ///< >= 0
    double limits = 4.5;                     ///< from 0 to limits_max; a job without a limit: time alone
    static constexpr double limits_max = 1000;
    /// \param limit  of the job, > 0; Duration::max(): none
    Duration of(Duration limit) const;
    friend bool operator==(const WaitAfter&, const WaitAfter&) = default;
};

/// Everything has a default: the multifactor policy with Fair Tree.
struct PolicySettings {
    PolicyKind policy = PolicyKind::multifactor;
    Duration update_interval = std::chrono::seconds(30);  ///< between full passes; 0: at every event

    // Usage and its fair share: multifactor; decays also moab.
    std::string algorithm = "fair-tree";
    DecayKind decay = DecayKind::half_life;
    Duration half_life = std::chrono::hours(24 * 16);
    WindowPolicy window;
    ResetPeriod usage_reset = ResetPeriod::none;
    BillingPolicy billing;

    // The sum: multifactor; the classes' priorities also lsf (queues) and load-threshold (queues: Y).
    Weights weights;
    // The best of a search over real logs (doc/frontier.md): fair share decides for days, then wait does, with a weight
    // that grows by the hour.
    Duration wait_max = std::chrono::hours(72);
    WaitAfter wait_after;
    bool is_large_favored = true;
    SizeRule size_rule = SizeRule::cores;
    Rounding rounding = Rounding::nearest;
    AgeRule ageing = AgeRule::while_eligible;
    std::set<std::string> raw_factors;           ///< by raw_factor_names: those that are not normalised
    bool only_raises = false;                    ///< a pass lowers no job
    std::map<std::string, double> qos;           ///< name to priority
    std::map<std::string, double> queues;        ///< name to priority
    std::map<std::string, double> associations;  ///< path in the share tree to priority; the nearest one above counts
    std::map<std::string, ResourceRule> resources;  ///< at most resource_kinds_max

    LsfPolicy lsf;
    MoabPolicy moab;
    LoadThresholdPolicy load_threshold;

    /// The keys that the site wrote, as paths from [weir], for warnings.
    std::set<std::string> given;

    friend bool operator==(const PolicySettings&, const PolicySettings&) = default;
};

/// Facts about a site beyond its policy, as far as the caller knows them.
struct SiteFacts {
    std::optional<Duration> wall_limit_max;            ///< the longest; 0: jobs have none
    std::optional<std::set<std::string>> queues, qos;  ///< names that jobs really have
    std::optional<std::set<std::string>> resources;    ///< types that jobs are known to request
    std::optional<bool> has_site_values;               ///< whether something sets them
    bool knows_nodes = true;                           ///< how many a job requests
    bool knows_urgency = true;                         ///< what users set for their own jobs
    bool knows_memory = true;                          ///< how much a job requests
    std::set<ApsPart> unknown_aps{ApsPart::mem, ApsPart::swap, ApsPart::jprio};
};

/// One sentence for each valid setting that has no effect, or not the expected one: all weights 0, a weight whose input
/// is never set, a half-life shorter than the longest wall time, keys of another policy.
std::vector<std::string> policy_warnings(const PolicySettings& settings, const SiteFacts& facts = {});

}  // namespace weir
