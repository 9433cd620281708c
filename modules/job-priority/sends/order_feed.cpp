// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see order_feed.hpp.
#include "modules/job-priority/sends/order_feed.hpp"

#include <algorithm>
#include <utility>

namespace weir::priority {

bool OrderFeed::set_bits(int bits) {
    if (bits == bits_) {
        return false;
    }
    withdraw_all();
    bits_ = bits;
    return true;
}

void OrderFeed::mark_dirty(Job& job) {
    if (!std::exchange(job.is_dirty, true)) {
        dirty_.push_back(job.id);
        dirty_count_++;
    }
}

void OrderFeed::want(std::uint64_t id, OrderPart part) {
    const Jobs::Place place = jobs_.lower_bound(id);
    if (!jobs_.is_at(place, id)) {
        Job job{id, part.own, part.group, gone_.erase(id) != 0};
        mark_dirty(job);
        jobs_.insert_at(place, job);
    } else {
        jobs_.update_at(place, [&](Job& job) {
            job.own = part.own;
            job.group = part.group;
            mark_dirty(job);
        });
    }
}

void OrderFeed::want_group(std::uint32_t group, std::int64_t added) {
    const auto [place, is_new] = groups_.try_emplace(group, added);
    if (is_new || place->second != added) {
        place->second = added;
        dirty_groups_.insert(group);
    }
}

void OrderFeed::withdraw(std::uint64_t id) {
    const Job* job = jobs_.find(id);
    if (job == nullptr) {
        return;
    }
    if (job->is_sent) {
        gone_.insert(id);
    }
    dirty_count_ -= job->is_dirty ? 1 : 0;
    jobs_.erase(id);
}

void OrderFeed::withdraw_all() {
    is_clear_due_ = is_clear_due_ || std::exchange(has_sent_, false);
    is_all_ = is_all_ || is_clear_due_;
    jobs_ = {};
    groups_.clear();
    dirty_.clear();
    dirty_count_ = 0;
    dirty_groups_.clear();
    gone_.clear();
}

void OrderFeed::retain(const std::set<std::uint64_t>& ids) {
    std::vector<std::uint64_t> others;
    jobs_.walk([&](const Job& job) {
        if (ids.count(job.id) == 0) {
            others.push_back(job.id);
        }
        return true;
    });
    std::for_each(others.begin(), others.end(), [this](std::uint64_t id) { withdraw(id); });
}

void OrderFeed::clear() {
    const std::uint64_t sent = sent_total_;
    const int bits = bits_;
    *this = OrderFeed();
    sent_total_ = sent;
    bits_ = bits;
}

void OrderFeed::take_dirty(std::vector<OrderChange::Job>& jobs) {
    jobs.reserve(std::min(dirty_count_, portion_max));
    while (dirty_count_ > 0 && jobs.size() < portion_max) {
        const std::uint64_t id = dirty_.front();
        dirty_.pop_front();
        const Jobs::Place place = jobs_.lower_bound(id);
        if (jobs_.is_at(place, id)) {
            jobs_.update_at(place, [&](Job& job) {
                if (std::exchange(job.is_dirty, false)) {
                    job.is_sent = true;
                    dirty_count_--;
                    jobs.push_back({JobId{id}, {job.group, job.own}});
                }
            });
        }
    }
    if (dirty_count_ == 0) {
        dirty_ = {};
    }
}

std::optional<OrderChange> OrderFeed::next() {
    if (is_out_ || !has_work()) {
        return std::nullopt;
    }
    OrderChange push;
    push.is_all = std::exchange(is_all_, false);
    push.bits = bits_;
    for (const std::uint64_t id : gone_) {
        push.gone.push_back(JobId{id});
    }
    gone_.clear();
    for (const std::uint32_t group : dirty_groups_) {
        push.groups.emplace_back(group, groups_.at(group));
    }
    dirty_groups_.clear();
    take_dirty(push.jobs);
    const std::size_t portion = push.jobs.size();
    has_sent_ = has_sent_ || portion > 0 || !push.groups.empty();
    sent_total_ += portion;
    is_clear_due_ = false;
    is_out_ = true;
    return push;
}

void OrderFeed::acknowledge(std::int64_t nonce) {
    is_out_ = false;
    check_nonce(nonce);
}

void OrderFeed::check_nonce(std::int64_t nonce) {
    if (nonce_ && *nonce_ != nonce) {
        mark_all_dirty();
    }
    nonce_ = nonce;
}

void OrderFeed::mark_all_dirty() {
    is_all_ = true;
    gone_.clear();
    jobs_.rekey([this](Job& job) { mark_dirty(job); });
    for (const auto& [group, added] : groups_) {
        dirty_groups_.insert(group);
    }
}

}  // namespace weir::priority
