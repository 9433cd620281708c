// SPDX-License-Identifier: LGPL-3.0-only
// Workload logs and the generator: lines, streams, errors, moments, determinism.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <memory>

#include "libsched/sim/lublin.hpp"
#include "libsched/sim/prng.hpp"
#include "libsched/sim/sim_job.hpp"
#include "libsched/sim/swf.hpp"
#include "t/unit/draws.hpp"

using namespace weir;

namespace {
/// A reader over text that arrives in pieces of `piece` bytes.
SwfReader reader(const std::string& text, SwfReader::Options options = {}, std::size_t piece = 7) {
    auto at = std::make_shared<std::size_t>(0);
    return SwfReader(
        [text, at, piece](char* into, std::size_t size) -> Result<std::size_t> {
            const std::size_t count = std::min({piece, size, text.size() - *at});
            std::memcpy(into, text.data() + *at, count);
            *at += count;
            return count;
        },
        "log", options);
}
const std::string line = "1 0 5 10 4 3.75 -1 4 60 -1 1 7 2 -1 1 -1 -1 -1";
}  // namespace

TEST_CASE("swf: a log with comments, blank lines and no last newline") {
    auto r = reader("; Version: 2.2\n; MaxProcs: 128\n\n" + line + "\r\n  2 1 -1 1 1 -1 -1 1 1 -1 1 7 2 -1 1 -1 -1 -1");
    const auto first = r.next();
    REQUIRE(first.has_value());
    REQUIRE(first->has_value());
    CHECK((*first)->cpu_used == 3);
    CHECK((*first)->requested_time == 60);
    CHECK(r.max_processors() == 128);
    CHECK(r.header().size() == 2);
    CHECK((*r.next())->job == 2);
    CHECK_FALSE(r.next()->has_value());
    CHECK_FALSE(r.next()->has_value());
}

TEST_CASE("swf: a byte order mark before the first line is no part of it, however it is cut") {
    const std::string mark = "\xEF\xBB\xBF";
    for (const std::size_t piece : {1, 2, 3, 4, 100}) {
        auto r = reader(mark + "; MaxProcs: 128\n" + line, {}, piece);
        CHECK((*r.next())->job == 1);
        CHECK(r.max_processors() == 128);
        CHECK((*reader(mark + line, {}, piece).next())->job == 1);
        CHECK_FALSE(reader(mark, {}, piece).next()->has_value());
        for (const std::string& bytes : {mark.substr(0, 2), mark.substr(0, 2) + line, mark + mark + line}) {
            CHECK(reader(bytes, {}, piece).next().error().message.find("log:1: ") == 0);
        }
        CHECK(reader(line + "\n" + mark + line, {}, piece).next()->has_value());
    }
}

TEST_CASE("swf: a broken line is an error with its number, or skipped and counted") {
    const std::string text = line + "\n1 2 x\n" + line + "\n";
    auto strict = reader(text);
    REQUIRE(strict.next().has_value());
    const auto broken = strict.next();
    REQUIRE_FALSE(broken.has_value());
    CHECK(broken.error().message == "log:2: field 3 (wait time) is \"x\": it must be an integer, -1 when not known");
    auto lenient = reader(text, {true});
    CHECK((*lenient.next())->job == 1);
    CHECK((*lenient.next())->job == 1);
    REQUIRE(lenient.skipped().total() == 1);
    CHECK(lenient.skipped().kinds()[0].first.find("log:2: ") == 0);
}

TEST_CASE("swf: lines that are no job lines") {
    CHECK(parse_swf_line("1 2 3").error().message == "has 3 fields; a job line has 18");
    CHECK(parse_swf_line(line + " 9").error().message == "has more than 18 fields");
    CHECK_FALSE(parse_swf_line("1 0 5 10 4 3.75 -1 4 60.5 -1 1 7 2 -1 1 -1 -1 -1").has_value());
    CHECK_FALSE(parse_swf_line("99999999999999999999 0 5 10 4 3 -1 4 60 -1 1 7 2 -1 1 -1 -1 -1").has_value());
}

