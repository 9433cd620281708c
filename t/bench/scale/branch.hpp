// SPDX-License-Identifier: LGPL-3.0-only
// Owns: instances that run by themselves in simulated time: the root alone, or a child of the root with all below it.
// Jobs are handed down to leaves, which run them; usage reports go up; factors and policy go down; over the production
// service, route tables, queue of records and wire text. Must not know: other branches, except as where a message goes;
// threads; what is printed; Flux; SQLite (a batch of the state log counts as written when its delay is over).
#pragma once
#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <queue>
#include <random>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "libfairshare/base/flat_json.hpp"
#include "modules/job-priority/priority_service.hpp"
#include "modules/job-priority/sends/report_pace.hpp"
#include "t/bench/scale/route_side.hpp"
#include "t/bench/scale/stopwatch.hpp"

namespace weir::scale {

using priority::FluxJobId;

struct TreeSize {
    std::vector<std::size_t> fan_out{100, 100};  ///< children of each instance, from the root down
    std::uint64_t jobs_per_leaf = 1000;
    std::size_t accounts = 8;
    std::size_t users = 8;          ///< of each account
    std::size_t users_of_leaf = 8;  ///< whose jobs one leaf runs
    std::int64_t cores_of_leaf = 32;
    Duration run_time_max = std::chrono::seconds(10);
    Duration link_delay = std::chrono::milliseconds(1);     ///< of a message between parent and child, either way
    Duration commit_delay = std::chrono::milliseconds(50);  ///< from a change to the flush of the state file
    Duration report_pause = std::chrono::seconds(1);        ///< of ReportPace
    Duration pass_interval = std::chrono::minutes(1);       ///< of the root
    Duration policy_change_at = std::chrono::seconds(5);    ///< of the share tree and the weights at the root
    /// Each job is submitted at the root, at a constant rate. Otherwise each leaf has its jobs from the beginning.
    bool is_routed = false;
    bool is_charged =
        true;           ///< job-priority learns of the jobs; else they are routed with one priority, and that is all
    double load = 0.7;  ///< of all cores, by jobs that are routed
    Duration submit_interval = std::chrono::milliseconds(10);
    /// From a message of job-route to the turn that acts on it, with all that came in the meantime.
    Duration turn_delay = std::chrono::milliseconds(10);
    Duration record_delay = std::chrono::milliseconds(10);  ///< from there to its record: then messages leave
};

/// The work of the instances of one level. Messages are those that they receive from below.
struct LevelLoad {
    std::uint64_t instances = 0;
    std::uint64_t reports = 0;
    std::uint64_t report_bytes = 0;
    std::uint64_t records = 0;
    std::uint64_t factor_messages = 0;  ///< that they receive from above
    std::uint64_t factor_bytes = 0;
    std::uint64_t policy_messages = 0;  ///< that they receive from above
    std::uint64_t policy_bytes = 0;
    double policy_cpu_s = 0;
    double report_cpu_s = 0;  ///< decoding and applying reports
    double pass_cpu_s = 0;
    double commit_cpu_s = 0;  ///< making the batches
    // of jobs that are routed
    std::uint64_t orders = 0;  ///< messages that they receive from above
    std::uint64_t order_bytes = 0;
    std::uint64_t route_reports = 0;  ///< that they receive from below
    std::uint64_t route_report_bytes = 0;
    SampledTime route_time;  ///< of job-route: messages and turns
    SampledTime rank_time;   ///< of job-priority: the routed jobs' events and priorities

    LevelLoad& operator+=(const LevelLoad& other);
};

/// What all instances have in common at the beginning.
struct Site {
    explicit Site(const TreeSize& of);

    TreeSize size;
    std::string share_tree;
    priority::Settings settings;
};

/// The delay of usage records from their event in a leaf to the root's ledger.
struct ReportDelay {
    std::uint64_t records = 0;
    double sum_s = 0;
    Duration max{};
};

class Branch;

struct Instance {
    std::unique_ptr<priority::PriorityService> service;
    Branch* branch = nullptr;
    Instance* parent = nullptr;
    std::size_t level = 0;
    std::size_t place = 0;  ///< among all instances, from 1
    FluxJobId host = 0;     ///< its job at the parent
    FluxJobId last_id = 0;  ///< of its own jobs
    std::vector<Instance*> children;
    bool is_commit_due = false;
    bool is_report_out = false;
    priority::ReportPace pace{Duration{}};
    bool is_pace_timer_armed = false;
    std::unique_ptr<RouteSide> route;  ///< where jobs are routed
    bool is_turn_due = false;
    std::uint64_t submitted = 0;  ///< to a leaf, or to the root where jobs are routed
    double submits_due = 0;
    // of a leaf
    std::int64_t free_cores = 0;
    std::int64_t next_cores = 0;
};

class Branch {
  public:
    /// `site` outlives it. Jobs follow `number`, which tells it apart from the others.
    Branch(const Site& site, std::uint32_t number, Instant begin);
    Branch(const Branch&) = delete;
    Branch& operator=(const Branch&) = delete;

