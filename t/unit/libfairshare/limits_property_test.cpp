// SPDX-License-Identifier: LGPL-3.0-only
// Limits of the tree against models: one that counts anew, one that looks at everybody.
#include <catch2/catch.hpp>
#include <map>

#include "t/unit/draws.hpp"
#include "t/unit/libfairshare/limits_world.hpp"

using namespace weir;
using testing::Ids;
using testing::second;
using testing::sized;
using World = testing::LimitsWorld;

namespace {

// What happens next, drawn at random: `what` chooses the kind of step.
struct Step {
    int what;
    std::uint64_t id = draw::in_range<std::uint64_t>(0, 12);
    std::size_t user;
    std::uint64_t size = draw::in_range<std::uint64_t>(1, 5);
    LimitedJob job = sized(size, size * 2);

    Step(int kinds, std::size_t users)
        : what(draw::in_range(0, kinds)), user(draw::in_range<std::uint64_t>(0, users)) {}
};

}  // namespace

// Kills: a turn of its own for places left out of admit(), or taken by the soft rule.
TEST_CASE("limits: counts are sums, no hard limit is passed, nobody is held back without a reason") {
    draw::property("against recounting", [] {
        const int jobs_max = draw::in_range(1, 5);
        const int nodes_max = draw::in_range(1, 8);
        const int soft = draw::in_range(0, 4);
        World w("\"a\" = {shares = 1, running_jobs_max = " + std::to_string(jobs_max) +
                "}\n\"a/b\" = {shares = 1, nodes_max = [" + std::to_string(std::min(soft, nodes_max)) + ", " +
                std::to_string(nodes_max) +
                "]}\n\"a/b/@u\" = 1\n\"a/b/@v\" = {shares = 1, cores_max = 9}\n\"a/@w\" = 1\n");
        const std::vector<const char*> users{"a/b/@u", "a/b/@v", "a/@w"};
        struct Known {
            std::size_t user;
            LimitedJob size;
            int state;  // 0 waits or is parked, 1 admitted, 2 runs
        };
        std::map<std::uint64_t, Known> model;
        for (std::size_t steps = draw::length(); steps > 0; steps--) {
            const auto [what, id, user, size, job] = Step(7, users.size());
            const auto known = model.find(id);
            if (known == model.end()) {
                w.priorities[id] = static_cast<std::uint64_t>(what);
                w.wait(id, users[user], job);
                model[id] = {user, job, 0};
            } else if (what < 2 && known->second.state == 1) {
                w.gate.start(*w.tree, id, w.at(users[known->second.user]), known->second.size);
                known->second.state = 2;
            } else if (what == 2) {
                w.gate.park(*w.tree, id, w.at(users[known->second.user]), known->second.size);
                w.wait(id, users[known->second.user], known->second.size);
                known->second.state = 0;
            } else if (what == 3) {
                w.gate.remove(*w.tree, id);
                model.erase(known);
            } else if (what == 6) {  // counted anew, others come first now: places are kept
                w.gate.clear();
                std::uint64_t kept = 0;
                for (const auto& [other, entry] : model) {
                    w.wait(other, users[entry.user], entry.size);
                    if (entry.state == 1) {
                        w.gate.keep_admitted(*w.tree, other);
                        kept++;
                    } else if (entry.state == 2) {
                        w.gate.start(*w.tree, other, w.at(users[entry.user]), entry.size);
                    }
                    w.priorities[other] = entry.state == 1 ? 0 : 9;
                }
                for (const std::uint64_t in : w.admit()) {
                    kept -= model.at(in).state == 1 ? 1 : 0;
                    model.at(in).state = 1;
                }
                RC_ASSERT(kept == 0U);
            } else {
                for (const std::uint64_t in : w.admit()) {
                    RC_ASSERT(model.at(in).state == 0);
                    model.at(in).state = 1;
                }
                for (const auto& [other, entry] : model) {
                    RC_ASSERT(w.gate.is_held_back(other) == (entry.state == 0));
                    const bool has_room = !w.gate.counts().start({*w.tree, w.ledger, second(0)},
                                                                 w.at(users[entry.user]), entry.size, LimitRule::soft);
                    RC_ASSERT(entry.state != 0 || !has_room);
                }
            }
            for (const char* path : {"a", "a/b", "a/b/@u", "a/b/@v", "a/@w"}) {
                LimitCounts::Use sum;
                for (const auto& [other, entry] : model) {
                    const std::string who = users[entry.user];
                    if (who == path || who.starts_with(std::string(path) + "/")) {
                        sum.active_jobs++;
                        sum.running_jobs += entry.state > 0 ? 1 : 0;
                        sum.nodes += entry.state > 0 ? entry.size.nodes : 0;
                        sum.cores += entry.state > 0 ? entry.size.cores : 0;
                    }
                }
                RC_ASSERT(w.gate.counts().of(w.at(path)) == sum);
            }
            RC_ASSERT(w.gate.counts().of(root_node) == w.gate.counts().of(w.at("a")));  // all are below it
            RC_ASSERT(w.gate.counts().of(w.at("a")).running_jobs <= static_cast<std::uint64_t>(jobs_max));
            RC_ASSERT(w.gate.counts().of(w.at("a/b")).nodes <= static_cast<std::uint64_t>(nodes_max));
            RC_ASSERT(w.gate.counts().of(w.at("a/b/@v")).cores <= 9U);
        }
    });
}

namespace {

/// The same decisions by looking at everybody each time.
struct NaiveGate {
    struct Job {
        const char* who;
        LimitedJob size;
        enum { waiting, recalled, in, running } state = waiting;
        bool keeps = false;
        bool is_soft = false;
    };
    std::map<std::uint64_t, Job> jobs;

