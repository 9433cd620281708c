// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the payer and the factor that were found last for a job of each user: most often his next job is like it.
// Must not know: how they are found, whether they still hold.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>

#include "libfairshare/tree/share_tree.hpp"
#include "modules/job-priority/jobs/request_pool.hpp"

namespace weir::priority {

/// What was found for a job. A basis names what the answer depends on besides the job; 0: nothing was found.
struct FoundTerms {
    NodeId payer = unassociated;
    std::uint32_t factor = 0;  ///< as in BookJob
    std::uint64_t payer_basis = 0;
    std::uint64_t factor_basis = 0;
};

class LastFound {
  public:
    /// The terms of jobs with the same user, account, queues and QoS, to be read and set; new ones if another user or
    /// another such job was last in their place. O(length of the names).
    FoundTerms& of(std::uint32_t userid, const SharedRequest& request) {
        Entry& last = entries_[place_of(userid)];
        if (last.userid != userid || !last.request || !is_like(*last.request, *request)) {
            last = {request, userid, {}};
        }
        return last.terms;
    }

  private:
    struct Entry {
        SharedRequest request;
        std::uint32_t userid = 0;
        FoundTerms terms;
    };
    static bool is_like(const JobRequest& a, const JobRequest& b) {
        return &a == &b || (a.account == b.account && a.queue == b.queue && a.queue_above == b.queue_above &&
                            a.qos == b.qos && a.is_instance == b.is_instance);
    }
    /// Neighbouring ids have different places (Knuth, volume 3, section 6.4).
    static std::size_t place_of(std::uint32_t userid) { return userid * std::uint64_t{0x9e3779b97f4a7c15} >> 58; }

    std::array<Entry, 64> entries_;
};

}  // namespace weir::priority
