// SPDX-License-Identifier: LGPL-3.0-only
// Questions and their answers on the wire, and the two ids of a job.
#include <algorithm>
#include <catch2/catch.hpp>
#include <random>

#include "modules/job-route/copy_ids.hpp"
#include "modules/job-route/question_json.hpp"

using namespace weir;
using namespace weir::route;

namespace {

Json parsed(const char* text) {
    auto json = Json::parse(text);
    REQUIRE(json);
    return std::move(json).value();
}

bool is_refused(const char* text) {
    return !decode_reply(parsed(text).get());
}

}  // namespace

TEST_CASE("question: comes out as it went in; what changes something is none") {
    Question question{7, JobId{5}, "sched.why", Json::object()};
    question.payload.set("offset", 3);
    const auto read = decode_question(encode(question).get());
    REQUIRE(read);
    CHECK((read->number == 7 && read->id == JobId{5} && read->topic == "sched.why"));
    CHECK(read->payload.dump() == "{\"offset\":3}");
    CHECK(!decode_question(parsed(R"({"number":1,"id":2,"topic":"sched.why","payload":[]})").get()));
    CHECK(question_kind("job-manager.raise") == nullptr);
    CHECK(question_kind("job-exec.output")->audience == Audience::user_of_the_job);
}

TEST_CASE("answer: comes out as it went in, hops and all") {
    Reply reply;
    reply.id = 4;
    reply.hops = {{9, 8, {"batch", "debug"}, "large", {"small"}}, {7, 0, {}}};
    reply.answer = parsed(R"({"reason":"resources"})");
    auto read = decode_reply(encode(reply).get());
    REQUIRE(read);
    CHECK((read->id == 4 && read->hops.size() == 2 && read->hops[0].serves.size() == 2 && read->hops[1].child == 7));
    CHECK((read->hops[0].partition == "large" && read->hops[1].partition.empty()));
    CHECK((read->hops[0].may_start_in == std::vector<std::string>{"small"} && read->hops[1].may_start_in.empty()));
    CHECK(read->answer.dump() == "{\"reason\":\"resources\"}");
    reply.errnum = 110;
    reply.error = "late";
    read = decode_reply(encode(reply).get());
    REQUIRE(read);
    CHECK((read->errnum == 110 && read->error == "late" && !read->answer));
}

TEST_CASE("answer: what a hostile child may send instead is refused") {
    CHECK(is_refused("{}"));
    CHECK(is_refused(R"({"id":1,"hops":[]})"));
    CHECK(is_refused(R"({"id":1,"hops":[],"answer":"text"})"));
    CHECK(is_refused(R"({"id":1,"hops":[],"answer":{},"errnum":2})"));
    CHECK(is_refused(R"({"id":1,"hops":[],"errnum":-2})"));
    CHECK(is_refused(R"({"id":1,"hops":[{"child":1}],"answer":{}})"));
    CHECK(is_refused(R"({"id":1,"hops":[{"child":1,"id":2,"serves":[],"may_start_in":[3]}],"answer":{}})"));
    Reply deep;
    deep.hops.resize(answer_depth_max + 1);
    CHECK(!decode_reply(encode(deep).get()));
}

TEST_CASE("copy ids: both ways, the last copy counts, an id of two copies is nobody's") {
    CopyIds ids;
    ids.add(JobId{1}, LocalId{10});
    CHECK((ids.local_of(JobId{1}) == LocalId{10} && ids.id_of(LocalId{10}) == JobId{1}));
    ids.add(JobId{1}, LocalId{11});
    CHECK((ids.local_of(JobId{1}) == LocalId{11} && ids.id_of(LocalId{10}) == JobId{}));
    ids.add(JobId{2}, LocalId{11});
    CHECK(ids.id_of(LocalId{11}) == JobId{});
    ids.add(JobId{2}, LocalId{12});
    CHECK(ids.id_of(LocalId{11}) == JobId{1});  // one of the two jobs has moved: no doubt is left
}

