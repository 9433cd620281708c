// SPDX-License-Identifier: LGPL-3.0-only
// Children that lie: whatever one who owns some jobs sends, in whatever order, with restarts of the module in between,
// changes nothing but what those jobs are charged, no faster than their cores.
#include <catch2/catch.hpp>

#include <algorithm>
#include <limits>

#include "modules/job-priority/state/memory_store.hpp"
#include "t/unit/draws.hpp"
#include "t/unit/job_priority/support.hpp"

using namespace weir;
using namespace weir::priority;
using namespace weir::priority::testing;

namespace {

constexpr std::uint32_t liar = 6666;
constexpr double last_s = 1e6;

/// One instance and its state file, told what happens by its job-manager, killed and started again now and then.
class HostileWorld {
  public:
    HostileWorld(std::string tree, Settings with) : tree_(std::move(tree)), with_(std::move(with)) { restart(0); }

    void restart(double t) {
        service_ = service(false, with_);
        RC_ASSERT(service_->restore(store_.saved(), at(t)).has_value());
        if (service_->trees().in_force().revision == 0) {
            put_tree(*service_, tree_);
        }
        service_->begin_backlog();
        for (const auto& [id, events] : events_) {
            service_->add_backlog(events);
        }
        service_->end_backlog(at(t));
        commit();
    }
    void happen(const JobEvent& event) {
        events_[event.id].push_back(event);
        service_->apply(event);
        commit();
    }
    void commit() { store_.apply(service_->take_batch()); }
    PriorityService& operator*() { return *service_; }
    PriorityService* operator->() { return service_.get(); }

  private:
    std::string tree_;
    Settings with_;
    MemoryStore store_;
    std::map<FluxJobId, std::vector<JobEvent>> events_;
    std::unique_ptr<PriorityService> service_;
};

/// What the module lets one user say: attach and report, of jobs for which authorize_child() holds.
class Liar {
  public:
    /// \param has_lives says that a job goes on with the instance of another one.
    Liar(std::uint32_t userid, bool is_owner, bool has_lives = true)
        : userid_(userid), is_owner_(is_owner), has_lives_(has_lives) {}

    void speak(PriorityService& service, FluxJobId child, double t) {
        if (!service.children().authorize(child, userid_, is_owner_)) {
            return;
        }
        if (draw::in_range(0, 8) == 0) {
            const auto first = draw::element<std::uint64_t>(0, 1, 2, 7, std::numeric_limits<std::uint64_t>::max());
            const std::string life = has_lives_ ? "" : std::to_string(child);
            (void)service.attach_child(child, draw::element<std::string>("one", "two") + life, first, at(t));
            return;
        }
        const auto known = service.children().children().find(child);
        const std::uint64_t next = known == service.children().children().end() ? 1 : known->second.seq_acked + 1;
        const std::uint64_t seq = draw::in_range(0, 8) == 0 ? draw::in_range<std::uint64_t>(0, 9) : next;
        (void)service.report(child, seq, records(t), at(t));
    }

  private:
    /// Anything; or one hour told again and again; or jobs inside jobs inside jobs; or instances that end, and their
    /// jobs afterwards.
    static std::vector<UplinkRow> records(double t) {
        std::vector<UplinkRow> made(draw::in_range<std::size_t>(1, 30));
        const int plan = draw::in_range(0, 4);
        const auto first = draw::in_range<std::uint64_t>(1, 40);
        for (std::size_t i = 0; i < made.size(); ++i) {
            UplinkRow& record = made[i];
            record = anything(t);
            if (plan == 1) {
                record = {i % 2 == 0, first + i / 2, "liar", "physics", 16, i % 2 == 0 ? at(0) : at(t), 0};
            } else if (plan == 2) {
                record = {true, first + i, "liar", "physics", 16, at(t), i == 0 ? 0 : first + i - 1};
            } else if (plan == 3) {
                constexpr bool starts[] = {true, true, false, true, false};
                constexpr std::uint64_t jobs[] = {0, 1, 0, 2, 1};
                record.is_start = starts[i % 5];
                record.job = first + i / 5 * 3 + jobs[i % 5];
                record.inside = record.job == first + i / 5 * 3 ? 0 : first + i / 5 * 3;
            }
        }
        return made;
    }
    static UplinkRow anything(double t) {
        UplinkRow record;
        record.is_start = draw::in_range(0, 5) < 3;
        record.job = draw::in_range<std::uint64_t>(1, 40);
        record.inside = draw::in_range(0, 2) == 0 ? record.job - 1 : 0;  // often one that is open
        record.user =
            draw::element<std::string>("liar", "liar", "6666", "alice", "5001", "bob", "zed", "70000", "*", "");
        record.account = draw::element<std::string>("physics", "physics", "", "bio", "nowhere", "bio/@*");
        record.cores = draw::element<std::int64_t>(0, 1, 2, 16, std::numeric_limits<std::int64_t>::max());
        record.time = draw::element(at(0), at(0), at(t), at(t), at(t - 100), at(t + 3600), at(1e10), Instant::min(),
                                    Instant::max());
        record.bill = {.rate = draw::element<std::int64_t>(0, 1000, 16000, std::int64_t{1} << 40),
                       .prepaid = draw::element(Duration{}, Duration{}, Duration{3600'000'000}),
                       .gpus = draw::element<std::int64_t>(0, 0, 8),
                       .committed = draw::element(Duration{}, Duration{3600'000'000}),
                       .queue = draw::element<std::string>("", "batch"),
                       .project = draw::element<std::string>("", "qcd"),
                       .qos = draw::element<std::string>("", "high")};
        return record;
    }
    std::uint32_t userid_;
    bool is_owner_;
    bool has_lives_;
};

/// The day of an instance, the same in every world: jobs of the liar and of others come, run and end.
class Day {
  public:
    explicit Day(std::uint32_t who) : who_(who) {}

