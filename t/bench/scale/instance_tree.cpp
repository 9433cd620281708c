// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the tree's events. See instance_tree.hpp.
#include "t/bench/scale/instance_tree.hpp"

#include <time.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "libfairshare/base/json/json.hpp"
#include "modules/job-priority/messages/parent_policy.hpp"
#include "modules/job-priority/messages/report_wire.hpp"
#include "modules/job-priority/messages/wire.hpp"

namespace weir::scale {

using namespace priority;

namespace {

constexpr std::uint32_t owner = 100;
constexpr std::uint32_t first_uid = 10000;

double cpu_s() {
    timespec t{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

class Stopwatch {
  public:
    explicit Stopwatch(double& sum) : sum_(sum), begin_(cpu_s()) {}
    ~Stopwatch() { sum_ += cpu_s() - begin_; }
    Stopwatch(const Stopwatch&) = delete;
    Stopwatch& operator=(const Stopwatch&) = delete;

  private:
    double& sum_;
    double begin_;
};

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

std::string account_name(std::size_t account) {
    return "account" + std::to_string(account);
}
std::string user_name(std::size_t user) {
    return "user" + std::to_string(user);
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

struct InstanceTree::Instance {
    std::unique_ptr<PriorityService> service;
    Instance* parent = nullptr;
    std::size_t level = 0;
    std::size_t place = 0;
    FluxJobId host = 0;     ///< its job at the parent
    FluxJobId last_id = 0;  ///< of its own jobs
    std::vector<Instance*> children;
    bool is_commit_due = false;
    bool is_report_out = false;
    priority::ReportPace pace{Duration{}};
    bool is_pace_timer_armed = false;
    // of a leaf
    std::uint64_t submitted = 0;
    std::int64_t free_cores = 0;
    std::int64_t next_cores = 0;
};

InstanceTree::InstanceTree(const TreeSize& size)
    : size_(size),
      share_tree_(tree_of(size)),
      settings_(settings_of(size)),
      begin_(instant_from_seconds(1767225600.0)),
      now_(begin_) {
    levels_.resize(size.fan_out.size() + 1);
    add(nullptr, 0);
}

InstanceTree::~InstanceTree() = default;

void InstanceTree::add(Instance* parent, std::size_t level) {
    instances_.push_back(std::make_unique<Instance>());
    Instance& made = *instances_.back();
    made.parent = parent;
    made.level = level;
    made.place = instances_.size();
    made.pace = ReportPace(size_.report_pause);
    made.service = std::make_unique<PriorityService>(settings_, nobody_else(), owner, parent != nullptr);
    levels_[level].instances += 1;
    PriorityService& service = *made.service;
    service.log().set_instance("instance" + std::to_string(made.place));
    auto proposal =
        service.trees().propose(service.accounting().tree(), {share_tree_, "bench", "", std::nullopt}, "t", now_);
    if (!proposal) {
        throw std::runtime_error(proposal.error().message);
    }
    service.accept(service.prepare(*proposal, now_));
    service.begin_backlog();
    (void)service.end_backlog(now_);
    std::int64_t cores = size_.cores_of_leaf;
    for (std::size_t below = level; below < size_.fan_out.size(); ++below) {
        cores *= static_cast<std::int64_t>(size_.fan_out[below]);
    }
    MachineSize machine;
    machine.cores = static_cast<double>(cores);
    service.set_machine(machine);
    if (parent != nullptr) {
        made.host = next_id(*parent);
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
    if (level == size_.fan_out.size()) {
        made.free_cores = cores;
        to_end_ += size_.jobs_per_leaf;
        return;
    }
    for (std::size_t child = 0; child < size_.fan_out[level]; ++child) {
        add(&made, level + 1);
    }
}

/// As RFC 19 has it, of an instance that is a month old: ids are as long as those of a site.
FluxJobId InstanceTree::next_id(Instance& instance) {
    constexpr std::uint64_t month_ms = 30ULL * 86400 * 1000;
    const auto ms = static_cast<std::uint64_t>(micros(now_) - micros(begin_)) / 1000 + month_ms;
    const std::uint64_t least = (ms << 24) | ((instance.place & 0x3fff) << 10);
    return instance.last_id = std::max(least, instance.last_id + 1);
}

void InstanceTree::later(Duration delay, std::function<void()> what) {
    agenda_.push({now_ + delay, ++seq_, std::move(what)});
}

void InstanceTree::run(const std::function<void(std::uint64_t)>& progress) {
    for (const auto& instance : instances_) {
        if (instance->children.empty()) {
            fill(*instance);
        }
        changed(*instance);
    }
    root_pass();
    later(size_.policy_change_at, [this] { change_policy(); });
    std::uint64_t told = 0;
    while (!agenda_.empty() && (ended_ < to_end_ || unsettled_ > 0)) {
        const Due due = std::move(const_cast<Due&>(agenda_.top()));
        agenda_.pop();
        now_ = due.at;
        due.what();
        if (ended_ >= told + to_end_ / 100 + 1) {
            progress(told = ended_);
        }
    }
}

// ---- a leaf's jobs ----

void InstanceTree::fill(Instance& leaf) {
    PriorityService& service = *leaf.service;
    while (leaf.submitted < size_.jobs_per_leaf) {
        if (leaf.next_cores == 0) {
            leaf.next_cores = 1 + static_cast<std::int64_t>(random_() % 4);
        }
        if (leaf.next_cores > leaf.free_cores) {
            break;
        }
        const std::size_t users = size_.accounts * size_.users;
        const std::size_t user = (leaf.place * 7 + random_() % size_.users_of_leaf) % users;
        const FluxJobId id = next_id(leaf);
        leaf.submitted += 1;
        const std::int64_t cores = std::exchange(leaf.next_cores, 0);
        JobRequest request;
        request.account = account_name(user / size_.users);
        request.cores = cores;
        leaf.free_cores -= cores;
        service.apply({id, now_, SubmitEvent{first_uid + static_cast<std::uint32_t>(user), 16, request}});
        service.apply({id, now_, DependEvent{}});
        service.apply({id, now_, AllocEvent{cores, false}});
        const auto run_us =
            1 + static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(size_.run_time_max.count()));
        later(Duration(run_us), [this, &leaf, id, cores] { end(leaf, id, cores); });
    }
}

void InstanceTree::end(Instance& leaf, FluxJobId id, std::int64_t cores) {
    leaf.service->apply({id, now_, FreeEvent{}});
    leaf.service->apply({id, now_, CleanEvent{}});
    leaf.free_cores += cores;
    ended_ += 1;
    fill(leaf);
    changed(leaf);
}

// ---- reports ----

void InstanceTree::changed(Instance& instance) {
    if (instance.service->log().is_dirty() && !std::exchange(instance.is_commit_due, true)) {
        unsettled_ += 1;
        later(size_.commit_delay, [this, &instance] { commit(instance); });
    }
}

void InstanceTree::commit(Instance& instance) {
    instance.is_commit_due = false;
    unsettled_ -= 1;
    {
        const Stopwatch watch(levels_[instance.level].commit_cpu_s);
        (void)instance.service->take_batch();
    }
    report(instance);
}

void InstanceTree::report(Instance& instance) {
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
    later(size_.link_delay,
          [this, &instance, text = std::make_shared<std::string>(write_report(instance.host, *batch))] {
              take_report(*instance.parent, instance, *text);
          });
}

void InstanceTree::take_report(Instance& parent, Instance& child, const std::string& text) {
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
                report_delay_sum_s_ += to_seconds(delay);
                report_delay_max_ = std::max(report_delay_max_, delay);
            }
            root_records_ += batch.records.size();
        }
        acked = parent.service->report(child.host, batch.first_seq, std::move(batch.records), now_);
    }
    changed(parent);
    // It answers when its own state file has the records.
    later(size_.commit_delay + size_.link_delay, [this, &child, acked] { acknowledge(child, acked); });
}

void InstanceTree::acknowledge(Instance& instance, std::uint64_t acked) {
    instance.is_report_out = false;
    unsettled_ -= 1;
    instance.service->sends().uplink().acknowledged(acked);
    changed(instance);
    report(instance);
}

// ---- factors ----

void InstanceTree::root_pass() {
    pass(*instances_.front());
    later(size_.pass_interval, [this] { root_pass(); });
}

void InstanceTree::pass(Instance& instance) {
    passed_at_ = instance.parent == nullptr ? now_ : passed_at_;
    {
        const Stopwatch watch(levels_[instance.level].pass_cpu_s);
        instance.service->pass(now_);
    }
    publish(instance);
    changed(instance);
}

void InstanceTree::publish(Instance& instance) {
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
        later(size_.link_delay, [this, child, text, whole = is_complete] { take_factors(*child, *text, whole); });
    }
}

void InstanceTree::take_factors(Instance& instance, const std::string& text, bool is_complete) {
    LevelLoad& load = levels_[instance.level];
    load.factor_messages += 1;
    load.factor_bytes += text.size();
    {
        const Stopwatch watch(load.pass_cpu_s);
        const auto rows = value_or_throw(read_factors(value_or_throw(Json::parse(text)).get()));
        instance.service->take_parent_factors(rows, is_complete);
    }
    pass(instance);
    if (instance.children.empty()) {
        factor_delay_max_ = std::max(factor_delay_max_, now_ - passed_at_);
    }
}

// ---- policy ----

void InstanceTree::change_policy() {
    policy_changed_at_ = now_;
    ParentPolicy policy;
    policy.table = table_of(size_, 200000);
    policy.tree_revision = 2;
    share_tree_ += "\"late\" = 1\n";
    policy.tree = share_tree_;
    take_policy(*instances_.front(), write_policy(policy, ChildKind::partition).dump());
}

void InstanceTree::take_policy(Instance& instance, const std::string& text) {
    LevelLoad& load = levels_[instance.level];
    PriorityService& service = *instance.service;
    std::shared_ptr<std::string> below;
    {
        const Stopwatch watch(load.policy_cpu_s);
        const ParentPolicy policy = value_or_throw(read_policy(value_or_throw(Json::parse(text)).get()));
        auto proposal = value_or_throw(service.trees().propose(service.accounting().tree(),
                                                               {*policy.tree, "parent", "", std::nullopt}, "t", now_));
        service.configure(value_or_throw(settings_below(policy, nullptr, {})), now_);
        service.accept(service.prepare(std::move(proposal), now_));
        service.sends().factors().restart();
        below = std::make_shared<std::string>(write_policy(policy, ChildKind::partition).dump());
    }
    load.policy_messages += instance.parent == nullptr ? 0 : 1;
    load.policy_bytes += instance.parent == nullptr ? 0 : text.size();
    pass(instance);
    for (Instance* child : instance.children) {
        later(size_.link_delay, [this, child, below] { take_policy(*child, *below); });
    }
    if (instance.children.empty()) {
        policy_delay_max_ = std::max(policy_delay_max_, now_ - policy_changed_at_);
    }
}

// ---- at the end ----

std::size_t InstanceTree::leaves_behind() const {
    return static_cast<std::size_t>(std::count_if(instances_.begin(), instances_.end(), [](const auto& instance) {
        return instance->children.empty() && !instance->service->accounting().tree().find("late");
    }));
}

Duration InstanceTree::report_delay_mean() const {
    return duration_from_seconds(root_records_ == 0 ? 0 : report_delay_sum_s_ / static_cast<double>(root_records_));
}

std::size_t InstanceTree::differences() const {
    std::size_t count = 0;
    const PriorityService& root = *instances_.front()->service;
    for (std::size_t user = 0; user < size_.accounts * size_.users; ++user) {
        const std::string path = account_name(user / size_.users) + "/@" + user_name(user);
        SignedCoreMicros sum = 0;
        for (const auto& instance : instances_) {
            if (instance->children.empty()) {
                const PriorityService& leaf = *instance->service;
                sum += leaf.accounting().ledger().charged(*leaf.accounting().tree().find(path), now_);
            }
        }
        count += sum == root.accounting().ledger().charged(*root.accounting().tree().find(path), now_) ? 0 : 1;
    }
    return count;
}

}  // namespace weir::scale
