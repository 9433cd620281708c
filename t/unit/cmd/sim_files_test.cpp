// SPDX-License-Identifier: LGPL-3.0-only
// The files of `weir sim`: outcomes brought into the log's order, files that are there whole or not at all.
#include <stdlib.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "cmd/common/sha256.hpp"
#include "cmd/sim/in_order.hpp"
#include "cmd/sim/outcome_file.hpp"
#include "cmd/sim/policy_settings_json.hpp"
#include "cmd/sim/progress.hpp"
#include "cmd/sim/site_partitions.hpp"
#include "t/unit/draws.hpp"

using namespace weir;
using namespace weir::cmd;
namespace fs = std::filesystem;

namespace {

class Folder {
  public:
    Folder() { REQUIRE(mkdtemp(path_) != nullptr); }
    ~Folder() { fs::remove_all(path_); }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    std::string operator/(const std::string& name) const { return std::string(path_) + "/" + name; }
    std::size_t files() const {
        return static_cast<std::size_t>(std::distance(fs::directory_iterator(path_), fs::directory_iterator()));
    }

  private:
    char path_[32] = "/tmp/weir-sim-XXXXXX";
};

std::string text_of(const std::string& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
}

Outcome outcome(std::uint64_t place, Duration submit, Duration wait, Duration run) {
    Outcome o;
    o.job.number = static_cast<std::int64_t>(place) + 1;
    o.job.submit = Instant{submit};
    o.job.run = run;
    o.job.limit = Duration::max();
    o.start = o.job.submit + wait;
    o.place = place;
    return o;
}

}  // namespace

// Kills: a default that is written otherwise than it is; a key that was written lost.
TEST_CASE("settings in force: read back they are the same policy, whatever was written") {
    for (const char* text :
         {R"({})", R"({"policy":"moab"})", R"({"policy":"fcfs"})", R"({"policy":"load-threshold"})",
          R"({"policy":"lsf","lsf":{"run-job-factor":2}})", R"({"wait-after":"5h"})",
          R"({"half-life":"3d","weights":{"size":7},"wait-after":{"limits":2},"ageing":"since-submit",
                                 "size-rule":"over-time","only-raises":true,"window":{"depth":3}})"}) {
        CAPTURE(text);
        const Json written = Json::parse(text).value();
        auto meant = config::read_settings(written.get(), {}).value();
        const Json shown = settings_in_force(meant.policy, written.get());
        auto read = config::read_settings(shown.get(), {}).value();
        CHECK(json_object_get(shown.get(), "policy") != nullptr);
        meant.given.clear();
        read.given.clear();
        CHECK(read == meant);
    }
    CHECK(json_object_get(settings_in_force(PolicyKind::multifactor, nullptr).get(), "half-life") != nullptr);
}

// Mutant: cmd/sim/site_partitions.cpp: "duration-max", rules.duration.most => "duration-max", rules.duration.least
// Mutant: cmd/sim/site_partitions.cpp: limits_json(partition.limits) => limits_json({})
// Mutant: cmd/sim/site_partitions.cpp: one.set("partition", settings_json(below)); => ;
TEST_CASE("settings in force: partitions that are read back have the same rules and limits") {
    const Json written = Json::parse(R"({"partition":[
        {"name":"a","cores":8,"overflow":["b"],"takes":{"duration-max":"1h","cores-min":2},
         "limits":{"running-jobs-max":3,"cores-max":6}},
        {"name":"b","cores":4,"overflow":["a"],"takes":{"duration-min":"0.5s"},
         "limits":{"user-running-jobs-max":1,"user-cores-max":2}},
        {"name":"c","cores":4,"overflow":["a"],"partition":[
            {"name":"inner","queues":["c"],"cores":2,"scheduler":"fcfs","takes":{"cores-max":1}}]}]})")
                             .value();
    const SitePartitions meant = read_site_partitions(written.get(), {}).value();
    const Json shown = settings_json(meant);
    const SitePartitions read = read_site_partitions(shown.get(), {}).value();
    REQUIRE(read.partitions.size() == 3);
    for (std::size_t i = 0; i < 3; i++) {
        CHECK(read.partitions[i].partition.rules == meant.partitions[i].partition.rules);
        CHECK(read.partitions[i].partition.limits == meant.partitions[i].partition.limits);
    }
    CHECK(meant.partitions[0].partition.rules.cores.most == 6);
    REQUIRE(read.partitions[2].partitions.size() == 1);
    const SitePartition& inner = read.partitions[2].partitions[0];
    CHECK(inner.partition.rules == meant.partitions[2].partitions[0].partition.rules);
    CHECK(inner.has_own_scheduler);
    CHECK(name_of(inner.partition.scheduler) == "fcfs");
}

