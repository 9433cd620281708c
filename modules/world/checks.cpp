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
           : userid == 0     ? "nobody"
                             : "owner";
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
        } else if (job->success && submission.starts == 0 && !submission.is_with_guest) {
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

/// What the jobs of a user held by the journal of the instance that ran them.
struct Used {
    std::int64_t core_us = 0;
    double decayed = 0;
};
using Usage = std::map<std::uint32_t, Used>;
constexpr std::uint32_t nobody = 0;  ///< pays what belongs to no line of the share tree

/// When a job held its cores by its eventlog; empty while it does.
std::vector<std::pair<std::int64_t, std::int64_t>> held_by(const jm::Job& job) {
    FlatJson reader;
    FlatJson context_reader;
    std::vector<std::pair<std::int64_t, std::int64_t>> held;
    std::int64_t since = 0;
    bool has_ended = false;
    std::string_view lines = job.eventlog;
    while (!lines.empty()) {
        const std::size_t end = lines.find('\n');
        const auto event = jm::read_entry(reader.read(lines.substr(0, end)));
        lines.remove_prefix(end + 1);
        if (event->name == "alloc") {
            since = event->t_us;
        } else if (event->name == "free" && since != 0) {
            held.emplace_back(since, event->t_us);
            has_ended = true;
        } else if (event->name == "weir.down") {
            const double down = context_reader.read(event->context)["seconds"].number().value_or(0) * 1e6;
            held.emplace_back(since, event->t_us - std::llround(down));
            since = event->t_us;
        }
    }
    return has_ended ? held : decltype(held){};
}

/// What is left at `at` of a core that was used between two times; doubles, as nothing but an oracle may.
double decayed(std::int64_t from, std::int64_t to, std::int64_t at, Duration half_life) {
    const double life = static_cast<double>(half_life.count());
    const auto left = [&](std::int64_t time) { return std::exp2(static_cast<double>(time - at) / life); };
    return life / std::log(2.) * (left(to) - left(from));
}

/// What a parent wrote into the jobspec.
FlatValue weir_in(FlatJson& reader, const jm::Job& job) {
    return reader.read(job.jobspec_text.redacted)["attributes"]["system"]["weir"];
}

std::uint32_t charged_user(const jm::Job& job) {
    FlatJson reader;
    const auto routed = weir_in(reader, job)["userid"].integer();
    return routed ? static_cast<std::uint32_t>(*routed) : job.userid;
}

Usage own_usage_in(World& world, Place& place, std::int64_t at) {
    Usage usage;
    const Duration half_life = place.live->priority().service().settings().half_life;
    each_job(place, [&](const jm::Job& job) {
        if (job.r->text.empty() || job.alloc_bypass || is_instance(world, job)) {
            return;
        }
        Used& used = usage[charged_user(job)];
        for (const auto& [from, to] : held_by(job)) {
            used.core_us += (to - from) * job.r->facts.ncores;
            used.decayed += decayed(from, to, at, half_life) * job.r->facts.ncores;
        }
    });
    return usage;
}

Usage usage_in(World& world, Place& place, std::int64_t at) {
    Usage usage = own_usage_in(world, place, at);
    for (const std::size_t child : place.children) {
        for (const auto& [userid, used] : usage_in(world, world.places()[child], at)) {
            usage[userid].core_us += used.core_us;
            usage[userid].decayed += used.decayed;
        }
    }
    return usage;
}

/// What each user is charged there, and how much of it counts now.
Usage charged_in(World& world, Place& place) {
    const priority::Accounting& accounting = place.live->priority().service().accounting();
    const Instant now = place.live->process().clock.now(world.ground());
    UsageSnapshot counted;
    accounting.measure(now, counted);
    Usage charged;
    for (const std::uint32_t userid : {alice, bob, carol, dave}) {
        Used& used = charged[userid];
        for (const char* account : {"physics/@", "bio/@"}) {  // without a line of his own, bio/@* takes him
            if (const auto node = accounting.tree().find(account + name_of(userid))) {
                used.core_us += static_cast<std::int64_t>(accounting.ledger().charged(*node, now));
                used.decayed += static_cast<double>(counted.usage.at(node->value));
            }
        }
    }
    charged[nobody] = {static_cast<std::int64_t>(accounting.ledger().charged(unassociated, now)), 0};
    return charged;
}

/// What a user used who has no line is nobody's, and his again when he has one: of those whom an edit removed once, and
/// of nobody, only the sum is known.
void join_removed(const World& world, const Place& place, Usage& usage) {
    for (const std::uint32_t userid : world.ruler_of(place).removed) {
        usage[nobody].core_us += usage[userid].core_us;
        usage.erase(userid);
    }
}

/// The sums of what the jobs of each user really held.
Usage truth_in(World& world, Place& place) {
    Usage truth;
    each_job(place, [&](const jm::Job& job) {
        const auto held = place.disk.truth.find(job.id);
        if (held != place.disk.truth.end() && !job.r->text.empty() && !is_instance(world, job)) {
            truth[charged_user(job)].core_us += held->second.total().count() * job.r->facts.ncores;
        }
    });
    return truth;
}

/// The instance's times are true: of an embedded one those in its eventlogs, of a stock one those that are charged.
void check_time(World& world) {
    const bool is_stock = world.ground().machine.is_stock;
    const std::int64_t drift_ppm = is_stock ? world.ground().machine.drift_ppm : 0;
    for (Place& place : world.places()) {
        if (is_stock && !place.children.empty()) {
            continue;  // what a report says that is under way when the clock is set, is known only roughly
        }
        Usage by_clock = is_stock ? charged_in(world, place) : own_usage_in(world, place, 0);
        const auto slop = static_cast<std::int64_t>(
            world.submissions().size() * 1'000 + (is_stock ? world.counts().clock_steps * place.cores * 100'000 : 0));
        Usage held = truth_in(world, place);
        join_removed(world, place, by_clock);
        join_removed(world, place, held);
        for (const auto& [userid, truth] : held) {
            const std::int64_t counted = by_clock[userid].core_us;
            if (std::abs(counted - truth.core_us) > slop + truth.core_us * std::abs(drift_ppm) / 1'000'000) {
                world.ground().fail(place.name, "the jobs of " + name_of(userid) + " held " +
                                                    std::to_string(truth.core_us) +
                                                    " core-microseconds, and by its clock " + std::to_string(counted));
            }
        }
    }
}

