// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the tree, lives of instances, and the end of a run. See world.hpp; people are in people.cpp.
#include "modules/world/world.hpp"

#include <algorithm>
#include <numeric>

#include "modules/world/checks.hpp"
#include "modules/world/faults.hpp"

namespace weir::world {

using namespace std::chrono_literals;

namespace {

constexpr std::uint32_t leaf_cores = 4;
constexpr std::uint32_t spare_cores = 2;  ///< of an instance that has children: for its own jobs
constexpr Duration keep_interval = 1s;
/// Time limits up to which a partition with a rule takes jobs, one or the other.
constexpr Duration short_least = 12s;
constexpr Duration short_most = 40s;
constexpr Duration rules_interval = 40s;      ///< in which the rule stays
constexpr std::int64_t drift_most_ppm = 500;  ///< what NTP corrects
constexpr Duration limits_moved_for = 1s;     ///< until what began before an edit is known
constexpr Duration rest_interval = 500ms;
constexpr Duration idle_interval = 1s;
constexpr Duration order_interval = 1s;
constexpr Duration change_within = 5s;  ///< of a kill that waits for a change
constexpr Duration calm_after = 90s;    ///< the end of the last fault and of what it caused
/// So long after the last fault, and the last process that began or ended, all must be at rest. It is longer than the
/// patience with a lost child at each of five levels, so only a job that nothing will ever start is still there.
constexpr Duration rest_within = 150s;

/// At its strictest or at its widest.
route::PartitionLimits limits_of(const Place& place, bool is_strict) {
    route::PartitionLimits limits = place.partition_limits;
    if (limits.running_jobs && !is_strict) {
        limits.running_jobs = *limits.running_jobs + 1;
    }
    return limits;
}

priority::Settings site_settings() {
    priority::Settings settings;
    settings.users = {{"alice", alice}, {"bob", bob}, {"carol", carol}, {"dave", dave}, {"owner", owner}};
    settings.update_interval = 10s;
    settings.half_life = 1min;
    return settings;
}

}  // namespace

World::World(const Options& options) : options_(options), ground_(options.seed, options.trace), policy_(Fcfs{}) {
    if (ground_.random.one_in(2)) {
        policy_ = Easy{};
    }
    ground_.machine.is_stock = options_.kinds.count("clock") > 0 && ground_.random.one_in(3);
    if (options_.kinds.count("clock") > 0 && ground_.random.one_in(2)) {
        ground_.machine.drift_ppm = ground_.random.between(-drift_most_ppm, drift_most_ppm);
    }
    build(0, std::nullopt);
    machine_ = std::make_unique<Machine>(ground_, size(places_.front()));
    plan_jobs();
    plan_edits();
    last_fault_ = plan_faults(*this);
    std::vector<std::uint32_t> cores(machine_->size());
    std::iota(cores.begin(), cores.end(), 0);
    (void)boot(places_.front(), 0, cores);
    keep_instances();
}

World::~World() {
    bury(places_.front(), false);
}

/// Parents before children.
void World::build(std::size_t level, std::optional<std::size_t> parent) {
    for (std::size_t i = 0; i < options_.shape.at(level); ++i) {
        const std::size_t number = places_.size();
        Place& place = places_.emplace_back();
        place.number = number;
        place.parent = parent;
        place.ruled_by = parent && !ground_.random.one_in(3) ? places_[*parent].ruled_by : number;
        place.name = parent ? places_[*parent].name + "/" + std::to_string(i) : "root";
        if (parent) {
            Place& above = places_[*parent];
            above.children.push_back(number);
            if (i > 0 && ground_.random.one_in(3)) {  // two partitions of one queue
                place.serves = places_[above.children[i - 1]].serves;
                place.is_short = number % 2 == 0;                   // the first of the queue takes all
            } else if (above.parent && ground_.random.one_in(2)) {  // what the instance above got, goes on to here
                place.serves = above.serves;
            } else {
                place.serves = "q" + std::to_string(number);
            }
        }
        if (level + 1 < options_.shape.size()) {
            build(level + 1, number);
        } else {
            lend(places_[number]);
        }
        draw_limits(places_[number]);
        draw_partition_limits(places_[number]);
    }
}

/// Its own queue's jobs come first; an earlier sibling's queue gets what they leave.
void World::lend(Place& place) {
    if (!place.parent || !ground_.random.one_in(3)) {
        return;
    }
    std::vector<std::size_t>& siblings = places_[*place.parent].children;
    const Place& other = places_[ground_.random.of(siblings)];
    place.lends = other.serves != place.serves ? other.serves : "";
}

void World::draw_limits(Place& place) {
    if (ground_.random.one_in(2)) {
        place.limits = Limits{static_cast<std::size_t>(ground_.random.between(1, 4)),
                              static_cast<std::uint32_t>(ground_.random.between(4, 10))};
    }
}

/// Every job fits under them.
void World::draw_partition_limits(Place& place) {
    if (!place.parent || !ground_.random.one_in(3)) {
        return;
    }
    const auto draw = [this](std::optional<std::int64_t>& limit, std::int64_t least, std::int64_t most) {
        if (ground_.random.one_in(2)) {
            limit = ground_.random.between(least, most);
        }
    };
    draw(place.partition_limits.running_jobs, 1, 3);
    draw(place.partition_limits.cores, largest_job, largest_job + 2);
    draw(place.partition_limits.user_running_jobs, 1, 2);
    draw(place.partition_limits.user_cores, largest_job, largest_job + 1);
}

/// The cores that it and all below it need.
std::uint32_t World::size(Place& place) {
    place.cores = place.children.empty() ? leaf_cores : spare_cores;
    for (const std::size_t child : place.children) {
        place.cores += size(places_[child]);
    }
    return place.cores;
}

// ---- lives ----

bool World::boot(Place& place, std::uint64_t host, const std::vector<std::uint32_t>& cores) {
    const bool is_without_room = place.disk.is_full && place.disk.journal.empty();  // its files cannot be made
    if (place.live || place.disk.is_in_use || is_without_room) {
        return false;
    }
    // Where the wall clock is behind as well, more is lost than is said here: doc/world.md.
    if (const auto older = std::exchange(place.disk.older_clock, {});
        older && ground_.now() + ground_.wall_ahead() > Instant{Duration{place.disk.clock.seen_us}}) {
        place.disk.clock = *older;
    }
    const Instance* above = place.parent ? places_[*place.parent].live.get() : nullptr;
    const auto clock =
        Clock::begin(ground_, above != nullptr ? &above->facts().clock : nullptr, place.disk.clock.seen_us);
    if (!clock) {
        return false;  // the next try finds it late enough
    }
    Instance::Facts facts;
    facts.name = place.name;
    place.lives += 1;
    counts_.boots += 1;
    facts.serial = place.name + "-" + std::to_string(place.lives);
    facts.clock = *clock;
    facts.host = host;
    facts.serves = place.serves;
    facts.cores = cores;
    for (const std::size_t child : place.children) {
        facts.queues.insert(places_[child].serves);
    }
    facts.settings = site_settings();
    facts.policy = policy_;
    facts.is_following = place.ruled_by != place.number;
    facts.share_tree = tree_text(ruler_of(place), Shares{});
    place.host = host;
    ground_.note(place.name, "begins, life " + std::to_string(place.lives));
    Surroundings around{
        *machine_,
        submissions_,
        [this, parent = place.parent] { return parent ? places_[*parent].live.get() : nullptr; },
        [this](std::size_t child, std::uint64_t job, const std::vector<std::uint32_t>& part) {
            return boot(places_[child], job, part);
        },
        [this](std::size_t child) { ground_.agenda.after(100ms, [this, child] { kill(places_[child], {}); }); },
        [this](std::size_t number) { cancel_early(number); },
        [this, &place](const Submission& submission) { began(place, submission); },
        [this, &place] { return kept_by(place); },
        [this] { return 2 * tree_version_ + (is_strict() ? 1 : 0); }};
    place.live = std::make_unique<Instance>(ground_, place.disk, std::move(facts), std::move(around));
    tree_version_ += 1;
    return true;
}

bool World::is_strict() const {
    return ground_.now().time_since_epoch() / rules_interval % 2 == 0;
}

/// In the order in which they are preferred. The rules change all the time.
std::vector<route::KeptPartition> World::kept_by(const Place& place) const {
    std::vector<route::KeptPartition> partitions;
    for (auto child = place.children.rbegin(); child != place.children.rend(); ++child) {
        const Place& below = places_[*child];
        route::KeptPartition partition;
        partition.name = below.name;
        partition.job = route::JobId{below.live ? below.host : 0};
        partition.queues = {below.serves};
        partition.cores = below.cores;
        if (!below.lends.empty()) {
            partition.overflow = {below.lends};
        }
        if (below.is_short) {
            partition.rules.duration.most = is_strict() ? short_least : short_most;
        }
        partition.limits = limits_of(below, is_strict());
        partitions.push_back(std::move(partition));
    }
    return partitions;
}

void World::began(const Place& place, const Submission& submission) {
    if (place.is_short && submission.at != place.number && submission.limit > short_most) {
        ground_.fail(place.name, "runs a job that its rules never took");
    }
    if (!submission.serves.empty()) {
        return;
    }
    submissions_[submission.number].ran_at = place.number;
    check_limits(ruler_of(places_[submission.at]), submission);
    for (const Place* at = &place; at->number != submission.at; at = &places_[*at->parent]) {
        check_partition_limits(*at, submission);
    }
    order_.began(place, submission);
}

/// What runs there and below it, of the jobs that came from its parent.
void World::check_partition_limits(const Place& partition, const Submission& beginning) {
    const route::PartitionLimits limits = limits_of(partition, false);
    if (limits.is_empty()) {
        return;
    }
    const auto is_in = [this, &partition](const Submission& submission) {
        bool is_passed = false;
        for (const Place* at = &places_[submission.ran_at]; at->number != submission.at; at = &places_[*at->parent]) {
            is_passed = is_passed || at->number == partition.number;
        }
        return is_passed;
    };
    route::LimitCounts counts;
    for (const auto& [number, cores] : machine_->running()) {
        if (number != beginning.number && is_in(submissions_[number])) {
            counts.add(submissions_[number].userid, cores);
        }
    }
    if (const auto hit = counts.hit(limits, beginning.userid, beginning.cores)) {
        ground_.fail(partition.name, "submission " + std::to_string(beginning.number) + " starts, and the partition " +
                                         route::limit_text(*hit, hit->count));
    }
}

/// The limits of a share tree count the running jobs that were submitted to any instance that has it, wherever they
/// run. A job that was admitted before an edit that leaves no room for it may still start, until the job-manager has
/// received the change.
void World::check_limits(const Place& ruler, const Submission& beginning) {
    const auto is_in_physics = [this, &ruler](const Submission& submission) {
        const bool is_bob = submission.userid == bob && ruler.removed.count(bob) == 0;  // else he may be in bio
        return places_[submission.at].ruled_by == ruler.number && (submission.userid == alice || is_bob);
    };
    if (!ruler.limits || !is_in_physics(beginning) || ground_.now() < ruler.moved_at + limits_moved_for) {
        return;
    }
    std::map<std::size_t, std::uint32_t> running = machine_->running();
    running[beginning.number] = beginning.cores;
    std::size_t jobs_of_alice = 0;
    std::uint32_t physics_cores = 0;
    for (const auto& [number, cores] : running) {
        if (is_in_physics(submissions_[number])) {
            jobs_of_alice += submissions_[number].userid == alice ? 1 : 0;
            physics_cores += cores;
        }
    }
    if ((beginning.userid == alice && jobs_of_alice > ruler.limits->jobs_of_alice) ||
        physics_cores > ruler.limits->physics_cores) {
        ground_.fail(ruler.name, "a limit is exceeded: " + std::to_string(jobs_of_alice) + " jobs of alice run of " +
                                     std::to_string(ruler.limits->jobs_of_alice) + ", and physics has " +
                                     std::to_string(physics_cores) + " cores of " +
                                     std::to_string(ruler.limits->physics_cores));
    }
}

void World::bury(Place& place, bool is_power_lost) {
    for (const std::size_t child : place.children) {
        bury(places_[child], is_power_lost);
    }
    if (place.live && is_power_lost) {
        place.live->manager().lose_power();
    } else if (place.live && ground_.random.one_in(3)) {
        counts_.torn += 1;
        place.live->manager().die_in_write();
    }
    place.guests.clear();
    place.live.reset();
    tree_version_ += 1;
}

void World::disturb(Place& place, Duration length) {
    place.disturbed_until = std::max(place.disturbed_until, ground_.now() + length);
    for (const std::size_t child : place.children) {
        disturb(places_[child], length);
    }
}

void World::kill(Place& place, Duration delay) {
    if (!place.live) {
        return;
    }
    counts_.kills += 1;
    ground_.note(place.name, "is killed");
    bury(place, false);
    for (Place& other : places_) {  // a request dies with the instance that has it
        other.is_asked = other.is_asked && other.parent && places_[*other.parent].live != nullptr;
    }
    if (!place.parent) {
        begin_again(delay);
    } else if (Place& above = places_[*place.parent]; above.live) {
        above.live->executor().child_ended(place.host, 9);
    }
}

void World::begin_again(Duration delay) {
    ground_.agenda.after(delay, [this] {
        std::vector<std::uint32_t> cores(machine_->size());
        std::iota(cores.begin(), cores.end(), 0);
        if (!places_.front().live && !boot(places_.front(), 0, cores)) {
            begin_again(1s);
        }
    });
}

void World::lose_power(Duration delay) {
    counts_.powers += 1;
    ground_.note("machine", "loses power");
    bury(places_.front(), true);
    for (Place& place : places_) {
        place.is_asked = false;
    }
    begin_again(delay);
}

void World::kill_before_flush(Place& place, Duration delay) {
    if (!place.live) {
        return;
    }
    place.live->manager().before_flush([this, &place, delay] { kill(place, delay); });
    ground_.agenda.after(change_within, [&place, life = place.lives] {
        if (place.live && place.lives == life) {
            place.live->manager().before_flush({});
        }
    });
}

/// What `weir start` does: an instance whose job is over gets a new one.
void World::keep_instances() {
    for (Place& place : places_) {
        if (place.parent && places_[*place.parent].live && !place.is_asked) {
            keep(place);
        }
    }
    ground_.agenda.after(keep_interval, [this] { keep_instances(); });
}

void World::keep(Place& place) {
    Instance& above = *places_[*place.parent].live;
    for (const auto& [id, job] : above.manager().jobs().active_jobs()) {
        const Submission& submission = submissions_.at(submission_in(job->jobspec_text.redacted));
        if (!submission.serves.empty() && submission.place == place.number) {
            return;
        }
    }
    Submission host;
    host.number = submissions_.size();
    host.cores = place.cores;
    host.serves = place.serves;
    host.place = place.number;
    host.at = *place.parent;
    submissions_.push_back(host);
    place.is_asked = true;
    above.ask([this, &place, number = host.number](Manager& manager) {
        manager.submit(jobspec_of(submissions_[number]), owner, jm::urgency_expedite,
                       [this, &place, number](const Result<jm::JobId>& answer) {
                           place.is_asked = false;
                           if (answer) {
                               take_answer(number, *answer);
                           }
                       });
    });
}

// ---- the end ----

void World::run() {
    const Instant end_of_faults = std::max(last_fault_, last_client_);
    Instant look = end_of_faults;
    const bool is_calm = options_.faults == 0 || options_.kinds.empty();
    Instant look_for_idle = is_calm ? ground_.now() : last_fault_ + calm_after;
    IdleSince idle;
    Instant look_at_order = ground_.now();
    while (ground_.violations().empty() && ground_.agenda.step()) {
        if (ground_.now() >= look_at_order) {
            look_at_order = ground_.now() + order_interval;
            order_.look();
        }
        if (ground_.now() >= look_for_idle) {
            look_for_idle = ground_.now() + idle_interval;
            check_idle(*this, idle);
        }
        if (ground_.now() < look) {
            continue;
        }
        look = ground_.now() + rest_interval;
        if (is_at_rest()) {
            check_at_rest(*this);
            return;
        }
        if (ground_.now() > std::max(end_of_faults, machine_->last_change()) + rest_within) {
            report_unrest(*this);
            return;
        }
    }
}

bool World::is_at_rest() {
    return why_no_rest(*this).empty();
}

}  // namespace weir::world
