// SPDX-License-Identifier: LGPL-3.0-only
// Limits of the tree: what is counted, what holds a job back, who is admitted.
#include <catch2/catch.hpp>
#include <map>
#include <numeric>
#include <set>

#include "libfairshare/limits/admission.hpp"
#include "libfairshare/toml/share_tree_toml.hpp"
#include "t/unit/draws.hpp"
#include "t/unit/libfairshare/support.hpp"

using namespace weir;
using testing::second;

namespace {

ShareTreePtr tree_from(const std::string& text) {
    auto parsed = parse_share_tree(text);
    if (auto* diagnostics = std::get_if<Diagnostics>(&parsed)) {
        FAIL(to_string(*diagnostics));
    }
    return std::make_shared<const ShareTree>(std::get<ShareTree>(std::move(parsed)));
}

/// One tree, its ledger, its gate.
struct World {
    ShareTreePtr tree;
    UsageLedger ledger;
    Admission gate;
    std::map<std::uint64_t, std::uint64_t> priorities = {};

    explicit World(const std::string& text) : tree(tree_from(text)), ledger(tree, testing::week) {}
    NodeId at(const char* path) const { return testing::at(*tree, path); }
    void wait(std::uint64_t id, const char* who, const LimitedJob& job = {}) { gate.wait(*tree, id, at(who), job); }
    std::vector<std::uint64_t> admit(double t = 0) {
        return gate.admit(*tree, ledger, second(t), [this](std::uint64_t id) { return priorities[id]; });
    }
    std::string why(std::uint64_t id) const { return gate.hit(id) ? words_of(*gate.hit(id), *tree, {}) : ""; }
};
using Ids = std::vector<std::uint64_t>;

LimitedJob sized(std::uint64_t nodes, std::uint64_t cores) {
    return {nodes, cores, Duration::max()};
}

}  // namespace

// Mutant: libfairshare/limits/admission.cpp: count_in(reserved_); => (void)0;
TEST_CASE("limits: running jobs are admitted by priority up to the limit, and the next when one ends") {
    World w("\"a\" = {shares = 1, running_jobs_max = 2}\n\"a/@u\" = 1\n\"a/@v\" = 1\n");
    for (std::uint64_t id = 1; id <= 4; id++) {
        w.wait(id, id % 2 == 0 ? "a/@u" : "a/@v");
        w.priorities[id] = id;
    }
    CHECK(w.admit() == Ids{4, 3});
    CHECK(w.gate.is_held_back(1));
    CHECK(w.why(2) == "a runs at most 2 jobs; 0 run, and 2 start before it");
    w.gate.start(*w.tree, 4, w.at("a/@u"), {});
    CHECK(w.admit().empty());
    CHECK(w.why(2) == "a runs at most 2 jobs; 1 runs, and 1 starts before it");
    w.gate.remove(*w.tree, 4);
    CHECK(w.admit() == Ids{2});
    CHECK_FALSE(w.gate.is_held_back(2));
}

TEST_CASE("limits: nodes and cores are counted as asked, then as got; a smaller job may pass a larger one") {
    World w("\"a\" = {shares = 1, nodes_max = 4, cores_max = 100}\n\"a/@u\" = 1\n");
    w.wait(1, "a/@u", sized(3, 10));
    w.wait(2, "a/@u", sized(2, 10));
    w.wait(3, "a/@u", sized(1, 91));
    w.wait(4, "a/@u", sized(1, 90));
    CHECK(w.admit() == Ids{1, 4});
    CHECK(w.why(2) == "a uses at most 4 nodes; 0 are in use, and 4 are for jobs that start before it");
    w.gate.start(*w.tree, 1, w.at("a/@u"), sized(1, 10));
    CHECK(w.admit().empty());
    CHECK(w.why(2) == "a uses at most 100 cores; 10 are in use, and 90 are for jobs that start before it");
    CHECK(w.gate.counts().of(w.at("a")) == LimitCounts::Use{4, 2, 2, 100});
}

