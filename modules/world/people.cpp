// SPDX-License-Identifier: LGPL-3.0-only
// Owns: what people do in a world: they submit jobs, cancel some, and change the urgency of others. See world.hpp.
#include <algorithm>
#include <utility>

#include "modules/world/world.hpp"

namespace weir::world {

using namespace std::chrono_literals;

namespace {

constexpr Duration submitting_for = 120s;
constexpr std::size_t edits = 6;
constexpr Duration allocated_within = 6ms;  ///< of a request that finds free cores
constexpr std::uint32_t users[] = {alice, alice, bob, bob, carol, dave};

/// The cores that a job of the queue finds wherever it comes to.
std::uint32_t capacity(const std::vector<Place>& places, const Place& place, const std::string& queue) {
    std::uint32_t own = place.cores;
    std::uint32_t below = UINT32_MAX;
    for (const std::size_t child : place.children) {
        own -= places[child].cores;
        if (places[child].serves == queue) {
            below = std::min(below, capacity(places, places[child], queue));
        }
    }
    return below != UINT32_MAX ? below : own;
}

}  // namespace

void World::plan_jobs() {
    Random& random = ground_.random;
    submissions_.emplace_back();  // number 0 names nothing
    for (std::size_t number = 1; number <= options_.jobs; ++number) {
        Submission job;
        job.number = number;
        job.userid = users[random.below(std::size(users))];
        job.cores =
            static_cast<std::uint32_t>(random.one_in(4) ? random.between(1, largest_job) : random.between(1, 2));
        job.runs = random.between(Duration(100ms), Duration(random.one_in(5) ? 40s : 8s));
        job.limit = random.one_in(2) ? job.runs + random.between(Duration(0s), Duration(20s)) : Duration(60s);
        job.status = random.one_in(10) ? 256 : 0;
        job.at = random.one_in(4) ? random.below(places_.size()) : 0;
        const Place& place = places_[job.at];
        if (!place.children.empty() && !random.one_in(6)) {
            job.queue = places_[place.children[random.below(place.children.size())]].serves;
        }
        job.cores = std::min(job.cores, capacity(places_, place, job.queue));
        submissions_.push_back(job);
        const Instant when = ground_.now() + random.between(Duration(0s), submitting_for);
        ground_.agenda.at(when, [this, number] { submit(number); });
        plan_actions(number, when);
    }
    last_client_ = ground_.now() + submitting_for;
    ground_.agenda.at(last_client_ + 20s, [this] { release_held(); });
}

void World::submit(std::size_t number) {
    const Place& place = places_[submissions_[number].at];
    if (!place.live) {  // nobody is there: nothing was submitted
        ground_.agenda.after(1s, [this, number] { submit(number); });
        return;
    }
    place.live->ask([this, number](Manager& manager) {
        manager.submit(jobspec_of(submissions_[number]), submissions_[number].userid, jm::urgency_default,
                       [this, number](const Result<jm::JobId>& answer) {
                           if (answer) {
                               take_answer(number, *answer);
                           } else {
                               ground_.agenda.after(2s, [this, number] { submit(number); });
                           }
                       });
    });
}

/// Ids of an instance grow, over restarts too.
void World::take_answer(std::size_t number, std::uint64_t id) {
    Place& place = places_[submissions_[number].at];
    if (id <= place.last_id) {
        ground_.fail(place.name, "submission " + std::to_string(number) + " was answered with the id " +
                                     std::to_string(id) + ", and an earlier one with " + std::to_string(place.last_id));
    }
    place.last_id = id;
    submissions_[number].answered_id = id;
}

void World::plan_actions(std::size_t number, Instant submitted) {
    Random& random = ground_.random;
    const auto some_time = [&] { return submitted + random.between(Duration(0s), Duration(15s)); };
    if (random.one_in(8)) {
        submissions_[number].is_cancelled_early = random.one_in(2);
        if (!submissions_[number].is_cancelled_early) {
            ground_.agenda.at(some_time(), [this, number] { cancel(number); });
        }
    }
    if (random.one_in(6)) {
        const int urgency = static_cast<int>(random.between(0, 16));
        ground_.agenda.at(some_time(), [this, number, urgency] {
            act_on(number,
                   [urgency](Manager& manager, std::uint64_t id, Submission&) { manager.set_urgency(id, urgency); });
        });
    }
}

void World::cancel(std::size_t number) {
    act_on(number, [](Manager& manager, std::uint64_t id, Submission& submission) {
        const jm::Job* job = manager.jobs().active(id);
        const bool is_in_time = job != nullptr && !jm::is_in(job->state, jm::bit(jm::State::cleanup));
        manager.raise(id, "cancel", "", [&submission, is_in_time] {
            submission.is_cancel_answered = submission.is_cancel_answered || is_in_time;
        });
    });
}

/// The cancel reaches the job-manager about when the allocation does.
void World::cancel_early(std::size_t number) {
    if (std::exchange(submissions_[number].is_cancelled_early, false)) {
        ground_.agenda.after(ground_.random.between(Duration(0), allocated_within), [this, number] { cancel(number); });
    }
}

void World::plan_edits() {
    for (std::size_t i = 0; i < edits; ++i) {
        const std::size_t place = ground_.random.one_in(2) ? 0 : ground_.random.below(places_.size());
        const Duration delay = ground_.random.between(Duration(1s), submitting_for + 40s);
        ground_.agenda.after(delay, [this, place] { edit_tree(places_[places_[place].ruled_by]); });
    }
}

std::string tree_text(const Place& place, const Shares& shares) {
    const auto line = [](const char* path, std::int64_t number, const std::string& limit) {
        return std::string("\"") + path + "\" = { shares = " + std::to_string(number) + limit + " }\n";
    };
    const auto& limits = place.limits;
    return line("physics", shares.physics, limits ? ", cores_max = " + std::to_string(limits->physics_cores) : "") +
           line("physics/@alice", shares.alice,
                limits ? ", running_jobs_max = " + std::to_string(limits->jobs_of_alice) : "") +
           (shares.has_bob ? line("physics/@bob", 2, "") : "") + (shares.has_bio ? line("bio", 1, "") : "") +
           (shares.has_bio && shares.has_carol ? line("bio/@carol", shares.carol, "") : "") +
           (shares.has_bio ? line("bio/@*", 1, "") : "");
}

namespace {

std::set<std::uint32_t> removed_by(const Shares& shares) {
    std::set<std::uint32_t> removed;
    if (!shares.has_bob) {
        removed.insert(bob);
    }
    if (!shares.has_carol || !shares.has_bio) {
        removed.insert(carol);
    }
    if (!shares.has_bio) {
        removed.insert(dave);
    }
    return removed;
}

}  // namespace

void World::edit_tree(Place& place) {
    Random& random = ground_.random;
    Shares shares;
    shares.physics = random.between(1, 5);
    shares.alice = random.between(1, 5);
    shares.carol = random.between(1, 3);
    shares.has_bob = !random.one_in(4);
    shares.has_carol = !random.one_in(4);
    shares.has_bio = !random.one_in(8);
    put_tree(place, shares);
}

void World::put_tree(Place& place, const Shares& shares) {
    const std::string text = tree_text(place, shares);
    const bool is_up = place.live && place.live->process().stopped_until <= ground_.now();
    if (is_up && place.live->priority().edit_tree(text, "somebody")) {
        ground_.note(place.name, "its share tree is edited");
        place.edited = text;
        counts_.edits += 1;
        std::set<std::uint32_t> removed = removed_by(shares);
        place.lacks_lines = !removed.empty();
        counts_.removals += place.lacks_lines ? 1 : 0;
        place.removed.merge(removed);
        place.moved_at = place.removed.count(bob) > 0 ? ground_.now() : place.moved_at;
    }
}

/// In the end who held his job lets it go, and who lost his line gets it back: nobody would pay for what he has
/// waiting.
void World::release_held() {
    for (Place& place : places_) {
        if (place.lacks_lines) {
            put_tree(place, Shares{});
        }
        if (place.live) {
            place.live->ask([](Manager& manager) {
                std::vector<jm::JobId> held;
                for (const auto& [id, job] : manager.jobs().active_jobs()) {
                    if (job->urgency == jm::urgency_hold) {
                        held.push_back(id);
                    }
                }
                for (const jm::JobId id : held) {
                    manager.set_urgency(id, jm::urgency_default);
                }
            });
        }
    }
    ground_.agenda.after(5s, [this] { release_held(); });
}

/// Who has no answer to his submission, or finds nobody, tries again.
void World::act_on(std::size_t number, const std::function<void(Manager&, std::uint64_t, Submission&)>& action) {
    const Submission& submission = submissions_[number];
    const Place& place = places_[submission.at];
    if (place.live && submission.answered_id != 0) {
        place.live->ask([this, number, action](Manager& manager) {
            action(manager, submissions_[number].answered_id, submissions_[number]);
        });
    } else {
        ground_.agenda.after(2s, [this, number, action] {
            if (ground_.now() < last_client_ + 60s) {
                act_on(number, action);
            }
        });
    }
}

}  // namespace weir::world
