// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the broker module's shell: one service, its links, its state file, its timers and its request handlers.
// Must not decide anything: handlers unpack, call one function of the service or a view, and pack. RFC 5.
#pragma once
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "modules/common/flux_cpp.hpp"
#include "modules/common/guest_turns.hpp"
#include "modules/common/memo_link.hpp"
#include "modules/common/private_mode.hpp"
#include "modules/job-priority/messages/metrics_view.hpp"
#include "modules/job-priority/messages/visible_part.hpp"
#include "modules/job-priority/module/journal_link.hpp"
#include "modules/job-priority/module/order_link.hpp"
#include "modules/job-priority/module/plugin_link.hpp"
#include "modules/job-priority/module/policy_link.hpp"
#include "modules/job-priority/module/queue_link.hpp"
#include "modules/job-priority/module/scheduler_link.hpp"
#include "modules/job-priority/module/share_tree_file.hpp"
#include "modules/job-priority/module/state_link.hpp"
#include "modules/job-priority/module/steady_time.hpp"
#include "modules/job-priority/module/uplink_link.hpp"
#include "modules/job-priority/priority_service.hpp"

namespace weir::priority {

class Module {
  public:
    /// Reads configuration, state and share tree, and registers the handlers. Throws Failure.
    Module(flux_t* h, std::vector<std::string> arguments);
    ~Module();
    Module(const Module&) = delete;
    Module& operator=(const Module&) = delete;

    /// Opens the journal and the link to the parent. Throws Failure. The caller runs the reactor.
    void start();
    /// After the reactor: ends the links to the plugin and the parent, and commits.
    void finish();
    flux_t* flux() const { return h_; }
    flux::GuestTurns& turns() { return *questions_; }

  private:
    // start (module.cpp)
    /// Takes the queues of the partitions, and logs what the settings name in vain.
    /// \param queues  [queues] of the configuration; may be null
    void take_names(const json_t* queues, const json_t* partitions);
    void read_machine();
    void open_journal();
    JournalLink::Listener journal_listener();
    void on_machine(flux_future_t* f);
    void on_withheld(flux_future_t* f);
    void connect_parent();
    // reactor
    bool may_send_values();
    void on_iteration();
    void on_pass();
    void on_evaluation();
    void arm_evaluation();
    void publish_factors();
    void publish_policy();
    /// Puts settings in force, in the service and in this module.
    void put_settings(Settings settings);
    bool is_partition(FluxJobId child) const;
    /// The user of a child that may get the data of this user alone: a guest's child in a private instance.
    std::optional<std::uint32_t> only_user_of(FluxJobId child) const;
    Json factors_for(FluxJobId child, const std::vector<FactorRow>& rows) const;
    Json policy_for(FluxJobId child) const;
    /// The present time of usage. It reads the clocks, since a child may report an event of this turn of the reactor.
    Instant now();

    // requests (module_requests.cpp, module_questions.cpp)
    flux::GuestTurns::Rules question_rules() const;
    flux::GuestTurns::Rules report_rules() const;
    template <flux_msg_handler_f answer>
    static constexpr flux_msg_handler_f in_turn = flux::in_turn<Module, answer>;
    /// What the sender may see: everything, unless the instance is private and he is neither its owner nor an admin.
    VisiblePart part_of(const flux_msg_t* msg) const;
    Json on_tree_get(const flux_msg_t* msg);
    Json on_tree_set(const flux_msg_t* msg);
    Json on_tree_diff(const flux_msg_t* msg);
    TreeEdit tree_edit_of(const flux_msg_t* msg, bool& is_dry_run) const;
    Json on_history(const flux_msg_t* msg);
    Json on_usage(const flux_msg_t* msg);
    Json on_usage_report(const flux_msg_t* msg);
    Json on_places(const flux_msg_t* msg);
    Json on_list(const flux_msg_t* msg);
    Json on_when(const flux_msg_t* msg);
    Json on_explain(const flux_msg_t* msg);
    Json on_share_explain(const flux_msg_t* msg);
    Json on_share_after(const flux_msg_t* msg);
    Json on_share_compare(const flux_msg_t* msg);
    Json on_weights(const flux_msg_t* msg);
    Json on_site_set(const flux_msg_t* msg);
    Json on_share_rows(const flux_msg_t* msg);
    void on_share_figures(const flux_msg_t* msg);
    void on_metrics(const flux_msg_t* msg);
    Json on_stats(const flux_msg_t* msg);
    void on_sync(const flux_msg_t* msg);
    void on_attach(const flux_msg_t* msg);
    void on_policy(const flux_msg_t* msg);
    // places under limits (module_places.cpp)
    Json on_admit(const flux_msg_t* msg);
    void open_places(Json& answer, FluxJobId child);
    void pump_places();
    void on_report(const flux_msg_t* msg);
    std::uint64_t apply_report(const flux_msg_t* msg);
    void answer_reports(std::vector<flux::GuestTurns::Request> reports);
    void on_disconnect(const flux_msg_t* msg);
    void end_attached();
    void detach_children();
    void on_tap_loaded(const flux_msg_t* msg);
    void on_sched_ready(const flux_msg_t* msg);
    Json on_config_reload(const flux_msg_t* msg);
    std::vector<flux_msg_handler_spec> handlers();
    void answer_syncs();
    void authorize(const flux_msg_t* msg, FluxJobId child) const;

    flux_t* h_;
    std::vector<std::string> arguments_;
    double time_scale_;
    std::string service_name_;
    flux::PrivateMode private_;
    std::unique_ptr<PriorityService> service_;
    std::unique_ptr<StateLink> state_;
    std::unique_ptr<ShareTreeFile> share_tree_file_;
    std::unique_ptr<PolicyLink> policy_;
    std::optional<SteadyTime> time_;  ///< set when the state was read
    std::unique_ptr<PluginLink> plugin_;
    std::unique_ptr<flux::MemoLink> memos_;
    std::unique_ptr<SchedulerLink> scheduler_;
    std::unique_ptr<QueueLink> queues_;
    std::unique_ptr<JournalLink> journal_;
    std::unique_ptr<UplinkLink> parent_;
    std::unique_ptr<OrderLink> order_;
    flux::Future machine_;
    double machine_asked_s_ = 0;  ///< of the reactor's clock
    flux::Future withheld_;
    bool is_journal_due_ = true;
    flux::Watcher pass_timer_;
    flux::Watcher evaluation_timer_;
    std::optional<Instant> evaluation_armed_;  ///< for which the timer runs
    flux::Watcher iteration_;
    std::map<FluxJobId, flux::MessageRef> attached_;  ///< the children's streaming requests, one a job
    std::unique_ptr<flux::GuestTurns> questions_;     ///< guests' requests, beside the reports
    std::unique_ptr<flux::GuestTurns> reports_;       ///< of guests' children
    std::vector<flux::MessageRef> syncs_;
    std::uint64_t pushed_before_sync_ = 0;
    double last_pass_us_ = 0;
    Timing passes_;  ///< full ones
    MetricsView metrics_;
    bool is_pass_due_ = false;  ///< by the next iteration
    flux::Handlers handlers_;   // last: destroyed before what they call
};

}  // namespace weir::priority
