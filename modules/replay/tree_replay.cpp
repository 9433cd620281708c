// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the events of a replay over a tree: submissions, ends, messages between the parent and its partitions, the
// seconds that the route table counts.
#include "modules/replay/tree_replay.hpp"

#include <algorithm>
#include <deque>
#include <limits>
#include <memory>
#include <queue>

#include "modules/replay/child.hpp"
#include "modules/replay/parent.hpp"

namespace weir {
namespace {

using namespace std::chrono_literals;
using replay::Child;
using replay::Parent;

constexpr int rounds_max = 1'000'000;  ///< at one instant; more rounds mean an endless loop

struct Message {
    Instant at;
    std::size_t partition = 0;
    bool is_up = false;
    std::vector<route::ChildEvent> events;  ///< up
    std::vector<route::Order> orders;       ///< down; none: an answer to a report
    std::uint64_t acked = 0;
};

class TreeReplay {
  public:
    TreeReplay(const SimTree& tree, const OutcomeSink& sink, const SimTreeHooks& hooks)
        : tree_(tree), sink_(sink), hooks_(hooks), order_(hooks.common.order), parent_(tree, order_) {
        for (const SimPartition& partition : tree.partitions) {
            children_.push_back(
                std::make_unique<Child>(partition.cores, partition.scheduler,
                                        [this](route::JobId id) -> const SimJob& { return parent_.job(id); }));
            can_leave_out_ = can_leave_out_ && !std::holds_alternative<KeptReservations>(partition.scheduler);
        }
    }

    Result<SimCounters> run(const JobSource& source) {
        counters_.now = Instant::min();
        Status good = read(source);
        const SimControl* control = hooks_.common.control;
        for (std::uint64_t instants = 1; good && is_going_on(); instants++) {
            const Instant event = next_event();
            const Instant tick = next_tick();
            counters_.now = std::min(event, tick);
            good = tick < event ? at_tick() : at_event(source);
            if (good && control != nullptr && control->progress &&
                instants % std::max<std::uint64_t>(control->every, 1) == 0 && !control->progress(counters_)) {
                counters_.interrupted = true;
                break;
            }
        }
        counters_.never_started = never_started();
        counters_.considered = 0;
        for (const auto& child : children_) {
            counters_.considered += child->considered();
        }
        return good ? Result<SimCounters>(counters_) : Result<SimCounters>(good.error());
    }

  private:
    struct End {
        Instant at;
        Instant start;
        route::JobId id;
        std::size_t partition = 0;
        friend bool operator>(const End& a, const End& b) {
            return std::tuple(a.at, a.start, a.id) > std::tuple(b.at, b.start, b.id);
        }
    };

    // ---- time ----

    bool is_reporting() const {
        return std::any_of(children_.begin(), children_.end(), [](const auto& child) { return child->is_reporting(); });
    }
    bool is_going_on() const {
        return next_ || !ends_.empty() || !messages_.empty() || is_reporting() || is_letting_go();
    }
    bool is_letting_go() const { return order_ != nullptr && parent_.waiting() > 0 && order_->lets_go() != never; }
    bool is_due() const { return !messages_.empty() && messages_.front().at <= counters_.now; }
    /// Whether any waiting job would start somewhere if it were first and nothing were reserved.
    bool could_start() const {
        return parent_.waiting() > 0 && std::any_of(children_.begin(), children_.end(), [this](const auto& child) {
                   return parent_.least_cores() <= child->free_cores();
               });
    }

