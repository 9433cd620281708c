// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the representation of a job in job-list: the attributes by name, and the order of a list.
// Must not know: requests, flux_t.
// RFC 43; the set of attributes and when each is omitted follow flux-core's job-list.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "broker/services/job-manager/tables/constraint.hpp"
#include "broker/services/job-manager/tables/job_table.hpp"

namespace weir::broker::jobs {

/// All attribute names, "all" not among them.
const std::vector<std::string>& job_attribute_names();

/// The attributes that an answer shows, each once, however often a request names it.
class JobAttributes {
  public:
    /// \param names  an array of names, "all" for every one. Error: a name that is no attribute.
    static Result<JobAttributes> of(const json_t* names);

  private:
    friend std::string job_text(const Job& job, const JobAttributes& shown);
    void add(std::size_t index);
    std::vector<std::size_t> indices_;  ///< in the order in which they were named
};

/// {"id":I, attributes...} as text. Unset attributes are left out.
std::string job_text(const Job& job, const JobAttributes& shown);

struct ListQuery {
    JobFilter filter;
    int states = 127;
    /// Inactive jobs only if they became so later than this.
    std::int64_t since_us = 0;
    /// 0 = no limit.
    std::size_t entries_max = 0;
    /// No job is looked at any more once these are exhausted. May be null.
    const Comparisons* comparisons = nullptr;

    bool is_over() const { return comparisons != nullptr && comparisons->is_exhausted(); }
};
/// Pending jobs by priority (highest first, then id), running by t_run (latest first), inactive by t_inactive (latest
/// first). O(jobs log jobs) for the pending and running ones.
std::vector<const Job*> list_jobs(const JobTable& table, const ListQuery& query);

/// The payload of job-list.job-stats.
Json stats_json(const JobTable& table);

}  // namespace weir::broker::jobs