TEST_CASE("limits: what can never be is told at submission") {
    World w(
        "\"a\" = {shares = 1, wall_time_max = [\"1h\", \"2h\"], nodes_max = 4, active_jobs_max = 1}\n\"a/@u\" = 1\n");
    const auto never = [&](const LimitedJob& job) {
        const auto hit = LimitCounts::never(*w.tree, w.at("a/@u"), job);
        return hit ? words_of(*hit, *w.tree, {}) : "";
    };
    CHECK(never({1, 1, std::chrono::hours(2)}).empty());
    CHECK(never({1, 1, std::chrono::hours(2) + std::chrono::seconds(1)}) == "a job of a runs at most 2h");
    CHECK(never({1, 1, Duration::max()}) == "a job of a runs at most 2h");
    CHECK(never({5, 1, std::chrono::hours(1)}) == "a uses at most 4 nodes; the job asks for more");
    CHECK_FALSE(w.gate.counts().submission(*w.tree, w.at("a/@u")));
    w.gate.park(*w.tree, 1, w.at("a/@u"), {});
    CHECK(words_of(*w.gate.counts().submission(*w.tree, w.at("a/@u")), *w.tree, {}) ==
          "a has at most 1 job that wait or run; 1 does");
}

TEST_CASE("limits: a soft limit holds while others wait, a hard one always") {
    World w("\"a\" = {shares = 1, running_jobs_max = [1, 2]}\n\"a/@u\" = 1\n\"b\" = 1\n\"b/@v\" = 1\n");
    w.wait(1, "a/@u");
    w.wait(2, "a/@u");
    w.wait(3, "a/@u");
    w.wait(9, "b/@v");
    CHECK(w.admit() == Ids{1, 9});
    CHECK(w.why(2) == "a runs at most 1 job, while others wait; 0 run, and 1 starts before it");
    w.gate.start(*w.tree, 1, w.at("a/@u"), {});
    CHECK(w.admit().empty());
    w.gate.start(*w.tree, 9, w.at("b/@v"), {});
    CHECK(w.admit() == Ids{2});
    CHECK(w.why(3) == "a runs at most 2 jobs; 1 runs, and 1 starts before it");
}

TEST_CASE("limits: usage that decays admits jobs again, charges do not") {
    World w(
        "\"a\" = {shares = 1, usage_max = \"100h\"}\n\"a/@u\" = 1\n\"b\" = {shares = 1, charged_max = \"100h\"}\n"
        "\"b/@v\" = 1\n");
    for (const char* who : {"a/@u", "b/@v"}) {
        w.ledger.start(w.at(who), 100, second(0));
    }
    w.wait(1, "a/@u");
    w.wait(2, "b/@v");
    CHECK(w.admit(1800) == Ids{1, 2});
    for (const char* who : {"a/@u", "b/@v"}) {
        w.ledger.end(w.at(who), 100, second(3600));
    }
    World late = w;
    late.gate.clear();
    late.wait(1, "a/@u");
    late.wait(2, "b/@v");
    CHECK(late.admit(3600) == Ids{1});  // some of it has decayed already
    CHECK(late.why(2) == "b has used up its 100h");
    CHECK(late.admit(1e9).empty());
}

TEST_CASE("limits: parts are of all that was used; a limit of 0 admits nobody") {
    World w(
        "\"a\" = {shares = 1, usage_max = \"25%\"}\n\"a/@u\" = 1\n\"b\" = 1\n\"b/@v\" = 1\n"
        "\"c\" = {shares = 1, cores_max = 0}\n\"c/@w\" = 1\n\"d\" = {shares = 1, usage_max = \"0%\"}\n\"d/@x\" = 1\n");
    w.wait(1, "a/@u");
    w.wait(2, "c/@w");
    w.wait(3, "d/@x");
    CHECK(w.admit() == Ids{1});
    CHECK(w.why(3) == "d has used its 0% of all usage");
    w.ledger.start(w.at("a/@u"), 1, second(0));
    w.ledger.start(w.at("b/@v"), 3, second(0));
    w.wait(4, "a/@u");
    CHECK(w.admit(100).empty());
    CHECK(w.why(4) == "a has used its 25% of all usage; jobs start again when others have used more");
    w.ledger.start(w.at("b/@v"), 1, second(100));
    CHECK(w.admit(200) == Ids{4});
}

