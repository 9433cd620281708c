// SPDX-License-Identifier: LGPL-3.0-only
// Owns: a branch's jobs that are routed: they are submitted at the root, handed down, and run in a leaf. See
// branch.hpp.
#include <algorithm>
#include <utility>

#include "t/bench/scale/branch.hpp"

namespace weir::scale {

using namespace priority;

namespace {

constexpr std::int64_t cores_of_job_max = 4;
constexpr std::int64_t default_priority = 16;

std::size_t users_of(const TreeSize& size) {
    return size.accounts * size.users;
}

/// The jobs a second that keep so much of the machine busy.
double job_rate(const TreeSize& size, std::int64_t cores) {
    const double core_seconds = (1. + cores_of_job_max) / 2 * to_seconds(size.run_time_max) / 2;
    return size.load * static_cast<double>(cores) / core_seconds;
}

}  // namespace

void Branch::submit_jobs(Instance& root) {
    const TreeSize& size = site_.size;
    std::uint64_t jobs = size.jobs_per_leaf;
    std::int64_t cores = size.cores_of_leaf;
    for (const std::size_t children : size.fan_out) {
        jobs *= children;
        cores *= static_cast<std::int64_t>(children);
    }
    root.submits_due += job_rate(size, cores) * to_seconds(size.submit_interval);
    for (; root.submits_due >= 1 && root.submitted < jobs; root.submits_due -= 1) {
        const std::size_t user = random_() % users_of(size);
        const auto wanted = 1 + static_cast<std::int64_t>(random_() % cores_of_job_max);
        root.route->submit(first_uid + static_cast<std::uint32_t>(user), wanted, account_name(user / size.users), now_);
        root.submitted += 1;
    }
    touch(root);
    if (root.submitted < jobs) {
        later(size.submit_interval, [this, &root] { submit_jobs(root); });
    }
}

void Branch::touch(Instance& instance) {
    if (!std::exchange(instance.is_turn_due, true)) {
        unsettled_ += 1;
        later(site_.size.turn_delay, [this, &instance] { turn(instance); });
    }
}

void Branch::turn(Instance& instance) {
    instance.is_turn_due = false;
    unsettled_ -= 1;
    LevelLoad& load = levels_[instance.level];
    std::vector<route::GivenPriority> given;
    {
        const SampledWatch watch(load.route_time);
        given = instance.route->begin_turn();
    }
    if (site_.size.is_charged) {
        rank(instance, given);
    } else {
        rank_alike(instance);
    }
    RouteSide::Turn turn;
    {
        const SampledWatch watch(load.route_time);
        turn = instance.route->end_turn();
    }
    if (site_.size.is_charged) {
        const SampledWatch watch(load.rank_time);
        tell_service(instance);
    }
    send_messages(instance, std::move(turn));
    changed(instance);
}

/// job-priority of this instance learns of the events of routed jobs.
void Branch::tell_service(Instance& instance) {
    PriorityService& service = *instance.service;
    for (const RoutedNews& news : instance.route->news()) {
        const FluxJobId id = news.id.value;
        switch (news.kind) {
            case RoutedNews::Kind::submitted: {
                SubmitEvent submit;
                submit.userid = news.above.value == 0 ? news.userid : owner;
                submit.request.account = account_name((news.userid - first_uid) / site_.size.users);
                submit.request.cores = news.cores;
                submit.copy_of = news.above.value;
                if (news.above.value != 0) {
                    submit.request.routed_for = news.userid;
                    submit.submit_above = news.submit;
                }
                service.apply({id, now_, submit});
                service.apply({id, now_, DependEvent{}});
                break;
            }
            case RoutedNews::Kind::allocated:
                service.apply({id, now_, AllocEvent{news.cores, !instance.children.empty()}});
                break;
            case RoutedNews::Kind::ended:
                service.apply({id, now_, FreeEvent{}});
                service.apply({id, now_, CleanEvent{}});
                break;
        }
    }
    instance.route->clear_news();
}

/// What the plugin gets is on record at once. \param given  the parent's priorities that changed
void Branch::rank(Instance& instance, const std::vector<route::GivenPriority>& given) {
    std::vector<std::pair<std::uint64_t, std::uint32_t>> values;
    {
        const SampledWatch watch(levels_[instance.level].rank_time);
        std::vector<GivenPriority> rows;
        rows.reserve(given.size());
        for (const auto& [id, value] : given) {
            rows.push_back({id.value, value});
        }
        instance.service->take_given_priorities(rows, false);
        tell_service(instance);
        instance.service->pass(now_, Pass::marked);
        Pusher& pusher = instance.service->sends().plugin();
        for (auto push = pusher.next(); push; push = pusher.next()) {
            values.insert(values.end(), push->jobs.begin(), push->jobs.end());
            pusher.acknowledge(1);
        }
    }
    const SampledWatch watch(levels_[instance.level].route_time);
    for (const auto& [id, value] : values) {
        if (value != Push::overridden && instance.route->has(route::LocalId{id})) {
            instance.route->set_priority(route::LocalId{id}, value);
        }
    }
}

/// Without job-priority.
void Branch::rank_alike(Instance& instance) {
    const SampledWatch watch(levels_[instance.level].route_time);
    for (const RoutedNews& news : instance.route->news()) {
        if (news.kind == RoutedNews::Kind::submitted) {
            instance.route->set_priority(news.id, default_priority);
        }
    }
    instance.route->clear_news();
}

void Branch::send_messages(Instance& instance, RouteSide::Turn turn) {
    const Duration delay = site_.size.record_delay + site_.size.link_delay;
    for (auto& [host, text] : turn.orders) {
        const auto child = std::lower_bound(instance.children.begin(), instance.children.end(), host.value,
                                            [](const Instance* one, FluxJobId id) { return one->host < id; });
        Instance& to = **child;
        send(to, delay, [&to, words = std::move(text)] { to.branch->take_orders(to, words); });
    }
    if (!turn.report.empty()) {
        unsettled_ += 1;
        Instance& parent = *instance.parent;
        send(parent, delay, [&parent, &instance, words = std::move(turn.report)] {
            parent.branch->take_route_report(parent, instance, words);
        });
    }
    for (const route::LocalId id : turn.started) {
        const auto run_us =
            1 + static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(site_.size.run_time_max.count()));
        later(Duration(run_us), [&instance, id] { instance.branch->end_routed(instance, id); });
    }
}

void Branch::end_routed(Instance& leaf, route::LocalId id) {
    const SampledWatch watch(levels_[leaf.level].route_time);
    leaf.route->end(id);
    ended_ += 1;
    touch(leaf);
}

void Branch::take_orders(Instance& instance, const std::string& text) {
    LevelLoad& load = levels_[instance.level];
    load.orders += 1;
    load.order_bytes += text.size();
    const SampledWatch watch(load.route_time);
    instance.route->take_orders(text);
    touch(instance);
}

void Branch::take_route_report(Instance& parent, Instance& child, const std::string& text) {
    LevelLoad& load = levels_[parent.level];
    load.route_reports += 1;
    load.route_report_bytes += text.size();
    std::uint64_t acked = 0;
    {
        const SampledWatch watch(load.route_time);
        acked = parent.route->take_report(text);
    }
    touch(parent);
    send(child, site_.size.record_delay + site_.size.link_delay, [&child, acked] {
        Branch& branch = *child.branch;
        branch.unsettled_ -= 1;
        child.route->acked(acked);
        if (child.route->has_report()) {
            branch.touch(child);
        }
    });
}

}  // namespace weir::scale
