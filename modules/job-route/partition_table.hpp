// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the partitions that an instance keeps: which should run, which job is the instance of each, when one is
// started, replaced or ended. Must not know JSON, Flux or a clock: facts and the time go in, actions come out.
#pragma once
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "libfairshare/base/result.hpp"
#include "modules/job-route/messages.hpp"
#include "modules/job-route/partition_spec.hpp"
#include "modules/job-route/revival.hpp"

namespace weir::route {

/// A job that is an instance of a partition, or is to become one.
struct PartitionInstance {
    JobId job;  ///< 0: it is being submitted
    std::string digest;
    int folder = 0;            ///< the number of its run directory; no other instance of the partition has it now
    bool is_attached = false;  ///< now
    bool has_served = false;   ///< it was attached at some time
    bool is_adopted = false;   ///< submitted before this table began
    bool is_canceled = false;
};

/// The facts about a child at one call of look().
struct ChildLoad {
    bool is_attached = false;
    std::int64_t jobs = 0;  ///< that it has, pending and running, its own too
};

struct PartitionAction {
    enum class Kind : std::uint8_t {
        start,      ///< submit an instance of `name` with `folder`; then started() or start_failed()
        drain,      ///< route no new jobs to `job`, and recall those that have not started
        resume,     ///< the opposite
        cancel,     ///< end `job`; `text` is the reason
        give_back,  ///< the cores of `job`, which has ended, are anybody's
        log,        ///< `text`, with `severity` of syslog(3)
    };
    Kind kind = Kind::log;
    std::string name;
    JobId job;
    int folder = 0;
    int severity = 0;
    std::string text;
    bool is_expedited = false;  ///< of `start`
};

class PartitionTable {
  public:
    struct Partition {
        PartitionSpec spec;
        bool is_wanted = true;    ///< false: it is removed when its instances have ended
        bool is_drained = false;  ///< by an operator: it gets no jobs
        bool is_off = false;      ///< waits for a job of its queues
        bool is_down = false;     ///< died, and has not served since
        std::optional<PartitionInstance> current;
        std::vector<PartitionInstance> old;  ///< each ends after its jobs
        std::vector<JobId> ended;            ///< their cores are the next instance's, before they are anybody's
        Revival revival;
        Duration changed{};   ///< when it came up or went down, by the clock of look()
        std::string why;      ///< of the last death
        int last_folder = 0;  ///< of its latest instance
        std::optional<Duration> idle_since;
        std::optional<Duration> folder_awaited_since;
    };
    struct World {
        Duration now{};  ///< of a clock that does not step
        std::function<ChildLoad(JobId job)> load;
        std::function<bool(const PartitionSpec& spec)> is_wanted;  ///< whether a job waits for it
    };

    /// Sets all partitions. A changed digest replaces the instance.
    void configure(std::vector<PartitionSpec> specs);
    /// A job that the journal shows as an instance of a partition.
    void adopt(const std::string& name, const PartitionInstance& instance);
    void started(const std::string& name, int folder, JobId job);
    void start_failed(const std::string& name, int folder, const std::string& why, Duration now);
    /// An instance's job is inactive.
    void ended(JobId job, const std::string& why, Duration now);
    /// Decides which actions are due, in the order of the configuration. What was added by command starts when all that
    /// were started of the configuration serve, so that it does not hold their cores. O(p log p) for p partitions, plus
    /// the cost of the questions to World.
    void look(const World& world);

    // ---- operators; Errors: ENOENT for an unknown name ----
    Status check_wanted(const std::string& name) const;
    /// The error of a name that no partition has. It says which name is meant, where one is near.
    Error unknown(const std::string& name) const;
    Status set_drained(const std::string& name, bool is_drained);
    /// Starts a new instance; the old one ends after its jobs, or at once.
    Status restart(const std::string& name, bool is_killed);
    /// Ends the old instances of a partition with what runs in them.
    Status kill_old(const std::string& name);
    /// The instance ends: from now on nothing is started, and every partition's job is canceled.
    void close();

    std::vector<PartitionAction> take() { return std::exchange(actions_, {}); }
    const std::map<std::string, Partition>& partitions() const { return partitions_; }
    bool has_job(JobId job) const;
    /// The queues whose jobs no partition takes before an operator resumes one: those of drained partitions, and of no
    /// other.
    std::set<std::string> closed_queues() const;
    /// The next time at which look() has an action without another event; at most a second after `now`.
    Duration next_look(Duration now) const;

  private:
    void look_at_old(Partition& partition, const World& world);
    void look_at_ended(Partition& partition);
    bool is_configured_one_starting() const;
    void look_at_current(Partition& partition, const World& world);
    void retire(Partition& partition);
    void start(Partition& partition);
    static bool must_await_folder(Partition& partition, Duration now);
    void note_death(Partition& partition, const std::string& why, Duration now);
    void cancel(PartitionInstance& instance, const std::string& why);
    void act(PartitionAction::Kind kind, JobId job) { actions_.push_back({kind, {}, job, 0, 0, {}, false}); }
    void log(int severity, const std::string& text) {
        actions_.push_back({PartitionAction::Kind::log, {}, {}, 0, severity, text, false});
    }
    Partition* find(const std::string& name);

    std::map<std::string, Partition> partitions_;
    std::vector<PartitionAction> actions_;
    bool is_closed_ = false;
};

}  // namespace weir::route
