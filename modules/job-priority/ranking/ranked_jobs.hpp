// SPDX-License-Identifier: LGPL-3.0-only
// Owns: which jobs of the book the ranking has, each with the value that the site set for it, the priority that the
// parent gives it, and its first value. Must not know: how a priority is computed, usage, limits, what is sent.
#pragma once
#include <vector>

#include "modules/job-priority/ranking/first_value_feed.hpp"
#include "modules/job-priority/ranking/given_priorities.hpp"
#include "modules/job-priority/ranking/ranking.hpp"
#include "modules/job-priority/ranking/site_values.hpp"

namespace weir::priority {

class RankedJobs {
  public:
    /// The inputs of the ranking; all outlive this.
    struct Stages {
        JobBook& book;
        const Accounting& accounting;
        UserNames& users;
        Ranking& ranking;
        const Gate& gate;
        const ChildReports& children;
    };
    RankedJobs(const Settings& settings, Stages stages, StateLog& log)
        : settings_(settings), stages_(stages), first_(settings, stages.ranking, stages.gate), site_(log) {}

    /// Inserts or updates a pending job in the ranking, and removes one that is no longer pending.
    /// \param is_charged  the usage of the job's payer changes from here on, so that jobs like it are marked
    void apply(const AppliedEvent& applied, bool is_charged);
    /// See Ranking::configure(); the jobs that hold cores are given again. O(jobs).
    bool configure(Instant now);
    /// Puts every pending job again, after a change of an input of all priorities. O(jobs).
    void put_all();
    /// A new backlog: every job is forgotten.
    void begin_backlog();
    /// Facts of jobs that it does not have are forgotten.
    void end_backlog() { site_.forget_vanished(stages_.book); }
    /// Inputs of all priorities: see Ranking::set_machine() and take_parent_factors().
    void set_machine(const MachineSize& machine);
    void take_parent_factors(const std::vector<FactorRow>& rows, bool is_complete);
    /// The site's values and the parent's priorities; see GivenPriorities::take().
    void accept(const SiteEdit& edit);
    void take_given(const std::vector<GivenPriority>& rows, bool is_all);
    /// The pass has evaluated them.
    void evaluated(Pass which);

    /// Whether an event requires a full pass.
    bool is_full_due() const { return is_full_due_; }
    const GivenPriorities& given() const { return given_; }
    SiteValues& site() { return site_; }
    const SiteValues& site() const { return site_; }
    FirstValues& first_values() { return first_.values(); }

  private:
    void hold(const BookJob& job);
    void keep_factor(const BookJob& job);
    void put(const BookJob& job, PutCause cause);
    void put_pending(FluxJobId id);

    const Settings& settings_;
    Stages stages_;
    FirstValueFeed first_;
    GivenPriorities given_;
    SiteValues site_;
    bool is_full_due_ = false;
};

}  // namespace weir::priority