TEST_CASE("swf: the longest numbers are read or refused, a field is a number to its end") {
    const std::string rest = " 0 5 10 4 3 -1 4 60 -1 1 7 2 -1 1 -1 -1 -1";
    CHECK(parse_swf_line("9223372036854775807" + rest)->job == std::numeric_limits<std::int64_t>::max());
    CHECK_FALSE(parse_swf_line("9999999999999999999" + rest).has_value());
    CHECK(parse_swf_line("1x" + rest).error().message.find("field 1 (job number) is \"1x\"") == 0);
}

TEST_CASE("swf: the header ends with the first job, and a machine of nothing is not told") {
    auto r = reader("; MaxProcs: 0\n" + line + "\n; Note: late\n1 2\n1 2 3\n", {true});
    CHECK((*r.next())->job == 1);
    CHECK_FALSE(r.next()->has_value());
    CHECK(r.max_processors() == reader("").max_processors());
    CHECK(r.header() == std::vector<std::string>{"MaxProcs: 0"});
    CHECK(r.skipped().total() == 2);
    CHECK(r.skipped().kinds()[0].first.find("log:4: ") == 0);
    CHECK(swf_header({"MaxProcs: 3", "Version: 1", "Note: x"}, 64) == "; Version: 2.2\n; MaxProcs: 64\n; Note: x\n");
}

