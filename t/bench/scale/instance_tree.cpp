// SPDX-License-Identifier: LGPL-3.0-only
// Owns: who may run how far beside whom. See instance_tree.hpp.
#include "t/bench/scale/instance_tree.hpp"

#include <algorithm>
#include <iterator>
#include <thread>
#include <utility>

namespace weir::scale {

using priority::PriorityService;

namespace {

/// That a branch may have carried out more than the root.
constexpr int steps_ahead = 4;

}  // namespace

InstanceTree::InstanceTree(const TreeSize& size)
    : site_(size), begin_(instant_from_seconds(1767225600.0)), root_(site_, 0, begin_) {
    add(root_, nullptr, 0);
    const Duration answer = size.is_routed ? std::min(size.commit_delay, size.record_delay) : size.commit_delay;
    step_ = (answer + size.link_delay) / steps_ahead;
    parts_.emplace_back(root_, begin_);
    for (const auto& branch : branches_) {
        parts_.emplace_back(*branch, begin_);
    }
}

void InstanceTree::add(Branch& branch, Instance* parent, std::size_t level) {
    const std::vector<std::size_t>& fan_out = site_.size.fan_out;
    std::int64_t cores = site_.size.cores_of_leaf;
    for (std::size_t below = level; below < fan_out.size(); ++below) {
        cores *= static_cast<std::int64_t>(fan_out[below]);
    }
    Instance& made = branch.add(parent, level, ++instances_, cores);
    if (level == fan_out.size()) {
        to_end_ += site_.size.jobs_per_leaf;
        return;
    }
    for (std::size_t child = 0; child < fan_out[level]; ++child) {
        if (level == 0) {
            branches_.push_back(std::make_unique<Branch>(site_, static_cast<std::uint32_t>(child + 1), begin_));
        }
        add(level == 0 ? *branches_.back() : branch, &made, level + 1);
    }
}

// ---- time ----

void InstanceTree::run(const std::function<void(std::uint64_t)>& progress) {
    root_.begin();
    root_.begin_as_root();
    deliver(root_);
    next_broadcast_ = root_.next_broadcast();
    for (const auto& branch : branches_) {
        branch->begin();
    }
    {
        std::vector<std::jthread> others;
        const std::size_t threads = std::clamp<std::size_t>(std::thread::hardware_concurrency(), 1, parts_.size());
        for (std::size_t i = 1; i < threads; ++i) {
            others.emplace_back([&] { work(progress); });
        }
        work(progress);
    }
    if (failure_) {
        std::rethrow_exception(failure_);
    }
}

/// What one thread does.
void InstanceTree::work(const std::function<void(std::uint64_t)>& progress) {
    std::unique_lock lock(mutex_);
    while (!is_done_) {
        Part* part = next_part();
        if (part == nullptr) {
            changed_.wait(lock);
            continue;
        }
        try {
            step(*part, lock);
            if (ended_by_now() >= told_ + to_end_ / 100 + 1) {
                progress(told_ = ended_by_now());
            }
            is_done_ = is_done_ || (part == &parts_.front() && is_over());
        } catch (...) {
            failure_ = std::current_exception();
            is_done_ = true;
        }
        changed_.notify_all();
    }
}

/// The root, if all branches are ahead of it, else the branch that is behind the others. A branch may go on while
/// nothing that the root has still to do can reach it: answers of the root take a commit or a record, and a link. What
/// the root sends at once, after a pass or a change of policy, is an exception: the branches wait for it where it
/// arrives. Where a step ends does not depend on who runs beside whom.
InstanceTree::Part* InstanceTree::next_part() {
    const auto branches = parts_.begin() + 1;
    const auto is_behind = [](const Part& a, const Part& b) { return a.done < b.done; };
    Part& root = parts_.front();
    const Instant root_end = step_end(root);
    if (!root.is_running && root_end <= std::min_element(branches, parts_.end(), is_behind)->done) {
        return &root;
    }
    const Instant limit = root.done + step_ * steps_ahead;
    Part* next = nullptr;
    for (auto part = branches; part != parts_.end(); ++part) {
        const Instant end = step_end(*part);
        if (!part->is_running && end > part->done && end <= limit && (next == nullptr || is_behind(*part, *next))) {
            next = &*part;
        }
    }
    return next;
}

Instant InstanceTree::step_end(const Part& part) const {
    return std::min(part.done + step_, next_broadcast_ + site_.size.link_delay);
}

void InstanceTree::step(Part& part, std::unique_lock<std::mutex>& lock) {
    const Instant end = step_end(part);
    part.is_running = true;
    std::vector<Branch::Sent> inbox = std::exchange(part.inbox, {});
    lock.unlock();
    for (Branch::Sent& message : inbox) {
        part.branch->receive(std::move(message));
    }
    part.branch->run_before(end);
    lock.lock();
    deliver(*part.branch);
    part.done = end;
    part.ended = part.branch->ended();
    part.settled_since = part.branch->settled_since();
    part.is_running = false;
    next_broadcast_ = &part == &parts_.front() ? root_.next_broadcast() : next_broadcast_;
}

void InstanceTree::deliver(Branch& from) {
    for (Branch::Sent& sent : from.take_sent()) {
        parts_[sent.to->number()].inbox.push_back(std::move(sent));
    }
}

std::uint64_t InstanceTree::ended_by_now() const {
    std::uint64_t sum = 0;
    for (const Part& part : parts_) {
        sum += part.ended;
    }
    return sum;
}

/// At the time that the root has reached. Branches may be ahead of it.
bool InstanceTree::is_over() const {
    const Instant now = parts_.front().done;
    return ended_by_now() == to_end_ &&
           std::all_of(parts_.begin(), parts_.end(), [&](const Part& part) { return part.settled_since <= now; });
}

// ---- figures ----

template <typename Each>
void InstanceTree::for_each_instance(const Each& each) const {
    each(*root_.instances().front());
    for (const auto& branch : branches_) {
        for (const auto& instance : branch->instances()) {
            each(*instance);
        }
    }
}

template <typename Each>
void InstanceTree::for_each_leaf(const Each& each) const {
    for_each_instance([&each](const Instance& instance) {
        if (instance.children.empty()) {
            each(*instance.service);
        }
    });
}

std::uint64_t InstanceTree::ended() const {
    std::uint64_t count = 0;
    for (const auto& branch : branches_) {
        count += branch->ended();
    }
    return count;
}

std::vector<LevelLoad> InstanceTree::levels() const {
    std::vector<LevelLoad> sum = root_.levels();
    for (const auto& branch : branches_) {
        for (std::size_t level = 0; level < sum.size(); ++level) {
            sum[level] += branch->levels()[level];
        }
    }
    return sum;
}

Duration InstanceTree::report_delay_mean() const {
    const ReportDelay& delay = root_.report_delay();
    return duration_from_seconds(delay.records == 0 ? 0 : delay.sum_s / static_cast<double>(delay.records));
}

Duration InstanceTree::factor_delay_max() const {
    Duration most{};
    for (const auto& branch : branches_) {
        most = std::max(most, branch->factor_delay_max());
    }
    return most;
}

Duration InstanceTree::policy_delay_max() const {
    Duration most{};
    for (const auto& branch : branches_) {
        most = std::max(most, branch->policy_delay_max());
    }
    return most;
}

std::size_t InstanceTree::leaves_behind() const {
    std::size_t count = 0;
    for_each_leaf([&](const PriorityService& leaf) { count += leaf.accounting().tree().find("late") ? 0 : 1; });
    return count;
}

std::uint64_t InstanceTree::recalls() const {
    std::uint64_t count = 0;
    for_each_instance([&](const Instance& instance) { count += instance.route ? instance.route->recalls() : 0; });
    return count;
}

std::size_t InstanceTree::jobs_left() const {
    std::size_t count = 0;
    for_each_instance([&](const Instance& instance) { count += instance.route ? instance.route->jobs() : 0; });
    return count;
}

std::size_t InstanceTree::differences() const {
    std::size_t count = 0;
    const PriorityService& root = *root_.instances().front()->service;
    for (std::size_t user = 0; user < site_.size.accounts * site_.size.users; ++user) {
        const std::string path = account_name(user / site_.size.users) + "/@" + user_name(user);
        const auto charged = [&](const PriorityService& service) {
            return service.accounting().ledger().charged(*service.accounting().tree().find(path), parts_.front().done);
        };
        SignedCoreMicros sum = 0;
        for_each_leaf([&](const PriorityService& leaf) { sum += charged(leaf); });
        count += sum == charged(root) ? 0 : 1;
    }
    return count;
}

}  // namespace weir::scale
