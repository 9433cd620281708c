// SPDX-License-Identifier: LGPL-3.0-only
#include "modules/job-route/partition_table.hpp"

#include <catch2/catch.hpp>
#include <map>

using namespace weir;
using namespace weir::route;
using namespace std::chrono_literals;

namespace {

using Action = PartitionAction::Kind;

/// A table with a clock, and children that do as they are told.
struct PartitionScene {
    PartitionTable table;
    Duration now{1000s};
    std::map<JobId, ChildLoad> loads;
    bool is_wanted = false;
    std::uint64_t last_job = 0;
    std::string said;
    std::vector<JobId> drained, canceled, expedited, given_back;

    PartitionSpec spec(const std::string& digest = "a") const {
        PartitionSpec made;
        made.name = "batch";
        made.queues = {"batch"};
        made.digest = digest;
        return made;
    }
    void look() {
        table.look({now, [this](JobId job) { return loads.count(job) > 0 ? loads.at(job) : ChildLoad{}; },
                    [this](const PartitionSpec&) { return is_wanted; }});
        perform();
    }
    void perform() {
        for (const PartitionAction& action : table.take()) {
            if (action.kind == Action::start) {
                table.started(action.name, action.folder, JobId{++last_job});
                if (action.is_expedited) {
                    expedited.push_back(JobId{last_job});
                }
            } else if (action.kind == Action::drain) {
                drained.push_back(action.job);
            } else if (action.kind == Action::cancel) {
                canceled.push_back(action.job);
            } else if (action.kind == Action::give_back) {
                given_back.push_back(action.job);
            } else if (action.kind == Action::log) {
                said = action.text;
            }
        }
    }
    void attach(JobId job, std::int64_t jobs = 0) {
        loads[job] = {true, jobs};
        look();
    }
    void end(JobId job, const std::string& why = "killed by signal 9") {
        loads.erase(job);
        table.ended(job, why, now);
        look();
    }
    const PartitionTable::Partition& batch() const { return table.partitions().at("batch"); }
};

}  // namespace

TEST_CASE("partitions: one that dies is started again, each time later") {
    PartitionScene scene;
    scene.table.configure({scene.spec()});
    scene.look();
    REQUIRE(scene.last_job == 1);
    scene.attach(JobId{1});
    CHECK(scene.said == "The partition batch serves its queue.");
    scene.end(JobId{1});
    CHECK(scene.batch().is_down);
    REQUIRE(scene.last_job == 2);  // the first time at once
    scene.end(JobId{2});
    CHECK(scene.said.find("death 2 in a row; it starts again in 0.3s") != std::string::npos);
    CHECK(scene.last_job == 2);
    scene.now += 249ms;
    scene.look();
    CHECK(scene.last_job == 2);
    scene.now += 1ms;
    scene.look();
    CHECK(scene.last_job == 3);
    scene.attach(JobId{3});
    CHECK(scene.said == "The partition batch serves its queue again.");
    CHECK(!scene.batch().is_down);
}

TEST_CASE("partitions: a change starts a new instance beside the old one, which ends when it is empty") {
    PartitionScene scene;
    scene.table.configure({scene.spec()});
    scene.look();
    scene.attach(JobId{1}, 3);
    scene.table.configure({scene.spec("b")});
    scene.look();
    REQUIRE(scene.last_job == 2);
    CHECK(scene.drained == std::vector<JobId>{JobId{1}});
    CHECK(scene.canceled.empty());
    CHECK(scene.batch().current->folder == 1);
    CHECK(scene.batch().old.front().folder == 0);
    scene.loads[JobId{1}].jobs = 0;
    scene.look();
    CHECK(scene.canceled == std::vector<JobId>{JobId{1}});
    scene.end(JobId{1}, "cancel");
    CHECK(scene.batch().old.empty());
    CHECK(!scene.batch().is_down);
    CHECK(scene.last_job == 2);
}

// Mutant: modules/job-route/partition_table.cpp: (!partition.current || partition.current->job.value == 0) => false
// Mutant: modules/job-route/partition_table.cpp: !partition.old.empty() || !partition.ended.empty() => false
TEST_CASE("partitions: the cores of one that ends are given back when the next one, an expedited job, is submitted") {
    PartitionScene scene;
    scene.table.configure({scene.spec()});
    scene.look();
    scene.attach(JobId{1});
    CHECK(scene.expedited.empty());  // the first one waits in turn
    SECTION("it dies") {
        scene.end(JobId{1});
    }
    SECTION("an operator ends it") {
        REQUIRE(scene.table.restart("batch", true));
        scene.look();
        CHECK(scene.last_job == 1);  // the folder is not free
        scene.end(JobId{1});
    }
    CHECK(scene.expedited == std::vector<JobId>{JobId{2}});
    CHECK(scene.given_back.empty());  // in the look that had it submitted
    scene.look();
    CHECK(scene.given_back == std::vector<JobId>{JobId{1}});
}