TEST_CASE("swf: bytes of a field are shown escaped and not without end") {
    const auto message = [](const std::string& word) { return parse_swf_line(word + " 2 3").error().message; };
    CHECK(message(std::string("\x1b[2J\0\xff", 6)) ==
          R"(field 1 (job number) is "\x1b[2J\x00\xff": it must be an integer, -1 when not known)");
    CHECK(message(std::string(5000, 'x')).size() < 120);
}

TEST_CASE("swf: a size of the machine that is no number is known with its line") {
    auto r = reader("; Note: x\n; MaxProcs: foo\n" + line);
    REQUIRE(r.next().has_value());
    REQUIRE(r.bad_size());
    CHECK(r.bad_size()->message == "log:2: MaxProcs is \"foo\": it must be an integer from 1 on");
    auto with_letters = reader("; MaxProcs: 128abc\n" + line);
    REQUIRE(with_letters.next().has_value());
    REQUIRE(with_letters.bad_size());
    CHECK(with_letters.bad_size()->message == "log:1: MaxProcs is \"128abc\": it must be an integer from 1 on");
    auto with_remark = reader("; MaxProcs: 128 (8 nodes)\n" + line);
    REQUIRE(with_remark.next().has_value());
    CHECK(with_remark.max_processors() == 128);
    CHECK_FALSE(with_remark.bad_size());
}

TEST_CASE("swf job: a value that cannot be replayed is named with what it may be") {
    const auto message = [](SwfJob job) { return sim_job(job).error().message; };
    const SwfJob good{.job = 7, .submit = 0, .run = 1, .processors = 1};
    REQUIRE(sim_job(good).has_value());
    SwfJob bad = good;
    bad.processors = 0;
    CHECK(message(bad) == "job 7 cannot be replayed: its number of processors is -1; it must be from 1 to 4294967295");
    bad = good;
    bad.submit = -5;
    CHECK(message(bad) == "job 7 cannot be replayed: its submit time is -5; it must be from 0 to 4000000000000");
    bad = good;
    bad.requested_time = 4'000'000'000'001;
    CHECK(message(bad).find("its requested time is 4000000000001;") != std::string::npos);
    bad = good;
    bad.user = 4'294'967'296;
    CHECK(message(bad) == "job 7 cannot be replayed: its user is 4294967296; it must be from 0 to 4294967295");
    bad = good;
    bad.queue = 65536;
    CHECK(message(bad) == "job 7 cannot be replayed: its queue is 65536; it must be from 0 to 65535");
}

TEST_CASE("swf: an endless line is refused") {
    auto r = reader(std::string(70000, '1'), {}, 4096);
    CHECK(r.next().error().message.find("log:1: longer than 65536 bytes") == 0);
}

TEST_CASE("swf: a file that is not there") {
    CHECK(SwfReader::open("/nonexistent/log.swf", {}).error().message.find("/nonexistent/log.swf: No such file") == 0);
}

// Kills: a buffer that loses the bytes at a piece's border; a writer with 17 fields.
TEST_CASE("swf: what is written is read back, however it is cut") {
    draw::property("round trip", [] {
        std::vector<SwfJob> jobs;
        for (int i = draw::in_range(0, 6); i > 0; i--) {
            SwfJob job;
            job.job = draw::in_range(0, 1000000);
            job.run = draw::in_range(-1, 10);
            job.think_time = draw::in_range(-1, 10);
            jobs.push_back(job);
        }
        auto r = reader(write_swf(jobs, 64, "x"), {}, draw::in_range<std::size_t>(1, 40));
        for (const SwfJob& job : jobs) {
            RC_ASSERT(**r.next() == job);
        }
        RC_ASSERT(!r.next()->has_value());
        RC_ASSERT(jobs.empty() || r.max_processors() == 64);
    });
}

TEST_CASE("prng: the published stream of seed 0, and gamma's moments") {
    // xoshiro256** after splitmix64(0): first outputs as by the authors' reference code.
    Prng zero(0);
    CHECK(zero.next() == 11091344671253066420ULL);
    CHECK(zero.next() == 13793997310169335082ULL);
    Prng prng(7);
    double sum = 0.;
    double squares = 0.;
    constexpr int draws = 200000;
    for (int i = 0; i < draws; i++) {
        const double x = prng.gamma(4.2, .94);
        sum += x;
        squares += x * x;
    }
    CHECK(sum / draws == Approx(4.2 * .94).epsilon(.01));
    CHECK(squares / draws - sum / draws * sum / draws == Approx(4.2 * .94 * .94).epsilon(.02));
}

TEST_CASE("lublin: the same settings give the same bytes, another seed others") {
    LublinSettings s;
    s.jobs = 300;
    const auto a = write_swf(*generate_lublin(s), s.cores, "model");
    CHECK(a == write_swf(*generate_lublin(s), s.cores, "model"));
    s.seed = 2;
    CHECK(a != write_swf(*generate_lublin(s), s.cores, "model"));
}

TEST_CASE("lublin: jobs are sound: sorted, within the machine, requested at least the run") {
    LublinSettings s;
    s.jobs = 5000;
    s.cores = 48;
    s.two_classes = true;
    s.users = 8;
    s.accounts = 3;
    s.run_max = 5000;
    s.load = .9;
    const auto jobs = *generate_lublin(s);
    REQUIRE(jobs.size() == 5000);
    double work = 0.;
    for (std::size_t i = 0; i < jobs.size(); i++) {
        const SwfJob& job = jobs[i];
        REQUIRE((i == 0 || job.submit >= jobs[i - 1].submit));
        REQUIRE((job.processors >= 1 && job.processors <= 48));
        REQUIRE((job.run >= 1 && job.run <= 5000));
        REQUIRE(job.requested_time >= job.run);
        REQUIRE((job.user >= 1 && job.user <= 8));
        REQUIRE(job.group == 1 + (job.user - 1) % 3);
        REQUIRE((job.queue == 1 || job.queue == 2));
        work += static_cast<double>(job.run * job.processors);
    }
    CHECK(work / (static_cast<double>(jobs.back().submit) * 48.) == Approx(.9).epsilon(.001));
}

TEST_CASE("lublin: nonsense is refused") {
    LublinSettings s;
    s.users = 0;
    CHECK_FALSE(generate_lublin(s).has_value());
    s.users = 1;
    s.load = -1.;
    CHECK_FALSE(generate_lublin(s).has_value());
}

namespace {

/// Means over the jobs that `counts` takes.
struct Moments {
    double jobs = 0, run = 0, log_run = 0, size = 0, serial = 0, power_of_two = 0, work = 0;
};
template <typename Counts>
Moments moments(const std::vector<SwfJob>& log, Counts&& counts) {
    Moments sum;
    for (const SwfJob& job : log) {
        if (counts(job)) {
            sum.jobs += 1;
            sum.run += static_cast<double>(job.run);
            sum.log_run += std::log(static_cast<double>(job.run));
            sum.size += static_cast<double>(job.processors);
            sum.serial += job.processors == 1;
            sum.power_of_two += (job.processors & (job.processors - 1)) == 0;
            sum.work += static_cast<double>(job.run * job.processors);
        }
    }
    for (double* mean : {&sum.run, &sum.log_run, &sum.size, &sum.serial, &sum.power_of_two}) {
        *mean /= sum.jobs;
    }
    return sum;
}
constexpr auto all = [](const SwfJob&) { return true; };

double gap(const std::vector<SwfJob>& log) {
    return static_cast<double>(log.back().submit) / static_cast<double>(log.size());
}
double load(const std::vector<SwfJob>& log, double cores) {
    return moments(log, all).work / (static_cast<double>(log.back().submit) * cores);
}

}  // namespace

// Targets: measured on the authors' m_lublin99.c over a million jobs, 128 processors.
TEST_CASE("lublin: moments of the one-class model") {
    LublinSettings s;
    s.jobs = 400000;
    s.seed = 12345;
    const auto jobs = *generate_lublin(s);
    const Moments m = moments(jobs, all);
    CHECK(gap(jobs) == Approx(918.6).epsilon(.02));
    CHECK(m.run == Approx(4352.6).epsilon(.02));
    CHECK(m.log_run == Approx(5.457).epsilon(.01));
    CHECK(m.size == Approx(12.145).epsilon(.02));
    CHECK(m.serial == Approx(.2435).epsilon(.02));
    CHECK(m.power_of_two == Approx(.8691).epsilon(.01));
    CHECK(load(jobs, 128) == Approx(.714).epsilon(.03));
}

TEST_CASE("lublin: moments of interactive and batch jobs") {
    LublinSettings s;
    s.jobs = 400000;
    s.seed = 12345;
    s.two_classes = true;
    const auto jobs = *generate_lublin(s);
    const Moments interactive = moments(jobs, [](const SwfJob& job) { return job.queue == 1; });
    const Moments batch = moments(jobs, [](const SwfJob& job) { return job.queue == 2; });
    CHECK(gap(jobs) == Approx(531.6).epsilon(.02));
    CHECK(moments(jobs, all).run == Approx(1635.7).epsilon(.02));
    CHECK(interactive.jobs / static_cast<double>(jobs.size()) == Approx(.850).epsilon(.01));
    CHECK(interactive.run == Approx(243.).epsilon(.02));
    CHECK(interactive.size == Approx(8.04).epsilon(.02));
    CHECK(batch.run == Approx(9502.).epsilon(.02));
    CHECK(batch.size == Approx(13.89).epsilon(.02));
    CHECK(load(jobs, 128) == Approx(.400).epsilon(.03));
}

// Kills: sizes of a larger machine that stop at 128; a middle that stays where the model has it.
TEST_CASE("lublin: sizes go with the machine: a log of 256 processors that others published") {
    LublinSettings s;
    s.jobs = 400000;
    s.cores = 256;
    const Moments m = moments(*generate_lublin(s), all);
    CHECK(m.size == Approx(22.10).epsilon(.03));  // lublin_256.swf of RLScheduler, 10,000 jobs
    CHECK(m.serial == Approx(.249).epsilon(.03));
}

// Tsafrir, Etsion, Feitelson 2005: twenty values carry 85 to 90 % of the jobs, the longest is the most popular.
TEST_CASE("lublin: requested times are few round values") {
    LublinSettings s;
    s.jobs = 200000;
    const auto jobs = *generate_lublin(s);
    std::map<std::int64_t, std::size_t> times;
    for (const SwfJob& job : jobs) {
        times[job.requested_time]++;
    }
    std::vector<std::pair<std::size_t, std::int64_t>> popular;
    for (const auto& [time, count] : times) {
        popular.emplace_back(count, time);
    }
    std::sort(popular.rbegin(), popular.rend());
    std::size_t carried = 0;
    for (std::size_t i = 0; i < 20; i++) {
        carried += popular[i].first;
    }
    CHECK(static_cast<double>(carried) / 200000. == Approx(.875).margin(.025));
    CHECK(popular.front().second == times.rbegin()->first);
}

TEST_CASE("lublin: the daily cycle does not drift over the years") {
    LublinSettings s;
    s.jobs = 100000;
    const auto jobs = *generate_lublin(s);
    const auto night_part = [&](std::size_t from, std::size_t to) {
        double night = 0.;
        for (std::size_t i = from; i < to; i++) {
            const std::int64_t hour = jobs[i].submit / 3600 % 24;
            night += hour >= 2 && hour < 6;
        }
        return night / static_cast<double>(to - from);
    };
    // The first half hours of the model are midnight; submissions count from the first arrival, minutes later.
    CHECK(night_part(0, 20000) < .08);
    CHECK(night_part(80000, 100000) < .08);
}
