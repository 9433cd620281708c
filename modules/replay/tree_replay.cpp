// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the events of a replay over a tree: submissions, ends, messages between an instance and its partitions, the
// seconds that the route tables count.
#include "modules/replay/tree_replay.hpp"

#include <algorithm>
#include <deque>
#include <limits>
#include <queue>

#include "modules/replay/instance.hpp"
#include "modules/replay/refusal.hpp"
#include "modules/replay/root_queue.hpp"

namespace weir {
namespace {

using replay::Instance;
using replay::News;

constexpr int rounds_max = 1'000'000;  ///< at one instant; more rounds mean an endless loop
constexpr std::size_t root = 0;        ///< the partitions follow, each before those that it has

struct Message {
    Instant at;
    std::size_t below = 0;  ///< the lower end of its link
    bool is_up = false;
    std::vector<route::ChildEvent> events;  ///< up
    std::vector<replay::SentOrder> orders;  ///< down; none: an answer to a report
    std::uint64_t acked = 0;
};

/// An instance, and its place in the tree.
struct Node {
    std::size_t above = root;
    std::size_t place = 0;           ///< among the partitions of the one above
    std::vector<std::size_t> below;  ///< by place
    Instance instance;
};

class TreeReplay {
  public:
    TreeReplay(const SimTree& tree, const OutcomeSink& sink, const SimTreeHooks& hooks)
        : tree_(tree), sink_(sink), hooks_(hooks), queue_(hooks.common.order) {
        nodes_.push_back({root, 0, {}, Instance(tree, nullptr)});
        grow(root, tree.partitions);
        for (std::size_t node = root + 1; node < nodes_.size(); node++) {
            auto& those = nodes_[node].below.empty() ? leaves_ : middles_;
            those.push_back(node);
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
        for (const std::size_t leaf : leaves_) {
            counters_.considered += nodes_[leaf].instance.considered();
        }
        return good ? Result<SimCounters>(counters_) : Result<SimCounters>(good.error());
    }

  private:
    struct End {
        Instant at;
        Instant start;
        std::uint64_t place = 0;  ///< in the log
        std::size_t leaf = 0;
        friend bool operator>(const End& a, const End& b) {
            return std::tuple(a.at, a.start, a.place) > std::tuple(b.at, b.start, b.place);
        }
    };

    void grow(std::size_t above, const std::vector<SimPartition>& partitions) {
        for (const SimPartition& partition : partitions) {
            const std::size_t node = nodes_.size();
            nodes_.push_back({above, nodes_[above].below.size(), {}, Instance(tree_, &partition)});
            nodes_[above].below.push_back(node);
            can_leave_out_ = can_leave_out_ && !std::holds_alternative<KeptReservations>(partition.scheduler);
            grow(node, partition.partitions);
        }
    }

    // ---- time ----

    bool is_reporting() const {
        return std::any_of(nodes_.begin(), nodes_.end(), [](const Node& node) { return node.instance.is_reporting(); });
    }
    bool is_going_on() const {
        return next_ || !ends_.empty() || !messages_.empty() || is_reporting() || queue_.lets_go();
    }
    bool is_due() const { return !messages_.empty() && messages_.front().at <= counters_.now; }
    /// Whether any waiting job would start somewhere if it were first and nothing were reserved.
    bool could_start() const {
        return queue_.waiting() > 0 && std::any_of(leaves_.begin(), leaves_.end(), [this](std::size_t leaf) {
                   return queue_.least_cores() <= nodes_[leaf].instance.free_cores();
               });
    }

    Instant next_event() {
        Instant next = next_ ? next_->submit : never;
        next = ends_.empty() ? next : std::min(next, ends_.top().at);
        next = messages_.empty() ? next : std::min(next, messages_.front().at);
        if (tree_.report_interval > Duration{} && is_reporting()) {
            next = std::min(next, next_multiple(tree_.report_interval));
        }
        wake_ = queue_.wakes();
        if (wake_ > counters_.now && wake_ < next && can_leave_out_ && !could_start()) {
            wake_ = queue_.wakes_last(next);
        }
        return wake_ > counters_.now ? std::min(next, wake_) : next;
    }
    /// The next whole second that alone moves jobs.
    Instant next_tick() const {
        Instant next = at_root().next_move();
        for (const std::size_t middle : middles_) {
            next = std::min(next, nodes_[middle].instance.next_move());
        }
        return next;
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
            nodes_[ends_.top().leaf].instance.end(ends_.top().place);
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
        at_root().count_seconds(now);
        if (queue_.wants_order() || wake_ == now) {
            for (const auto& [id, priority] : queue_.prioritize(now)) {
                at_root().set_priority(id, priority);
            }
        }
        return settle(true);
    }

    Status at_tick() {
        at_root().count_seconds(counters_.now);
        return settle(false);
    }

    void submit(const SimJob& job) {
        last_submit_ = job.submit;
        auto known = std::make_shared<replay::LogJob>();
        known->job = job;
        known->place = counters_.submitted++;
        known->facts = facts_of(job);
        if (const auto why = replay::refusal_of(tree_.partitions, known->facts, job.user)) {
            refused_++;
            if (hooks_.refused) {
                hooks_.refused(job, *why);
            }
            return;
        }
        const route::LocalId id = at_root().submit(known);
        queue_.submitted(id, job, counters_.now);
        counters_.in_system_max = std::max(counters_.in_system_max, counters_.submitted - refused_ - ended_);
    }

    route::JobFacts facts_of(const SimJob& job) const {
        route::JobFacts facts;
        facts.queue = tree_.queue_of(job);
        facts.cores = job.cores;
        facts.account = tree_.account_of ? tree_.account_of(job) : "";
        facts.duration = job.limit == Duration::max() ? Duration::zero() : job.limit;
        return facts;
    }

    /// Those that still wait at the end.
    NeverStarted never_started() const {
        const std::uint64_t count = counters_.interrupted ? 0 : counters_.submitted - refused_ - counters_.started;
        return {count, count > 0 && queue_.waiting() > 0 ? at_root().job(queue_.first_waiting()).number : 0};
    }

    // ---- messages ----

    void send(Message message) {
        message.at = counters_.now + tree_.link_delay;
        messages_.push_back(std::move(message));
    }

    void send_reports() {
        for (std::size_t node = root + 1; node < nodes_.size(); node++) {
            Message message;
            message.events = nodes_[node].instance.report();
            if (!message.events.empty()) {
                message.below = node;
                message.is_up = true;
                send(std::move(message));
            }
        }
    }

    /// All that is due now, and what follows from it at once below the root.
    Status deliver() {
        while (true) {
            if (may_report()) {
                send_reports();
            }
            if (is_due()) {
                Message message = std::move(messages_.front());
                messages_.pop_front();
                if (Status good = receive(std::move(message)); !good) {
                    return good;
                }
                continue;
            }
            bool is_news = false;
            for (const std::size_t middle : middles_) {
                nodes_[middle].instance.count_seconds(counters_.now);
                is_news = act(middle) || is_news;
            }
            if (!is_news) {
                return Done{};
            }
        }
    }

    Status receive(Message message) {
        const Node& below = nodes_[message.below];
        if (message.is_up) {
            Message answer;
            answer.below = message.below;
            answer.acked = nodes_[below.above].instance.take_report(below.place, std::move(message.events));
            send(std::move(answer));
            return heed(below.above);
        }
        Instance& instance = nodes_[message.below].instance;
        if (message.orders.empty()) {
            instance.acked(message.acked);
            return Done{};
        }
        instance.take(message.orders);
        return heed(message.below);
    }

    /// One instance with partitions. \return whether it had anything to do.
    bool act(std::size_t node) {
        auto orders = nodes_[node].instance.act();
        if (!orders) {
            return false;
        }
        for (auto& [place, some] : *orders) {
            Message message;
            message.below = nodes_[node].below[place];
            message.orders = std::move(some);
            send(std::move(message));
        }
        return true;
    }

    /// What an instance has put on record. Jobs start in leaves; the order of the queue knows what the root knows.
    Status heed(std::size_t node) {
        const bool is_leaf = nodes_[node].instance.is_leaf();
        for (const News& news : nodes_[node].instance.take_news()) {
            if (is_leaf && news.kind == News::Kind::started) {
                if (Status good = start(node, *news.job); !good) {
                    return good;
                }
            } else if (node == root && news.kind == News::Kind::allocated) {
                queue_.allocated(news.id, news.job->job, counters_.now);
            } else if (node == root && news.kind == News::Kind::finished) {
                queue_.finished(news.id, news.job->job, counters_.now);
            } else if (node == root && news.kind == News::Kind::ended) {
                ended_++;
            }
        }
        return Done{};
    }

    Status start(std::size_t leaf, const replay::LogJob& job) {
        Outcome outcome{job.job, counters_.now, job.place};
        if (outcome.job.run > never - counters_.now) {
            return about(outcome.job, "would end after the end of time");
        }
        ends_.push({outcome.end(), counters_.now, job.place, leaf});
        outcome.job.partition = static_cast<std::uint16_t>(leaf);
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
            act(root);
            if (Status good = heed(root); !good) {
                return good;
            }
            if (is_due()) {
                continue;
            }
            bool is_news = false;
            for (const std::size_t leaf : leaves_) {
                Instance& instance = nodes_[leaf].instance;
                if (with_all || (instance.wants_pass() && instance.has_waiting())) {
                    counters_.passes++;
                    is_news = instance.pass(counters_.now) || is_news;
                }
            }
            with_all = false;
            if (!is_news) {
                counters_.ended = ended_;
                return Done{};
            }
        }
    }

