// SPDX-License-Identifier: LGPL-3.0-only
// Owns: job-priority in a simulated instance: the production service between journal, plugin, state file, parent and
// children, as modules/job-priority/module does it with Flux. Must not decide anything.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "libfairshare/base/flat_json.hpp"
#include "modules/job-priority/module/steady_time.hpp"
#include "modules/job-priority/priority_service.hpp"
#include "modules/job-priority/sends/report_pace.hpp"
#include "modules/world/disk.hpp"
#include "modules/world/part.hpp"

namespace weir::world {

class Manager;

class PriorityPart : public Part {
  public:
    struct Facts {
        std::string instance;    ///< a name for a new state file, never given before
        std::uint64_t host = 0;  ///< our job at the parent; 0: there is no parent
        std::int64_t cores = 0;
        bool is_following = false;  ///< it has its parent's share tree, and the limits there count its jobs
    };
    /// Requests to the job-manager of this instance, and its parent's job-priority while that runs.
    struct Peers {
        std::function<void(std::function<void(Manager&)>)> to_manager;
        std::function<PriorityPart*()> parent;
    };
    PriorityPart(Process& process, StateDir& disk, priority::Settings settings, Facts facts, Peers peers);
    /// Reads the state file and follows the journal.
    void start(const std::string& share_tree);
    /// The module is removed: what it has not written is written.
    void finish() { (void)commit(); }
    void on_journal(const std::string& payload);
    void on_given(const std::vector<priority::GivenPriority>& rows, bool is_all, bool is_complete);

    // ---- requests; the answer is what these return ----
    /// An edit of the share tree. Acknowledged means kept.
    bool edit_tree(const std::string& share_tree, const std::string& author) { return set_tree(share_tree, author); }
    /// A guest says that he is the instance in job `child`, and reports from it: whether he may.
    bool take_guest_report(std::uint64_t child, std::uint32_t userid, const std::string& instance,
                           const priority::UplinkBatch& batch);

    priority::PriorityService& service() const { return *service_; }
    /// Nothing is to be written or sent.
    bool is_quiet() const;
    bool is_attached() const { return uplink_ != nullptr && is_uplink_attached_; }

  private:
    Instant now();
    priority::ClockReading clocks() const;
    bool set_tree(const std::string& share_tree, const std::string& author);
    void follow();
    void iterate();
    void pass();
    void tick();
    // the plugin
    void pump();
    void send_push(const priority::Push& push, bool is_push);
    bool is_ordered();
    // the state file
    bool commit();
    bool keep_written() { return has_failed_ ? false : commit(); }
    void commit_soon();
    void arm(Duration delay);
    void arm_evaluation();
    // the parent
    void connect();
    void on_lost();
    void retry_connect();
    void pump_uplink();
    // the children
    struct Attached {
        std::shared_ptr<Link> link;
        PriorityPart* child = nullptr;  ///< as long as the link is up
        bool is_following = false;
        std::function<void(const std::vector<priority::FactorRow>&, bool)> factors;
    };
    void on_detach(std::uint64_t child, const std::shared_ptr<Link>& link);
    void publish_tree();
    // places under limits
    void pump_wishes();
    void pump_answers();
    void on_wishes(std::uint64_t child, const priority::PlaceWishes& wishes, PriorityPart& from,
                   const std::shared_ptr<Link>& link);
    void on_answers(const std::vector<priority::PlaceAnswer>& answers);
    void take_tree(const std::string& text, const std::shared_ptr<Link>& link);
    void on_attach(std::uint64_t child, const priority::StateMeta& meta, std::uint64_t first_seq, PriorityPart& from,
                   const std::shared_ptr<Link>& link);
    void on_report(std::uint64_t child, const priority::UplinkBatch& batch, PriorityPart& from,
                   const std::shared_ptr<Link>& link);
    void note_report(std::uint64_t child, const priority::UplinkBatch& batch) const;
    void publish_factors();

    StateDir& disk_;
    Facts facts_;
    Peers peers_;
    std::unique_ptr<priority::PriorityService> service_;
    std::optional<priority::SteadyTime> time_;  ///< set when the state was read
    FlatJson reader_;
    std::string journal_mark_;      ///< comes before the stream that this module asked for
    bool is_journal_open_ = false;  ///< what was sent to the module before this one has no effect
    bool is_backlog_ = false;
    bool is_pass_due_ = true;
    bool is_push_out_ = false;
    bool is_heartbeat_due_ = true;
    bool is_armed_ = false;
    std::optional<Instant> evaluation_armed_;  ///< the last that was asked for
    bool has_failed_ = false;
    bool is_patience_over_ = false;
    bool is_ordered_ = false;
    bool is_complete_ = false;  ///< the parent's priorities
    std::shared_ptr<Link> uplink_;
    bool is_uplink_attached_ = false;
    bool is_report_out_ = false;
    bool is_wish_out_ = false;
    priority::ReportPace pace_{duration_from_seconds(priority::report_pause_real_s)};
    bool is_pace_timer_armed_ = false;
    std::map<std::uint64_t, Attached> attached_;
};

}  // namespace weir::world
