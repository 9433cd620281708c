// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see first_value_feed.hpp.
#include "modules/job-priority/ranking/first_value_feed.hpp"

#include <string>
#include <utility>

#include "modules/job-priority/tap/job_kind.hpp"

namespace weir::priority {

bool FirstValueFeed::is_possible() const {
    return settings_.policy == PolicyKind::multifactor && settings_.size_rule == SizeRule::cores &&
           settings_.resources.empty() && ranking_.queue().has_head() && !gate_.is_limited();
}

void FirstValueFeed::meet(const BookJob& job) {
    if (job.is_held() || job.is_expedited() || job.copy_of != 0) {
        return;
    }
    if (const auto lowest = ranking_.queue().lowest_first()) {
        ranking_.expect(job.id, *lowest);  // unless the plugin has given it another one
    }
    if (!is_possible()) {
        return;
    }
    const JobRequest& request = *job.request;
    const std::string kind =
        text_of(JobKind{job.userid, job.urgency, request.account, request.queue, request.qos, request.cores});
    if (const auto given = values_.known(kind)) {
        ranking_.expect(job.id, *given);
    }
    values_.note(kind, ranking_.queue().engine().inputs(*ranking_.queue().find(job.id)),
                 [this](const JobInputs& like) { return ranking_.first_number(like); });
}

void FirstValueFeed::renew() {
    if (!is_possible()) {
        values_.clear();
    } else if (std::exchange(evaluation_, ranking_.shares().evaluations()) != ranking_.shares().evaluations()) {
        values_.renew([this](const JobInputs& like) { return ranking_.first_number(like); });
    }
}

}  // namespace weir::priority
