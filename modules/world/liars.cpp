// SPDX-License-Identifier: LGPL-3.0-only
// Owns: guests that lie: one of a user's jobs says that it is a child instance, and reports what it likes. See
// faults.hpp. What it says may move nothing but its own user's cores to its own user.
#include "modules/world/faults.hpp"

namespace weir::world {

using namespace std::chrono_literals;

namespace {

/// Running jobs that this instance runs itself, of users.
std::vector<const jm::Job*> jobs_of_guests(Place& place) {
    std::vector<const jm::Job*> jobs;
    for (const auto& [id, job] : place.live->manager().jobs().active_jobs()) {
        if (job->was_started && job->has_resources && !job->alloc_bypass && job->userid != owner) {
            jobs.push_back(job.get());
        }
    }
    return jobs;
}

priority::UplinkRow lie(Random& random, Instant now) {
    static const std::vector<std::string> names{"alice", "bob", "carol", "dave", "owner", "mallory", ""};
    priority::UplinkRow row;
    row.is_start = !random.one_in(3);
    row.job = random.below(6);
    row.user = random.of(names);
    row.account = random.one_in(4) ? "physics" : "";
    row.cores = random.one_in(3) ? random.between(-1000, 1'000'000) : random.between(1, 4);
    row.time = now + (random.one_in(2) ? random.between(-2s, 2s) : random.between(-24h, 24h));
    row.inside = random.one_in(2) ? 0 : random.below(6);
    if (random.one_in(2)) {
        row.bill = {.rate = random.between(0, 100'000),
                    .prepaid = 1h,
                    .gpus = 8,
                    .committed = 1h,
                    .queue = "debug",
                    .qos = "high"};
    }
    return row;
}

}  // namespace

Duration tell_lies(World& world, Place& place) {
    if (!place.live) {
        return 5s;
    }
    Random& random = world.ground().random;
    const auto jobs = jobs_of_guests(place);
    if (jobs.empty()) {
        return 5s;
    }
    const jm::Job& liar = *random.of(jobs);
    const jm::Job& victim = *random.of(jobs);
    priority::UplinkBatch batch;
    batch.first_seq = random.below(4);
    for (std::uint64_t i = random.between(1, 12); i > 0; --i) {
        batch.records.push_back(lie(random, place.live->process().clock.now(world.ground())));
    }
    world.counts().lies += batch.records.size();
    world.ground().note(place.name, "job " + std::to_string(liar.id) + " lies");
    PriorityPart& part = place.live->priority();
    (void)part.take_guest_report(liar.id, liar.userid, "liar-" + std::to_string(random.below(3)), batch);
    const std::uint32_t stranger = victim.userid == alice ? bob : alice;
    if (part.take_guest_report(victim.id, stranger, "liar", batch)) {
        world.ground().fail(place.name, "a guest may report for another user's job");
    }
    return 5s;
}

/// He says that he has some of the jobs that are there, whosever they are, and goes on after his job has ended.
Duration attach_guest(World& world, Place& chosen) {
    Place& place = chosen.children.empty() && chosen.parent ? world.places()[*chosen.parent] : chosen;
    const auto jobs = place.live ? jobs_of_guests(place) : std::vector<const jm::Job*>{};
    if (jobs.empty() || place.children.empty()) {
        return {};
    }
    Random& random = world.ground().random;
    const Duration length = random.between(Duration(100ms), Duration(40s));
    const jm::Job& host = *random.of(jobs);
    GuestRoute::Facts facts{host.id, host.userid, {}, static_cast<std::uint32_t>(random.between(1, 64))};
    std::vector<route::JobId> known;
    for (const std::size_t child : place.children) {
        facts.serves.push_back(world.places()[child].serves);
    }
    for (const auto& [id, job] : place.live->manager().jobs().active_jobs()) {
        if (random.one_in(8)) {
            known.push_back(route::JobId{id});
        }
    }
    world.ground().note(place.name, "job " + std::to_string(host.id) + " says that it is a child instance");
    const std::uint64_t number = ++world.counts().guests;
    const auto got = [&world, &place, userid = host.userid](const std::string& jobspec) {
        Submission& submission = world.submissions()[submission_in(jobspec)];
        world.counts().guest_jobs += 1;
        submission.is_with_guest = true;
        if (submission.userid != userid) {
            world.ground().fail(place.name, "a guest gets another user's job");
        }
    };
    world.disturb(place, length);
    place.guests[number] = std::make_unique<GuestRoute>(place.live->route(), facts, got);
    place.guests[number]->attach(known);
    world.ground().agenda.after(length, [&place, number] { place.guests.erase(number); });
    return length + 5s;
}

}  // namespace weir::world
