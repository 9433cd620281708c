// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the pool of request_pool.hpp.
#include "modules/job-priority/jobs/request_pool.hpp"

#include <algorithm>
#include <utility>

namespace weir::priority {

const SharedRequest& plain_request() {
    static const auto plain = std::make_shared<const JobRequest>();
    return plain;
}

SharedRequest RequestPool::intern(const JobRequest& request) {
    if (const auto known = requests_.find(request); known != requests_.end()) {
        return *known;
    }
    if (requests_.size() >= sweep_at_) {
        std::erase_if(requests_, [](const SharedRequest& held) { return held.use_count() == 1; });
        sweep_at_ = std::max(sweep_min, 2 * requests_.size());
    }
    return *requests_.insert(std::make_shared<const JobRequest>(request)).first;
}

}  // namespace weir::priority