TEST_CASE("sha256: as sha256sum prints it, of text and of a file; none of what is no file") {
    const char* abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    CHECK(sha256_of("abc") == abc);
    const Folder folder;
    std::ofstream(folder / "abc") << "abc";
    CHECK(sha256_of_file(folder / "abc") == abc);
    std::ofstream(folder / "long") << std::string(200'000, 'x');
    CHECK(sha256_of_file(folder / "long") == sha256_of(std::string(200'000, 'x')));
    CHECK_FALSE(sha256_of_file(folder / "none"));
    CHECK_FALSE(sha256_of_file("/dev/null"));
}

// Kills: a job given on before one above it has started; a gap that ends the output.
TEST_CASE("in order: outcomes in any order come out by place, as soon as all above are there; gaps are left out") {
    draw::property("by place", [] {
        const auto count = draw::in_range<std::size_t>(1, 40);
        std::vector<std::uint64_t> places(count);
        for (std::size_t i = 0; i < count; i++) {
            places[i] = i;
        }
        for (std::size_t i = count; i > 1; i--) {
            std::swap(places[i - 1], places[draw::in_range<std::size_t>(0, i)]);
        }
        places.resize(draw::in_range<std::size_t>(0, count + 1));  // the others never start
        std::vector<std::uint64_t> got;
        InOrder in_order([&got](const Outcome& o) -> Status {
            got.push_back(o.place);
            return Done{};
        });
        std::vector<bool> is_there(count + 1, false);
        for (const std::uint64_t place : places) {
            RC_ASSERT(in_order.add(outcome(place, {}, {}, {})).has_value());
            is_there[place] = true;
            const auto whole = std::find(is_there.begin(), is_there.end(), false) - is_there.begin();
            RC_ASSERT(got.size() == static_cast<std::size_t>(whole));
        }
        RC_ASSERT(in_order.finish().has_value());
        std::sort(places.begin(), places.end());
        RC_ASSERT(got == places);
    });
}

TEST_CASE("output: a file is there when it is committed, not before, and not at all when it is dropped") {
    Folder folder;
    {
        auto file = OutputFile::create(folder / "a.csv");
        REQUIRE(file.has_value());
        REQUIRE(file->write("half").has_value());
        CHECK_FALSE(fs::exists(folder / "a.csv"));
    }
    CHECK(folder.files() == 0);
    auto file = OutputFile::create(folder / "a.csv");
    REQUIRE(file->write("whole").has_value());
    REQUIRE(file->commit().has_value());
    CHECK(text_of(folder / "a.csv") == "whole");
    CHECK(folder.files() == 1);
    CHECK((fs::status(folder / "a.csv").permissions() & fs::perms::owner_write) != fs::perms::none);
}

TEST_CASE("output: what stood there stays until it is replaced as a whole") {
    Folder folder;
    std::ofstream(folder / "a.csv") << "before";
    {
        auto file = OutputFile::create(folder / "a.csv");
        REQUIRE(file->write(std::string(1 << 20, 'x')).has_value());
    }
    CHECK(text_of(folder / "a.csv") == "before");
}

// Mutant: cmd/common/output_file.cpp: [](OutputFile* file) { file->take_back(); } => [](OutputFile*) {}
TEST_CASE("output: of several files all are replaced, or none") {
    Folder folder;
    const auto content = [&](const char* name) { return fs::exists(folder / name) ? text_of(folder / name) : "none"; };
    const auto replace = [&](const std::string& text, bool is_second_lost) {
        auto first = OutputFile::create(folder / "a.csv");
        auto second = OutputFile::create(folder / "b.csv");
        REQUIRE(first->write(text).has_value());
        REQUIRE(second->write(text).has_value());
        for (const auto& entry : fs::directory_iterator(fs::path(folder / "a.csv").parent_path())) {
            if (is_second_lost && entry.path().filename().string().starts_with("b.csv.")) {
                fs::remove(entry.path());
            }
        }
        return OutputFile::commit_together({&*first, &*second}).has_value();
    };
    CHECK_FALSE(replace("lost", true));
    CHECK(folder.files() == 0);
    CHECK(replace("one", false));
    CHECK((content("a.csv") == "one" && content("b.csv") == "one"));
    CHECK_FALSE(replace("lost", true));
    CHECK((content("a.csv") == "one" && content("b.csv") == "one"));
    CHECK(replace("two", false));
    CHECK((content("a.csv") == "two" && content("b.csv") == "two"));
    CHECK(folder.files() == 2);
}

TEST_CASE("output: times are seconds, with decimals where there are any") {
    Folder folder;
    auto file = OutcomeFile::create(folder / "a.csv", OutcomeFormat::csv, {});
    REQUIRE(file->add(outcome(0, Duration{1'500'000}, Duration{20}, Duration{3'000'000})).has_value());
    REQUIRE(file->finish(true).has_value());
    const std::string text = text_of(folder / "a.csv");
    CHECK(text.substr(text.find('\n') + 1) == "1,0,0,0,0,1,1.5,1.50002,4.50002,0.00002,3,-1\n");
}

TEST_CASE("output: formats by name") {
    CHECK(outcome_format("x/y.CSV") == OutcomeFormat::csv);
    CHECK(outcome_format("y.swf.gz") == OutcomeFormat::swf);
    CHECK(outcome_format("y.json") == OutcomeFormat::json);
    CHECK_FALSE(outcome_format("csv").has_value());
    CHECK_FALSE(outcome_format("a.csv/b").has_value());
    CHECK_FALSE(outcome_format(".gz").has_value());
}

TEST_CASE("progress: one line that fits, with what is left") {
    Screen screen;
    screen.width = 60;
    const std::string line = progress_line("KTH.swf.gz easy", 0.25, 120'000, duration_from_seconds(2), screen);
    CHECK(columns(line) <= 59);
    CHECK(line.find("25.0 %") != std::string::npos);
    screen.width = 200;
    const std::string wide = progress_line("log", 0.25, 120'000, duration_from_seconds(2), screen);
    CHECK(wide.find("60 000 a second") != std::string::npos);
    CHECK(wide.find("6s left") != std::string::npos);
}