TEST_CASE("limits: who was admitted above is held back by hard counts alone, and counts for the others") {
    World w(
        "\"a\" = {shares = 1, running_jobs_max = [1, 2]}\n\"a/@u\" = {shares = 1, usage_max = \"60%\", wall_time_max = "
        "\"1h\"}\n\"b\" = 1\n\"b/@v\" = 1\n");
    w.ledger.start(w.at("a/@u"), 4, second(0));
    w.wait(1, "a/@u", {1, 1, std::chrono::minutes(1)});
    for (std::uint64_t id = 2; id <= 4; id++) {
        w.wait(id, "a/@u", {1, 1, Duration::max(), true});
    }
    w.wait(5, "b/@v");
    CHECK(w.admit(10) == Ids{2, 3, 5});
    CHECK(w.why(4) == "a runs at most 2 jobs; 0 run, and 2 start before it");
    w.gate.remove(*w.tree, 2);
    CHECK(w.admit(11) == Ids{4});
    CHECK(w.gate.is_held_back(1));
}

TEST_CASE("limits: a held job holds nobody back, who pays for nothing is held back by nothing") {
    World w("\"a\" = {shares = 1, running_jobs_max = 1}\n\"a/@u\" = 1\n");
    w.wait(1, "a/@u");
    CHECK(w.admit() == Ids{1});
    w.gate.park(*w.tree, 1, w.at("a/@u"), {});
    w.wait(2, "a/@u");
    w.gate.wait(*w.tree, 3, unassociated, {});
    CHECK(w.admit() == Ids{2, 3});
    CHECK(has_limits(*w.tree));
    CHECK_FALSE(has_limits(*tree_from("\"a\" = 1\n\"a/@u\" = 1\n")));
}

// Mutant: libfairshare/limits/admission.cpp: job.state = State::recalled; => job.state = State::waiting;
TEST_CASE("limits: an admitted job without room counts until it is known not to have started") {
    World w("\"a\" = {shares = 1, running_jobs_max = 1}\n\"a/@u\" = 1\n\"a/@v\" = 1\n\"b\" = 1\n\"b/@u\" = 1\n");
    w.wait(1, "b/@u");
    CHECK(w.admit() == Ids{1});
    w.gate.start(*w.tree, 2, w.at("a/@u"), {});
    w.wait(1, "a/@u");  // it is moved into the account whose limit is reached
    w.wait(3, "a/@v");
    w.priorities[3] = 9;
    const auto nobody = [](std::uint64_t) { return false; };
    const auto everybody = [](std::uint64_t) { return true; };
    CHECK(w.admit().empty());
    CHECK(w.gate.is_held_back(1));
    CHECK(w.why(1) == "a runs at most 1 job; 1 runs");
    CHECK_FALSE(w.gate.can_settle(nobody));
    CHECK(w.gate.can_settle(everybody));
    w.gate.remove(*w.tree, 2);
    SECTION("it has started") {
        w.gate.settle(*w.tree, nobody);
        CHECK(w.admit().empty());
        w.gate.start(*w.tree, 1, w.at("a/@u"), {});
        w.gate.settle(*w.tree, everybody);
        CHECK(w.admit().empty());
        w.gate.remove(*w.tree, 1);
        CHECK(w.admit() == Ids{3});
    }
    SECTION("it has not") {
        w.gate.settle(*w.tree, everybody);
        CHECK_FALSE(w.gate.can_settle(everybody));
        CHECK(w.admit() == Ids{3});
        CHECK(w.gate.is_held_back(1));
    }
    SECTION("it is held by its user, or ends") {
        w.gate.park(*w.tree, 1, w.at("a/@u"), {});
        CHECK(w.admit() == Ids{3});
        CHECK_FALSE(w.gate.can_settle(everybody));
    }
    SECTION("it is moved back") {
        w.wait(1, "b/@u");
        CHECK(w.admit() == Ids{1, 3});
        CHECK_FALSE(w.gate.is_held_back(1));
    }
}

