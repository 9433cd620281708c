// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the interface of an order of waiting jobs: a job as an order knows it, the events, the queries. Must not know
// any policy, nor who measures usage.
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

/// A waiting job, as orders know it. An order reads the fields that its policy weighs.
struct WaitingJob {
    std::uint64_t place = 0;  ///< unique, ascending in order of submission
    Instant submit{};
    Instant since{};               ///< its wait counts from then; `never`: not yet
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
    const std::map<std::string, double>* amounts = nullptr;  ///< of other resources, by name; only put() reads it
};

/// A job that holds cores.
struct Holder {
    std::uint32_t payer = nobody;
    Credential user = nobody;
    std::int64_t cores = 0;
};

/// What was measured at the instant of a query.
struct Use {
    const ShareTree* tree = nullptr;      ///< null: the order does not depend on accounts
    std::span<const NodeId> leaves;       ///< by payer; empty: a payer is a node's index
    std::span<const DynamicUse> dynamic;  ///< by node; empty: nobody uses anything
    std::span<const double> factors;      ///< by payer: its fair-share factor
    const std::vector<std::uint32_t>* moved =
        nullptr;  ///< payers whose factor changed since the last full pass; null: any
    const MoabPriorities::Usage* credentials = nullptr;

    NodeId leaf(std::uint32_t payer) const { return leaves.empty() || payer == nobody ? NodeId{payer} : leaves[payer]; }
};

/// What must be measured for an order.
enum class GoesBy : std::uint8_t { nothing, factors, dynamic_use, credentials };

/// Which jobs an order recomputes: all, or those put since the last pass and those of payers with a start or an end.
enum class Scope : std::uint8_t { all, marked };

/// Priorities by id, unsorted: 0 keeps a job waiting; of equal priorities the earlier submission goes first.
using Values = std::vector<std::pair<JobId, std::uint32_t>>;

/// The orders: order of submission, sum of factors, LSF's, Moab's, the load threshold. Jobs have small ids. An id may
/// be used again after the job is removed. Events are passed in order of time.
///
///   O(settings, machine)
///   configure(settings, at)    new settings; false, without effect: make another order and pass every job to it
///   put(id, job, at)           inserts or updates a waiting job
///   pause(id, at)              the job stops waiting for now (a hold); what it gained by waiting is kept
///   remove(id, at)             the job stops waiting for good
///   started(id, holder, at)    a job got cores; with an id, it is a waiting job
///   ended(holder, at)          a job released its cores
///   prioritize(use, now, scope, values)  appends the jobs whose values differ from those appended before
///   explain(id, use, now)      the terms of a waiting job's priority
///   lead(own, other, use, now) why `other` is ahead of `own`, as the second half of a sentence
///   course(id, use)            how its number changes by time alone, valid while the order does not change; nothing
///                              where time changes nothing. The caller adds submission and id.
///   capped_by(id, use)         the setting whose cap keeps the job waiting; empty: none
///   policy, goes_by            the kind of its policy, and what must be measured for it
///   assumes                    what a course assumes, in words
///   wants_fresh_use            whether each event needs the usage at that instant
///   is_paced                   whether all jobs are recomputed once an interval, not at each query
///   moves_by_time              whether values change without an event
///   remembers_passes()         whether the result of a pass depends on the times of earlier passes
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

/// An order that knows users, groups, accounts, QoS and classes by name. `names`: the names of a credential in the
/// configuration; the first is its own, unique within its kind.
template <typename O>
concept GoesByCredentials = Order<O> && requires(O order, std::size_t kind, const std::vector<std::string>& names) {
    { order.credential(kind, names) } -> std::same_as<Credential>;
    { order.goes_by_usage(kind) } -> std::same_as<bool>;
};

/// The answers of most orders. An order derives from it and redefines what differs.
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
