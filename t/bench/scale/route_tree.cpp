// SPDX-License-Identifier: LGPL-3.0-only
// Owns: RouteTree. See route_tree.hpp.
#include "t/bench/scale/route_tree.hpp"

#include <time.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "libfairshare/base/check.hpp"
#include "modules/job-route/messages_json.hpp"

namespace weir::scale {
namespace {

using route::ChildEvent;
using route::JobId;
using route::JournalEvent;
using route::LocalId;
using route::LocalOp;
using route::Order;
using route::TapOp;

constexpr const char* session = "1";  ///< no link is ever lost
constexpr std::size_t events_of_report = 256;
constexpr std::uint64_t first_id = 1'000'000'000'000;  ///< ids are as long as those of a month-old instance
constexpr Duration step = std::chrono::milliseconds(10);
constexpr Duration run_time = std::chrono::seconds(10);
constexpr const char* R_text =
    R"({"version":1,"execution":{"R_lite":[{"rank":"0","children":{"core":"0"}}],"nodelist":["node0"],"starttime":0,"expiration":0}})";
/// As `weir submit hostname` makes it.
constexpr const char* jobspec_text =
    R"({"version":1,"resources":[{"type":"slot","count":1,"label":"task","with":[{"type":"core","count":1}]}],)"
    R"("tasks":[{"command":["hostname"],"slot":"task","count":{"per_slot":1}}],)"
    R"("attributes":{"system":{"duration":0,"cwd":"/home/user","queue":"batch","shell":{"options":{"rlimit":{}}}}}})";

/// Adds the CPU time of its life to a level. While there is another one in it, that one counts.
class Meter {
  public:
    explicit Meter(RouteLoad& load) : load_(load), outer_(std::exchange(inner_, this)), began_(seconds()) {
        if (outer_ != nullptr) {
            outer_->load_.cpu_s += began_ - outer_->began_;
        }
    }
    ~Meter() {
        const double ends = seconds();
        load_.cpu_s += ends - began_;
        inner_ = outer_;
        if (outer_ != nullptr) {
            outer_->began_ = ends;
        }
    }
    Meter(const Meter&) = delete;
    Meter& operator=(const Meter&) = delete;

