// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the dependency schemes that the manager has itself, as flux-core has them; plugins implement others.
// Must not know: requests.
// Source: RFC 26.
#pragma once
#include <string_view>

#include "broker/services/deadlines.hpp"
#include "broker/services/job-manager/dependencies/after.hpp"
#include "broker/services/job-manager/dependencies/singleton.hpp"

namespace weir::broker::jobs {

class Dependencies {
  public:
    explicit Dependencies(Engine& engine);
    static bool is_scheme(std::string_view scheme);
    /// One entry {scheme, value} of a jobspec, at submission and again after a restart. Error: why the job is refused.
    Status add(Job& job, const json_t* entry);
    void on_new(const Job& job) { singleton_.on_new(job); }
    void on_rejected(const Job& job);
    void on_start(const Job& job) { after_.on_start(job); }
    void on_inactive(const Job& job);

  private:
    Status add_begin_time(Job& job, const std::string& value);
    void begin(JobId id);

    Engine& engine_;
    AfterDependencies after_;
    SingletonDependencies singleton_;
    Deadlines begin_times_;
};

}  // namespace weir::broker::jobs
