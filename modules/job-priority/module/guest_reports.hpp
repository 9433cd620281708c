// SPDX-License-Identifier: LGPL-3.0-only
// Owns: which report of guests' child instances is applied next, so that their cost is bounded however often they are
// sent. Must not know what is in a report, Flux, or a clock.
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

/// The waiting reports, at most one for each child: a child sends the next one when the last is answered. `Request`
/// receives the answer.
template <typename Request>
class GuestReports {
  public:
    /// A turn takes no further report once it has this many records, over all guests.
    static constexpr std::size_t records_per_turn = 2000;

    struct Waiting {
        std::uint32_t userid = 0;
        FluxJobId child = 0;
        std::size_t records = 0;
        Request request;
    };

    /// \return the child's earlier report, which the new one replaces; the caller refuses it. O(waiting).
    std::optional<Request> add(Waiting report) {
        for (Waiting& other : waiting_) {
            if (other.child == report.child) {
                return std::exchange(other, std::move(report)).request;
            }
        }
        waiting_.push_back(std::move(report));
        return std::nullopt;
    }

    /// Removes and returns the reports of this turn: in order of arrival, one for each user. O(waiting log users).
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