    Instant next_event() {
        Instant next = next_ ? next_->submit : never;
        next = ends_.empty() ? next : std::min(next, ends_.top().at);
        next = messages_.empty() ? next : std::min(next, messages_.front().at);
        if (tree_.report_interval > Duration{} && is_reporting()) {
            next = std::min(next, next_multiple(tree_.report_interval));
        }
        wake_ = order_ != nullptr && parent_.waiting() > 0 ? order_->wakes() : never;
        if (wake_ > counters_.now && wake_ < next && can_leave_out_ && !could_start()) {
            wake_ = order_->wakes_last(next);
        }
        return wake_ > counters_.now ? std::min(next, wake_) : next;
    }
    /// The next whole second that alone moves jobs.
    Instant next_tick() const {
        const auto seconds = children_.size() > 1 && parent_.waiting() > 0 ? parent_.next_move() : std::nullopt;
        return seconds ? second_ + std::chrono::seconds(*seconds) : never;
    }
    /// The route table counts the seconds up to now.
    void count_seconds() {
        const auto second = std::chrono::floor<std::chrono::seconds>(counters_.now);
        parent_.tick((second - second_) / 1s);
        second_ = second;
    }
    /// The first one behind now.
    Instant next_multiple(Duration step) const {
        const Duration now = counters_.now.time_since_epoch();
        return Instant{(now / step + 1) * step};
    }
    bool may_report() const {
        return tree_.report_interval == Duration{} ||
               counters_.now.time_since_epoch() % tree_.report_interval == Duration{};
    }

    // ---- events ----

    Status read(const JobSource& source) {
        auto job = source();
        if (!job) {
            return job.error();
        }
        next_ = *job;
        return next_ ? replayable(*next_, last_submit_, std::numeric_limits<std::uint64_t>::max()) : Status{Done{}};
    }

    Status at_event(const JobSource& source) {
        const Instant now = counters_.now;
        for (; !ends_.empty() && ends_.top().at == now; ends_.pop()) {
            children_[ends_.top().partition]->end(ends_.top().id);
        }
        if (Status good = deliver(); !good) {
            return good;
        }
        while (next_ && next_->submit == now) {
            submit(*next_);
            if (Status good = read(source); !good) {
                return good;
            }
        }
        count_seconds();
        if (parent_.wants_order() || wake_ == now) {
            parent_.prioritize(now);
        }
        return settle(true);
    }

    Status at_tick() {
        count_seconds();
        return settle(false);
    }

    void submit(const SimJob& job) {
        last_submit_ = job.submit;
        const std::uint64_t place = counters_.submitted++;
        if (const auto why = refusal(job)) {
            refused_++;
            if (hooks_.refused) {
                hooks_.refused(job, *why);
            }
            return;
        }
        parent_.submit(job, place, counters_.now);
        counters_.in_system_max = std::max(counters_.in_system_max, counters_.submitted - refused_ - parent_.ended());
    }

    /// Those that still wait at the end.
    NeverStarted never_started() const {
        const std::uint64_t count = counters_.interrupted ? 0 : counters_.submitted - refused_ - counters_.started;
        return {count, count > 0 && parent_.waiting() > 0 ? parent_.first_waiting().number : 0};
    }

    /// Nothing: a partition can hold it.
    std::optional<Refusal> refusal(const SimJob& job) const {
        const route::JobFacts facts = replay::facts_of(tree_, job);
        const std::string& queue = facts.queue;
        std::int64_t most = 0;
        std::vector<route::PartitionWord> against;
        for (const SimPartition& partition : tree_.partitions) {
            const auto has = [&queue](const std::vector<std::string>& queues) {
                return std::find(queues.begin(), queues.end(), queue) != queues.end();
            };
            if (!has(partition.queues) && !has(partition.overflow)) {
                continue;
            }
            if (auto misfit = route::misfit_of(partition.rules, facts, job.user)) {
                against.push_back({partition.name, {}, std::move(misfit)});
            } else {
                most = std::max(most, partition.cores);
            }
        }
        if (most == 0 && !against.empty()) {
            return Refusal{"taken by no partition of its queue", "is refused: " + *route::refusal_text(queue, against)};
        }
        if (most == 0) {
            return Refusal{"of a queue that no partition serves", "is of queue " + queue};
        }
        if (job.cores <= most) {
            return std::nullopt;
        }
        return Refusal{"larger than every partition of its queue", "wants " + std::to_string(job.cores) +
                                                                       " cores; the largest partition of queue " +
                                                                       queue + " has " + std::to_string(most)};
    }

