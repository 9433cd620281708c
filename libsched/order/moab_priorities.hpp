// SPDX-License-Identifier: LGPL-3.0-only
// Owns: Moab's and Maui's priority of waiting jobs: components of weighted, capped parts, usage by credential against
// targets, and the caps that keep a job waiting. Must not know: who measures usage, the scheduler.
// Source: Maui 3.3.1 manual 5.1, 6.3.
#pragma once
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "libfairshare/algorithms/moab.hpp"
#include "libfairshare/usage/usage.hpp"
#include "libsched/config/engine_settings.hpp"
#include "libsched/config/policy_settings.hpp"
#include "libsched/job.hpp"
#include "libsched/order/course.hpp"
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
        std::uint64_t place = 0;  ///< unique, in order of submission
        Instant since{};          ///< its wait counts from then on
        Duration limit{};
        std::uint32_t cores = 1;
        std::uint32_t nodes = 1;
        double gpus = 0;
        double memory_mib = 0;
        int user_priority = 0;  ///< what its user says of it; 0: nothing special
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

    /// What processor equivalents are parts of.
    void set_machine(const MachineSize& machine) { machine_ = machine; }

    /// Jobs have small ids, which may be another's once the job is gone. A job that waits, or other facts of it. O(1).
    void put(JobId id, const Job& job);
    /// It waits no more, but may later (a hold): how often it was bypassed stays.
    void pause(JobId id);
    /// It waits no more.
    void remove(JobId id);
    /// The same, because it starts: the jobs that wait before it, by what was last said of them, are bypassed. O(1).
    void start(JobId id);
    /// A user's jobs took so many cores, or (negative) gave them back.
    void hold(Credential user, std::int64_t jobs, std::int64_t cores);

    /// Appends the waiting jobs whose values differ from what was said of them before. O(jobs), and O(jobs x log starts
    /// since the last time) where bypasses count.
    void prioritize(const Usage& usage, Instant now, std::vector<std::pair<JobId, std::uint32_t>>& changed);
    /// Says it of one waiting job. Here and below O(starts since the last prioritize()).
    std::uint32_t tell(JobId id, const Usage& usage, Instant now);
    /// Before rounding and Maui's limits.
    double raw(JobId id, const Usage& usage, Instant now) const { return total(entries_[id.value], usage, now); }
    /// The credential's setting whose cap the job is beyond: "accounts.bio"; empty: none.
    std::string capped_by(JobId id, const Usage& usage) const;
    OrderTerms explain(JobId id, const Usage& usage, Instant now) const;
    /// Usage, active jobs and bypasses stay as they are; valid while this and `usage` do. Without submission and id.
    Course course(JobId id, const Usage& usage) const;

  private:
    struct Known {
        const MoabPolicy::Credential* setting = nullptr;  ///< nullptr: nothing said
        std::string name;
    };
    struct Entry {
        std::optional<Job> job;
        std::optional<std::uint32_t> told;
        std::uint32_t bypassed = 0;  ///< by the starts before starts_[seen]
        std::uint32_t seen = 0;
    };
    /// Of a job that was started: the value it was told, and its place. The less goes first.
    struct Start {
        std::uint32_t value = 0;
        std::uint64_t place = 0;
        bool operator<(const Start& other) const {
            return value != other.value ? value > other.value : place < other.place;
        }
    };
    struct Holding {
        std::int64_t jobs = 0;
        std::int64_t cores = 0;
    };
    using Values = std::array<std::array<double, moab_parts>, moab_components>;
    /// nullptr: nothing said.
    const MoabPolicy::Credential* own(std::size_t kind, const Job& job) const;
    const MoabPolicy::Credential* fallback(std::size_t kind) const;
    bool is_capped(std::size_t kind, const Job& job, const Usage& usage) const;
    bool is_admitted(const Job& job, const Usage& usage) const;
    std::array<FsPart, moab_credential_kinds> fairshare_parts(const Job& job, const Usage& usage) const;
    double fairshare(const Job& job, const Usage& usage) const;
    /// What the job's credentials aim at, in minutes and as an expansion factor; 0: nothing.
    struct Targets {
        double minutes = 0;
        double xfactor = 0;
    };
    Targets targets_of(const Job& job) const;
    const MoabPolicy::Credential* setting_of(std::size_t kind, const Job& job) const;
    /// Of every component but fair share.
    Values values(const Entry& entry, Instant now) const;
    double total(const Entry& entry, const Usage& usage, Instant now) const;
    /// What the value is the nearest whole number of.
    double number_of(const Entry& entry, const Usage& usage, Instant now) const;
    std::uint32_t value_of(const Entry& entry, const Usage& usage, Instant now) const {
        return static_cast<std::uint32_t>(std::llround(number_of(entry, usage, now)));
    }
    Slope slope_of(const Entry& entry, const Usage& usage, Instant from, Instant to) const;
    /// Maui's PE: the greatest part of the machine that it asks for, in processors.
    double processor_equivalents(const Job& job) const;
    /// How often so far.
    std::uint32_t bypassed(const Entry& entry) const;
    /// Counts the starts until now into it.
    void see(Entry& entry) const;
    void see_all();

    MoabPolicy policy_;
    bool counts_bypasses_ = false;
    MachineSize machine_;
    std::array<std::vector<Known>, moab_credential_kinds> known_;
    std::vector<Entry> entries_;    ///< by id
    std::vector<Start> starts_;     ///< since the last prioritize(), as they came; where bypasses count
    std::vector<Start> sorted_;     ///< the same in order, while prioritize() goes over the jobs
    std::vector<Holding> holding_;  ///< by user
};

}  // namespace weir
