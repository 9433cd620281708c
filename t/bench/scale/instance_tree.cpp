// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the windows of time in which branches run beside each other. See instance_tree.hpp.
#include "t/bench/scale/instance_tree.hpp"

#include <algorithm>
#include <barrier>
#include <mutex>
#include <thread>

namespace weir::scale {

using priority::PriorityService;

InstanceTree::InstanceTree(const TreeSize& size)
    : site_(size), begin_(instant_from_seconds(1767225600.0)), window_(begin_), root_(site_, 0, begin_) {
    add(root_, nullptr, 0);
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
            branches_.push_back(std::make_unique<Branch>(site_, child + 1, begin_));
        }
        add(level == 0 ? *branches_.back() : branch, &made, level + 1);
    }
}

// ---- windows ----

/// The branches carry out a window beside each other, and the root beside them carries out the window before. A window
/// is so short that nothing the root does reaches a branch before the branch has carried out two of them: answers take
/// a commit or a record, and a link. What the root sends at once, after a pass or a change of policy, is an exception:
/// such a window ends before that arrives, and the root carries it out before the branches go on.
void InstanceTree::run(const std::function<void(std::uint64_t)>& progress) {
    root_.begin();
    root_.begin_as_root();
    root_end_ = window_;
    deliver(root_);
    for (const auto& branch : branches_) {
        branch->begin();
    }
    std::uint64_t told = 0;
    std::mutex mutex;
    std::exception_ptr failure;
    std::atomic<bool> is_done = false;
    const auto guarded = [&](const auto& step) {
        try {
            step();
        } catch (...) {
            const std::scoped_lock lock(mutex);
            failure = std::current_exception();
            is_done = true;
        }
    };
    const auto between = [&]() noexcept {
        guarded([&] {
            end_window();
            is_done = is_done || is_over();
            if (ended() >= told + to_end_ / 100 + 1) {
                progress(told = ended());
            }
        });
    };
    const std::size_t threads = std::clamp<std::size_t>(std::thread::hardware_concurrency(), 1, branches_.size() + 1);
    std::barrier barrier(static_cast<std::ptrdiff_t>(threads), between);
    const auto work = [&] {
        while (!is_done) {
            guarded([this] { run_parts(); });
            barrier.arrive_and_wait();
        }
    };
    open_window();
    {
        std::vector<std::jthread> others;
        for (std::size_t i = 1; i < threads; ++i) {
            others.emplace_back(work);
        }
        work();
    }
    if (failure) {
        std::rethrow_exception(failure);
    }
}

/// From the next time at which something is due.
void InstanceTree::open_window() {
    Instant first = root_.next_due();
    for (const auto& branch : branches_) {
        first = std::min(first, branch->next_due());
    }
    const TreeSize& size = site_.size;
    const Duration answer = size.is_routed ? std::min(size.commit_delay, size.record_delay) : size.commit_delay;
    window_ = std::max(window_, first);
    window_end_ = std::min(window_ + (answer + size.link_delay) / 2, root_.next_broadcast() + size.link_delay);
    next_part_ = 0;
}

void InstanceTree::run_parts() {
    for (std::size_t next = next_part_++; next <= branches_.size(); next = next_part_++) {
        if (next == 0) {
            root_.run_before(root_end_);
        } else {
            branches_[next - 1]->run_before(window_end_);
        }
    }
}

void InstanceTree::end_window() {
    deliver(root_);
    for (const auto& branch : branches_) {
        deliver(*branch);
    }
    root_end_ = window_end_;
    if (root_.next_broadcast() < root_end_) {
        root_.run_before(root_end_);
        deliver(root_);
    }
    window_ = window_end_;
    open_window();
}

void InstanceTree::deliver(Branch& from) {
    for (Branch::Sent& sent : from.take_sent()) {
        sent.to->post(sent.at, std::move(sent.what));
    }
}

bool InstanceTree::is_over() const {
    return ended() == to_end_ && !root_.is_unsettled() &&
           std::none_of(branches_.begin(), branches_.end(), [](const auto& branch) { return branch->is_unsettled(); });
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
            return service.accounting().ledger().charged(*service.accounting().tree().find(path), window_);
        };
        SignedCoreMicros sum = 0;
        for_each_leaf([&](const PriorityService& leaf) { sum += charged(leaf); });
        count += sum == charged(root) ? 0 : 1;
    }
    return count;
}

}  // namespace weir::scale