    // ---- messages ----

    void send(Message message) {
        message.at = counters_.now + tree_.link_delay;
        messages_.push_back(std::move(message));
    }

    void send_reports() {
        for (std::size_t i = 0; i < children_.size(); i++) {
            Message message;
            message.events = children_[i]->report();
            if (!message.events.empty()) {
                message.partition = i;
                message.is_up = true;
                send(std::move(message));
            }
        }
    }

    /// All that is due now, and what follows from it at once.
    Status deliver() {
        while (true) {
            if (may_report()) {
                send_reports();
            }
            if (!is_due()) {
                return Done{};
            }
            Message message = std::move(messages_.front());
            messages_.pop_front();
            if (Status good = receive(std::move(message)); !good) {
                return good;
            }
        }
    }

    Status receive(Message message) {
        Child& child = *children_[message.partition];
        if (message.is_up) {
            Message answer;
            answer.partition = message.partition;
            answer.acked = parent_.report(message.partition, std::move(message.events), counters_.now);
            send(std::move(answer));
            return Done{};
        }
        if (message.orders.empty()) {
            child.acked(message.acked);
            return Done{};
        }
        child.take(message.orders);
        for (const route::JobId id : child.take_started()) {
            if (Status good = start(message.partition, id); !good) {
                return good;
            }
        }
        return Done{};
    }

    Status start(std::size_t partition, route::JobId id) {
        Outcome outcome{parent_.job(id), counters_.now, parent_.place(id)};
        if (outcome.job.run > never - counters_.now) {
            return about(outcome.job, "would end after the end of time");
        }
        ends_.push({outcome.end(), counters_.now, id, partition});
        outcome.job.partition = static_cast<std::uint16_t>(partition + 1);
        counters_.started++;
        sink_(outcome);
        return Done{};
    }

    /// Runs until no event is due and no pass has an effect. `with_all`: every partition makes a pass.
    Status settle(bool with_all) {
        for (int round = 0;; round++) {
            WEIR_CHECK(round < rounds_max);
            if (Status good = deliver(); !good) {
                return good;
            }
            for (auto& [partition, orders] : parent_.act(counters_.now)) {
                Message message;
                message.partition = partition;
                message.orders = std::move(orders);
                send(std::move(message));
            }
            if (is_due()) {
                continue;
            }
            bool is_news = false;
            for (const auto& child : children_) {
                if (with_all || (child->wants_pass() && child->has_waiting())) {
                    counters_.passes++;
                    is_news = child->pass(counters_.now) || is_news;
                }
            }
            with_all = false;
            if (!is_news) {
                counters_.ended = parent_.ended();
                return Done{};
            }
        }
    }

    const SimTree& tree_;
    const OutcomeSink& sink_;
    const SimTreeHooks& hooks_;
    QueueOrder* order_;
    Parent parent_;
    std::vector<std::unique_ptr<Child>> children_;
    bool can_leave_out_ = true;  ///< a pass without a start changes nothing under policies that reserve anew
    SimCounters counters_;
    std::uint64_t refused_ = 0;
    std::optional<SimJob> next_;
    Instant last_submit_{};
    Instant wake_ = never;
    Instant second_{};              ///< up to which the route table counted
    std::deque<Message> messages_;  ///< in order of arrival: every message takes as long
    std::priority_queue<End, std::vector<End>, std::greater<>> ends_;
};

}  // namespace

Result<SimCounters> simulate_tree(const SimTree& tree, const JobSource& source, const OutcomeSink& sink,
                                  const SimTreeHooks& hooks) {
    WEIR_CHECK(!tree.partitions.empty() && tree.partitions.size() <= std::numeric_limits<std::uint16_t>::max());
    return TreeReplay(tree, sink, hooks).run(source);
}

}  // namespace weir
