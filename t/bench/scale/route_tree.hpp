// SPDX-License-Identifier: LGPL-3.0-only
// Owns: instances of three levels that route jobs down in simulated time, by the production route tables, child links
// and messages; and what these cost. Must not know schedulers but a queue of one-core jobs in each leaf, usage, or
// clocks but that of CPU time. See instance_tree.hpp for usage and policy.
#pragma once
#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <queue>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "libfairshare/base/time.hpp"
#include "modules/job-route/child_link.hpp"
#include "modules/job-route/route_table.hpp"

namespace weir::scale {

/// Of one level: what its instances sent to their parents and got from them. Times are of its own work.
struct RouteLoad {
    std::uint64_t orders = 0;
    std::uint64_t order_bytes = 0;
    std::uint64_t reports = 0;
    std::uint64_t report_bytes = 0;
    double cpu_s = 0;
};

struct RouteSize {
    std::size_t middles = 100;
    std::size_t leaves_of_each = 100;
    std::uint64_t jobs = 1'000'000;
    std::int64_t cores_of_leaf = 4;
    double load = 0.7;  ///< of all cores
};

class RouteTree;

/// One instance. What the plugin and the job-manager record is recorded at once.
class RoutedInstance {
  public:
    RoutedInstance(RouteTree& tree, std::size_t level, RoutedInstance* parent, route::JobId host);
    void add_child(std::unique_ptr<RoutedInstance> child, std::int64_t cores);
    /// At the root.
    void submit(std::uint64_t number);
    /// Does what is to be done, and returns whether a message was sent.
    bool act();
    /// Its text arrives.
    void take_orders(const std::string& text);
    std::uint64_t take_report(const std::string& text);
    void end(route::LocalId local);
    void tick();
    /// \return whether this is news.
    bool set_touched(bool is_touched) { return std::exchange(is_touched_, is_touched) != is_touched; }
    /// Jobs that it has, and its free cores.
    std::size_t jobs() const { return origins_.size(); }
    std::int64_t free() const { return free_; }
    std::vector<std::unique_ptr<RoutedInstance>>& children() { return children_; }

  private:
    bool is_leaf() const { return children_.empty(); }
    void accept(const route::Order& order);
    void perform(const route::LocalOp& op);
    void fail(route::LocalId local, const std::string& type);
    void start_next();
    void record(route::LocalId local, route::JournalEvent event);
    void record(route::LocalId local, route::JournalEvent::Kind kind, const std::string& type = {});
    void apply(const route::TapOp& op);
    bool act_as_parent();
    bool act_as_child();

    RouteTree& tree_;
    std::size_t level_;
    RoutedInstance* parent_;
    route::JobId host_;
    route::ChildLink link_;
    route::RouteTable table_;
    std::vector<std::unique_ptr<RoutedInstance>> children_;
    std::uint64_t last_id_;
    std::map<route::LocalId, bool> origins_;  ///< active jobs, and whether they have cores
    std::deque<route::LocalId> waiting_;      ///< of a leaf
    std::int64_t free_;                       ///< of a leaf
    bool is_touched_ = false;                 ///< it is to act
};

class RouteTree {
  public:
    explicit RouteTree(const RouteSize& size);
    /// \param progress  gets the number of ended jobs from time to time
    void run(const std::function<void(std::uint64_t)>& progress);

    const std::array<RouteLoad, 3>& levels() const { return levels_; }
    std::uint64_t ended() const { return ended_; }
    /// Copies that were taken back before they started, at all levels.
    std::uint64_t recalls() const { return recalls_; }
    Duration simulated() const { return now_; }
    /// Whether no instance has a job or a busy core.
    bool is_empty() const;

    // ---- for the instances ----
    RouteLoad& level(std::size_t level) { return levels_[level]; }
    std::int64_t cores_of_leaf() const { return size_.cores_of_leaf; }
    void run_job(RoutedInstance& leaf, route::LocalId local);
    void touch(RoutedInstance& instance);
    void count_end() { ended_ += 1; }
    void count_recall() { recalls_ += 1; }

  private:
    struct End {
        Duration at;
        std::uint64_t number;  ///< ties are in the order of the starts
        RoutedInstance* leaf;
        route::LocalId local;
        friend bool operator>(const End& a, const End& b) {
            return std::tie(a.at, a.number) > std::tie(b.at, b.number);
        }
    };
    void settle();

    RouteSize size_;
    std::array<RouteLoad, 3> levels_{};
    std::unique_ptr<RoutedInstance> root_;
    std::priority_queue<End, std::vector<End>, std::greater<>> ends_;
    std::vector<RoutedInstance*> touched_;
    Duration now_{};
    std::uint64_t starts_ = 0;
    std::uint64_t ended_ = 0;
    std::uint64_t recalls_ = 0;
};

}  // namespace weir::scale