    LimitCounts counts(const World& w) const {
        LimitCounts sum;
        for (const auto& [id, job] : jobs) {
            sum.add_active(*w.tree, w.at(job.who));
            if (job.state != Job::waiting) {
                sum.add_running(*w.tree, w.at(job.who), job.size);
            }
        }
        return sum;
    }
    bool is_alone(const Job& mine) const {
        return std::none_of(jobs.begin(), jobs.end(), [&](const auto& other) {
            return other.second.state == Job::in && std::string(other.second.who) != mine.who;
        });
    }
    bool is_due(const Job& job, int turn) const {
        return job.state == Job::waiting && (turn == 1 || (turn == 0 && job.keeps) || (turn == 2 && is_alone(job)));
    }
    std::vector<std::uint64_t> admit(World& w, double t) {
        std::vector<std::uint64_t> all;
        for (int turn = 0; turn < 3; turn++) {
            const LimitRule rule = turn == 1 ? LimitRule::soft : LimitRule::hard;
            const auto fits = [&](const Job& job) {
                return !counts(w).start({*w.tree, w.ledger, second(t)}, w.at(job.who), job.size, rule);
            };
            std::vector<std::pair<std::uint64_t, std::uint64_t>> fitting;
            for (const auto& [id, job] : jobs) {
                if (is_due(job, turn) && fits(job)) {
                    fitting.emplace_back(~w.priorities[id], id);
                }
            }
            std::sort(fitting.begin(), fitting.end());
            for (const auto& [order, id] : fitting) {
                if (Job& job = jobs.at(id); is_due(job, turn) && fits(job)) {
                    job.state = Job::in;
                    all.push_back(id);
                }
            }
            for (auto& [id, job] : jobs) {
                if (std::exchange(job.keeps, false) && job.state == Job::waiting) {
                    job.state = Job::recalled;
                }
            }
        }
        return all;
    }
};

}  // namespace

// Kills: room that is not noted when a job ends, shrinks or changes its payer; waiters looked for at the payer's own
// node alone; usage that decays unseen; a soft limit that is not tried again when the others have started; a job that
// stays among the waiters of a limit after it went; changed() without one whose state changed.
TEST_CASE("limits: who is admitted is who a look at everybody would admit") {
    draw::property("against looking at everybody", [] {
        const auto number = [](int most) { return std::to_string(draw::in_range(1, most)); };
        World w("\"a\" = {shares = 1, running_jobs_max = [" + number(3) + ", 3], usage_max = \"" + number(4) +
                "h\"}\n\"a/b\" = {shares = 1, nodes_max = " + number(8) +
                "}\n\"a/b/@u\" = 1\n\"a/b/@v\" = {shares = "
                "1, cores_max = [2, 9]}\n\"a/@w\" = 1\n\"c\" = {shares = 1, charged_max = [\"1h\", \"9h\"]}\n\"c/@x\" "
                "= 1\n");
        const std::vector<const char*> users{"a/b/@u", "a/b/@v", "a/@w", "c/@x"};
        NaiveGate naive;
        std::map<std::uint64_t, bool> held;
        double t = 0;
        for (std::size_t steps = draw::length(); steps > 0; steps--) {
            const auto [what, id, user, size, job] = Step(8, users.size());
            const auto known = naive.jobs.find(id);
            if (known == naive.jobs.end()) {
                w.priorities[id] = static_cast<std::uint64_t>(what);
                w.wait(id, users[user], job);
                naive.jobs[id] = {users[user], job};
            } else if (what == 0 && known->second.state == NaiveGate::Job::in) {
                w.gate.start(*w.tree, id, w.at(known->second.who), job);
                w.ledger.start(w.at(known->second.who), 40, second(t));
                known->second.state = NaiveGate::Job::running;
                known->second.size = job;
            } else if (what == 1) {
                if (known->second.state == NaiveGate::Job::running) {
                    w.ledger.end(w.at(known->second.who), 40, second(t));
                }
                w.gate.remove(*w.tree, id);
                naive.jobs.erase(known);
            } else if (what == 2 && known->second.state != NaiveGate::Job::running) {
                const char* who = users[user];
                const bool is_same = std::string(who) == known->second.who && job == known->second.size;
                w.wait(id, who, job);
                if (!is_same) {
                    const bool keeps = known->second.keeps || known->second.state != NaiveGate::Job::waiting;
                    naive.jobs[id] = {who, job, NaiveGate::Job::waiting, keeps};
                }
            } else if (what == 3) {
                t += 1800. * size;
            } else if (what == 4) {
                const auto has_withdrawn = [size = size](std::uint64_t other) { return other % 2 == size % 2U; };
                w.gate.settle(*w.tree, has_withdrawn);
                for (auto& [other, entry] : naive.jobs) {
                    if (entry.state == NaiveGate::Job::recalled && has_withdrawn(other)) {
                        entry.state = NaiveGate::Job::waiting;
                    }
                }
            } else {
                RC_ASSERT(w.admit(t) == naive.admit(w, t));
                for (const std::uint64_t changed : w.gate.changed()) {
                    held[changed] = w.gate.is_held_back(changed);
                }
                for (const auto& [other, entry] : naive.jobs) {
                    RC_ASSERT(w.gate.is_held_back(other) == (entry.state <= NaiveGate::Job::recalled));
                    RC_ASSERT(held[other] == w.gate.is_held_back(other));
                }
            }
        }
    });
}