TEST_CASE("partitions: the next one is expedited before the old one ends, and has its cores then") {
    PartitionScene scene;
    scene.table.configure({scene.spec()});
    scene.look();
    scene.attach(JobId{1}, 1);
    REQUIRE(scene.table.restart("batch", false));
    scene.look();
    CHECK(scene.expedited == std::vector<JobId>{JobId{2}});
    scene.end(JobId{1});
    CHECK(scene.given_back == std::vector<JobId>{JobId{1}});
}

// Mutant: modules/job-route/partition_table.cpp: partition.is_wanted && !partition.is_off => true
// Mutant: modules/job-route/partition_table.cpp: (partition.current || !partition.is_drained); => true;
TEST_CASE("partitions: the cores of one that nothing follows are given back at once") {
    PartitionScene scene;
    PartitionSpec spec = scene.spec();
    SECTION("removed") {
        scene.table.configure({spec});
        scene.look();
        scene.attach(JobId{1});
        scene.table.configure({});
        scene.look();
    }
    SECTION("drained") {
        scene.table.configure({spec});
        scene.look();
        scene.attach(JobId{1});
        REQUIRE(scene.table.set_drained("batch", true));
    }
    SECTION("idle") {
        spec.idle = 10s;
        spec.is_on_demand = true;
        scene.table.configure({spec});
        scene.is_wanted = true;
        scene.look();
        scene.is_wanted = false;
        scene.attach(JobId{1});
        scene.now += 10s;
        scene.look();
    }
    scene.end(JobId{1}, "cancel");
    CHECK(scene.last_job == 1);
    CHECK(scene.given_back == std::vector<JobId>{JobId{1}});
}

// Mutant: modules/job-route/partition_table.cpp: is_used(partition.last_folder) ? 0 : partition.last_folder => 0
TEST_CASE("partitions: one that dies starts again in its own folder, where jobs are that it alone knows") {
    PartitionScene scene;
    scene.table.configure({scene.spec()});
    scene.look();
    scene.attach(JobId{1}, 3);
    scene.table.configure({scene.spec("b")});
    scene.look();
    scene.attach(JobId{2});
    scene.loads[JobId{1}].jobs = 0;
    scene.look();
    scene.end(JobId{1}, "cancel");
    REQUIRE(scene.batch().current->folder == 1);
    scene.end(JobId{2});
    REQUIRE(scene.batch().current);
    CHECK(scene.batch().current->folder == 1);
}

// Mutant: modules/job-route/partition_table.cpp: is_new ? spec.folder : partition.last_folder; => 0;
TEST_CASE("partitions: the first instance of a table has the folder that is on record") {
    PartitionScene scene;
    PartitionSpec spec = scene.spec();
    spec.folder = 2;
    scene.table.configure({spec});
    scene.look();
    CHECK(scene.batch().current->folder == 2);
    scene.table.configure({scene.spec("b")});  // replaced: the old one has its folder until it ends
    scene.look();
    CHECK(scene.batch().current->folder == 0);
}

TEST_CASE("partitions: what is removed ends with its last job, or at once") {
    PartitionScene scene;
    scene.table.configure({scene.spec()});
    scene.look();
    scene.attach(JobId{1}, 1);
    scene.table.configure({});
    scene.look();
    CHECK(scene.canceled.empty());
    SECTION("its jobs end") {
        scene.loads[JobId{1}].jobs = 0;
        scene.look();
    }
    SECTION("they are ended") {
        REQUIRE(scene.table.kill_old("batch"));
        scene.perform();
    }
    CHECK(scene.canceled == std::vector<JobId>{JobId{1}});
    scene.end(JobId{1}, "cancel");
    CHECK(scene.table.partitions().empty());
    CHECK(scene.last_job == 1);
}

TEST_CASE("partitions: on demand it runs while jobs want it") {
    PartitionScene scene;
    PartitionSpec spec = scene.spec();
    spec.is_on_demand = true;
    spec.idle = 60s;
    scene.table.configure({spec});
    scene.look();
    CHECK(scene.last_job == 0);
    scene.is_wanted = true;
    scene.look();
    REQUIRE(scene.last_job == 1);
    scene.is_wanted = false;
    scene.attach(JobId{1}, 1);
    scene.now += 100s;
    scene.look();
    scene.loads[JobId{1}].jobs = 0;
    scene.look();
    scene.now += 59s;
    scene.look();
    CHECK(scene.canceled.empty());
    scene.now += 1s;
    scene.look();
    CHECK(scene.drained == std::vector<JobId>{JobId{1}});
    CHECK(scene.canceled == std::vector<JobId>{JobId{1}});
    scene.end(JobId{1}, "cancel");
    CHECK(scene.last_job == 1);
    CHECK(!scene.batch().is_down);
    scene.is_wanted = true;
    scene.look();
    CHECK(scene.last_job == 2);
}

