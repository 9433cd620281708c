// SPDX-License-Identifier: LGPL-3.0-only
// Properties of HandDown's plans over any jobs and children.
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <tuple>

#include "modules/job-route/hand_down.hpp"
#include "t/unit/draws.hpp"

namespace {

using weir::route::HandDown;
using weir::route::JobId;
using Standing = HandDown::Standing;

constexpr std::int64_t depth = 3;

/// Children and jobs as they stand, beside the plan that is told of them.
struct Site {
    HandDown plan{depth};
    std::function<bool(int, int)> takes = [](int, int) { return true; };
    std::map<JobId, HandDown::ChildFacts> children;
    std::map<JobId, HandDown::Job> jobs;

    /// Whether one child alone takes these jobs.
    bool has_one(const HandDown::JobClass& alike) const {
        return 1 == std::count_if(children.begin(), children.end(), [&](const auto& child) {
                   const HandDown::ChildFacts& facts = child.second;
                   return facts.cores >= alike.cores && facts.serves.front() == alike.queue &&
                          takes(alike.kind, facts.rank);
               });
    }
    void set(JobId id, const HandDown::Job& job) {
        jobs[id] = job;
        plan.set(id, job);
    }
    std::vector<HandDown::Move> planned() {
        return plan.plan({[](JobId, JobId) { return true; },
                          [this](const HandDown::JobClass& alike) {
                              return HandDown::Takers{100, has_one(alike)};
                          },
                          takes});
    }
    void carry_out(const std::vector<HandDown::Move>& moves) {
        for (const HandDown::Move& move : moves) {
            HandDown::Job job = jobs.at(move.id);
            RC_ASSERT(job.child == move.from);
            RC_ASSERT(job.standing == (move.from.value == 0 ? Standing::waits : Standing::ahead));
            job.child = move.to;
            job.standing = move.to.value == 0 ? Standing::waits : Standing::ahead;
            set(move.id, job);
        }
    }
    std::int64_t room(JobId child) const {
        std::int64_t cores = children.at(child).cores - children.at(child).own_cores;
        for (const auto& [id, job] : jobs) {
            cores -= job.standing == Standing::busy && job.child == child ? job.cores : 0;
        }
        return cores;
    }
    std::vector<HandDown::Job> waiting_in(JobId child) const {
        std::vector<HandDown::Job> all;
        for (const auto& [id, job] : jobs) {
            if (job.child == child && (job.standing == Standing::ahead || job.standing == Standing::asked)) {
                all.push_back(job);
            }
        }
        return all;
    }
};

/// Two or three children; one in four serves another queue. Few different priorities and sizes, so that they tie.
Site a_site() {
    Site site;
    const auto sizes = draw::several([] { return draw::in_range(0U, 9U); }, 3);
    for (std::uint64_t id = 1; id <= sizes.size(); id++) {
        const unsigned size = sizes[id - 1];
        site.children[JobId{id}] = {{size == 3 ? "debug" : "batch"}, size, size % 2, size != 1};
        site.plan.set_child(JobId{id}, site.children[JobId{id}]);
    }
    std::uint64_t id = 10;
    for (std::size_t jobs = draw::length(); jobs > 0; jobs--) {
        const auto standing = draw::in_range(0U, 12U);
        const auto child = draw::in_range(0U, 4U);
        const auto priority = draw::in_range(1U, 4U);
        const auto cores = draw::in_range(1U, 6U);
        HandDown::Job job{Standing::waits, {}, priority, cores, "batch", true};
        if (child != 0 && standing < 4) {
            job.child = JobId{child};
            job.standing = standing == 0 ? Standing::busy : standing == 1 ? Standing::asked : Standing::ahead;
        }
        site.set(JobId{id++}, job);
    }
    return site;
}

/// As a_site(); the third child is of another queue, and lends.
Site a_lending_site() {
    Site site = a_site();
    const JobId lender{3};
    site.children[lender].serves = {"debug"};
    site.children[lender].overflow = {"batch"};
    site.plan.set_child(lender, site.children[lender]);
    for (const auto& [id, job] : std::map<JobId, HandDown::Job>(site.jobs)) {
        if (id.value % 3 == 0 && (job.child == lender || job.child.value == 0)) {
            HandDown::Job own = job;
            own.queue = "debug";
            site.set(id, own);
        }
    }
    return site;
}

/// As a_site(); the children have different rules, and the bits of a job's kind are the ranks that take it.
Site a_ruled_site() {
    Site site = a_site();
    site.takes = [](int kind, int rank) { return (kind >> rank & 1) != 0; };
    for (auto& [id, facts] : site.children) {
        facts.rank = draw::in_range(0, 3);
        site.plan.set_child(id, facts);
    }
    for (const auto& [id, job] : std::map<JobId, HandDown::Job>(site.jobs)) {
        HandDown::Job ruled = job;
        ruled.kind = static_cast<int>(id.value * 5 % 8);
        site.set(id, ruled);
    }
    return site;
}

}  // namespace