    void step(std::vector<HostileWorld*> worlds) {
        t_ += draw::in_range(0, 400);
        const int what = draw::in_range(0, 10);
        if (what < 4) {
            const std::uint32_t user = draw::element(who_, who_, alice, bob, carol);
            const FluxJobId id = next_++;
            const std::string account = user == alice || user == owner ? "" : "bio";
            const int cores = draw::in_range(1, 9);
            tell(worlds, submitted(id, t_, user, account));
            tell(worlds, eligible(id, t_));
            if (what < 3) {
                tell(worlds, started(id, t_, cores));
                running_.push_back({id, user, cores, t_});
            }
        } else if (what < 7 && !running_.empty()) {
            const auto at = static_cast<std::ptrdiff_t>(draw::in_range<std::size_t>(0, running_.size()));
            const Job job = running_[static_cast<std::size_t>(at)];
            tell(worlds, freed(job.id, t_));
            used_ += job.user == who_ ? (t_ - job.start) * job.cores : 0;
            running_.erase(running_.begin() + at);
        } else if (what == 7) {
            for (HostileWorld* world : worlds) {
                world->restart(t_);
            }
        }
    }
    double now() const { return t_; }
    /// A job to lie about: mostly his own.
    FluxJobId some_job() const {
        std::vector<FluxJobId> ids{next_};
        for (const Job& job : running_) {
            ids.insert(ids.end(), job.user == who_ ? 5 : 1, job.id);
        }
        return draw::element_of(ids);
    }
    std::int64_t cores_of_his() const {
        std::int64_t cores = 0;
        for (const Job& job : running_) {
            cores += job.user == who_ ? job.cores : 0;
        }
        return cores;
    }
    /// Core-microseconds of his jobs up to now.
    SignedCoreMicros used() const {
        double used = used_;
        for (const Job& job : running_) {
            used += job.user == who_ ? (t_ - job.start) * job.cores : 0;
        }
        return static_cast<SignedCoreMicros>(used) * 1'000'000;
    }

  private:
    struct Job {
        FluxJobId id;
        std::uint32_t user;
        int cores;
        double start;
    };
    static void tell(const std::vector<HostileWorld*>& worlds, const JobEvent& event) {
        for (HostileWorld* world : worlds) {
            world->happen(event);
        }
    }
    std::uint32_t who_;
    double t_ = 1;
    double used_ = 0;
    FluxJobId next_ = 1;
    std::vector<Job> running_;
};

Settings ways(int way) {
    Settings with = settings();
    with.users["liar"] = liar;
    if (way == 1) {
        with.billing.charging = Charging::at_dispatch;
    } else if (way == 2) {
        with.decay = DecayKind::window;
    }
    return with;
}

const char* const one_account =
    "\"physics\" = 2\n\"physics/@alice\" = 1\n\"bio\" = 1\n\"bio/@bob\" = 1\n"
    "\"bio/@liar\" = 1\n\"bio/@*\" = 1\n";
const char* const two_accounts =
    "\"physics\" = 2\n\"physics/@alice\" = 1\n\"physics/@liar\" = 1\n\"bio\" = 1\n"
    "\"bio/@bob\" = 1\n\"bio/@liar\" = 1\n\"bio/@*\" = 1\n";

SignedCoreMicros charged_in(HostileWorld& world, const std::string& path) {
    return charged(*world, path, last_s);
}

}  // namespace

