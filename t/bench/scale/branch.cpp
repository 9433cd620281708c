// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the events of a branch. See branch.hpp.
#include "t/bench/scale/branch.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "libfairshare/base/json/json.hpp"
#include "modules/job-priority/messages/parent_policy.hpp"
#include "modules/job-priority/messages/report_wire.hpp"
#include "modules/job-priority/messages/wire.hpp"

namespace weir::scale {

using namespace priority;

std::string account_name(std::size_t account) {
    return "account" + std::to_string(account);
}
std::string user_name(std::size_t user) {
    return "user" + std::to_string(user);
}

namespace {

template <typename T>
T value_or_throw(Result<T> result) {
    if (!result) {
        throw std::runtime_error(result.error().message);
    }
    return std::move(*result);
}

UserDatabase nobody_else() {
    return {[](std::uint32_t) -> Result<std::optional<std::string>> { return std::optional<std::string>(); },
            [](const std::string&) -> Result<std::optional<std::uint32_t>> { return std::optional<std::uint32_t>(); }};
}

std::string tree_of(const TreeSize& size) {
    std::string text;
    for (std::size_t a = 0; a < size.accounts; ++a) {
        text += "\"" + account_name(a) + "\" = " + std::to_string(1 + a % 4) + "\n";
        for (std::size_t u = 0; u < size.users; ++u) {
            text += "\"" + account_name(a) + "/@" + user_name(a * size.users + u) +
                    "\" = " + std::to_string(1 + u % 3) + "\n";
        }
    }
    return text;
}

/// [weir] of the root.
Json table_of(const TreeSize& size, int fair_share_weight) {
    Json users = Json::object();
    users.set("owner", owner);
    for (std::size_t u = 0; u < size.accounts * size.users; ++u) {
        users.set(user_name(u).c_str(), static_cast<long long>(first_uid + u));
    }
    Json weights = Json::object();
    weights.set("fairshare", fair_share_weight);
    Json table = Json::object();
    table.set("push", "numbers").set("users", std::move(users)).set("weights", std::move(weights));
    return table;
}

Settings settings_of(const TreeSize& size) {
    return value_or_throw(read_settings(table_of(size, 100000).get(), {}));
}

}  // namespace

LevelLoad& LevelLoad::operator+=(const LevelLoad& other) {
    instances += other.instances;
    reports += other.reports;
    report_bytes += other.report_bytes;
    records += other.records;
    factor_messages += other.factor_messages;
    factor_bytes += other.factor_bytes;
    policy_messages += other.policy_messages;
    policy_bytes += other.policy_bytes;
    policy_cpu_s += other.policy_cpu_s;
    report_cpu_s += other.report_cpu_s;
    pass_cpu_s += other.pass_cpu_s;
    commit_cpu_s += other.commit_cpu_s;
    orders += other.orders;
    order_bytes += other.order_bytes;
    route_reports += other.route_reports;
    route_report_bytes += other.route_report_bytes;
    route_time += other.route_time;
    rank_time += other.rank_time;
    return *this;
}

Site::Site(const TreeSize& of) : size(of), share_tree(tree_of(of)), settings(settings_of(of)) {}

Branch::Branch(const Site& site, std::uint32_t number, Instant begin)
    : site_(site),
      number_(number),
      levels_(site.size.fan_out.size() + 1),
      random_(number),
      begin_(begin),
      now_(begin) {}

Instance& Branch::add(Instance* parent, std::size_t level, std::size_t place, std::int64_t cores) {
    instances_.push_back(std::make_unique<Instance>());
    Instance& made = *instances_.back();
    made.branch = this;
    made.parent = parent;
    made.level = level;
    made.place = place;
    made.pace = ReportPace(site_.size.report_pause);
    made.service = std::make_unique<PriorityService>(site_.settings, nobody_else(), owner, parent != nullptr);
    levels_[level].instances += 1;
    PriorityService& service = *made.service;
    service.log().set_instance("instance" + std::to_string(made.place));
    auto proposal = value_or_throw(service.propose({site_.share_tree, "bench", "", std::nullopt}, "t", now_));
    service.accept(service.prepare(std::move(proposal), now_));
    service.begin_backlog();
    (void)service.end_backlog(now_);
    MachineSize machine;
    machine.cores = static_cast<double>(cores);
    service.set_machine(machine);
    made.host = parent != nullptr ? parent->branch->next_id(*parent) : 0;
    if (site_.size.is_routed) {
        made.route = std::make_unique<RouteSide>(parent != nullptr, route::JobId{made.host},
                                                 [this, &made] { return route::LocalId{next_id(made)}; });
        made.route->set_cores(cores);
    }
    if (parent != nullptr) {
        if (made.route) {
            parent->route->add_child(route::JobId{made.host}, cores);
        }
        JobRequest request;
        request.is_instance = true;
        request.cores = cores;
        parent->service->apply({made.host, now_, SubmitEvent{owner, 16, request}});
        parent->service->apply({made.host, now_, DependEvent{}});
        parent->service->apply({made.host, now_, AllocEvent{cores, false}});
        parent->children.push_back(&made);
        service.sends().uplink().queue().attached(
            parent->service->attach_child(made.host, service.log().meta().instance, 1, now_));
    }
    made.free_cores = cores;
    return made;
}

/// As RFC 19 has it, of an instance that is a month old: ids are as long as those of a site.
FluxJobId Branch::next_id(Instance& instance) {
    constexpr std::uint64_t month_ms = 30ULL * 86400 * 1000;
    const auto ms = static_cast<std::uint64_t>(micros(now_) - micros(begin_)) / 1000 + month_ms;
    const std::uint64_t least = (ms << 24) | ((instance.place & 0x3fff) << 10);
    return instance.last_id = std::max(least, instance.last_id + 1);
}

void Branch::send(Instance& to, Duration delay, std::function<void()> what) {
    if (to.branch == this) {
        later(delay, std::move(what));
    } else {
        sent_.push_back({to.branch, now_ + delay, number_, ++seq_, std::move(what)});
    }
}

void Branch::begin() {
    for (const auto& instance : instances_) {
        if (instance->children.empty() && !instance->route) {
            fill(*instance);
        }
        changed(*instance);
    }
}

void Branch::begin_as_root() {
    next_policy_ = now_ + site_.size.policy_change_at;
    later(site_.size.policy_change_at, [this] { change_policy(); });
    root_pass();
    if (site_.size.is_routed) {
        later(site_.size.submit_interval, [this] { submit_jobs(*instances_.front()); });
    }
}

void Branch::run_before(Instant end) {
    while (!agenda_.empty() && agenda_.top().at < end) {
        const Due due = agenda_.top();
        agenda_.pop();
        const auto what = std::exchange(to_do_[due.place], nullptr);
        free_places_.push_back(due.place);
        now_ = due.at;
        what();
        settled_since_ = unsettled_ > 0 ? Instant::max() : std::min(settled_since_, now_);
    }
}

void Branch::receive(Sent message) {
    if (free_places_.empty()) {
        free_places_.push_back(static_cast<std::uint32_t>(to_do_.size()));
        to_do_.emplace_back();
    }
    const std::uint32_t place = free_places_.back();
    free_places_.pop_back();
    agenda_.push({message.at, message.from, place, message.seq});
    to_do_[place] = std::move(message.what);
}

// ---- a leaf's jobs ----

void Branch::fill(Instance& leaf) {
    PriorityService& service = *leaf.service;
    while (leaf.submitted < site_.size.jobs_per_leaf) {
        if (leaf.next_cores == 0) {
            leaf.next_cores = 1 + static_cast<std::int64_t>(random_() % 4);
        }
        if (leaf.next_cores > leaf.free_cores) {
            break;
        }
        const std::size_t users = site_.size.accounts * site_.size.users;
        const std::size_t user = (leaf.place * 7 + random_() % site_.size.users_of_leaf) % users;
        const FluxJobId id = next_id(leaf);
        leaf.submitted += 1;
        const std::int64_t cores = std::exchange(leaf.next_cores, 0);
        JobRequest request;
        request.account = account_name(user / site_.size.users);
        request.cores = cores;
        leaf.free_cores -= cores;
        service.apply({id, now_, SubmitEvent{first_uid + static_cast<std::uint32_t>(user), 16, request}});
        service.apply({id, now_, DependEvent{}});
        service.apply({id, now_, AllocEvent{cores, false}});
        const auto run_us =
            1 + static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(site_.size.run_time_max.count()));
        later(Duration(run_us), [this, &leaf, id, cores] { end(leaf, id, cores); });
    }
}

