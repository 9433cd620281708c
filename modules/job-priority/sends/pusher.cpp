// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the push queue. See pusher.hpp.
#include "modules/job-priority/sends/pusher.hpp"

#include <algorithm>

namespace weir::priority {

void Pusher::want(std::uint64_t id, std::uint32_t value) {
    Job& job = jobs_[id];
    job.wanted = value;
    job.is_shown = false;
    job.is_gone = false;
    compare(id, job);
}

void Pusher::want_shown(std::uint64_t id, std::uint32_t value) {
    Job& job = jobs_[id];
    job.is_shown = job.is_shown || dirty_.count(id) == 0;
    job.wanted = value;
    compare(id, job);
}

bool Pusher::has_wanted(std::uint64_t id) const {
    const auto job = jobs_.find(id);
    return job != jobs_.end() && job->second.wanted != Push::overridden;
}

void Pusher::override(std::uint64_t id) {
    Job& job = jobs_[id];
    if (job.wanted == Push::overridden) {
        job.acknowledged.reset();
        job.is_shown = false;
        compare(id, job);
    }
}

void Pusher::hold_back(std::uint64_t id, bool is_held_back) {
    const bool is_new = is_held_back ? held_back_.insert(id).second : held_back_.erase(id) != 0;
    if (const auto job = jobs_.find(id); is_new && job != jobs_.end()) {
        job->second.is_shown = false;
        compare(id, job->second);
    }
}

std::uint64_t Pusher::shown_rank(std::uint32_t had, std::uint32_t wanted) {
    return (std::uint64_t{~std::max(had, wanted)} << 32) | wanted;
}

void Pusher::compare(std::uint64_t id, Job& job) {
    const bool is_news = job.acknowledged != value_of(id, job);
    dirty_.erase(id);
    shown_.erase({job.shown_rank, id});
    if (is_news && job.is_shown) {
        job.shown_rank = shown_rank(job.acknowledged.value_or(0), value_of(id, job));
        shown_.emplace(job.shown_rank, id);
    } else if (is_news) {
        dirty_.insert(id);
    }
}

void Pusher::forget(std::uint64_t id) {
    if (const auto job = jobs_.find(id); job != jobs_.end()) {
        shown_.erase({job->second.shown_rank, id});
        jobs_.erase(job);
    }
    dirty_.erase(id);
    held_back_.erase(id);
}

void Pusher::withdraw(std::uint64_t id) {
    const auto job = jobs_.find(id);
    const bool is_out = out_ && std::any_of(out_->jobs.begin(), out_->jobs.end(),
                                            [id](const auto& sent) { return sent.first == id && sent.second != 0; });
    if (job == jobs_.end() || (job->second.acknowledged.value_or(0) == 0 && !is_out)) {
        forget(id);
        return;
    }
    job->second.wanted = 0;
    job->second.is_shown = false;
    job->second.is_gone = true;
    compare(id, job->second);
}

void Pusher::withdraw_all() {
    std::vector<std::uint64_t> ids;
    for (const auto& [id, job] : jobs_) {
        ids.push_back(id);
    }
    for (const std::uint64_t id : ids) {
        withdraw(id);
    }
}

void Pusher::retain(const std::set<std::uint64_t>& ids) {
    for (auto job = jobs_.begin(); job != jobs_.end();) {
        if (ids.count(job->first) == 0) {
            dirty_.erase(job->first);
            shown_.erase({job->second.shown_rank, job->first});
            job = jobs_.erase(job);
        } else {
            ++job;
        }
    }
    std::erase_if(held_back_, [&](std::uint64_t id) { return ids.count(id) == 0; });
}

void Pusher::clear() {
    jobs_.clear();
    held_back_.clear();
    dirty_.clear();
    shown_.clear();
    out_.reset();
    is_filling_ = false;
}

void Pusher::take_dirty(std::size_t portion, Push& push) {
    for (auto id = dirty_.begin(); push.jobs.size() < portion;) {
        push.jobs.emplace_back(*id, value_of(*id, jobs_.at(*id)));
        id = dirty_.erase(id);
    }
}

void Pusher::take_shown(std::size_t portion, Push& push) {
    for (auto shown = shown_.begin(); push.jobs.size() < portion;) {
        push.jobs.emplace_back(shown->second, value_of(shown->second, jobs_.at(shown->second)));
        shown = shown_.erase(shown);
    }
    std::sort(push.jobs.begin(), push.jobs.end());
}

std::optional<Push> Pusher::next(std::size_t shown_max) {
    const std::size_t shown = dirty_.empty() ? std::min(shown_.size(), shown_max) : 0;
    if (out_ || (dirty_.empty() && shown == 0 && !is_filling_)) {
        return std::nullopt;
    }
    const std::size_t all = shown > 0 ? shown : dirty_.size();
    const bool is_large = is_filling_ || all > each_max;
    const std::size_t portion = std::min(all, is_large ? fill_portion_max : job_portion_max);
    Push push;
    push.is_shown = shown > 0;
    push.jobs.reserve(portion);
    if (push.is_shown) {
        take_shown(portion, push);
    } else {
        take_dirty(portion, push);
    }
    is_filling_ = is_large && portion < all;
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
        if (job->second.is_gone && value == 0) {
            forget(id);
            continue;
        }
        compare(id, job->second);
    }
    pushed_total_ += out_->jobs.size();
    out_.reset();
    check_nonce(nonce);
}

void Pusher::check_nonce(std::int64_t nonce) {
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
    shown_.clear();
    std::erase_if(jobs_, [](const auto& job) { return job.second.is_gone; });
    dirty_.clear();
    for (auto& [id, job] : jobs_) {
        job.acknowledged.reset();
        job.is_shown = false;
        dirty_.insert(id);
    }
}

bool Pusher::has_zero(std::uint64_t id) const {
    const auto job = jobs_.find(id);
    if (job == jobs_.end()) {
        return true;
    }
    const auto is_before = [](const auto& sent, std::uint64_t other) { return sent.first < other; };
    const auto sent = out_ ? std::lower_bound(out_->jobs.begin(), out_->jobs.end(), id, is_before)
                           : std::vector<std::pair<std::uint64_t, std::uint32_t>>::const_iterator{};
    const bool is_out = out_ && sent != out_->jobs.end() && sent->first == id;
    return !is_out && job->second.acknowledged == 0U;
}

std::optional<std::uint32_t> Pusher::pushed(std::uint64_t id) const {
    const auto job = jobs_.find(id);
    const bool has_value = job != jobs_.end() && job->second.acknowledged != Push::overridden;
    return has_value ? job->second.acknowledged : std::nullopt;
}

}  // namespace weir::priority
