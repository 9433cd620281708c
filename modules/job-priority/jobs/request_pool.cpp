// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the pool of request_pool.hpp.
#include "modules/job-priority/jobs/request_pool.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>

namespace weir::priority {
namespace {

/// Of what tells most requests apart.
std::size_t hash_of(const JobRequest& request) {
    std::size_t hash = 0;
    const auto add = [&hash](std::uint64_t part) { hash = (hash ^ part) * 0x9e3779b97f4a7c15; };
    for (const std::string* text : {&request.account, &request.queue, &request.qos, &request.project}) {
        add(text->empty() ? 0 : std::hash<std::string>{}(*text));
    }
    add(static_cast<std::uint64_t>(request.cores));
    add(request.routed_for.value_or(0));
    add(static_cast<std::uint64_t>(request.nodes));
    add(static_cast<std::uint64_t>(request.wall_time.count()));
    return hash;
}

}  // namespace

const SharedRequest& plain_request() {
    static const auto plain = std::make_shared<const JobRequest>();
    return plain;
}

SharedRequest RequestPool::intern(const JobRequest& request) {
    const std::size_t hash = hash_of(request);
    const Held*& recent = recent_[hash >> 57];
    if (recent != nullptr && recent->hash == hash && *recent->request == request) {
        return recent->request;
    }
    auto known = requests_.find(Wanted{hash, request});
    if (known == requests_.end()) {
        sweep();
        known = requests_.insert({hash, std::make_shared<const JobRequest>(request)}).first;
    }
    recent = &*known;
    return known->request;
}

/// Only if there are twice as many as the last one left.
void RequestPool::sweep() {
    if (requests_.size() >= sweep_at_) {
        recent_.fill(nullptr);
        std::erase_if(requests_, [](const Held& held) { return held.request.use_count() == 1; });
        sweep_at_ = std::max(sweep_min, 2 * requests_.size());
    }
}

}  // namespace weir::priority
