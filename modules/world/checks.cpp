// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the checkers at rest. See checks.hpp.
#include "modules/world/checks.hpp"

#include <cmath>
#include <cstdlib>
#include <map>

#include "libfairshare/base/flat_json.hpp"

namespace weir::world {
namespace {

std::string name_of(std::uint32_t userid) {
    return userid == alice   ? "alice"
           : userid == bob   ? "bob"
           : userid == carol ? "carol"
           : userid == dave  ? "dave"
                             : "owner";
}

std::string path_of(std::uint32_t userid) {
    return (userid == alice || userid == bob ? "physics/@" : "bio/@") + name_of(userid);
}

template <typename Visit>
void each_job(Place& place, Visit visit) {
    const jm::JobTable& jobs = place.live->manager().jobs();
    for (const jm::Job* job : jobs.inactive_jobs()) {
        visit(*job);
    }
    for (const auto& [id, job] : jobs.active_jobs()) {
        visit(*job);
    }
}

bool is_instance(World& world, const jm::Job& job) {
    return !world.submissions().at(submission_in(job.jobspec_text.redacted)).serves.empty();
}

// ---- checkers ----

/// Every answered submission is on record where it was answered, and over.
void check_submissions(World& world) {
    for (const Submission& submission : world.submissions()) {
        if (submission.answered_id == 0) {
            continue;
        }
        Place& place = world.places()[submission.at];
        const jm::Job* job = place.live->manager().jobs().find(submission.answered_id);
        const std::string what = "submission " + std::to_string(submission.number);
        if (job == nullptr) {
            world.ground().fail(place.name, what + " was answered and is gone");
        } else if (submission_in(job->jobspec_text.redacted) != submission.number) {
            world.ground().fail(place.name, what + " was answered with the id of another job");
        } else if (job->state != jm::State::inactive && submission.serves.empty()) {
            world.ground().fail(place.name, what + " never ended");
        } else if (submission.is_cancel_answered && job->success) {
            world.ground().fail(place.name, what + " was cancelled and succeeded");
        } else if (job->success && submission.starts == 0) {
            world.ground().fail(place.name, what + " succeeded and no process of it ever ran");
        }
    }
}

/// Without faults each job runs and ends as its process did.
void check_undisturbed(World& world) {
    if (world.options().faults > 0 && !world.options().kinds.empty()) {
        return;
    }
    for (const Submission& submission : world.submissions()) {
        const jm::Job* job = world.places()[submission.at].live->manager().jobs().find(submission.answered_id);
        if (job != nullptr && submission.serves.empty() && !job->had_exception &&
            (submission.starts != 1 || job->wait_status != submission.status)) {
            world.ground().fail("root",
                                "submission " + std::to_string(submission.number) + " did not run as it should");
        }
    }
}

/// No cores are held but by instances.
void check_cores(World& world) {
    for (Place& place : world.places()) {
        std::uint64_t held = 0;
        for (const std::size_t child : place.children) {
            held += world.places()[child].cores;
        }
        const ResourcePool& pool = place.live->sched().scheduler().space().pool();
        if (pool.total_cores() - pool.free_cores() != held) {
            world.ground().fail(place.name, "at rest " + std::to_string(pool.total_cores() - pool.free_cores()) +
                                                " cores are held, by instances " + std::to_string(held));
        }
    }
}

/// Core-microseconds of each user's jobs by the journal of the instance that ran them.
using Usage = std::map<std::uint32_t, std::int64_t>;

std::int64_t held_us(const jm::Job& job) {
    FlatJson reader;
    FlatJson context_reader;
    std::int64_t alloc = 0;
    std::int64_t free = 0;
    std::int64_t down = 0;
    std::string_view lines = job.eventlog;
    while (!lines.empty()) {
        const std::size_t end = lines.find('\n');
        const auto event = jm::read_entry(reader.read(lines.substr(0, end)));
        lines.remove_prefix(end + 1);
        if (event->name == "alloc") {
            alloc = event->t_us;
        } else if (event->name == "free") {
            free = event->t_us;
        } else if (event->name == "weir.down") {
            down += std::llround(context_reader.read(event->context)["seconds"].number().value_or(0) * 1e6);
        }
    }
    return alloc != 0 && free != 0 ? free - alloc - down : 0;
}

std::uint32_t charged_user(const jm::Job& job) {
    const Json jobspec = *Json::parse(job.jobspec_text.redacted);
    const json_t* routed = read_path(jobspec.get(), "attributes.system.weir.userid");
    return routed != nullptr ? static_cast<std::uint32_t>(json_integer_value(routed)) : job.userid;
}

Usage own_usage_in(World& world, Place& place) {
    Usage usage;
    each_job(place, [&](const jm::Job& job) {
        if (!job.r->text.empty() && !job.alloc_bypass && !is_instance(world, job)) {
            usage[charged_user(job)] += held_us(job) * job.r->facts.ncores;
        }
    });
    return usage;
}

Usage usage_in(World& world, Place& place) {
    Usage usage = own_usage_in(world, place);
    for (const std::size_t child : place.children) {
        for (const auto& [userid, used] : usage_in(world, world.places()[child])) {
            usage[userid] += used;
        }
    }
    return usage;
}

/// What each user is charged there.
Usage charged_in(World& world, Place& place) {
    const priority::Accounting& accounting = place.live->priority().service().accounting();
    const Instant late = world.ground().now() + std::chrono::hours(1000);  // at rest no charge is open
    Usage charged;
    for (const std::uint32_t userid : {alice, bob, carol, dave}) {
        const auto node = accounting.tree().find(path_of(userid));
        charged[userid] = node ? static_cast<std::int64_t>(accounting.ledger().charged(*node, late)) : 0;
    }
    return charged;
}

/// The sums of what the jobs of each user really held.
Usage truth_in(World& world, Place& place) {
    Usage truth;
    each_job(place, [&](const jm::Job& job) {
        const auto held = place.disk.truth.find(job.id);
        if (held != place.disk.truth.end() && !job.r->text.empty() && !is_instance(world, job)) {
            truth[charged_user(job)] += micros(Instant{} + held->second.total()) * job.r->facts.ncores;
        }
    });
    return truth;
}

/// The instance's times are true: of an embedded one those in its eventlogs, of a stock one those that are charged.
void check_time(World& world) {
    for (Place& place : world.places()) {
        const bool is_stock = world.ground().machine.is_stock;
        if (is_stock && !place.children.empty()) {
            continue;  // what a report says that is under way when the clock is set, is known only roughly
        }
        const Usage by_clock = is_stock ? charged_in(world, place) : own_usage_in(world, place);
        const auto slop = static_cast<std::int64_t>(
            world.submissions().size() * 1'000 + (is_stock ? world.counts().clock_steps * place.cores * 100'000 : 0));
        for (const auto& [userid, truth] : truth_in(world, place)) {
            const auto found = by_clock.find(userid);
            const std::int64_t counted = found != by_clock.end() ? found->second : 0;
            if (std::abs(counted - truth) > slop) {
                world.ground().fail(place.name, "the jobs of " + name_of(userid) + " held " + std::to_string(truth) +
                                                    " core-microseconds, and by its clock " + std::to_string(counted));
            }
        }
    }
}

/// Each user is charged, at each level, exactly what his jobs held by the eventlogs.
void check_usage(World& world) {
    if (world.ground().machine.is_stock) {
        return;  // check_time
    }
    for (Place& place : world.places()) {
        const Usage usage = usage_in(world, place);
        for (const auto& [userid, got] : charged_in(world, place)) {
            const auto found = usage.find(userid);
            const std::int64_t want = found != usage.end() ? found->second : 0;
            if (got != want) {
                world.ground().fail(place.name, name_of(userid) + " is charged " + std::to_string(got) +
                                                    " core-microseconds, and his jobs held " + std::to_string(want));
            }
        }
    }
}

/// A job that a child ran ended in it as it ended here.
void check_copies(World& world) {
    for (Place& place : world.places()) {
        if (!place.parent) {
            continue;
        }
        const jm::JobTable& above = world.places()[*place.parent].live->manager().jobs();
        each_job(place, [&](const jm::Job& copy) {
            const Json jobspec = *Json::parse(copy.jobspec_text.redacted);
            const json_t* upstream = read_path(jobspec.get(), "attributes.system.weir.jobid");
            const jm::Job* job =
                upstream != nullptr ? above.find(static_cast<jm::JobId>(json_integer_value(upstream))) : nullptr;
            if (upstream != nullptr && job == nullptr && copy.was_started) {
                world.ground().fail(place.name,
                                    "job " + std::to_string(copy.id) + " ran for a job that its parent does not know");
            }
            if (job != nullptr && copy.success && copy.wait_status == 0 && !job->had_exception && !job->success) {
                world.ground().fail(place.name,
                                    "job " + std::to_string(copy.id) + " succeeded here and not at the parent");
            }
        });
    }
}

constexpr void (*checkers[])(World&) = {check_submissions, check_undisturbed, check_cores,
                                        check_time,        check_usage,       check_copies};

void add_unrest_of(World& world, Place& place, std::vector<std::string>& why) {
    const auto add = [&](const std::string& what) { why.push_back(place.name + ": " + what); };
    if (!place.live) {
        add("no instance lives there");
        return;
    }
    Instance& instance = *place.live;
    if (place.disk.is_full) {
        add("its disk is full");
    }
    for (const auto& [id, job] : instance.manager().jobs().active_jobs()) {
        if (!is_instance(world, *job) || job->state != jm::State::run) {
            add("job " + std::to_string(id) + " (submission " +
                std::to_string(submission_in(job->jobspec_text.redacted)) + ") is in state " +
                jm::state_name(jm::state_index(job->state)) + ", priority " + std::to_string(job->priority));
        }
    }
    if (!instance.manager().is_quiet()) {
        add("the job-manager has something to write or to send");
    }
    if (!instance.sched().is_quiet()) {
        add("the scheduler has requests");
    }
    if (!instance.route().is_quiet()) {
        add("job-route is not at rest");
    }
    if (!instance.priority().is_quiet()) {
        add("job-priority is not at rest");
    }
    if (place.parent && instance.priority().service().sends().uplink().queue().unacknowledged() > 0) {
        add("the parent has not acknowledged all usage records");
    }
}

}  // namespace

std::vector<std::string> why_no_rest(World& world) {
    std::vector<std::string> why;
    for (Place& place : world.places()) {
        add_unrest_of(world, place, why);
    }
    return why;
}

void report_unrest(World& world) {
    for (const std::string& what : why_no_rest(world)) {
        world.ground().fail("at the end", what);
    }
}

void check_at_rest(World& world) {
    for (const auto check : checkers) {
        check(world);
    }
}

}  // namespace weir::world
