// SPDX-License-Identifier: LGPL-3.0-only
// Owns: talking to the jobtap plugin: accounts, priorities, one request at a time; it detects that the plugin is absent
// (ENOSYS) or was loaded again (another nonce), and then sends everything again. Must not know how priorities are
// computed.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "libfairshare/base/json/text_writer.hpp"
#include "modules/common/backoff.hpp"
#include "modules/common/flux_cpp.hpp"
#include "modules/job-priority/module/timing.hpp"
#include "modules/job-priority/priority_service.hpp"
#include "modules/job-priority/sends/value_pace.hpp"

namespace weir::priority {

class PluginLink {
  public:
    PluginLink(flux_t* h, double time_scale, PriorityService& service);

    /// From here on nothing is sent to the plugin while `may_send` is false; call pump() when that changes.
    void send_only_if(std::function<bool()> may_send) { may_send_ = std::move(may_send); }
    /// Sends what is due, if no request is open. Cheap if nothing is due.
    void pump();
    /// The next pump sends a request even if nothing is due: the plugin's answer has its nonce.
    void want_heartbeat() { is_heartbeat_due_ = true; }
    /// The plugin was loaded: try again at once.
    void plugin_appeared();
    /// The module ends: tells the plugin to fall back. Waits at most `timeout` seconds.
    void say_goodbye(double timeout);

    /// Whether to send the values for display and for children without a limit to their rate.
    void want_all(bool is_all) { is_all_wanted_ = is_all; }
    /// Whether the plugin has every wanted value.
    bool is_settled() const;
    bool is_absent() const { return is_absent_; }
    /// From a request to its answer.
    const Timing& round_trips() const { return round_trips_; }
    flux_t* flux() const { return h_; }

  private:
    enum class Sent { accounts, push, heartbeat, load };
    void send(Sent what, const std::string& topic, const std::string& payload);
    void send_accounts();
    void send_push(const std::optional<Push>& push);
    void add_first_values(ObjectText& payload);
    void send_load();
    void on_answer(flux_future_t* f);
    void on_retry();
    /// How many of the values for display, or for children, may be sent now.
    std::size_t shown_max();
    std::size_t shown_by_rate(double rate);
    std::size_t shown_by_pace();
    void look_again_in(double seconds);
    void absent(int errnum, const std::string& why);

    flux_t* h_;
    PriorityService& service_;
    std::function<bool()> may_send_;
    flux::Backoff backoff_;
    flux::Future out_;
    double out_since_s_ = 0;  ///< of the monotonic clock
    Timing round_trips_;
    Sent out_what_ = Sent::heartbeat;
    flux::Watcher timer_;
    std::optional<std::int64_t> nonce_;
    std::uint64_t accounts_sent_ = 0;  ///< version that the plugin has; 0: none
    std::uint64_t accounts_out_ = 0;
    flux::Watcher shown_timer_;    ///< runs while such values wait
    double shown_allowed_ = 0;     ///< values
    double shown_counted_at_ = 0;  ///< of the reactor's clock
    std::size_t shown_out_ = 0;    ///< values of the open request
    ValuePace pace_;
    bool is_all_wanted_ = false;
    bool is_heartbeat_due_ = true;
    bool is_absent_ = false;
    bool is_waiting_ = false;  ///< for the retry timer
    bool has_tried_load_ = false;
    double answer_timeout_s_;  ///< a job-manager that was unloaded with our request never answers it
};

}  // namespace weir::priority