/// Each user is charged, at each level, exactly what his jobs held by the eventlogs, and it decays once.
void check_usage(World& world) {
    if (world.ground().machine.is_stock) {
        return;  // check_time
    }
    constexpr double decay_slop = 1000;  // core-microseconds: rounding
    for (Place& place : world.places()) {
        Usage usage = usage_in(world, place, micros(place.live->process().clock.now(world.ground())));
        Usage charged = charged_in(world, place);
        join_removed(world, place, usage);
        join_removed(world, place, charged);
        for (const auto& [userid, got] : charged) {
            const Used& want = usage[userid];
            if (got.core_us != want.core_us) {
                world.ground().fail(place.name, name_of(userid) + " is charged " + std::to_string(got.core_us) +
                                                    " core-microseconds, and his jobs held " +
                                                    std::to_string(want.core_us));
            } else if (userid != nobody && std::abs(got.decayed - want.decayed) > decay_slop + want.decayed / 1000) {
                world.ground().fail(place.name, "of what " + name_of(userid) + " used " + std::to_string(got.decayed) +
                                                    " core-microseconds count, and should " +
                                                    std::to_string(want.decayed));
            }
        }
    }
}

/// An edit that was acknowledged is in force, unless a later one is, in every instance that has that share tree.
void check_edits(World& world) {
    for (const Place& place : world.places()) {
        const std::string& edited = world.ruler_of(place).edited;
        if (!edited.empty() && place.live->priority().service().trees().in_force().toml != edited) {
            world.ground().fail(place.name, "an acknowledged edit of the share tree is gone");
        }
    }
}

/// A job that a child ran ended in it as it ended here.
void check_copies(World& world) {
    FlatJson reader;
    for (Place& place : world.places()) {
        if (!place.parent) {
            continue;
        }
        const jm::JobTable& above = world.places()[*place.parent].live->manager().jobs();
        each_job(place, [&](const jm::Job& copy) {
            const auto upstream = weir_in(reader, copy)["jobid"].integer();
            const jm::Job* job = upstream ? above.find(static_cast<jm::JobId>(*upstream)) : nullptr;
            if (upstream && job == nullptr && copy.was_started) {
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

constexpr void (*checkers[])(World&) = {check_submissions, check_undisturbed, check_cores, check_time,
                                        check_usage,       check_copies,      check_edits};

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
    if (instance.is_busy()) {
        add("a message is under way");
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
