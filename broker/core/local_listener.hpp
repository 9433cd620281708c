// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the socket local-0 of an instance: which users may connect, with which credentials, and the connected clients.
// Must not know services.
// Source: flux-core's local connector as observed; RFC 12.
#pragma once
#include <uv.h>

#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "broker/core/local_client.hpp"
#include "broker/core/loop.hpp"
#include "broker/core/quota.hpp"
#include "broker/core/router.hpp"
#include "broker/core/rundir.hpp"

namespace weir::broker {

class LocalListener {
  public:
    static constexpr const char* socket_name = "local-0";
    struct Policy {
        bool allow_guests = false;      // [access] allow-guest-user
        bool allow_root_owner = false;  // [access] allow-root-owner
    };
    using Log = std::function<void(int severity, const std::string& text)>;

    /// Binds the socket, replacing a stale one. Clients may connect from now on but wait until `accept`.
    static Result<std::unique_ptr<LocalListener>> bind(Loop& loop, Router& router, const Rundir& rundir, Log log);
    ~LocalListener();

    void set_policy(Policy policy) { policy_ = policy; }
    void accept();
    /// No new clients; connected ones stay.
    void stop_accepting() {
        poll_.reset();
        retry_.reset();
    }
    /// Writes the clients' pending output; closes clients that have ended. Call it before the loop waits.
    void flush();
    std::size_t client_count() const { return clients_.size(); }

  private:
    LocalListener(Loop& loop, Router& router, const Rundir& rundir, Log log);
    void listen_on();
    void on_connect();
    void admit(int fd);
    void drop_closed();

    Loop& loop_;
    Router& router_;
    const Rundir& rundir_;
    Log log_;
    Policy policy_;
    Quotas quotas_;
    int fd_ = -1;
    Watch<uv_poll_t> poll_;
    Watch<uv_timer_t> retry_;
    bool is_short_ = false;   // no descriptor was left for a waiting client; until all waiting clients are served
    bool is_paused_ = false;  // so the socket is not polled; until a client leaves or the timer
    std::unordered_map<LocalClient*, std::unique_ptr<LocalClient>> clients_;
    std::vector<LocalClient*> to_flush_;
    std::vector<LocalClient*> closed_;
};

}  // namespace weir::broker
