// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the job-route of one instance in simulated time: its route table and its child link, by the production code,
// and, of a leaf, a queue of jobs that start in their order. What the plugin and the job-manager record is recorded at
// once. Must not know priorities, usage, time, or where messages go.
#pragma once
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "libfairshare/base/flat_json.hpp"
#include "libfairshare/base/time.hpp"
#include "modules/job-route/child_link.hpp"
#include "modules/job-route/route_table.hpp"

namespace weir::scale {

/// What the others in an instance learn of a job.
struct RoutedNews {
    enum class Kind : std::uint8_t { submitted, allocated, ended };
    Kind kind = Kind::submitted;
    route::LocalId id;
    // of a job that was submitted
    route::JobId above;  ///< of which it is the copy; 0: of none
    std::uint32_t userid = 0;
    std::int64_t cores = 0;  ///< and of one that was allocated
    Instant submit{};        ///< of the job at the root
};

class RouteSide {
  public:
    /// \param next_id  gives each job an id
    RouteSide(bool has_parent, route::JobId host, std::function<route::LocalId()> next_id);
    /// A child that has attached, and has no jobs. Without children it is a leaf.
    void add_child(route::JobId host, std::int64_t cores);
    /// Of a leaf.
    void set_cores(std::int64_t cores) { free_ = cores; }

    /// By a user, here. \param account  in the jobspec
    void submit(std::uint32_t userid, std::int64_t cores, const std::string& account, Instant now);
    /// Its priority is on record.
    void set_priority(route::LocalId id, std::int64_t priority);
    void take_orders(const std::string& text);
    /// \return what the child may forget
    std::uint64_t take_report(const std::string& text);
    void acked(std::uint64_t seq) { link_.acked(seq); }
    /// The job of a leaf ends.
    void end(route::LocalId id);
    /// A second has passed.
    void tick() { table_.tick(); }

    /// Carries out the orders that came. Then the priorities of the jobs that are new should be set.
    /// \return the parent's priorities that changed
    std::vector<route::GivenPriority> begin_turn();
    struct Turn {
        std::vector<std::pair<route::JobId, std::string>> orders;  ///< to children
        std::string report;                                        ///< to the parent; empty: none
        std::vector<route::LocalId> started;                       ///< of a leaf
    };
    /// Hands jobs down, or starts them, and says what is to be sent.
    Turn end_turn();
    /// Since the last clear_news().
    const std::vector<RoutedNews>& news() const { return news_; }
    void clear_news() { news_.clear(); }

    bool has(route::LocalId id) const { return jobs_.count(id) > 0; }
    /// Whether there is something to report.
    bool has_report() const { return link_.unacked() > 0; }
    std::size_t jobs() const { return jobs_.size(); }
    std::int64_t free() const { return free_; }
    /// Copies here that were taken back before they started.
    std::uint64_t recalls() const { return recalls_; }

  private:
    struct Job {
        std::string jobspec;  ///< of one that may be handed down
        std::int64_t cores = 0;
        bool has_cores = false;
    };
    void add(route::LocalId id, route::Order order);
    void accept(route::Order order);
    void perform(const route::LocalOp& op);
    void fail(route::LocalId id, const std::string& type);
    void start_next();
    void record(route::LocalId id, const route::JournalEvent& event);
    void record(route::LocalId id, route::JournalEvent::Kind kind, const std::string& type = {});
    void record_alloc(route::LocalId id, std::int64_t cores, std::uint64_t child, std::string R);
    void apply(route::TapOp op);
    void forget(route::LocalId id);
    void hand_down(Turn& turn);

    bool has_parent_;
    bool is_leaf_ = true;
    route::JobId host_;
    std::function<route::LocalId()> next_id_;
    FlatJson reader_;
    route::ChildLink link_;
    route::RouteTable table_;
    std::unordered_map<route::LocalId, Job> jobs_;  ///< active
    std::deque<route::LocalId> waiting_;            ///< of a leaf, in the order of their priorities' record
    std::vector<route::LocalId> started_;           ///< of a leaf, in this turn
    std::int64_t free_ = 0;                         ///< of a leaf
    std::vector<RoutedNews> news_;
    std::uint64_t recalls_ = 0;
};

}  // namespace weir::scale
