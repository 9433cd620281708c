// SPDX-License-Identifier: LGPL-3.0-only
// Owns: Moab's and Maui's priority of waiting jobs: components of weighted, capped parts, usage by credential against
// targets, and the caps that keep a job waiting. Must not know: who measures usage, the scheduler.
// Source: Maui 3.3.1 manual 5.1, 6.3.
#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "libfairshare/algorithms/moab.hpp"
#include "libfairshare/usage/usage.hpp"
#include "libsched/config/policy_settings.hpp"
#include "libsched/job.hpp"
#include "libsched/order/order_terms.hpp"

namespace weir {

/// A job beyond a credential's cap has priority 0 and waits.
class MoabPriorities {
  public:
    /// By credential, in order of appearance in its kind: counted from 0.
    using Credential = std::uint32_t;
    static constexpr Credential nobody = 0xffffffffU;  ///< the job has none of that kind
    struct Job {
        std::array<Credential, moab_credential_kinds> who{nobody, nobody, nobody, nobody, nobody};
        Instant since{};  ///< its wait counts from then on
        Duration limit{};
        std::uint32_t cores = 1;
    };
    /// Of one kind of credential; empty where goes_by_usage() is false.
    struct Used {
        std::vector<CoreMicros> by;  ///< by credential
        CoreMicros all = 0;
        CoreMicros of(Credential who) const { return who < by.size() ? by[who] : 0; }
    };
    using Usage = std::array<Used, moab_credential_kinds>;

    explicit MoabPriorities(const PolicySettings& settings);
    MoabPriorities(const MoabPriorities&) = delete;
    MoabPriorities& operator=(const MoabPriorities&) = delete;
    MoabPriorities(MoabPriorities&&) = default;
    MoabPriorities& operator=(MoabPriorities&&) = default;

    /// The next credential of a kind, which configuration may call by any of these names. O(names x log named).
    Credential add_credential(std::size_t kind, std::span<const std::string> names);
    /// Whether any setting goes by what credentials of the kind used.
    bool goes_by_usage(std::size_t kind) const { return !policy_.credentials[kind].empty(); }

    /// Jobs have small ids, which may be another's once the job is gone. A job that waits, or other facts of it.
    void put(JobId id, const Job& job);
    /// It waits no more.
    void remove(JobId id);

    /// Appends the waiting jobs whose values differ from what was said of them before. O(jobs).
    void prioritize(const Usage& usage, Instant now, std::vector<std::pair<JobId, std::uint32_t>>& changed);
    /// Of one waiting job; here and below.
    std::uint32_t value(JobId id, const Usage& usage, Instant now) const;
    /// Before rounding and Maui's limits.
    double raw(JobId id, const Usage& usage, Instant now) const { return total(*entries_[id.value].job, usage, now); }
    /// The credential's setting whose cap the job is beyond: "accounts.bio"; empty: none.
    std::string capped_by(JobId id, const Usage& usage) const;
    OrderTerms explain(JobId id, const Usage& usage, Instant now) const;

  private:
    struct Known {
        const MoabPolicy::Credential* setting = nullptr;  ///< nullptr: nothing said
        std::string name;
    };
    struct Entry {
        std::optional<Job> job;
        std::optional<std::uint32_t> told;
    };
    using Values = std::array<std::array<double, moab_parts>, moab_components>;
    /// nullptr: nothing said.
    const MoabPolicy::Credential* own(std::size_t kind, const Job& job) const;
    const MoabPolicy::Credential* fallback(std::size_t kind) const;
    bool is_capped(std::size_t kind, const Job& job, const Usage& usage) const;
    bool is_admitted(const Job& job, const Usage& usage) const;
    std::array<FsPart, moab_credential_kinds> fairshare_parts(const Job& job, const Usage& usage) const;
    double fairshare(const Job& job, const Usage& usage) const;
    /// Of every component but fair share.
    Values values(const Job& job, Instant now) const;
    double total(const Job& job, const Usage& usage, Instant now) const;
    std::uint32_t value_of(const Job& job, const Usage& usage, Instant now) const;

    MoabPolicy policy_;
    std::array<std::vector<Known>, moab_credential_kinds> known_;
    std::vector<Entry> entries_;  ///< by id
};

}  // namespace weir
