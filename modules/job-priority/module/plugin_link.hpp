// SPDX-License-Identifier: LGPL-3.0-only
// Owns: talking to the jobtap plugin: accounts, priorities, one request at a time; it detects that the plugin is absent
// (ENOSYS) or was loaded again (another nonce), and then sends everything again. Must not know how priorities are
// computed.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "modules/common/flux_cpp.hpp"
#include "modules/job-priority/module/journal_link.hpp"
#include "modules/job-priority/priority_service.hpp"

namespace weir::priority {

class PluginLink {
  public:
    PluginLink(flux_t* h, double time_scale, PriorityService& service);

    /// Sends what is due, if no request is open. Cheap if nothing is due.
    void pump();
    /// The next pump sends a request even if nothing is due: the plugin's answer has its nonce.
    void want_heartbeat() { is_heartbeat_due_ = true; }
    /// The plugin was loaded: try again at once.
    void plugin_appeared();
    /// The module ends: from here on the plugin serves new jobs by itself. Waits at most `timeout` seconds.
    void say_goodbye(double timeout);

    /// Whether the plugin has every wanted value.
    bool is_settled() const;
    bool is_absent() const { return is_absent_; }
    flux_t* flux() const { return h_; }

  private:
    enum class Sent { accounts, push, heartbeat, load };
    void send(Sent what, const std::string& topic, const Json& payload);
    void send_accounts();
    void send_push(const std::optional<Push>& push);
    void send_load();
    void on_answer(flux_future_t* f);
    void on_retry();
    void absent(int errnum, const std::string& why);

    flux_t* h_;
    PriorityService& service_;
    Backoff backoff_;
    flux::Future out_;
    Sent out_what_ = Sent::heartbeat;
    flux::Watcher timer_;
    std::optional<std::int64_t> nonce_;
    std::uint64_t accounts_sent_ = 0;  ///< version that the plugin has; 0: none
    std::uint64_t accounts_out_ = 0;
    bool is_heartbeat_due_ = true;
    bool is_absent_ = false;
    bool is_waiting_ = false;  ///< for the retry timer
    bool has_warned_ = false;
    bool has_tried_load_ = false;
    double answer_timeout_s_;  ///< a job-manager that went away with our request never answers it
};

}  // namespace weir::priority
