// SPDX-License-Identifier: LGPL-3.0-only
// Owns: job-route in a simulated instance: the production RouteTable and ChildLink between journal, plugin, parent and
// children, as modules/job-route/module.cpp, parent_role.cpp and child_role.cpp do it with Flux. Must not decide
// anything.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "modules/job-priority/ranking/given_priorities.hpp"
#include "modules/job-route/child_link.hpp"
#include "modules/job-route/resource_map.hpp"
#include "modules/job-route/route_table.hpp"
#include "modules/world/alloc_watch.hpp"
#include "modules/world/part.hpp"

namespace weir::world {

class Manager;

/// The other end of a session: a child instance's job-route, or who says that he is one.
class RouteChild {
  public:
    virtual ~RouteChild() = default;
    virtual void on_attached() = 0;
    virtual void on_acked(std::uint64_t seq) = 0;
    virtual void on_orders(const std::vector<route::Order>& orders) = 0;
};

class RoutePart : public Part, public RouteChild {
  public:
    struct Facts {
        std::uint64_t host = 0;  ///< our job at the parent; 0: there is no parent
        std::set<std::string> own_queues;
        std::vector<std::string> serves;
        std::string resources;  ///< R of this instance
        std::int64_t cores = 0;
    };
    struct Peers {
        std::function<void(std::function<void(Manager&)>)> to_manager;
        std::function<RoutePart*()> parent;
        std::function<void(const std::vector<priority::GivenPriority>&, bool is_all, bool is_complete)> given;
        std::function<std::vector<route::KeptPartition>()> partitions;
        std::function<std::uint64_t()> partitions_version;  ///< another one: partitions() may have changed
    };
    RoutePart(Process& process, Facts facts, Peers peers);
    void start();
    void on_journal(const std::string& payload);
    /// job-priority of this instance listens.
    void open_priorities();

    /// The next allocation that it reports to its parent is `R`.
    void garble(const std::string& R) { garbled_ = R; }
    /// An operator's command.
    void set_drained(route::JobId child, bool is_drained);

    // ---- what children say ----
    void on_attach(route::Attach attach, const route::Caller& caller, RouteChild& child,
                   const std::shared_ptr<Link>& link);
    void on_report(const route::Report& report, RouteChild& child, const std::shared_ptr<Link>& link);
    void on_disconnect(route::JobId child, const std::string& session);

    // ---- what the parent says ----
    void on_attached() override;
    void on_acked(std::uint64_t seq) override;
    void on_orders(const std::vector<route::Order>& orders) override;

    const route::RouteTable& table() const { return table_; }
    const route::ChildLink& link() const { return link_; }
    /// Nothing is under way.
    bool is_quiet() const;
    bool is_attached() const { return link_.is_attached(); }

  private:
    bool is_child() const { return facts_.host != 0; }
    void pump();
    void take_partitions();
    void tick();
    void send_priorities(const std::vector<route::GivenPriority>& rows, bool is_all);
    // the parent's role
    struct Session {
        std::string name;
        std::shared_ptr<Link> link;
        RouteChild* child;
        route::ResourceMap resources;
    };
    struct Batch {
        std::vector<route::TapOp> ops;
        std::vector<Task> replies;
    };
    void perform(route::ParentActions actions);
    void start_batch();
    void end_batch(const std::vector<std::pair<std::uint64_t, std::string>>& failed);
    void fetch(route::JobId id);
    void close(route::JobId child);
    void send_orders(std::vector<std::pair<route::JobId, route::Order>> orders);
    // the child's role
    void connect();
    void attach();
    void on_lost();
    void send_report();
    void send_beat();
    void beat();
    void perform(route::ChildActions actions);
    void submit(const route::Order& order);
    void steer(const route::LocalOp& op);

    Facts facts_;
    Peers peers_;
    route::RouteTable table_;
    AllocWatch allocs_;
    route::ChildLink link_;
    std::optional<std::uint64_t> partitions_version_;
    bool is_pumping_ = false;
    bool is_ticking_ = false;
    bool is_ready_ = false;
    bool is_listened_ = false;
    bool is_complete_told_ = false;
    std::map<route::JobId, Session> sessions_;
    Batch current_;
    Batch next_;
    bool is_batch_out_ = false;
    std::size_t fetches_ = 0;
    std::size_t requests_ = 0;  ///< of the child's role to the job-manager
    std::shared_ptr<Link> uplink_;
    std::string session_;
    std::uint64_t session_count_ = 0;
    bool is_report_out_ = false;
    std::string garbled_;          ///< empty: it reports what is
    std::int64_t told_cores_ = 0;  ///< own_cores of the last message
};

}  // namespace weir::world
