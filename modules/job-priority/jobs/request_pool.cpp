// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the pool of request_pool.hpp.
#include "modules/job-priority/jobs/request_pool.hpp"

#include <algorithm>
#include <functional>
#include <utility>

namespace weir::priority {

const SharedRequest& plain_request() {
    static const auto plain = std::make_shared<const JobRequest>();
    return plain;
}

std::size_t RequestPool::Hash::operator()(const JobRequest& request) const {
    std::size_t hash = std::hash<std::string>()(request.account);
    const auto mix = [&hash](std::size_t more) { hash = (hash ^ more) * 0x9E3779B97F4A7C15U; };
    mix(std::hash<std::string>()(request.queue));
    mix(std::hash<std::string>()(request.qos));
    mix(static_cast<std::size_t>(request.cores));
    mix(static_cast<std::size_t>(request.nodes + request.spread + request.whole_nodes));
    mix(static_cast<std::size_t>(request.wall_time.count()));
    mix(request.routed_for.value_or(0));
    return hash;
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