// Kills the mutants "a guest's child may name another user", "in an account that he is not in nobody pays", "a time is
// not clamped to now", "a guest's word makes a leaf", "a report may speak for a job that does not run".
TEST_CASE("hostile children: who has one account changes nothing at all, to the last bit and whoever's order") {
    draw::property(
        "an instance that he lies to and one that he is silent in have one ledger, one tree and one order", [] {
            const Settings with = ways(draw::in_range(0, 3));
            HostileWorld told(one_account, with);
            HostileWorld quiet(one_account, with);
            Day day(liar);
            Liar he(liar, false);
            const int steps = draw::in_range(1, 30);
            for (int step = 0; step < steps; ++step) {
                day.step({&told, &quiet});
                for (int words = draw::in_range(0, 3); words > 0; --words) {
                    he.speak(*told, day.some_job(), day.now());
                    told.commit();
                }
            }
            told->pass(at(day.now()));
            quiet->pass(at(day.now()));
            RC_ASSERT(told->accounting().ledger().save() == quiet->accounting().ledger().save());
            RC_ASSERT(told->accounting().tree().size() == quiet->accounting().tree().size());
            const Measured a = measured_at(*told, at(day.now()));
            const Measured b = measured_at(*quiet, at(day.now()));
            RC_ASSERT(a.usage.usage == b.usage.usage);
            RC_ASSERT(told->ranking().shares().standings().factor == quiet->ranking().shares().standings().factor);
            RC_ASSERT(push(*told) == push(*quiet));
        });
}

// Kills the mutants "an hour may be told twice", "what was told is forgotten by a restart", "jobs inside jobs are not
// bounded", "a record without cores stays open", "the end of a job is not the end of what is inside it".
TEST_CASE("hostile children: who has two accounts moves what his jobs cost between them, and no more") {
    draw::property(
        "all others pay what they would, he in all as much, in no account less than nothing or more than all", [] {
            HostileWorld told(two_accounts, ways(0));
            HostileWorld quiet(two_accounts, ways(0));
            Day day(liar);
            Liar he(liar, false);
            const int steps = draw::in_range(1, 30);
            for (int step = 0; step < steps; ++step) {
                day.step({&told, &quiet});
                he.speak(*told, day.some_job(), day.now());
                told.commit();
                const UsageLedger& ledger = told->accounting().ledger();
                SignedCoreMicros in_all = 0;
                for (const char* path : {"physics/@liar", "bio/@liar"}) {
                    const SignedCoreMicros his = charged(*told, path, day.now());
                    RC_ASSERT(his >= 0);
                    RC_ASSERT(ledger.rate(*ledger.tree().find(path)) >= 0);
                    in_all += his;
                }
                RC_ASSERT(in_all == day.used());
                RC_ASSERT(told->accounting().reported().size() <=
                          static_cast<std::size_t>(day.cores_of_his()) * (Accounting::reported_depth_max + 1));
            }
            for (const char* path : {"physics/@alice", "bio/@bob", "bio/@carol", ""}) {
                RC_ASSERT(charged_in(told, path) == charged_in(quiet, path));
            }
            RC_ASSERT(told->accounting().ledger().save().frame == quiet->accounting().ledger().save().frame);
            RC_ASSERT(told->accounting().tree().size() == quiet->accounting().tree().size());
        });
}

// Kills the mutants "idle time is somebody's", "a partition's users get what it does not have", "strangers get leaves".
// With the seeds 8448376162354479029 and 4082993499809464063: "the number of an ended instance may be used again".
// With the seed 124 and 4000 tests: "a corrected end of an instance leaves what was guessed of the jobs in it".
TEST_CASE("hostile children: also of the owner's partitions all that is charged is what was allocated") {
    for (const bool has_lives : {false, true}) {
        draw::property("conservation, nothing below nothing, no leaf but for a user whom somebody knows", [has_lives] {
            HostileWorld told(two_accounts, ways(0));
            HostileWorld quiet(two_accounts, ways(0));
            Day day(owner);
            Liar it(owner, true, has_lives);
            const int steps = draw::in_range(1, 30);
            for (int step = 0; step < steps; ++step) {
                day.step({&told, &quiet});
                it.speak(*told, day.some_job(), day.now());
                told.commit();
                const UsageLedger& ledger = told->accounting().ledger();
                SignedCoreMicros in_all = ledger.charged(root_node, at(day.now()));
                for (const NodeId bucket : {unassociated, idle}) {
                    RC_ASSERT(ledger.charged(bucket, at(day.now())) >= 0);
                    in_all += ledger.charged(bucket, at(day.now()));
                }
                for (std::uint32_t index = 1; index < ledger.tree().size(); ++index) {
                    RC_ASSERT(ledger.charged(NodeId{index}, at(day.now())) >= 0);
                }
                const UsageLedger& untold = quiet->accounting().ledger();
                const SignedCoreMicros allocated =
                    untold.charged(root_node, at(day.now())) + untold.charged(unassociated, at(day.now()));
                // A job may have held its cores past what was seen as the end of the life that it ran in.
                RC_ASSERT((has_lives ? in_all >= allocated : in_all == allocated));
            }
            RC_ASSERT(told->accounting().tree().size() <= 8 + 3);  // alice, carol and owner in bio
            RC_ASSERT(told->accounting().ledger().save().frame == quiet->accounting().ledger().save().frame);
        });
    }
}