TEST_CASE("partitions: a drained one stays as it is, also when it dies") {
    PartitionScene scene;
    scene.table.configure({scene.spec()});
    scene.look();
    scene.attach(JobId{1}, 1);
    REQUIRE(scene.table.set_drained("batch", true));
    scene.look();
    CHECK(scene.drained == std::vector<JobId>{JobId{1}});
    CHECK(scene.canceled.empty());
    scene.end(JobId{1});
    CHECK(scene.last_job == 1);
    REQUIRE(scene.table.set_drained("batch", false));
    scene.look();
    CHECK(scene.last_job == 2);
    CHECK(!scene.table.set_drained("other", true));
}

TEST_CASE("partitions: what an earlier life started is taken over if it is what is wanted") {
    PartitionScene scene;
    scene.table.configure({scene.spec("a")});
    PartitionInstance found;
    found.job = JobId{7};
    SECTION("it is") {
        found.digest = "a";
        scene.table.adopt("batch", found);
        scene.look();
        CHECK(scene.last_job == 0);
        SECTION("and is drained") {
            REQUIRE(scene.table.set_drained("batch", true));
            found.job = JobId{8};
            scene.end(JobId{7});
            scene.table.adopt("batch", found);
            scene.look();
            CHECK(scene.batch().current->job == JobId{8});
            CHECK(scene.drained == std::vector<JobId>{JobId{7}, JobId{8}});
        }
        SECTION("and serves") {
            scene.attach(JobId{7});
            CHECK(scene.batch().current->job == JobId{7});
        }
        SECTION("or ends with that life, which is no death") {
            scene.end(JobId{7});
            CHECK(!scene.batch().is_down);
            CHECK(scene.last_job == 1);
        }
    }
    SECTION("it is another one, or of a partition that is gone") {
        found.digest = "b";
        scene.table.adopt("batch", found);
        found.job = JobId{8};
        scene.table.adopt("gone", found);
        scene.look();
        CHECK(scene.last_job == 1);
        CHECK(scene.drained == std::vector<JobId>{JobId{7}, JobId{8}});
    }
}

TEST_CASE("partitions: at the end of the instance nothing is started any more") {
    PartitionScene scene;
    scene.table.configure({scene.spec()});
    scene.look();
    scene.attach(JobId{1}, 5);
    scene.table.close();
    scene.perform();
    CHECK(scene.canceled == std::vector<JobId>{JobId{1}});
    scene.end(JobId{1});
    CHECK(scene.last_job == 1);
}

// Mutant: modules/job-route/partition_table.cpp: a->spec.place < b->spec.place => a->spec.place > b->spec.place
TEST_CASE("partitions: they start in the order of the configuration, and those that were added after these") {
    PartitionScene scene;
    std::vector<PartitionSpec> specs(3, scene.spec());
    const char* const names[] = {"wide", "debug", "added"};
    for (std::size_t i = 0; i < specs.size(); i++) {
        specs[i].name = names[i];
        specs[i].place = i;
    }
    specs[2].is_added = true;
    scene.table.configure(specs);
    std::vector<std::string> started;
    const auto look = [&] {
        const auto load = [&](JobId job) { return scene.loads.count(job) > 0 ? scene.loads.at(job) : ChildLoad{}; };
        scene.table.look({scene.now, load, [](const PartitionSpec&) { return false; }});
        for (const PartitionAction& action : scene.table.take()) {
            if (action.kind == Action::start) {
                started.push_back(action.name);
                scene.table.started(action.name, action.folder, JobId{started.size()});
            }
        }
    };
    look();
    scene.loads[JobId{1}] = {true, 0};
    look();
    CHECK(started == std::vector<std::string>{"wide", "debug"});
    scene.loads[JobId{2}] = {true, 0};
    look();
    look();
    CHECK(started == std::vector<std::string>{"wide", "debug", "added"});
}

// Kills: the instance after one that is killed has another folder, so the usage that the killed one had not reported is
// never reported: its users stay charged until its end.
// Mutant: modules/job-route/partition_table.cpp: !must_await_folder(partition, world.now) => true
// Mutant: modules/job-route/partition_table.cpp: < folder_wait_max; => < folder_wait_max || true;
TEST_CASE("partitions: the instance after one that is being killed waits for its folder, but not for ever") {
    PartitionScene scene;
    scene.table.configure({scene.spec()});
    scene.look();
    scene.attach(JobId{1}, 3);
    REQUIRE(scene.table.restart("batch", true));
    scene.look();
    CHECK(scene.canceled == std::vector<JobId>{JobId{1}});
    CHECK(scene.last_job == 1);
    scene.end(JobId{1}, "an operator ended it");
    CHECK(scene.last_job == 2);
    CHECK(scene.batch().current->folder == 0);
    scene.attach(JobId{2}, 3);
    REQUIRE(scene.table.restart("batch", true));
    scene.look();
    CHECK(scene.last_job == 2);
    scene.now += 60s;
    scene.look();
    CHECK(scene.last_job == 3);
    CHECK(scene.batch().current->folder == 1);
}
