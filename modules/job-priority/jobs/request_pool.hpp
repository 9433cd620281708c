// SPDX-License-Identifier: LGPL-3.0-only
// Owns: one copy of each distinct request: most of 100,000 pending jobs have the same request as another one.
// Must not know: jobs, events.
#pragma once
#include <array>
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
    RequestPool() = default;
    RequestPool(const RequestPool&) = delete;  // recent_ points into requests_
    RequestPool& operator=(const RequestPool&) = delete;

    /// The copy that equals `request`. It may outlive the pool. O(1) most often, if it was asked for a short while ago,
    /// else O(log distinct requests); now and then O(distinct requests), which forgets those that have no other holder.
    SharedRequest intern(const JobRequest& request);
    std::size_t size() const { return requests_.size(); }

  private:
    struct Held {
        std::size_t hash = 0;
        SharedRequest request;
    };
    struct Wanted {
        std::size_t hash = 0;
        const JobRequest& request;
    };
    /// An order and no hash table: users choose what their requests say, and could make many of them hash alike. By the
    /// hash first, which is compared without a look at the request.
    struct Before {
        using is_transparent = void;
        template <typename A, typename B>
        bool operator()(const A& a, const B& b) const {
            return a.hash != b.hash ? a.hash < b.hash : request_of(a) < request_of(b);
        }
        static const JobRequest& request_of(const Held& held) { return *held.request; }
        static const JobRequest& request_of(const Wanted& wanted) { return wanted.request; }
    };
    void sweep();
    static constexpr std::size_t sweep_min = 1000;

    std::set<Held, Before> requests_;
    std::array<const Held*, 128> recent_{};  ///< of requests_, by the first bits of the hash: the one found there last
    std::size_t sweep_at_ = sweep_min;       ///< twice as many requests as the last sweep left
};

}  // namespace weir::priority