    Instance& at_root() { return nodes_[root].instance; }
    const Instance& at_root() const { return nodes_[root].instance; }

    const SimTree& tree_;
    const OutcomeSink& sink_;
    const SimTreeHooks& hooks_;
    replay::RootQueue queue_;
    std::deque<Node> nodes_;
    std::vector<std::size_t> leaves_;
    std::vector<std::size_t> middles_;  ///< partitions with partitions, each before those that it has
    bool can_leave_out_ = true;         ///< a pass without a start changes nothing under policies that reserve anew
    SimCounters counters_;
    std::uint64_t refused_ = 0;
    std::uint64_t ended_ = 0;  ///< jobs whose end the root has on record
    std::optional<SimJob> next_;
    Instant last_submit_{};
    Instant wake_ = never;
    std::deque<Message> messages_;  ///< in order of arrival: every message takes as long
    std::priority_queue<End, std::vector<End>, std::greater<>> ends_;
};

std::size_t count_of(const std::vector<SimPartition>& partitions) {
    std::size_t count = partitions.size();
    for (const SimPartition& one : partitions) {
        count += count_of(one.partitions);
    }
    return count;
}

}  // namespace

Result<SimCounters> simulate_tree(const SimTree& tree, const JobSource& source, const OutcomeSink& sink,
                                  const SimTreeHooks& hooks) {
    const std::size_t count = count_of(tree.partitions);
    WEIR_CHECK(count > 0 && count <= std::numeric_limits<std::uint16_t>::max());
    return TreeReplay(tree, sink, hooks).run(source);
}

}  // namespace weir
