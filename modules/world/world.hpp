// SPDX-License-Identifier: LGPL-3.0-only
// Owns: a world from one seed: a machine, a tree of instances on it, people who submit to them, and the order in which
// all begins, dies and comes back. Deterministic: the same options give the same steps. Faults are in faults.hpp,
// checkers in checks.hpp.
#pragma once
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "modules/world/guest_route.hpp"
#include "modules/world/instance.hpp"
#include "modules/world/order_watch.hpp"

namespace weir::world {

struct Options {
    std::uint64_t seed = 1;
    std::vector<std::size_t> shape{1, 3, 2};  ///< instances of the first level, children of each, and so on
    std::size_t jobs = 100;
    std::size_t faults = 10;
    std::set<std::size_t> left_out{};  ///< faults, by their number from 0, that do not happen
    std::set<std::string> kinds{};     ///< of faults; those of fault_kinds()
    std::function<void(const std::string&)> trace{};
};

inline constexpr std::int64_t largest_job = 4;  ///< in cores

/// Hard limits of a share tree, which never change: who exceeds one was let go by a mistake.
struct Limits {
    std::size_t jobs_of_alice = 0;    ///< that run
    std::uint32_t physics_cores = 0;  ///< in use
};

/// A node of the tree of instances; an instance lives there, dies, and comes back on the same disk.
struct Place {
    std::size_t number = 0;
    std::optional<std::size_t> parent;
    std::vector<std::size_t> children;
    std::string name;
    std::string serves;     ///< the queue of its parent whose jobs it runs
    bool is_short = false;  ///< it takes only jobs with a short time limit
    std::string lends;      ///< a queue of its parent whose jobs it runs when it has room; empty: none
    route::PartitionLimits partition_limits;  ///< of its parent's jobs in it; every second 40 s it has one job more
    std::uint32_t cores = 0;
    StateDir disk;
    std::unique_ptr<Instance> live;
    std::map<std::uint64_t, std::unique_ptr<GuestRoute>> guests;  ///< that speak to its job-route; they die with it
    std::uint64_t host = 0;                                       ///< while it lives: its job at the parent
    bool is_asked = false;                                        ///< its job is being submitted
    std::uint64_t last_id = 0;                                    ///< of the answered submissions
    /// The instance whose share tree is in force: its own, or that of the next one above with a policy of its own.
    std::size_t ruled_by = 0;
    std::optional<Limits> limits;     ///< in all of its share trees
    std::set<std::uint32_t> removed;  ///< users whose line an edit removed once
    Instant moved_at{};        ///< an edit took bob out of an account or put him into it: limits count other jobs
    std::string edited;        ///< its share tree as it was last acknowledged; empty: nobody edited it
    bool lacks_lines = false;  ///< that tree lacks the line of some user
    std::uint64_t lives = 0;
    Instant disturbed_until{};  ///< by a fault, with a margin for what it leads to
};

struct Counts {
    std::uint64_t kills = 0;
    std::uint64_t powers = 0;  ///< failures
    std::uint64_t cuts = 0;
    std::uint64_t stops = 0;
    std::uint64_t drains = 0;  ///< of children
    std::uint64_t fills = 0;
    std::uint64_t garbles = 0;  ///< of an R
    std::uint64_t clock_steps = 0;
    std::uint64_t reloads = 0;  ///< of a job-priority alone
    std::uint64_t lies = 0;
    std::uint64_t guests = 0;      ///< that attached to a job-route
    std::uint64_t guest_jobs = 0;  ///< that they got
    std::uint64_t edits = 0;       ///< of share trees, acknowledged
    std::uint64_t removals = 0;    ///< edits that removed nodes
    std::uint64_t torn = 0;
    std::uint64_t boots = 0;
};

/// Shares that people change.
struct Shares {
    std::int64_t alice = 1;
    std::int64_t carol = 1;
    std::int64_t physics = 2;
    bool has_bob = true;
    bool has_carol = true;  ///< with a line of her own
    bool has_bio = true;    ///< the account of carol and dave
};
/// A share tree of that place, with its limits.
std::string tree_text(const Place& place, const Shares& shares);

class World {
  public:
    explicit World(const Options& options);
    ~World();

    /// Until all is at rest, or a checker found something, or it is too late to come to rest.
    void run();

    Ground& ground() { return ground_; }
    const Options& options() const { return options_; }
    std::vector<Place>& places() { return places_; }
    const Place& ruler_of(const Place& place) const { return places_[place.ruled_by]; }
    std::deque<Submission>& submissions() { return submissions_; }
    const Machine& machine() const { return *machine_; }
    Counts& counts() { return counts_; }

    /// The broker is killed, and what it started with it. \param delay  until it is started again
    void kill(Place& place, Duration delay);
    /// The machine loses power: all is killed, and of what was not synced no disk has more than pieces.
    void lose_power(Duration delay);
    /// The same when it has changed something that is not on the disk yet; not at all if nothing changes for a while.
    void kill_before_flush(Place& place, Duration delay);
    /// A fault happens there and to what it carries, and is over after this time.
    void disturb(Place& place, Duration length);

  private:
    void build(std::size_t level, std::optional<std::size_t> parent);
    void lend(Place& place);
    void draw_limits(Place& place);
    void draw_partition_limits(Place& place);
    std::uint32_t size(Place& place);
    void plan_jobs();
    void plan_actions(std::size_t number, Instant submitted);
    void plan_edits();
    void edit_tree(Place& place);
    void put_tree(Place& place, const Shares& shares);
    void submit(std::size_t number);
    void take_answer(std::size_t number, std::uint64_t id);
    void cancel(std::size_t number);
    void cancel_early(std::size_t number);
    void act_on(std::size_t number, const std::function<void(Manager&, std::uint64_t id, Submission&)>& action);
    void release_held();
    void keep_instances();
    void keep(Place& place);
    bool boot(Place& place, std::uint64_t host, const std::vector<std::uint32_t>& cores);
    std::vector<route::KeptPartition> kept_by(const Place& place) const;
    bool is_strict() const;
    void check_limits(const Place& ruler, const Submission& beginning);
    void check_partition_limits(const Place& partition, const Submission& beginning);
    void began(const Place& place, const Submission& submission);
    void bury(Place& place, bool is_power_lost);
    void begin_again(Duration delay);
    bool is_at_rest();

    Options options_;
    Ground ground_;
    std::vector<Place> places_;
    std::deque<Submission> submissions_;
    std::unique_ptr<Machine> machine_;
    OrderWatch order_{*this};
    Counts counts_;
    Policy policy_;
    Instant last_fault_;
    Instant last_client_;
    std::uint64_t tree_version_ = 0;  ///< grows when an instance begins or dies
};

}  // namespace weir::world