TEST_CASE("copy ids: ended jobs are forgotten, the oldest first, active ones never") {
    CopyIds ids;
    ids.add(JobId{1}, LocalId{1});
    for (std::uint64_t i = 2; i <= EndedCopies::max + 3; i++) {
        ids.add(JobId{i}, LocalId{i});
        ids.ended(JobId{i});
    }
    CHECK(ids.local_of(JobId{1}) == LocalId{1});
    CHECK(ids.local_of(JobId{3}) == LocalId{});
    CHECK(ids.id_of(LocalId{3}) == JobId{});
    CHECK(ids.local_of(JobId{4}) == LocalId{4});
}

TEST_CASE("copy ids: the next copy of a recalled job stays known") {
    CopyIds ids;
    ids.add(JobId{1}, LocalId{1});
    ids.ended(JobId{1});
    ids.add(JobId{1}, LocalId{2});
    for (std::uint64_t i = 3; i <= EndedCopies::max + 3; i++) {
        ids.add(JobId{i}, LocalId{i});
        ids.ended(JobId{i});
    }
    CHECK(ids.local_of(JobId{1}) == LocalId{2});
    CHECK(ids.id_of(LocalId{2}) == JobId{1});
}

TEST_CASE("copy ids: of a job's ended copies the last one counts, wherever they stand") {
    CopyIds ids;
    for (std::uint64_t copy = 1; copy <= 2 * EndedCopies::max + 2; copy++) {
        ids.add(JobId{7}, LocalId{copy});
        ids.ended(JobId{7});
        REQUIRE(ids.local_of(JobId{7}) == LocalId{copy});
    }
    CHECK(ids.id_of(LocalId{2 * EndedCopies::max + 2}) == JobId{7});
    CHECK(ids.id_of(LocalId{2 * EndedCopies::max + 1}) == JobId{});
}

TEST_CASE("ended copies: both questions are answered as by a list of the latest, whatever ids recur") {
    std::mt19937_64 random(1);
    std::vector<std::pair<JobId, LocalId>> all;
    EndedCopies copies;
    const auto latest = [&all] {
        return all.begin() + static_cast<std::ptrdiff_t>(all.size() - std::min(all.size(), EndedCopies::max));
    };
    for (std::size_t i = 0; i < 3 * EndedCopies::max; i++) {
        const JobId id{random() % 5000};
        const LocalId local{1 + random() % 20000};
        all.emplace_back(id, local);
        copies.add(id, local);
        if (i % 97 != 0) {
            continue;
        }
        const JobId asked{random() % 6000};
        LocalId last;
        std::vector<JobId> ids;
        for (auto copy = latest(); copy != all.end(); ++copy) {
            last = copy->first == asked ? copy->second : last;
            if (copy->second == local) {
                ids.insert(ids.begin(), copy->first);
            }
        }
        REQUIRE(copies.local_of(asked) == last);
        REQUIRE(copies.ids_of(local) == ids);
    }
}

TEST_CASE("answer of a private instance: other jobs have no ids and no users, the asker's own stay") {
    const auto is_own = [](JobId id) { return id.value == 5 || id.value == 6; };
    Json why = parsed(R"({"id":5,"place":2,"behind":7,"behind_start":3.5})");
    hide_jobs(why.get(), is_own);
    CHECK(why.dump() == R"({"id":5,"place":2,"behind_start":3.5})");
    why = parsed(R"({"id":5,"behind":6})");
    hide_jobs(why.get(), is_own);
    CHECK(why.dump() == R"({"id":5,"behind":6})");
    why = parsed(R"({"id":5,"behind":6,"is_below":true})");  // the 6 of another instance
    hide_jobs(why.get(), is_own);
    CHECK(why.at("behind").get() == nullptr);

    const char* ahead = R"({"policy":"POLICY","ahead":[{"id":6,"user":"alice","why":"a"},)"
                        R"({"id":6,"is_below":true,"user":"bob","account":"chem","queue":"q","why":"b"}]})";
    std::string text = ahead;
    Json explained = parsed(text.replace(text.find("POLICY"), 6, "multifactor").c_str());
    hide_jobs(explained.get(), is_own);
    CHECK(explained.dump() == R"({"policy":"multifactor","ahead":[{"id":6,"user":"alice","why":"a"},)"
                              R"({"id":null,"is_below":true,"user":"","account":"","queue":"","why":"b"}]})");
    explained = parsed(ahead);
    hide_jobs(explained.get(), is_own);
    CHECK(explained.dump().find("\"b\"") == std::string::npos);  // it may name accounts
}
