// SPDX-License-Identifier: LGPL-3.0-only
// What Moab's components add up of a job, and how often it was bypassed, against counting it one by one.
#include "libsched/order/moab_priorities.hpp"

#include <catch2/catch.hpp>
#include <map>

#include "t/unit/draws.hpp"
#include "t/unit/libsched/workload.hpp"

using namespace weir;
using test::at;

namespace {

using Job = MoabPriorities::Job;
const MoabPriorities::Usage unused_course;

PolicySettings only(MoabComponent component, const char* part, double weight) {
    PolicySettings settings;
    settings.policy = PolicyKind::moab;
    settings.moab.part(MoabComponent::service, "queue-time").weight = 0;
    settings.moab.part(component, part).weight = weight;
    return settings;
}

double sum(const PolicySettings& settings, const Job& job) {
    MoabPriorities moab(settings);
    moab.set_machine({64, 4, 8, 256});
    moab.add_credential(0, {});
    moab.add_credential(0, {});
    moab.hold(1, 2, 12);
    moab.hold(1, -1, -4);
    moab.hold(MoabPriorities::nobody, 1, 30);
    moab.put(JobId{0}, job);
    return moab.raw(JobId{0}, unused_course, at(0));
}

double resource(const char* part, const Job& job) {
    return sum(only(MoabComponent::resource, part, 1), job);
}

Job asking(std::uint32_t cores, std::uint32_t nodes, double gpus, double memory_gib) {
    Job job;
    job.who[0] = 1;
    job.cores = cores;
    job.nodes = nodes;
    job.gpus = gpus;
    job.memory_mib = memory_gib * 1024;
    return job;
}

}  // namespace

TEST_CASE("Moab: what a job asks for counts in nodes, memory and processor equivalents") {
    const Job job = asking(8, 2, 0, 128);
    CHECK(resource("nodes", job) == 2);
    CHECK(resource("memory", job) == 128 * 1024);
    CHECK(resource("processor-equivalents", job) == 32);                       // half of the memory
    CHECK(resource("processor-equivalents", asking(8, 2, 4, 1)) == 32);        // half of the gpus
    CHECK(resource("processor-equivalents", asking(48, 2, 4, 128)) == 48);     // most of the cores
    CHECK(resource("processor-equivalents", asking(8, 1, 0, 512)) == 2 * 64);  // more than there is
}

TEST_CASE("Moab: a user's jobs and processors that are active count for those that wait") {
    CHECK(resource("user-processors", asking(1, 1, 0, 0)) == 8);
    CHECK(resource("user-jobs", asking(1, 1, 0, 0)) == 1);
    Job other;
    other.who[0] = 0;
    CHECK(resource("user-jobs", other) == 0);
    CHECK(resource("user-processors", Job{}) == 0);
}

TEST_CASE("Moab: what a user says of a job counts either way") {
    Job job;
    job.user_priority = -6;
    PolicySettings settings = only(MoabComponent::service, "user-priority", 10);
    CHECK(sum(settings, job) == -60);
    job.user_priority = 4;
    settings.moab.part(MoabComponent::service, "user-priority").cap = 3;
    CHECK(sum(settings, job) == 30);
}

TEST_CASE("Moab: a job is bypassed by each that starts from behind it, while it waits") {
    PolicySettings settings = only(MoabComponent::service, "bypass", 100);
    settings.moab.part(MoabComponent::resource, "processors").weight = 1;
    MoabPriorities moab(settings);
    const auto put = [&](std::uint64_t id, std::uint32_t cores) {
        Job job;
        job.place = id;
        job.cores = cores;
        moab.put(JobId{id}, job);
    };
    std::vector<std::pair<JobId, std::uint32_t>> changed;
    put(0, 9);
    put(1, 5);
    put(2, 5);
    moab.prioritize(unused_course, at(0), changed);
    moab.start(JobId{2});  // behind both
    put(3, 1);             // afterwards
    CHECK(moab.update_value(JobId{3}, unused_course, at(0)) == 1);
    CHECK(moab.raw(JobId{1}, unused_course, at(0)) == 105);
    moab.start(JobId{0});  // before all
    moab.prioritize(unused_course, at(0), changed);
    CHECK(changed.back() == std::pair{JobId{1}, std::uint32_t{105}});
    moab.pause(JobId{1});
    moab.start(JobId{3});
    put(1, 5);
    const OrderTerms terms = moab.explain(JobId{1}, unused_course, at(0));
    REQUIRE(terms.terms.size() == 2);
    CHECK(terms.terms[1].name == "service.bypass");
    CHECK(terms.terms[1].raw == 1);
    CHECK(terms.terms[1].contribution == 100);
}

// Kills: starts counted that came before the job had a value; a job that starts from before counted; equal values by
// place the wrong way round; counts lost in a hold or with the next full pass; what was told by a full pass alone taken
// for the job's value.
TEST_CASE("Moab: bypasses are those that looking at the whole queue at each start counts") {
    draw::property("raw sums = naive counts", [] {
        PolicySettings settings = only(MoabComponent::service, "bypass", draw::element(1, 3));
        settings.moab.part(MoabComponent::resource, "processors").weight = 1;
        MoabPriorities moab(settings);
        struct Naive {
            Job job;
            std::optional<std::uint32_t> told;
            std::uint32_t bypassed = 0;
            bool waits = false;
        };
        std::map<std::uint64_t, Naive> jobs;
        const double weight = settings.moab.part(MoabComponent::service, "bypass").weight;
        const auto value = [&](const Naive& one) {
            return static_cast<std::uint32_t>(std::max(1., one.job.cores + weight * one.bypassed));
        };
        std::uint64_t place = 0;
        const int steps = draw::in_range(1, 60);
        for (int step = 0; step < steps; step++) {
            const auto id = draw::in_range<std::uint64_t>(0, 8);
            Naive& one = jobs[id];
            const int what = draw::in_range(0, 10);
            if (what < 4) {  // it comes, comes back, or is changed
                if (!one.waits) {
                    one.job.place = place++;
                    one.told.reset();
                }
                one.job.cores = draw::in_range<std::uint32_t>(0, 4);
                one.waits = true;
                moab.put(JobId{id}, one.job);
            } else if (what == 4) {
                moab.pause(JobId{id});
                one.waits = false;
            } else if (what == 5) {
                moab.remove(JobId{id});
                one = {};
            } else if (what == 6 && one.waits) {
                RC_ASSERT(moab.update_value(JobId{id}, unused_course, at(0)) == value(one));
                one.told = value(one);
            } else if (what < 9 && one.waits) {
                for (auto& [other_id, other] : jobs) {
                    const bool is_before =
                        one.told && other.waits && other.told && other_id != id &&
                        (*other.told != *one.told ? *other.told > *one.told : other.job.place < one.job.place);
                    other.bypassed += is_before ? 1 : 0;
                }
                moab.start(JobId{id});
                one = {};
            } else if (what == 9) {
                std::vector<std::pair<JobId, std::uint32_t>> changed;
                moab.prioritize(unused_course, at(0), changed);
                for (auto& [other_id, other] : jobs) {
                    other.told = other.waits ? std::optional(value(other)) : std::nullopt;
                }
            }
            for (const auto& [other_id, other] : jobs) {
                if (other.waits) {
                    const double raw = moab.raw(JobId{other_id}, unused_course, at(0));
                    RC_ASSERT(raw == other.job.cores + weight * other.bypassed);
                }
            }
        }
    });
}
