// SPDX-License-Identifier: LGPL-3.0-only
// Owns: JobTable and the generator of job ids.
// Must not know: flux_t, events, files. RFC 19 (FLUID).
#include "broker/services/job-manager/tables/job_table.hpp"

#include <algorithm>

namespace weir::broker::jobs {

Job& JobTable::add(std::unique_ptr<Job> job) {
    const JobId id = job->id;
    Job& added = *job;
    active_.emplace_hint(active_.end(), id, std::move(job));
    return added;
}

void JobTable::drop(JobId id) {
    const auto at = active_.find(id);
    WEIR_CHECK(at != active_.end());
    add_to(all_, *at->second, at->second->state, -1);
    if (!at->second->facts.queue.empty()) {
        add_to(by_queue_[at->second->facts.queue], *at->second, at->second->state, -1);
    }
    running_.erase(id);
    active_.erase(at);
}

Job* JobTable::active(JobId id) const {
    const auto at = active_.find(id);
    return at == active_.end() ? nullptr : at->second.get();
}

Job* JobTable::inactive(JobId id) const {
    const auto at = inactive_.find(id);
    return at == inactive_.end() ? nullptr : at->second.get();
}

Job* JobTable::find(JobId id) const {
    Job* job = active(id);
    return job ? job : inactive(id);
}

void JobTable::add_to(JobCounts& counts, const Job& job, State state, int by) const {
    if (state == State::created) {
        return;  // jobs in NEW are not counted
    }
    counts.states[state_index(state)] += by;
    if (state != State::inactive) {
        return;
    }
    switch (job.result()) {
        case JobResult::completed:
            counts.successful += by;
            break;
        case JobResult::canceled:
            counts.canceled += by;
            break;
        case JobResult::timeout:
            counts.timeout += by;
            break;
        case JobResult::failed:
            counts.failed += by;
            break;
    }
}

void JobTable::count(Job& job, State before) {
    if (job.state == before) {
        return;
    }
    if (is_in(job.state, mask_running)) {
        running_.emplace(job.id, &job);
    } else if (is_in(before, mask_running)) {
        running_.erase(job.id);
    }
    add_to(all_, job, before, -1);
    add_to(all_, job, job.state, 1);
    if (!job.facts.queue.empty()) {
        JobCounts& queue = by_queue_[job.facts.queue];
        add_to(queue, job, before, -1);
        add_to(queue, job, job.state, 1);
    }
}

void JobTable::recount_queue(const Job& job, const std::string& old_queue, State state) {
    if (job.facts.queue == old_queue) {
        return;
    }
    if (!old_queue.empty()) {
        add_to(by_queue_[old_queue], job, state, -1);
    }
    if (!job.facts.queue.empty()) {
        add_to(by_queue_[job.facts.queue], job, state, 1);
    }
}

void JobTable::retire(Job& job) {
    const auto at = active_.find(job.id);
    WEIR_CHECK(at != active_.end());
    std::unique_ptr<Job> owned = std::move(at->second);
    active_.erase(at);
    owned->jobspec = Json();
    if (owned->r->tree) {
        owned->r.make().tree = Json();
    }
    owned->eventlog.shrink_to_fit();
    // Nearly always last; a restart may bring them in another order.
    auto place = order_.end();
    while (place != order_.begin() && (*std::prev(place))->t_state_us[6] > owned->t_state_us[6]) {
        --place;
    }
    order_.insert(place, owned.get());
    inactive_.emplace(owned->id, std::move(owned));
}

std::size_t JobTable::purgeable(std::int64_t now_us, double age_limit_s, std::int64_t count_limit) const {
    std::size_t n = 0;
    for (const Job* job : order_) {
        const double age_s = static_cast<double>(now_us - job->t_state_us[6]) / 1e6;
        const bool is_old = age_limit_s >= 0 && age_s > age_limit_s;
        const bool is_surplus = count_limit >= 0 && static_cast<std::int64_t>(order_.size() - n) > count_limit;
        if (!is_old && !is_surplus) {
            break;
        }
        ++n;
    }
    return n;
}

std::unique_ptr<Job> JobTable::forget(std::unordered_map<JobId, std::unique_ptr<Job>>::iterator at) {
    std::unique_ptr<Job> job = std::move(at->second);
    inactive_.erase(at);
    add_to(all_, *job, State::inactive, -1);
    ++all_.purged;
    if (!job->facts.queue.empty()) {
        JobCounts& queue = by_queue_[job->facts.queue];
        add_to(queue, *job, State::inactive, -1);
        ++queue.purged;
    }
    return job;
}

std::unique_ptr<Job> JobTable::purge_oldest() {
    WEIR_CHECK(!order_.empty());
    const JobId id = order_.front()->id;
    order_.pop_front();
    return forget(inactive_.find(id));
}

std::unique_ptr<Job> JobTable::purge(JobId id) {
    const auto at = inactive_.find(id);
    WEIR_CHECK(at != inactive_.end());
    order_.erase(std::find(order_.begin(), order_.end(), at->second.get()));
    return forget(at);
}

namespace {
constexpr std::uint32_t generators = 1U << 14;
}

IdGenerator::IdGenerator(JobId last, std::int64_t now_us, std::uint32_t generator)
    : zero_us_(now_us), ms_((last >> 24) + 1), generator_(generator) {
    WEIR_CHECK(generator < generators);
    zero_us_ -= static_cast<std::int64_t>(ms_) * 1000;
}

JobId IdGenerator::next(std::int64_t now_us) {
    const auto now_ms = static_cast<std::uint64_t>(std::max<std::int64_t>((now_us - zero_us_) / 1000, 0));
    if (now_ms > ms_) {
        ms_ = now_ms;
        sequence_ = 0;
    } else if (sequence_ == 1024) {
        ++ms_;
        sequence_ = 0;
    }
    return (ms_ << 24) | (std::uint64_t{generator_} << 10) | sequence_++;
}

std::uint32_t id_generator_of(JobId in_parent) {
    if (in_parent == 0) {
        return 0;
    }
    // Fibonacci hashing: the high bits of the product depend on all bits of the id.
    const std::uint64_t hash = in_parent * 0x9e3779b97f4a7c15U;
    return 1 + static_cast<std::uint32_t>((hash >> 32) % (generators - 1));
}

}  // namespace weir::broker::jobs
