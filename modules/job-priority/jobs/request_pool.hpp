// SPDX-License-Identifier: LGPL-3.0-only
// Owns: one copy of each distinct request: most of 100,000 pending jobs have the same request as another one.
// Must not know: jobs, events.
#pragma once
#include <cstddef>
#include <memory>
#include <set>

#include "modules/job-priority/jobs/job_event.hpp"

namespace weir::priority {

using SharedRequest = std::shared_ptr<const JobRequest>;

/// JobRequest().
const SharedRequest& plain_request();

class RequestPool {
  public:
    /// The copy that equals `request`. It may outlive the pool. O(log distinct requests); now and then O(distinct
    /// requests), which forgets those that have no other holder.
    SharedRequest intern(const JobRequest& request);
    std::size_t size() const { return requests_.size(); }

  private:
    /// An order and no hash: users choose what their requests say, and could make many of them hash alike.
    struct Before {
        using is_transparent = void;
        bool operator()(const SharedRequest& a, const SharedRequest& b) const { return *a < *b; }
        bool operator()(const JobRequest& a, const SharedRequest& b) const { return a < *b; }
        bool operator()(const SharedRequest& a, const JobRequest& b) const { return *a < b; }
    };
    static constexpr std::size_t sweep_min = 1000;

    std::set<SharedRequest, Before> requests_;
    std::size_t sweep_at_ = sweep_min;  ///< twice as many requests as the last sweep left
};

}  // namespace weir::priority