TEST_CASE("hand down: no job waits that an idle child with room could run", "[property]") {
    draw::property("after each plan", [] {
        Site site = a_site();
        site.carry_out(site.planned());
        for (const auto& [child, facts] : site.children) {
            if (!facts.is_open || facts.serves.front() != "batch" || !site.waiting_in(child).empty()) {
                continue;
            }
            for (const auto& [id, job] : site.jobs) {
                const bool is_movable = job.standing == Standing::waits ||
                                        (job.standing == Standing::ahead && site.children.at(job.child).is_open &&
                                         site.room(job.child) < job.cores);
                RC_LOG() << "job " << id.value << ", child " << child.value << '\n';
                RC_ASSERT(!is_movable || job.cores > site.room(child));
            }
        }
    });
}

// Mutant: modules/job-route/hand_down_pass.cpp: budget.ahead < 2 * budget.growth => budget.ahead < 0 * budget.growth
TEST_CASE("hand down: a plan that was carried out leaves nothing to move", "[property]") {
    draw::property("so nothing goes back and forth", [] {
        Site site = a_site();
        site.carry_out(site.planned());
        site.carry_out(site.planned());
        RC_ASSERT(site.planned().empty());
    });
}

// Mutant: modules/job-route/hand_down_pass.cpp: budget.ahead < growth * plan_.depth_ || => budget.ahead < 99 ||
TEST_CASE("hand down: what waits in a child is bounded", "[property]") {
    draw::property("by room, depth and size", [] {
        Site site = a_site();
        site.carry_out(site.planned());
        for (const auto& [child, facts] : site.children) {
            std::vector<HandDown::Job> waiting = site.waiting_in(child);
            std::erase_if(waiting, [&](const HandDown::Job& job) { return site.has_one({job.queue, 0, job.cores}); });
            const bool is_all_ahead = std::none_of(waiting.begin(), waiting.end(), [](const HandDown::Job& job) {
                return job.standing == Standing::asked;
            });
            if (facts.is_open && is_all_ahead) {
                const std::int64_t room = std::max<std::int64_t>(0, site.room(child));
                RC_ASSERT(static_cast<std::int64_t>(waiting.size()) <= room + std::max(2 * depth, facts.cores));
            }
        }
    });
}

// Mutant: modules/job-route/hand_down.hpp: std::tie(b.priority, a.submit => std::tie(a.priority, a.submit
TEST_CASE("hand down: a better job of the same size is not left behind", "[property]") {
    draw::property("while a worse one is handed down", [] {
        Site site = a_site();
        const std::vector<HandDown::Move> moves = site.planned();
        site.carry_out(moves);
        for (const HandDown::Move& move : moves) {
            if (move.to.value == 0 || move.from.value != 0) {
                continue;
            }
            const HandDown::Job& given = site.jobs.at(move.id);
            for (const auto& [id, job] : site.jobs) {
                const bool is_better =
                    job.priority > given.priority || (job.priority == given.priority && id < move.id);
                RC_ASSERT(!(job.standing == Standing::waits && job.cores == given.cores && is_better));
            }
        }
    });
}

