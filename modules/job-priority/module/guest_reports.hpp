// SPDX-License-Identifier: LGPL-3.0-only
// Owns: whose turn it is among the reports of guests' child instances, so that what they cost is bounded however often
// they are sent. Must not know what is in a report, Flux, or a clock. Source: doc/adr/0184.
#pragma once
#include <cstddef>
#include <cstdint>
#include <list>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "modules/job-priority/jobs/job_event.hpp"

namespace weir::priority {

/// Reports that wait, at most one a child: a child sends the next one when this one is answered. `Request` is what the
/// answer goes to.
template <typename Request>
class GuestReports {
  public:
    /// A turn takes no further report once it has this many records: of all guests together.
    static constexpr std::size_t records_per_turn = 2000;

    struct Waiting {
        std::uint32_t userid = 0;
        FluxJobId child = 0;
        std::size_t records = 0;
        Request request;
    };

    /// \return the child's report that waited before, whose place the new one takes; it is to be refused. O(waiting).
    std::optional<Request> add(Waiting report) {
        for (Waiting& other : waiting_) {
            if (other.child == report.child) {
                return std::exchange(other, std::move(report)).request;
            }
        }
        waiting_.push_back(std::move(report));
        return std::nullopt;
    }

    /// Takes out who is served now: in order of arrival, one report a user. O(waiting log users).
    std::vector<Waiting> turn() {
        std::vector<Waiting> served;
        std::set<std::uint32_t> users;
        std::size_t records = 0;
        for (auto report = waiting_.begin(); report != waiting_.end() && records < records_per_turn;) {
            if (users.insert(report->userid).second) {
                records += report->records;
                served.push_back(std::move(*report));
                report = waiting_.erase(report);
            } else {
                ++report;
            }
        }
        return served;
    }

    std::size_t size() const { return waiting_.size(); }

  private:
    std::list<Waiting> waiting_;
};

}  // namespace weir::priority