    /// An instance with the site's share tree; its job runs in `parent`, which may be in another branch.
    Instance& add(Instance* parent, std::size_t level, std::size_t place, std::int64_t cores);

    /// Its leaves start their first jobs.
    void begin();
    /// REQUIRES: it has the root. The root makes a pass each pass_interval, the first one now, and changes its policy
    /// once.
    void begin_as_root();
    /// Carries out what is due before `end`.
    void run_before(Instant end);

    /// What one of its instances has sent to another instance, or to itself.
    struct Sent {
        Branch* to;
        Instant at;
        std::uint32_t from;
        std::uint64_t seq;  ///< of the sender
        std::function<void()> what;
    };
    /// Of what is due at one time, the order depends on who sent it, not on when it is received.
    void receive(Sent message);
    /// To other branches since the last call, in the order of sending.
    std::vector<Sent> take_sent() { return std::exchange(sent_, {}); }

    const std::vector<std::unique_ptr<Instance>>& instances() const { return instances_; }
    const std::vector<LevelLoad>& levels() const { return levels_; }
    std::uint32_t number() const { return number_; }
    std::uint64_t ended() const { return ended_; }
    /// Since when no commit is due, and no report waits or is not answered; Instant::max(): that is not so.
    Instant settled_since() const { return settled_since_; }
    const ReportDelay& report_delay() const { return report_delay_; }
    Duration factor_delay_max() const { return factor_delay_max_; }
    Duration policy_delay_max() const { return policy_delay_max_; }
    /// REQUIRES: begin_as_root(). The next time at which the root sends to its children what is no answer.
    Instant next_broadcast() const { return std::min(next_pass_, next_policy_); }

  private:
    struct Due {
        Instant at;
        std::uint32_t from;   ///< the number of a branch
        std::uint32_t place;  ///< of what is to be done
        std::uint64_t seq;    ///< of that branch
    };
    struct Later {
        bool operator()(const Due& a, const Due& b) const {
            return std::tie(a.at, a.from, a.seq) > std::tie(b.at, b.from, b.seq);
        }
    };

    FluxJobId next_id(Instance& instance);
    void later(Duration delay, std::function<void()> what) {
        receive({this, now_ + delay, number_, ++seq_, std::move(what)});
    }
    void send(Instance& to, Duration delay, std::function<void()> what);
    // a leaf's jobs
    void fill(Instance& leaf);
    void end(Instance& leaf, FluxJobId id, std::int64_t cores);
    // routed jobs
    void submit_jobs(Instance& root);
    void touch(Instance& instance);
    void turn(Instance& instance);
    void tell_service(Instance& instance);
    void rank(Instance& instance, const std::vector<route::GivenPriority>& given);
    void rank_alike(Instance& instance);
    void send_messages(Instance& instance, RouteSide::Turn turn);
    void end_routed(Instance& leaf, route::LocalId id);
    void take_orders(Instance& instance, const std::string& text);
    void take_route_report(Instance& parent, Instance& child, const std::string& text);
    // reports
    void changed(Instance& instance);
    void commit(Instance& instance);
    void report(Instance& instance);
    void take_report(Instance& parent, Instance& child, const std::string& text);
    void acknowledge(Instance& instance, std::uint64_t acked);
    // factors
    void root_pass();
    void pass(Instance& instance, Instant passed_at);
    void publish(Instance& instance, Instant passed_at);
    void take_factors(Instance& instance, const std::string& text, bool is_complete, Instant passed_at);
    // policy
    void change_policy();
    void take_policy(Instance& instance, const std::string& text);

    const Site& site_;
    std::uint32_t number_;
    FlatJson reader_;
    std::vector<std::unique_ptr<Instance>> instances_;
    std::vector<LevelLoad> levels_;
    std::priority_queue<Due, std::vector<Due>, Later> agenda_;
    std::vector<std::function<void()>> to_do_;  ///< by place
    std::vector<std::uint32_t> free_places_;
    std::vector<Sent> sent_;
    std::mt19937_64 random_;
    Instant begin_;
    Instant now_;
    Instant next_pass_ = Instant::max();
    Instant next_policy_ = Instant::max();
    std::uint64_t seq_ = 0;
    std::uint64_t ended_ = 0;
    std::uint64_t unsettled_ = 0;
    Instant settled_since_ = Instant::max();
    ReportDelay report_delay_;
    Duration factor_delay_max_{};
    Duration policy_delay_max_{};
};

inline constexpr std::uint32_t owner = 100;
inline constexpr std::uint32_t first_uid = 10000;
std::string account_name(std::size_t account);
std::string user_name(std::size_t user);

}  // namespace weir::scale
