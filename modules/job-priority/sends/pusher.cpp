// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the push queue. See pusher.hpp.
#include "modules/job-priority/sends/pusher.hpp"

#include <algorithm>

namespace weir::priority {

void Pusher::want(std::uint64_t id, std::uint32_t value) {
    Job& job = jobs_[id];
    job.wanted = value;
    compare(id, job);
}

void Pusher::override(std::uint64_t id) {
    Job& job = jobs_[id];
    if (job.wanted == Push::overridden) {
        job.acknowledged.reset();
        compare(id, job);
    }
}

void Pusher::hold_back(std::uint64_t id, bool is_held_back) {
    const bool is_new = is_held_back ? held_back_.insert(id).second : held_back_.erase(id) != 0;
    if (const auto job = jobs_.find(id); is_new && job != jobs_.end()) {
        compare(id, job->second);
    }
}

void Pusher::compare(std::uint64_t id, const Job& job) {
    if (job.acknowledged == value_of(id, job)) {
        dirty_.erase(id);
    } else {
        dirty_.insert(id);
    }
}

void Pusher::forget(std::uint64_t id) {
    jobs_.erase(id);
    dirty_.erase(id);
    held_back_.erase(id);
}

void Pusher::retain(const std::set<std::uint64_t>& ids) {
    for (auto job = jobs_.begin(); job != jobs_.end();) {
        if (ids.count(job->first) == 0) {
            dirty_.erase(job->first);
            job = jobs_.erase(job);
        } else {
            ++job;
        }
    }
    std::erase_if(held_back_, [&](std::uint64_t id) { return ids.count(id) == 0; });
}

std::optional<Push> Pusher::next() {
    if (out_ || (dirty_.empty() && !is_filling_)) {
        return std::nullopt;
    }
    const bool is_large = is_filling_ || dirty_.size() > each_max;
    const std::size_t portion = std::min(dirty_.size(), is_large ? fill_portion_max : job_portion_max);
    Push push;
    push.jobs.reserve(portion);
    for (auto id = dirty_.begin(); push.jobs.size() < portion;) {
        push.jobs.emplace_back(*id, value_of(*id, jobs_.at(*id)));
        id = dirty_.erase(id);
    }
    is_filling_ = is_large && !dirty_.empty();
    push.mode = !is_large ? Push::Mode::job : is_filling_ ? Push::Mode::fill : Push::Mode::all;
    out_ = push;
    return push;
}

void Pusher::acknowledge(std::int64_t nonce) {
    if (!out_) {
        return;
    }
    for (const auto& [id, value] : out_->jobs) {
        const auto job = jobs_.find(id);
        if (job == jobs_.end()) {
            continue;
        }
        job->second.acknowledged = value;
        if (value_of(id, job->second) != value) {
            dirty_.insert(id);
        }
    }
    pushed_total_ += out_->jobs.size();
    out_.reset();
    heard(nonce);
}

void Pusher::heard(std::int64_t nonce) {
    if (nonce_ && *nonce_ != nonce) {
        mark_all_dirty();
    }
    nonce_ = nonce;
}

void Pusher::fail() {
    out_.reset();
    mark_all_dirty();
}

void Pusher::mark_all_dirty() {
    is_filling_ = false;
    for (auto& [id, job] : jobs_) {
        job.acknowledged.reset();
        dirty_.insert(id);
    }
}

std::optional<std::uint32_t> Pusher::pushed(std::uint64_t id) const {
    const auto job = jobs_.find(id);
    const bool has_value = job != jobs_.end() && job->second.acknowledged != Push::overridden;
    return has_value ? job->second.acknowledged : std::nullopt;
}

}  // namespace weir::priority