// Kills: counts that stop below the root or are not taken back with the size they were added with; a job admitted
// twice; a limit of an account that is ignored for its users; a job held back though every limit has room (the pass
// ends at the first that does not fit); a soft limit above which jobs are admitted while others wait.
TEST_CASE("limits: who keeps a place goes first, past soft limits, within hard ones; and only once") {
    World w("\"a\" = {shares = 1, running_jobs_max = [1, 2]}\n\"a/@u\" = 1\n\"a/@v\" = 1\n\"a/@w\" = 1\n");
    for (std::uint64_t id = 1; id <= 4; id++) {
        w.wait(id, id % 2 == 0 ? "a/@u" : "a/@v");
        w.priorities[id] = id;
    }
    w.gate.keep_admitted(*w.tree, 1);
    w.gate.keep_admitted(*w.tree, 2);
    w.gate.keep_admitted(*w.tree, 3);
    CHECK(w.gate.admitted() == Ids{1, 2, 3});  // before anybody is admitted
    CHECK(w.admit() == Ids{3, 2});             // hard limit 2; 1 lost its place
    CHECK(w.gate.is_held_back(1));
    CHECK(w.gate.admitted() == Ids{1, 2, 3});  // and may have started
    w.gate.remove(*w.tree, 2);
    w.gate.remove(*w.tree, 3);
    CHECK(w.admit() == Ids{4});  // within the hard limit
    CHECK(w.gate.admitted() == Ids{1, 4});
    w.gate.settle(*w.tree, [](std::uint64_t id) { return id == 1; });
    CHECK(w.gate.admitted() == Ids{4});
    w.wait(4, "a/@w");  // another payer: it keeps its place
    w.priorities[1] = 9;
    CHECK(w.gate.is_held_back(4));
    CHECK(w.admit() == Ids{4});
    w.gate.park(*w.tree, 4, w.at("a/@w"), {});  // a held one does not
    w.wait(4, "a/@w");
    CHECK(w.admit() == Ids{1});
}

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
            const int what = draw::in_range(0, 7);
            const auto id = draw::in_range<std::uint64_t>(0, 12);
            const auto user = draw::in_range<std::size_t>(0, 3);
            const auto size = draw::in_range<std::uint64_t>(1, 5);
            const LimitedJob job = sized(size, size * 2);
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

TEST_CASE("limits: an event looks at the jobs that it concerns, not at all that wait") {
    World w(
        "\"a\" = {shares = 1, running_jobs_max = 1}\n\"a/@u\" = 1\n\"b\" = {shares = 1, usage_max = \"1h\"}\n"
        "\"b/@v\" = 1\n\"c\" = 1\n\"c/@w\" = 1\n");
    w.ledger.start(w.at("b/@v"), 100, second(0));
    w.ledger.end(w.at("b/@v"), 100, second(3600));
    for (std::uint64_t id = 0; id < 2000; id++) {
        w.wait(id, id % 2 == 0 ? "a/@u" : "b/@v");
    }
    CHECK(w.admit(3600) == Ids{0});
    std::uint64_t before = w.gate.looks();
    w.wait(5000, "c/@w");
    CHECK(w.admit(3601) == Ids{5000});
    w.gate.start(*w.tree, 0, w.at("a/@u"), {});
    w.gate.remove(*w.tree, 5000);
    CHECK(w.admit(3602).empty());
    CHECK(w.gate.looks() - before < 10);
    before = w.gate.looks();
    w.gate.remove(*w.tree, 0);
    CHECK(w.admit(3603) == Ids{2});
    CHECK(w.gate.looks() - before < 3100);  // room for one of a thousand, who are compared
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
            const int what = draw::in_range(0, 8);
            const auto id = draw::in_range<std::uint64_t>(0, 12);
            const auto user = draw::in_range<std::size_t>(0, 4);
            const auto size = draw::in_range<std::uint64_t>(1, 5);
            const LimitedJob job = sized(size, size * 2);
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
