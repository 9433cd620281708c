// SPDX-License-Identifier: LGPL-3.0-only
// The load of the last hour: what is kept, what is sent, and where nobody knows it.
#include <catch2/catch.hpp>

#include <algorithm>
#include <vector>

#include "cmd/serve/load_past.hpp"
#include "libfairshare/base/json/json.hpp"

namespace weir::cmd {
namespace {

constexpr double begin_s = 1.7e9;

struct Sent {
    double now = 0;
    bool is_whole = false;
    std::vector<double> at;
    std::vector<std::optional<Load>> loads;
};

Sent sent(const std::string& event) {
    const std::string head = "event: load\ndata: ";
    REQUIRE(event.substr(0, head.size()) == head);
    REQUIRE(event.substr(event.size() - 2) == "\n\n");
    const auto json = Json::parse(event.substr(head.size()));
    REQUIRE(json);
    Sent sent;
    sent.now = json_number_value(json_object_get(json->get(), "now"));
    sent.is_whole = json_is_true(json_object_get(json->get(), "whole"));
    std::size_t i = 0;
    json_t* point = nullptr;
    json_array_foreach(json_object_get(json->get(), "points"), i, point) {
        const auto figure = [point](std::size_t place) { return json_integer_value(json_array_get(point, place)); };
        REQUIRE(json_array_size(point) == 4);
        sent.at.push_back(json_number_value(json_array_get(point, 0)));
        sent.loads.push_back(json_is_null(json_array_get(point, 1))
                                 ? std::nullopt
                                 : std::optional(Load{figure(1), figure(2), figure(3)}));
    }
    return sent;
}

}  // namespace

TEST_CASE("load: a core that a partition holds is in use where a job of the partition has it") {
    InstanceBox nested{"b", 4, 4, 1, 1, "", {InstanceBox{"b1", 4, 1, 1, 1, "", {}, true}}, true};
    const InstanceBox batch_job{"f3X", 2, 0, 0, 0, "", {}};
    const InstanceBox down{"c", 0, 0, 0, 0, "it does not serve", {}, true};
    const InstanceBox top{
        "top", 16, 13, 5, 4, "", {InstanceBox{"a", 6, 2, 2, 1, "", {}, true}, nested, batch_job, down}};
    CHECK(load_of(top) == Load{6, 16, 5});
    CHECK(load_of(InstanceBox{"top", 8, 4, 0, 0, "", {InstanceBox{"a", 4, std::nullopt, 2, 1, "", {}, true}}}) ==
          Load{4, 8, 0});
    CHECK(load_of(InstanceBox{"top", 8, 1, 0, 0, "", {InstanceBox{"a", 4, 0, 0, 0, "", {}, true}}}) == Load{0, 8, 0});
}

TEST_CASE("load: a new viewer gets all, then what is new, and nothing where nothing changed") {
    LoadPast past;
    CHECK(past.event(0).empty());
    past.take(begin_s, std::nullopt);
    CHECK(past.event(0).empty());
    past.take(begin_s, Load{1, 8, 0});
    past.take(begin_s + 1, Load{1, 8, 0});
    past.take(begin_s + 2, std::nullopt);
    const Sent first = sent(past.event(0));
    CHECK(first.is_whole);
    CHECK(first.now == Approx(begin_s + 2).epsilon(1e-12));
    CHECK(first.loads == std::vector<std::optional<Load>>{Load{1, 8, 0}});
    const std::uint64_t had = past.end();
    past.take(begin_s + 3, Load{1, 8, 0});
    CHECK(past.event(had).empty());
    past.take(begin_s + 4.25, Load{2, 8, 1});
    const Sent next = sent(past.event(had));
    CHECK_FALSE(next.is_whole);
    CHECK(next.at == std::vector<double>{begin_s + 4.25});
    CHECK(next.loads == std::vector<std::optional<Load>>{Load{2, 8, 1}});
    CHECK(sent(past.event(0)).loads.size() == 2);
}

TEST_CASE("load: between readings that are far apart it is unknown, also where it is the same behind") {
    LoadPast past;
    past.take(begin_s, Load{1, 8, 0});
    past.take(begin_s + 9, std::nullopt);
    past.take(begin_s + 18, Load{1, 8, 0});
    CHECK(sent(past.event(0)).loads.size() == 1);
    past.take(begin_s + 500, std::nullopt);
    CHECK(sent(past.event(0)).now == begin_s + 18);
    past.take(begin_s + 501, Load{1, 8, 0});
    const Sent all = sent(past.event(0));
    CHECK(all.at == std::vector<double>{begin_s, begin_s + 18, begin_s + 501});
    CHECK(all.loads == std::vector<std::optional<Load>>{Load{1, 8, 0}, std::nullopt, Load{1, 8, 0}});
}

TEST_CASE("load: an hour is kept, and the point that holds at its beginning") {
    LoadPast past;
    for (int i = 0; i <= 5000; ++i) {
        past.take(begin_s + i, Load{i % 100 == 0 ? 1 : 0, 8, i >= 700 ? 1 : 0});
    }
    const Sent all = sent(past.event(0));
    CHECK(all.at.front() == begin_s + 1400);
    CHECK(all.now == begin_s + 5000);
    // What he had has been forgotten meanwhile.
    CHECK(sent(past.event(1)).is_whole);
}

TEST_CASE("load: points are bounded, and sent thinned with ends, extremes and gaps") {
    LoadPast past;
    double now = begin_s;
    for (int i = 0; i < 10000; ++i) {
        now += 0.5;
        past.take(now, Load{i == 9000 ? 99 : i == 8000 ? 1 : 10 + i % 2, 128, i == 8500 ? 7000 : 50 + i % 3});
    }
    now += 60;
    past.take(now, Load{10, 128, 50});
    for (int i = 0; i < 300; ++i) {
        past.take(now += 0.5, Load{11 - i % 2, 128, 50});
    }
    const std::string event = past.event(0);
    CHECK(event == past.event(0));
    CHECK(event.size() < 40'000);
    const Sent all = sent(event);
    CHECK(all.at.size() <= LoadPast::sent_max);
    CHECK(all.at.size() > LoadPast::sent_max / 2);
    CHECK(std::is_sorted(all.at.begin(), all.at.end()));
    CHECK(all.at.front() == begin_s + 0.5 * (10000 + 302 - LoadPast::points_max + 1));
    CHECK(all.at.back() == now);
    std::int64_t most = 0, least = 1000, longest = 0, gaps = 0;
    for (const auto& load : all.loads) {
        most = load ? std::max(most, load->cores_busy) : most;
        least = load ? std::min(least, load->cores_busy) : least;
        longest = load ? std::max(longest, load->waiting) : longest;
        gaps += load ? 0 : 1;
    }
    CHECK(std::vector{most, least, longest, gaps} == std::vector<std::int64_t>{99, 1, 7000, 1});
    CHECK(past.end() == 10000 + 302);
}

TEST_CASE("load: a clock that is put back takes back what came after; some milliseconds are nothing") {
    LoadPast past;
    past.take(begin_s, Load{1, 8, 0});
    for (int i = 1; i <= 20; ++i) {
        past.take(begin_s + 5 * i, Load{i == 20 ? 2 : 1, 8, 0});
    }
    past.take(begin_s + 99.99, Load{3, 8, 0});
    CHECK(sent(past.event(0)).loads.back() == Load{3, 8, 0});
    const std::uint64_t had = past.end();
    past.take(begin_s + 50, std::nullopt);
    CHECK(past.event(had).empty());
    past.take(begin_s + 50, Load{4, 8, 0});
    CHECK(sent(past.event(had)).at == std::vector<double>{begin_s + 50});
    CHECK(sent(past.event(0)).loads == std::vector<std::optional<Load>>{Load{1, 8, 0}, Load{4, 8, 0}});
}

}  // namespace weir::cmd
