// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the RPCs behind PartitionTable: it submits and ends the jobs that are partitions, reads [[partition]] of the
// configuration, answers `weir partition`, and keeps its changes in a file. Decides nothing. Source: RFC 6; payloads in
// README.md.
#pragma once
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "modules/common/flux_cpp.hpp"
#include "modules/job-route/drains.hpp"
#include "modules/job-route/guests.hpp"
#include "modules/job-route/partition_changes.hpp"
#include "modules/job-route/partition_json.hpp"
#include "modules/job-route/partition_launch.hpp"
#include "modules/job-route/partition_table.hpp"
#include "modules/job-route/route_settings.hpp"
#include "modules/job-route/route_table.hpp"

namespace weir::route {

class PartitionKeeper {
  public:
    /// \param guests their privacy follows the configuration. \param changed the route table changed: take its actions.
    /// Throws Failure for an invalid configuration.
    PartitionKeeper(flux_t* h, RouteTable& routes, const Guests& guests, std::function<void()> changed);
    ~PartitionKeeper();
    PartitionKeeper(const PartitionKeeper&) = delete;
    PartitionKeeper& operator=(const PartitionKeeper&) = delete;
    flux_t* flux() const { return h_; }
    flux::GuestTurns& turns() { return turns_; }

    // ---- from the journal ----
    void submitted(JobId id, const JournalEvent& event, const JobFacts& facts);
    void event(JobId id, const JournalEvent& event);
    /// The journal's backlog is complete: from now on partitions are started.
    void ready();
    /// The journal starts over.
    void reset();

    /// The drained nodes of this instance, for `weir partition list`.
    void set_drains(const Drains& drains) { drains_ = drains; }
    /// Children changed, or time has passed.
    void look();

  private:
    struct End {
        int status = -1;   ///< as wait(2) gives it
        std::string note;  ///< of a fatal exception
        bool is_told = false;
    };
    struct Starting {
        flux::Future future;
        std::string name;
        int folder = 0;
    };
    void config_reload(const flux_msg_t* msg);
    Json partitions(const flux_msg_t* msg);
    void tap_loaded(const flux_msg_t* msg);
    void partitions_submitted(const flux_msg_t* msg);
    void change(const flux_msg_t* msg);

    void read_changes();
    Status write(const PartitionChanges& changes) const;
    Status put_changes(PartitionChanges changes);
    Status check_queues(const std::vector<PartitionSpec>& specs, const json_t* queues, const json_t* route) const;
    std::vector<PartitionSpec> checked(const json_t* array) const;
    void check_changes(const json_t* configured, const json_t* users, const json_t* queues) const;
    void put_in_force();
    void set_table(const std::string& name, Json table);
    struct Change {
        std::string op, name;
        Json table;  ///< of `add` and `resize`
    };
    /// A new configuration, while the scheduler says whether the machine could hold its partitions.
    struct Reload {
        flux::MessageRef msg;
        Json partitions, queues, route, users;
        flux::PrivateMode privacy;
        std::size_t asked = 0;  ///< answers to come
        std::string refused;
    };
    struct Fit {
        flux::Future future;
        flux::MessageRef msg;
        Json request;
        std::string name;                     ///< of the partition
        std::shared_ptr<Reload> reload = {};  ///< it is of this, not of a request
    };
    PartitionChanges changes_with(const std::string& name, Json table) const;
    Json added(const Json& request, const std::string& name) const;
    Json resized(const Json& request, const std::string& name) const;
    Change change_of(const Json& request) const;
    Json apply(const Json& request, const Change& change);
    Json set_drained(const std::vector<std::string>& names, bool is_drained);
    void ask_fit(const flux_msg_t* msg, const Json& request);
    void ask_scheduler(const PartitionSpec& spec, Fit fit);
    void on_fit(flux_future_t* f);
    void end_reload(Reload& reload);

    std::vector<KeptPartition> kept() const;
    void warn_of_jobs_left(const std::vector<KeptPartition>& partitions);
    void take_instance(JobId id, const JobFacts& facts);
    void notify_plugin();
    void on_told(flux_future_t* f);
    void perform();
    void record_folder(const std::string& name, int folder);
    void start(const PartitionAction& action);
    void on_started(flux_future_t* f);
    void cancel(JobId job, const std::string& why);
    void on_canceled(flux_future_t* f);
    void ask_state(JobId job);
    void on_state(flux_future_t* f);
    void ask_last_words(JobId job);
    void on_last_words(flux_future_t* f);
    std::string how_it_ended(JobId job, const std::string& words) const;
    void arm();
    void answer_managers();
    Json table_of(const std::string& name, const char* key) const;
    Json view_of(const std::string& name, const PartitionTable::Partition& partition,
                 const std::vector<ChildView>& children) const;

    flux_t* h_;
    RouteTable& routes_;
    flux::PrivateMode& privacy_;
    flux::GuestTurns& turns_;
    std::function<void()> changed_;
    LaunchPlace place_;
    std::string changes_file_;  ///< empty: they are kept in memory alone
    PartitionChanges changes_;
    Json configured_;                    ///< [[partition]]
    Json in_force_;                      ///< with the changes
    std::set<std::string> queues_kept_;  ///< of the partitions, when they were looked at last
    std::vector<std::string> warnings_;  ///< of that look
    Json queues_;                        ///< [queues]
    Json route_;                         ///< [weir.route]
    Json users_;                         ///< [weir.users]
    RouteSettings started_with_;         ///< [weir.route] at the start
    PartitionTable table_;
    Drains drains_;
    bool is_ready_ = false;
    bool is_first_look_over_ = false;    ///< what the first look after ready() starts has been submitted
    std::map<JobId, JobFacts> backlog_;  ///< until ready(): instances of partitions that have not ended
    std::map<JobId, End> jobs_;          ///< active jobs that are instances of partitions
    std::map<flux_future_t*, Starting> starting_;
    std::vector<flux::MessageRef> managers_;  ///< requests of job-managers that wait for the end of the first look
    std::map<flux_future_t*, std::pair<flux::Future, JobId>> ends_;  ///< questions about instances that ended
    std::map<flux_future_t*, flux::Future> cancels_;
    std::map<flux_future_t*, Fit> fits_;  ///< requests that wait for the scheduler's word
    flux::Future told_;
    flux::Watcher timer_;
    flux::Handlers handlers_;  // last: gone before what they call
};

}  // namespace weir::route
