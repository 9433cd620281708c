// SPDX-License-Identifier: LGPL-3.0-only
// Owns: what every order of waiting jobs is: the jobs as it knows them, what it is told of them, what it is asked.
// Must not know any policy, nor who measures usage.
#pragma once
#include <array>
#include <concepts>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "libfairshare/algorithms/measures.hpp"
#include "libfairshare/tree/share_tree.hpp"
#include "libsched/config/engine_settings.hpp"
#include "libsched/config/policy_settings.hpp"
#include "libsched/order/course.hpp"
#include "libsched/order/moab_priorities.hpp"
#include "libsched/order/order_terms.hpp"

namespace weir::order {

using Credential = MoabPriorities::Credential;
inline constexpr std::uint32_t nobody = 0xffffffffU;  ///< no payer, no credential
static_assert(nobody == unassociated.value && nobody == MoabPriorities::nobody);

/// A waiting job, as orders know it. An order heeds the facts that its policy weighs.
struct WaitingJob {
    std::uint64_t place = 0;  ///< unique, ascending in order of submission
    Instant submit{};
    Instant since{};               ///< its wait counts from then on; `never`: not yet
    std::uint32_t payer = nobody;  ///< index into Use::factors and Use::leaves
    std::uint32_t cores = 1;
    std::uint32_t nodes = 1;
    double gpus = 0;
    double memory_mib = 0;
    Duration limit = Duration::max();  ///< requested; max: none
    int urgency = 16;
    double site = 0;  ///< what the site set for it
    std::string queue;
    std::string qos;
    std::array<Credential, moab_credential_kinds> who{nobody, nobody, nobody, nobody, nobody};
    const std::map<std::string, double>* amounts = nullptr;  ///< of other resources, by name; read by put() alone
};

/// A job that holds cores.
struct Holder {
    std::uint32_t payer = nobody;
    Credential user = nobody;
    std::int64_t cores = 0;
};

/// What was measured, at the instant of a question.
struct Use {
    const ShareTree* tree = nullptr;      ///< null: the order does not go by accounts
    std::span<const NodeId> leaves;       ///< by payer; empty: a payer is a node's index
    std::span<const DynamicUse> dynamic;  ///< by node; empty: nobody uses anything
    std::span<const double> factors;      ///< by payer: its fair-share factor
    const std::vector<std::uint32_t>* moved =
        nullptr;  ///< payers whose factor changed since the last full pass; null: any
    const MoabPriorities::Usage* credentials = nullptr;

    NodeId leaf(std::uint32_t payer) const { return leaves.empty() || payer == nobody ? NodeId{payer} : leaves[payer]; }
};

/// What an order wants measured.
enum class GoesBy : std::uint8_t { nothing, factors, dynamic_use, credentials };

/// Which jobs an order is to judge: all, or those that were put since, and those of payers whose jobs started or ended.
enum class Scope : std::uint8_t { all, marked };

/// Priorities by id, in any order: 0 keeps a job waiting; of equal ones the earlier submission goes first.
using Values = std::vector<std::pair<JobId, std::uint32_t>>;

/// The orders: order of submission, sum of factors, LSF's, Moab's, the load threshold. Jobs have small ids, which may
/// be another's once the job is gone. What happens is told in order of time.
///
///   O(settings, machine)
///   configure(settings, at)    other settings; false, and nothing: another order is to be made and told everything
///   put(id, job, at)           it waits, or other facts of it
///   pause(id, at)              it waits no more for now (a hold): what it gained stays
///   remove(id, at)             it waits no more
///   started(id, holder, at)    a job holds cores; with an id it waited until now
///   ended(holder, at)          it holds them no more
///   prioritize(use, now, scope, values)  appends the jobs whose values differ from what was said of them before
///   explain(id, use, now)      what a waiting job's place comes from
///   lead(own, other, use, now) why `other` stands above `own`, as a sentence's second half
///   course(id, use)            how its number goes on by time alone, valid while the order does not change; nothing
///                              where time changes nothing. Without submission and id.
///   capped_by(id, use)         the setting whose cap keeps it waiting; empty: none
///   policy, goes_by            its name in the configuration, and what it wants measured
///   assumes                    what a course takes for granted, in words
///   wants_fresh_use            whether each event needs what was used until then
///   is_paced                   whether all jobs are judged once an interval, not at each question
///   moves_by_time              whether it is to be asked although nothing happened
///   remembers_passes()         whether what it says depends on when it was asked before
template <typename O>
concept Order = std::constructible_from<O, const PolicySettings&, const MachineSize&> &&
    requires(O order, const O& known, const PolicySettings& settings, const MachineSize& machine, Instant at, JobId id,
             std::optional<JobId> some, const WaitingJob& job, const Holder& holder, const Use& use, Values& values) {
    { order.configure(settings, at) } -> std::same_as<bool>;
    order.set_machine(machine, at);
    order.put(id, job, at);
    order.pause(id, at);
    order.remove(id, at);
    order.started(some, holder, at);
    order.ended(holder, at);
    order.prioritize(use, at, Scope::all, values);
    { known.explain(id, use, at) } -> std::same_as<OrderTerms>;
    { known.lead(id, id, use, at) } -> std::same_as<std::string>;
    { known.course(id, use) } -> std::same_as<std::optional<Course>>;
    { known.capped_by(id, use) } -> std::same_as<std::string>;
    { known.remembers_passes() } -> std::same_as<bool>;
    { O::policy } -> std::convertible_to<PolicyKind>;
    { O::goes_by } -> std::convertible_to<GoesBy>;
    { O::assumes } -> std::convertible_to<const char*>;
    { O::wants_fresh_use } -> std::convertible_to<bool>;
    { O::is_paced } -> std::convertible_to<bool>;
    { O::moves_by_time } -> std::convertible_to<bool>;
};

/// One that knows people, groups, accounts, QoS and classes by name. `names`: what the configuration may call it; the
/// first is its own, and no other's of its kind.
template <typename O>
concept GoesByCredentials = Order<O> && requires(O order, std::size_t kind, const std::vector<std::string>& names) {
    { order.credential(kind, names) } -> std::same_as<Credential>;
    { order.goes_by_usage(kind) } -> std::same_as<bool>;
};

/// What most orders answer. An order derives from it and says what differs.
struct OrderBase {
    static constexpr GoesBy goes_by = GoesBy::nothing;
    static constexpr const char* assumes = "while the jobs themselves stay as they are";
    static constexpr bool wants_fresh_use = false;
    static constexpr bool is_paced = false;
    static constexpr bool moves_by_time = true;
    static constexpr bool remembers_passes() { return false; }
    void set_machine(const MachineSize&, Instant) {}
    void ended(const Holder&, Instant) {}
    std::string capped_by(JobId, const Use&) const { return {}; }
};

}  // namespace weir::order