void Branch::end(Instance& leaf, FluxJobId id, std::int64_t cores) {
    leaf.service->apply({id, now_, FreeEvent{}});
    leaf.service->apply({id, now_, CleanEvent{}});
    leaf.free_cores += cores;
    ended_ += 1;
    fill(leaf);
    changed(leaf);
}

// ---- reports ----

void Branch::changed(Instance& instance) {
    if (instance.service->log().is_dirty() && !std::exchange(instance.is_commit_due, true)) {
        unsettled_ += 1;
        later(site_.size.commit_delay, [this, &instance] { commit(instance); });
    }
}

void Branch::commit(Instance& instance) {
    instance.is_commit_due = false;
    unsettled_ -= 1;
    {
        const Stopwatch watch(levels_[instance.level].commit_cpu_s);
        (void)instance.service->take_batch();
    }
    report(instance);
}

void Branch::report(Instance& instance) {
    if (instance.parent == nullptr || instance.is_report_out || instance.service->log().is_dirty()) {
        return;
    }
    UplinkQueue& queue = instance.service->sends().uplink().queue();
    if (const Duration rest = instance.pace.wait(now_, queue.unacknowledged()); rest > Duration{}) {
        if (!std::exchange(instance.is_pace_timer_armed, true)) {
            unsettled_ += 1;
            later(rest, [this, &instance] {
                instance.is_pace_timer_armed = false;
                unsettled_ -= 1;
                report(instance);
            });
        }
        return;
    }
    const auto batch = queue.next();
    if (!batch) {
        return;
    }
    instance.pace.sent(now_);
    instance.is_report_out = true;
    unsettled_ += 1;
    Instance& parent = *instance.parent;
    send(parent, site_.size.link_delay, [&parent, &instance, text = write_report(instance.host, *batch)] {
        parent.branch->take_report(parent, instance, text);
    });
}

