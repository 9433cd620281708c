// SPDX-License-Identifier: LGPL-3.0-only
#include "libfairshare/base/guest_queue.hpp"

#include <catch2/catch.hpp>
#include <string>

using namespace weir;

namespace {

using Queue = GuestQueue<std::string>;
constexpr std::size_t many = 1000;

std::string served(Queue& queue, std::size_t cost_max) {
    std::string all;
    for (const std::string& request : queue.turn(cost_max)) {
        all += request;
    }
    return all;
}

/// Of turns until none waits.
std::string served_one_by_one(Queue& queue) {
    std::string all;
    while (!queue.empty()) {
        all += served(queue, 1);
    }
    return all;
}

/// Requests whose names are the letters of `names`. Returns the refused ones.
std::string add_all(Queue& queue, std::uint32_t userid, const std::string& names) {
    std::string refused;
    for (const char name : names) {
        refused += queue.add({userid, 0, 1, std::string(1, name)}).value_or("");
    }
    return refused;
}

}  // namespace

// Mutant: libfairshare/base/guest_queue.hpp: users_.splice(users_.end(), users_, user); =>
TEST_CASE("guest queue: users have their turns one after the other, however many requests one has sent before") {
    Queue queue(many);
    (void)add_all(queue, 1, "abcd");
    (void)add_all(queue, 2, "XY");
    CHECK(served(queue, 1) == "a");
    (void)add_all(queue, 3, "!");
    CHECK(served_one_by_one(queue) == "Xb!Ycd");
    CHECK(served(queue, 1).empty());
}

TEST_CASE("guest queue: who asks again when he is answered is behind those who have waited") {
    Queue queue(many);
    (void)add_all(queue, 1, "a");
    (void)add_all(queue, 2, "XY");
    CHECK(served(queue, 1) == "a");
    (void)add_all(queue, 1, "b");
    CHECK(served_one_by_one(queue) == "XbY");
}

// Mutant: libfairshare/base/guest_queue.hpp: user->requests.size() >= of_user_max_ => false
TEST_CASE("guest queue: of one user a bounded number waits; it keeps no other user out, and ends when one is served") {
    Queue queue(3);
    CHECK(add_all(queue, 1, "abcde") == "de");
    CHECK(add_all(queue, 2, "XYZ").empty());
    CHECK(served(queue, 1) == "a");
    CHECK(add_all(queue, 1, "fg") == "g");
    CHECK(served_one_by_one(queue) == "XbYcZf");
}

// Mutant: libfairshare/base/guest_queue.hpp: users_.remove_if([](const User& user) { return user.requests.empty(); });
// =>
TEST_CASE("guest queue: the requests of a client that has gone are dropped, and those of another client are not") {
    const auto is_over = [](const std::string& request) { return request == "a"; };
    Queue queue(3);
    (void)add_all(queue, 1, "aa");
    queue.drop_if(is_over);
    REQUIRE(queue.empty());
    (void)add_all(queue, 1, "aba");
    (void)add_all(queue, 2, "aX");
    queue.drop_if(is_over);
    CHECK(add_all(queue, 1, "cd").empty());  // they have the places of those that were dropped
    CHECK(served_one_by_one(queue) == "bXcd");
}

TEST_CASE("guest queue: a turn has one request of each user") {
    Queue queue(many);
    (void)add_all(queue, 1, "abc");
    (void)add_all(queue, 2, "X");
    CHECK(served(queue, many) == "aX");
    CHECK(served(queue, many) == "b");
    CHECK(served(queue, many) == "c");
}

// Mutant: libfairshare/base/guest_queue.hpp: return is_counted(waiting.request); => return true;
TEST_CASE("guest queue: it says how many requests of a kind a user has") {
    Queue queue(many);
    const auto is_over = [](const std::string& request) { return request == "a"; };
    CHECK(queue.count_of(1, is_over) == 0);
    (void)add_all(queue, 1, "aba");
    (void)add_all(queue, 2, "a");
    CHECK(queue.count_of(1, is_over) == 2);
    CHECK(queue.count_of(3, is_over) == 0);
    (void)served(queue, 1);
    CHECK(queue.count_of(1, is_over) == 1);
}

// Mutant: libfairshare/base/guest_queue.hpp: added.key != 0 && other.key == added.key => false
TEST_CASE("guest queue: of a key one request waits; the next takes its place, and not a better one") {
    Queue queue(2);
    (void)queue.add({1, 5, 1, "a"});
    (void)queue.add({1, 6, 1, "b"});
    CHECK(queue.add({1, 6, 1, "c"}) == "b");
    CHECK(served_one_by_one(queue) == "ac");
}

// Mutant: libfairshare/base/guest_queue.hpp: && cost < cost_max =>
TEST_CASE("guest queue: a turn has a bounded cost, and no request waits for ever") {
    Queue queue(many);
    for (std::uint32_t user = 0; user < 10; ++user) {
        (void)queue.add({user, user + 1, 500, std::to_string(user)});
    }
    CHECK(served(queue, 2000) == "0123");
    (void)queue.add({0, 1, 500, "again"});
    CHECK(served(queue, 2000) == "4567");
    CHECK(served(queue, 2000) == "89again");
}

// Mutant: libfairshare/base/guest_queue.hpp: std::max(pause_min_s_, ended_s - began_s) => pause_min_s_
TEST_CASE("guest pace: after a turn the thread is free of guests for as long as it took") {
    GuestPace pace(0.1, false);
    CHECK(pace.is_due(50, true));
    pace.served(50, 53);
    CHECK_FALSE(pace.is_due(55.9, false));
    CHECK(pace.pause_s(55) == Approx(1));
    CHECK(pace.is_due(56, false));
    pace.served(60, 60);
    CHECK_FALSE(pace.is_due(60.05, false));
    CHECK(pace.is_due(60.11, false));
}

// Mutant: libfairshare/base/guest_queue.hpp: yields_ && do_others_wait => false
// Mutant: libfairshare/base/guest_queue.hpp: next_s_ = std::max(next_s_, now_s); =>
TEST_CASE("guest pace: a turn is put off while others wait, but not for ever") {
    GuestPace pace(0, true);
    pace.came(50);
    CHECK(pace.is_due(50, false));
    CHECK_FALSE(pace.is_due(50.9, true));
    CHECK(pace.is_due(51, true));
    pace.served(51, 53);
    CHECK(pace.is_due(55, false));
    CHECK_FALSE(pace.is_due(55.9, true));
    CHECK(pace.is_due(56, true));
}
