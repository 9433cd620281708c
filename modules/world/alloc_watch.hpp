// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the check that an instance records no allocation that a child reports while its best job is on the way to that
// child and needs these cores. Must not know people, faults, or how the route table decides.
#pragma once
#include <map>
#include <optional>
#include <string>

#include "libfairshare/base/time.hpp"
#include "modules/job-route/route_table.hpp"

namespace weir::world {

/// Only what is certain counts: a report of one allocation, and a best job of the same queue, kind and size, which
/// comes before all others of the instance that wait, which was handed down less than a second ago (the parent waits
/// for it for that long at least, see HandDown::stuck_after), and which the child has not acknowledged before and
/// after.
class AllocWatch {
  public:
    void submitted(route::JobId id) { handed_down_.try_emplace(id); }
    void handed_down(route::JobId id, Instant now) { handed_down_.insert_or_assign(id, now); }
    /// Call it before the table gets the report.
    void before(const route::RouteTable& table, const route::Report& report, Instant now);
    /// Call it with what the table wants next. \return what is wrong.
    std::optional<std::string> after(const route::RouteTable& table, const route::ParentActions& actions) const;

  private:
    struct Case {
        route::JobId child;
        route::JobId reported;  ///< it has the cores
        route::JobId best;      ///< it is on the way
    };
    std::int64_t free_cores(const route::RouteTable& table, const route::ChildView& child) const;

    std::map<route::JobId, Instant> handed_down_;  ///< when last
    std::optional<Case> case_;
};

}  // namespace weir::world
