// SPDX-License-Identifier: LGPL-3.0-only
// Owns: Moab's and Maui's priority of waiting jobs: components of weighted, capped parts; usage by credential compared
// with targets; the caps that keep a job waiting. Must not know: who measures usage, the scheduler.
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
        Instant since{};          ///< its wait counts from then
        Duration limit{};
        std::uint32_t cores = 1;
        std::uint32_t nodes = 1;
        double gpus = 0;
        double memory_mib = 0;
        int user_priority = 0;  ///< set by its user; 0: none
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

    /// Adds a credential of a kind, which the configuration may call by any of these names. O(names x log named).
    Credential add_credential(std::size_t kind, std::span<const std::string> names);
    /// Whether any setting depends on the usage of credentials of the kind.
    bool goes_by_usage(std::size_t kind) const { return !policy_.credentials[kind].empty(); }

    /// The whole of which processor equivalents are parts.
    void set_machine(const MachineSize& machine) { machine_ = machine; }

    /// Inserts or updates a waiting job. Jobs have small ids, which may be used again after remove(). O(1).
    void put(JobId id, const Job& job);
    /// The job stops waiting for now (a hold); its count of bypasses is kept.
    void pause(JobId id);
    /// The job stops waiting for good.
    void remove(JobId id);
    /// The same, because it starts: jobs ahead of it, by the values last appended, are bypassed. O(1).
    void start(JobId id);
    /// A user's jobs took so many cores, or (negative) released them.
    void hold(Credential user, std::int64_t jobs, std::int64_t cores);

    /// Appends the waiting jobs whose values differ from those appended before. O(jobs), and O(jobs x log starts since
    /// the last call) where bypasses count.
    void prioritize(const Usage& usage, Instant now, std::vector<std::pair<JobId, std::uint32_t>>& changed);
    /// The value of one waiting job. Here and below O(starts since the last prioritize()).
    std::uint32_t update_value(JobId id, const Usage& usage, Instant now);
    /// The same, without effect.
    std::uint32_t value(JobId id, const Usage& usage, Instant now) const {
        return value_of(entries_[id.value], usage, now);
    }
    /// Before rounding and Maui's limits.
    double raw(JobId id, const Usage& usage, Instant now) const { return total(entries_[id.value], usage, now); }
    /// The credential's setting whose cap the job exceeds: "accounts.bio"; empty: none.
    std::string capped_by(JobId id, const Usage& usage) const;
    OrderTerms explain(JobId id, const Usage& usage, Instant now) const;
    /// Assumes that usage, active jobs and bypasses do not change; valid as long as this object and `usage`.
    Course course(JobId id, const Usage& usage) const;

  private:
    struct Known {
        const MoabPolicy::Credential* setting = nullptr;  ///< nullptr: not configured
        std::string name;
    };
    struct Entry {
        std::optional<Job> job;
        std::optional<std::uint32_t> appended;
        std::uint32_t bypassed = 0;  ///< by the starts before starts_[seen]
        std::uint32_t seen = 0;
    };
    /// Of a started job: its last value, and its place. The smaller one goes first.
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
    /// nullptr: not configured.
    const MoabPolicy::Credential* own(std::size_t kind, const Job& job) const;
    const MoabPolicy::Credential* fallback(std::size_t kind) const;
    bool is_capped(std::size_t kind, const Job& job, const Usage& usage) const;
    bool is_admitted(const Job& job, const Usage& usage) const;
    std::array<FsPart, moab_credential_kinds> fairshare_parts(const Job& job, const Usage& usage) const;
    double fairshare(const Job& job, const Usage& usage) const;
    /// The targets of the job's credentials, in minutes and as an expansion factor; 0: none.
    struct Targets {
        double minutes = 0;
        double xfactor = 0;
    };
    Targets targets_of(const Job& job) const;
    const MoabPolicy::Credential* setting_of(std::size_t kind, const Job& job) const;
    /// Of every component but fair share.
    Values values(const Entry& entry, Instant now) const;
    double total(const Entry& entry, const Usage& usage, Instant now) const;
    /// The value before rounding to the nearest integer.
    double number_of(const Entry& entry, const Usage& usage, Instant now) const;
    std::uint32_t value_of(const Entry& entry, const Usage& usage, Instant now) const {
        return static_cast<std::uint32_t>(std::llround(number_of(entry, usage, now)));
    }
    Slope slope_of(const Entry& entry, const Usage& usage, Instant from, Instant to) const;
    /// Maui's PE: the largest fraction of any resource of the machine that the job requests, in processors.
    double processor_equivalents(const Job& job) const;
    /// How often the job was bypassed.
    std::uint32_t bypassed(const Entry& entry) const;
    /// Adds the starts until now to that count.
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