// Mutant: modules/job-route/hand_down_pass.cpp: kind.cores < budget.refused_cores && => true &&
TEST_CASE("hand down: no job waits in a child before a better one that needs no more and waits here", "[property]") {
    draw::property("after each plan", [] {
        Site site = a_site();
        site.carry_out(site.planned());
        for (const auto& [id, given] : site.jobs) {
            if (given.standing != Standing::ahead || !site.children.at(given.child).is_open ||
                given.cores <= site.room(given.child) || site.has_one({given.queue, 0, given.cores})) {
                continue;
            }
            for (const auto& [other, job] : site.jobs) {
                const bool is_better = job.priority > given.priority || (job.priority == given.priority && other < id);
                const bool is_passed = is_better && job.standing == Standing::waits && job.cores <= given.cores &&
                                       job.cores <= site.children.at(given.child).cores;
                if (is_passed) {
                    RC_LOG() << "job " << id.value << " in child " << given.child.value << ", job " << other.value;
                }
                RC_ASSERT(!is_passed);
            }
        }
    });
}

// A loan on its way that is looked at in its turn: hand_down_test.cpp.
// Mutant: modules/job-route/hand_down_pass.hpp: return !budget.is_waited_for && => return
TEST_CASE("hand down: a job is lent to only behind all that is the child's own, and with room", "[property]") {
    draw::property("so all that is there after a loan fits", [] {
        Site site = a_lending_site();
        const JobId lender{3};
        const std::vector<HandDown::Move> moves = site.planned();
        site.carry_out(moves);
        const bool is_lent = std::any_of(moves.begin(), moves.end(), [&](const HandDown::Move& move) {
            return move.to == lender && site.jobs.at(move.id).queue == "batch";
        });
        std::int64_t waiting = 0;
        for (const HandDown::Job& job : site.waiting_in(lender)) {
            waiting += job.cores;
        }
        RC_ASSERT(!is_lent || waiting <= site.room(lender));
    });
    draw::property("and nothing goes back and forth", [] {
        Site site = a_lending_site();
        for (int i = 0; i < 4; i++) {
            site.carry_out(site.planned());
        }
        RC_ASSERT(site.planned().empty());
    });
}

// Mutant: modules/job-route/hand_down_pass.cpp: if (!kind.is_taken) { => if (false) {
TEST_CASE("hand down: no job waits in a child whose rules do not take it", "[property]") {
    draw::property("after each plan", [] {
        Site site = a_ruled_site();
        site.carry_out(site.planned());
        for (const auto& [id, job] : site.jobs) {
            if (job.standing == Standing::ahead && site.children.at(job.child).is_open) {
                RC_LOG() << "job " << id.value << ", child " << job.child.value << '\n';
                RC_ASSERT(site.takes(job.kind, site.children.at(job.child).rank));
            }
        }
    });
    draw::property("and nothing goes back and forth", [] {
        Site site = a_ruled_site();
        site.carry_out(site.planned());
        site.carry_out(site.planned());
        RC_ASSERT(site.planned().empty());
    });
}

// Mutant: modules/job-route/hand_down.cpp: takes(jobs.kind, facts.rank) || => takes(jobs.kind, 0) ||
TEST_CASE("hand down: no job waits that an idle child with room, which takes it, could run", "[property]") {
    draw::property("after each plan", [] {
        Site site = a_ruled_site();
        site.carry_out(site.planned());
        for (const auto& [child, facts] : site.children) {
            if (!facts.is_open || facts.serves.front() != "batch" || !site.waiting_in(child).empty()) {
                continue;
            }
            for (const auto& [id, job] : site.jobs) {
                RC_LOG() << "job " << id.value << ", child " << child.value << '\n';
                RC_ASSERT(!(job.standing == Standing::waits && site.takes(job.kind, facts.rank) &&
                            job.cores <= site.room(child)));
            }
        }
    });
}
