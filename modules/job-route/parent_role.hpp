// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the RPCs of the parent's side: requests of children (attach, report, disconnect) and of users (tree, locate),
// and the actions of RouteTable (plugin requests, jobspec look-ups, orders to children). Decides nothing. Source: RFC
// 6; payloads in README.md.
#pragma once
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "libfairshare/base/thinned.hpp"
#include "modules/common/flux_cpp.hpp"
#include "modules/job-route/guests.hpp"
#include "modules/job-route/messages_json.hpp"
#include "modules/job-route/resource_map.hpp"
#include "modules/job-route/route_table.hpp"

namespace weir::route {

class ParentRole {
  public:
    struct Callbacks {
        std::function<void()> changed;                       ///< the table changed: take its actions
        std::function<void()> mirrored;                      ///< the plugin carried out a batch
        std::function<void(const std::string& why)> broken;  ///< it did not: start over from the journal
        std::function<void(const flux_msg_t* msg)> left;     ///< a client disconnected
    };
    /// \param heartbeat_s real seconds between the heartbeats that a child must send.
    /// \param guests of a private instance a guest is told of his own jobs and instances, and of the owner's.
    ParentRole(flux_t* h, RouteTable& table, double heartbeat_s, const Guests& guests, Callbacks callbacks);
    /// Ends the sessions, since the children would otherwise wait for orders.
    ~ParentRole();
    ParentRole(const ParentRole&) = delete;
    ParentRole& operator=(const ParentRole&) = delete;
    flux_t* flux() const { return h_; }
    flux::GuestTurns& turns() { return turns_; }
    void perform(ParentActions actions);
    /// Ends every session; the children will attach again.
    void reset();
    Json stats() const;
    /// The session of a child; empty where it is not attached.
    std::string session_of(JobId child) const;
    /// A further response to a child's attach; nothing where it is not attached.
    void send(JobId child, const Json& message);
    bool is_from(JobId child, const std::string& session, std::uint32_t userid) const;
    /// The drained nodes of this instance. Each of the owner's children is told which of its own these are, here and
    /// when it attaches.
    void set_drains(const Drains& drains);

  private:
    struct Session {
        flux::MessageRef request;
        std::string session;
        std::uint32_t userid = 0;
        ResourceMap resources;
        bool takes_drains = false;  ///< and is the owner's: a guest's allocation is his until it ends
        bool is_logged = true;      ///< that it attached; then its end is logged as well
    };
    struct Reply {
        flux::MessageRef request;
        std::uint64_t seq = 0;
    };
    struct Batch {
        std::vector<TapOp> ops;
        std::vector<Reply> replies;
        std::vector<Json> documents;  ///< the ops' R, empty Json where an op has none
    };

    /// Of this instance's plugin, which carries out TapOps.
    static constexpr const char* update_topic = "job-manager.jobroute.update";

    Caller caller_of(const flux_msg_t* msg) const;
    void on_attach(const flux_msg_t* msg);
    void attach(const flux_msg_t* msg);
    void on_report(const flux_msg_t* msg);
    void report(const flux_msg_t* msg);
    void disconnect(const flux_msg_t* msg);
    Json tree(const flux_msg_t* msg);
    Json locate(const flux_msg_t* msg);
    void set_servers(JobId job, Json& answer) const;
    double lost_since(const ChildView& child) const;
    bool is_told(const flux_msg_t* msg, JobId job, bool is_instance) const;

    Batch decoded(std::vector<TapOp> ops);
    void answer(const std::vector<Reply>& replies);
    void start_batch();
    void send_update();
    void on_committed(flux_future_t* f);
    void on_updated(flux_future_t* f);
    void on_probed(flux_future_t* f);
    void end_batch();
    struct Fetch {
        flux::Future future;
        JobId id;
        bool with_J;  ///< asked for J, too
    };
    void fetch(JobId id, bool with_J);
    void on_fetched(flux_future_t* f);
    void fetch_again();
    void take_jobspec(const Fetch& fetch, flux_future_t* f);
    std::uint32_t updates_of(JobId id) const;
    void send_orders(std::vector<std::pair<JobId, Order>> orders);
    std::string output_of(JobId id) const;
    void close(JobId child);
    void send_drains(JobId child);
    bool log_attached(const Attach& attach, std::uint32_t userid);

    flux_t* h_;
    RouteTable& table_;
    double heartbeat_s_;
    std::string output_dir_;  ///< where this instance looks for the output of its jobs; empty: a stock Flux
    const flux::PrivateMode& privacy_;
    flux::GuestTurns& turns_;
    Callbacks callbacks_;
    std::map<JobId, Session> sessions_;
    std::map<std::uint32_t, Thinned> guests_attached_;  ///< by user: how often a child of his attached
    std::optional<Drains> drains_;                      ///< none: not known yet
    std::vector<Reply> fresh_replies_;                  ///< to reports whose consequences are not known yet
    Batch next_;
    Batch current_;
    flux::Future commit_;
    flux::Future update_;
    flux::Future probe_;
    bool is_plugin_absent_ = false;
    std::map<flux_future_t*, Fetch> fetches_;
    std::vector<std::pair<JobId, bool>> fetches_later_;  ///< as fetch() takes them, after a pause
    flux::Watcher fetch_retry_;
    bool stores_J_ = true;  ///< this instance's job-manager, as its last answer says
    std::uint64_t reports_ = 0;
    std::uint64_t mirrored_ = 0;
    flux::Handlers handlers_;
};

}  // namespace weir::route