  private:
    static double seconds() {
        timespec now{};
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
        return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
    }
    static inline Meter* inner_ = nullptr;
    RouteLoad& load_;
    Meter* outer_;
    double began_;
};

}  // namespace

// ---- an instance ----

RoutedInstance::RoutedInstance(RouteTree& tree, std::size_t level, RoutedInstance* parent, JobId host)
    : tree_(tree),
      level_(level),
      parent_(parent),
      host_(host),
      table_(parent != nullptr, std::numeric_limits<std::int64_t>::max()),
      last_id_(first_id),
      free_(tree.cores_of_leaf()) {
    table_.synced();
    link_.synced();
    link_.attached();
}

void RoutedInstance::add_child(std::unique_ptr<RoutedInstance> child, std::int64_t cores) {
    route::JobFacts facts;
    facts.serves = {"batch"};
    facts.cores = cores;
    const LocalId host{child->host_.value};
    table_.submitted(child->host_, {}, facts);
    for (const auto kind : {JournalEvent::Kind::priority, JournalEvent::Kind::alloc, JournalEvent::Kind::start}) {
        record(host, kind);
    }
    route::Attach attach;
    attach.child = child->host_;
    attach.session = session;
    attach.serves = facts.serves;
    attach.cores = cores;
    WEIR_CHECK(table_.attach(attach, {0, true}).has_value());
    (void)table_.take();  // `complete`: it has no jobs
    children_.push_back(std::move(child));
}

void RoutedInstance::submit(std::uint64_t number) {
    const Meter meter(tree_.level(level_));
    const LocalId id{first_id + number};
    route::JobFacts facts;
    facts.queue = "batch";
    table_.submitted(JobId{id.value}, {}, facts);
    origins_.emplace(id, false);
    record(id, JournalEvent::Kind::bypass);
    JournalEvent event;
    event.kind = JournalEvent::Kind::priority;
    event.priority = 16;
    record(id, std::move(event));
}

void RoutedInstance::record(LocalId local, JournalEvent event) {
    table_.event(JobId{local.value}, event);
    link_.event(local, event);
}

void RoutedInstance::record(LocalId local, JournalEvent::Kind kind, const std::string& type) {
    JournalEvent event;
    event.kind = kind;
    event.type = type;
    if (kind == JournalEvent::Kind::alloc) {
        event.R = R_text;
        event.cores = 1;
    }
    record(local, std::move(event));
}

/// What the plugin does.
void RoutedInstance::apply(const TapOp& op) {
    const LocalId id{op.id.value};
    JournalEvent event;
    event.child = op.child.value;
    event.R = op.R;
    event.cores = 1;
    switch (op.kind) {
        case TapOp::Kind::give:
            event.kind = JournalEvent::Kind::route;
            record(id, std::move(event));
            return;
        case TapOp::Kind::alloc:
            event.kind = JournalEvent::Kind::alloc;
            record(id, std::move(event));
            return;
        case TapOp::Kind::start:
            record(id, JournalEvent::Kind::start);
            return;
        case TapOp::Kind::finish:
            record(id, JournalEvent::Kind::finish);
            return;
        case TapOp::Kind::clean:
            record(id, JournalEvent::Kind::prolog_finish, route::mirror_prolog);
            record(id, JournalEvent::Kind::clean);
            origins_.erase(id);
            if (parent_ == nullptr) {
                tree_.count_end();
            }
            return;
        case TapOp::Kind::exception:
            break;
    }
    WEIR_CHECK(op.kind != TapOp::Kind::exception);  // no job fails
}

bool RoutedInstance::act_as_parent() {
    std::map<JobId, route::OrdersText> orders;
    while (true) {
        route::ParentActions actions = table_.take();
        if (actions.tap.empty() && actions.fetch.empty() && actions.orders.empty()) {
            break;
        }
        for (const TapOp& op : actions.tap) {
            apply(op);
        }
        for (const JobId id : actions.fetch) {
            table_.jobspec_ready(id, jobspec_text);
        }
        for (const auto& [child, order] : actions.orders) {
            orders[child].add(order);
        }
    }
    RouteLoad& below = tree_.level(level_ + 1);
    for (auto& [host, message] : orders) {
        const std::string text = message.text();
        below.orders += 1;
        below.order_bytes += text.size();
        children_[host.value - 1]->take_orders(text);
    }
    return !orders.empty();
}

bool RoutedInstance::act_as_child() {
    route::ChildActions actions = link_.take();
    for (const Order& order : actions.submits) {
        accept(order);
    }
    for (const LocalOp& op : actions.ops) {
        perform(op);
    }
    start_next();
    route::Report report;
    report.child = host_;
    report.session = session;
    report.events = link_.next_report(events_of_report);
    if (report.events.empty()) {
        return false;
    }
    const std::string text = route::text_of(report);
    RouteLoad& here = tree_.level(level_);
    here.reports += 1;
    here.report_bytes += text.size();
    link_.acked(parent_->take_report(text));
    return true;
}

bool RoutedInstance::act() {
    const Meter meter(tree_.level(level_));
    bool has_sent = parent_ != nullptr && act_as_child();
    has_sent = (!is_leaf() && act_as_parent()) || has_sent;
    return has_sent;
}

void RoutedInstance::take_orders(const std::string& text) {
    const Meter meter(tree_.level(level_));
    FlatJson reader;
    const auto orders = route::decode_orders(reader.read(text));
    WEIR_CHECK(orders.has_value());
    for (const Order& order : *orders) {
        link_.order(order);
    }
    tree_.touch(*this);
}

std::uint64_t RoutedInstance::take_report(const std::string& text) {
    const Meter meter(tree_.level(level_));
    FlatJson reader;
    const auto report = route::decode_report(reader.read(text));
    WEIR_CHECK(report.has_value());
    const auto seq = table_.report(*report);
    WEIR_CHECK(seq.has_value());
    tree_.touch(*this);
    return *seq;
}

void RoutedInstance::accept(const Order& order) {
    const LocalId local{++last_id_};
    route::JobFacts facts;
    facts.queue = "batch";
    facts.upstream = order.id.value;
    if (!is_leaf()) {
        table_.submitted(JobId{local.value}, {}, facts);
        JournalEvent bypass;
        bypass.kind = JournalEvent::Kind::bypass;
        table_.event(JobId{local.value}, bypass);
    }
    origins_.emplace(local, false);
    link_.submit_done(order.id, local);
    JournalEvent event;
    event.kind = JournalEvent::Kind::priority;
    event.priority = order.priority;
    record(local, std::move(event));
    if (is_leaf()) {
        waiting_.push_back(local);
    }
}

void RoutedInstance::perform(const LocalOp& op) {
    if (op.kind == LocalOp::Kind::raise) {
        fail(op.job, op.type);
    } else if (op.kind == LocalOp::Kind::go && is_leaf()) {
        record(op.job, JournalEvent::Kind::start);
        tree_.run_job(*this, op.job);
    } else if (op.kind == LocalOp::Kind::go) {
        table_.allow_go(JobId{op.job.value});
    }
}

/// A copy is recalled.
void RoutedInstance::fail(LocalId local, const std::string& type) {
    const auto job = origins_.find(local);
    if (job == origins_.end()) {
        return;
    }
    tree_.count_recall();
    record(local, JournalEvent::Kind::exception, type);
    if (is_leaf()) {
        free_ += job->second ? 1 : 0;
        std::erase(waiting_, local);
        record(local, JournalEvent::Kind::clean);
        origins_.erase(job);
    }
}

void RoutedInstance::start_next() {
    while (is_leaf() && free_ > 0 && !waiting_.empty()) {
        const LocalId local = waiting_.front();
        waiting_.pop_front();
        free_ -= 1;
        origins_.at(local) = true;
        record(local, JournalEvent::Kind::alloc);
    }
}

void RoutedInstance::end(LocalId local) {
    const Meter meter(tree_.level(level_));
    free_ += 1;
    origins_.erase(local);
    record(local, JournalEvent::Kind::finish);
    record(local, JournalEvent::Kind::clean);
    tree_.touch(*this);
}

void RoutedInstance::tick() {
    const Meter meter(tree_.level(level_));
    table_.tick();
    tree_.touch(*this);
}

// ---- the tree ----

RouteTree::RouteTree(const RouteSize& size) : size_(size) {
    root_ = std::make_unique<RoutedInstance>(*this, 0, nullptr, JobId{});
    const auto of_middle = static_cast<std::int64_t>(size.leaves_of_each) * size.cores_of_leaf;
    for (std::size_t i = 0; i < size.middles; i++) {
        auto middle = std::make_unique<RoutedInstance>(*this, 1, root_.get(), JobId{i + 1});
        for (std::size_t k = 0; k < size.leaves_of_each; k++) {
            middle->add_child(std::make_unique<RoutedInstance>(*this, 2, middle.get(), JobId{k + 1}),
                              size.cores_of_leaf);
        }
        root_->add_child(std::move(middle), of_middle);
    }
    levels_ = {};
}

void RouteTree::run_job(RoutedInstance& leaf, LocalId local) {
    ends_.push({now_ + run_time, starts_++, &leaf, local});
}

/// Messages take no time.
void RouteTree::settle() {
    while (!touched_.empty()) {
        const std::vector<RoutedInstance*> now = std::exchange(touched_, {});
        for (RoutedInstance* instance : now) {
            instance->set_touched(false);
        }
        for (RoutedInstance* instance : now) {
            if (instance->act()) {
                touch(*instance);  // what is left of a long report, and the answer to it
            }
        }
    }
}

void RouteTree::touch(RoutedInstance& instance) {
    if (instance.set_touched(true)) {
        touched_.push_back(&instance);
    }
}

void RouteTree::run(const std::function<void(std::uint64_t)>& progress) {
    const auto cores =
        static_cast<double>(size_.middles * size_.leaves_of_each) * static_cast<double>(size_.cores_of_leaf);
    const double jobs_of_step = size_.load * cores / to_seconds(run_time) * to_seconds(step);
    double due = 0;
    std::uint64_t submitted = 0;
    for (std::uint64_t steps = 0; ended_ < size_.jobs; steps++) {
        now_ += step;
        for (; !ends_.empty() && ends_.top().at <= now_; ends_.pop()) {
            ends_.top().leaf->end(ends_.top().local);
        }
        for (due += jobs_of_step; due >= 1 && submitted < size_.jobs; due -= 1) {
            root_->submit(++submitted);
        }
        touch(*root_);
        if (steps % 100 == 99) {
            root_->tick();
            for (const auto& middle : root_->children()) {
                middle->tick();
            }
            progress(ended_);
        }
        settle();
    }
}

bool RouteTree::is_empty() const {
    bool is_empty = root_->jobs() == 0;
    for (const auto& middle : root_->children()) {
        is_empty = is_empty && middle->jobs() == 0;
        for (const auto& leaf : middle->children()) {
            is_empty = is_empty && leaf->jobs() == 0 && leaf->free() == size_.cores_of_leaf;
        }
    }
    return is_empty;
}

}  // namespace weir::scale