void Branch::take_report(Instance& parent, Instance& child, const std::string& text) {
    LevelLoad& load = levels_[parent.level];
    std::uint64_t acked = 0;
    {
        const Stopwatch watch(load.report_cpu_s);
        UplinkBatch batch = value_or_throw(read_report(reader_.read(text)));
        load.reports += 1;
        load.report_bytes += text.size();
        load.records += batch.records.size();
        if (parent.parent == nullptr) {
            for (const UplinkRow& record : batch.records) {
                const Duration delay = now_ - record.time;
                report_delay_.sum_s += to_seconds(delay);
                report_delay_.max = std::max(report_delay_.max, delay);
            }
            report_delay_.records += batch.records.size();
        }
        acked = parent.service->report(child.host, batch.first_seq, std::move(batch.records), now_);
    }
    changed(parent);
    // It answers when its own state file has the records.
    send(child, site_.size.commit_delay + site_.size.link_delay,
         [&child, acked] { child.branch->acknowledge(child, acked); });
}

void Branch::acknowledge(Instance& instance, std::uint64_t acked) {
    instance.is_report_out = false;
    unsettled_ -= 1;
    instance.service->sends().uplink().acknowledged(acked);
    changed(instance);
    report(instance);
}

// ---- factors ----

void Branch::root_pass() {
    pass(*instances_.front(), now_);
    next_pass_ = now_ + site_.size.pass_interval;
    later(site_.size.pass_interval, [this] { root_pass(); });
}

void Branch::pass(Instance& instance, Instant passed_at) {
    {
        const Stopwatch watch(levels_[instance.level].pass_cpu_s);
        instance.service->pass(now_);
    }
    publish(instance, passed_at);
    changed(instance);
    if (instance.route) {
        touch(instance);
    }
}

void Branch::publish(Instance& instance, Instant passed_at) {
    if (instance.children.empty()) {
        return;
    }
    PriorityService& service = *instance.service;
    const auto [rows, is_complete] = service.sends().factors().changed(
        service.accounting().tree(), service.ranking().shares().standings(), service.users());
    if (rows.empty() && !is_complete) {
        return;
    }
    const auto text = std::make_shared<std::string>(write_factors(rows).dump());
    for (Instance* child : instance.children) {
        send(*child, site_.size.link_delay, [child, text, whole = is_complete, passed_at] {
            child->branch->take_factors(*child, *text, whole, passed_at);
        });
    }
}

void Branch::take_factors(Instance& instance, const std::string& text, bool is_complete, Instant passed_at) {
    LevelLoad& load = levels_[instance.level];
    load.factor_messages += 1;
    load.factor_bytes += text.size();
    {
        const Stopwatch watch(load.pass_cpu_s);
        const auto rows = value_or_throw(read_factors(value_or_throw(Json::parse(text)).get()));
        instance.service->take_parent_factors(rows, is_complete);
    }
    pass(instance, passed_at);
    if (instance.children.empty()) {
        factor_delay_max_ = std::max(factor_delay_max_, now_ - passed_at);
    }
}

// ---- policy ----

void Branch::change_policy() {
    next_policy_ = Instant::max();
    ParentPolicy policy;
    policy.table = table_of(site_.size, 200000);
    policy.tree_revision = 2;
    policy.tree = site_.share_tree + "\"late\" = 1\n";
    take_policy(*instances_.front(), write_policy(policy, ChildKind::partition).dump());
}

void Branch::take_policy(Instance& instance, const std::string& text) {
    LevelLoad& load = levels_[instance.level];
    PriorityService& service = *instance.service;
    std::shared_ptr<std::string> below;
    {
        const Stopwatch watch(load.policy_cpu_s);
        const ParentPolicy policy = value_or_throw(read_policy(value_or_throw(Json::parse(text)).get()));
        auto proposal = value_or_throw(service.propose({*policy.tree, "parent", "", std::nullopt}, "t", now_));
        service.configure(value_or_throw(settings_below(policy, nullptr, {})), now_);
        service.accept(service.prepare(std::move(proposal), now_));
        service.sends().factors().restart();
        below = std::make_shared<std::string>(write_policy(policy, ChildKind::partition).dump());
    }
    load.policy_messages += instance.parent == nullptr ? 0 : 1;
    load.policy_bytes += instance.parent == nullptr ? 0 : text.size();
    pass(instance, now_);
    for (Instance* child : instance.children) {
        send(*child, site_.size.link_delay, [child, below] { child->branch->take_policy(*child, *below); });
    }
    if (instance.children.empty()) {
        policy_delay_max_ = std::max(policy_delay_max_, now_ - begin_ - site_.size.policy_change_at);
    }
}

}  // namespace weir::scale
