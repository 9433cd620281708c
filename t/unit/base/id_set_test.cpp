// SPDX-License-Identifier: LGPL-3.0-only
// Sets of ids against std::set, their text form, and host lists.
#include "libfairshare/base/id_set.hpp"

#include <catch2/catch.hpp>
#include <set>

#include "libfairshare/base/hostlist.hpp"
#include "t/unit/draws.hpp"

using namespace weir;

namespace {
IdSet set_of(const std::set<std::uint32_t>& ids) {
    IdSet out;
    for (const auto id : ids) {
        out.add(id);
    }
    return out;
}
std::set<std::uint32_t> members(const IdSet& ids) {
    std::set<std::uint32_t> out;
    ids.each([&](std::uint32_t id) { out.insert(id); });
    return out;
}
std::set<std::uint32_t> small_set() {
    const auto ids = draw::several([] { return draw::in_range(0U, 30U); });
    return {ids.begin(), ids.end()};
}
}  // namespace

TEST_CASE("id set: text forms") {
    CHECK(IdSet::parse("0-3,7")->encode() == "0-3,7");
    CHECK(IdSet::parse("[3,1,0,2]")->encode() == "0-3");
    CHECK(IdSet::parse("")->empty());
    CHECK(IdSet::parse("0-4294967293")->count() == 4294967294ULL);
}

TEST_CASE("id set: what is not one is refused with a sentence") {
    for (const char* text :
         {"a", "1-", "-1", "3-1", "1,,2", "1,", "[1", "1]", "1-2,2", "5,1-9", "4294967294", "1 2", "99999999999"}) {
        const auto result = IdSet::parse(text);
        REQUIRE_FALSE(result.has_value());
        CHECK(result.error().message.find("write 0-3,7") != std::string::npos);
    }
}

// Half a second at most, where a parser that inserts each range into the set takes a minute.
TEST_CASE("id set: a long text in the worst order is read in its own length") {
    std::string text;
    for (std::uint32_t id = 1000000; id > 0; id -= 2) {
        text += (text.empty() ? "" : ",") + std::to_string(id);
    }
    CHECK(IdSet::parse(text)->count() == 500000U);
}

// The same: a minute where each range is inserted.
TEST_CASE("id set: two sets between each other's ranges are added in their own length") {
    IdSet all = IdSet::range(0, 0);
    IdSet others = IdSet::range(2, 2);
    for (std::uint32_t id = 4; id < 4'000'000; id += 4) {
        all.add(id);
        others.add(id + 2);
    }
    all.add(others);
    CHECK(all.count() == 2'000'000U);
    CHECK(all.ranges().size() == 2'000'000U);
}

// Kills: add() that does not merge neighbours; remove() that loses the right remainder; take_lowest() taking the
// highest.
TEST_CASE("id set: algebra agrees with std::set") {
    draw::property("same as std::set", [] {
        const auto a = small_set();
        const auto b = small_set();
        auto both = set_of(a);
        both.add(set_of(b));
        auto expected = a;
        expected.insert(b.begin(), b.end());
        RC_ASSERT(members(both) == expected);
        RC_ASSERT(both.count() == expected.size());
        auto rest = set_of(a);
        rest.remove(set_of(b));
        auto left = a;
        for (const auto id : b) {
            left.erase(id);
        }
        RC_ASSERT(members(rest) == left);
        RC_ASSERT(rest.count() == left.size());
        RC_ASSERT(set_of(a).includes(rest));
        RC_ASSERT(!rest.intersects(set_of(b)));
        RC_ASSERT(set_of(a).intersects(set_of(b)) == (left.size() != a.size()));
        RC_ASSERT(*IdSet::parse(both.encode()) == both);
        const auto n = draw::in_range<std::size_t>(0, a.size() + 1);
        auto from = set_of(a);
        const auto taken = members(from.take_lowest(n));
        RC_ASSERT(taken == std::set<std::uint32_t>(a.begin(), std::next(a.begin(), static_cast<long>(n))));
        RC_ASSERT(from.count() == a.size() - n);
    });
}

TEST_CASE("hostlist: decoding") {
    CHECK(*hostlist_decode("a,b[1-2],c[08-10]-ib") ==
          std::vector<std::string>{"a", "b1", "b2", "c08-ib", "c09-ib", "c10-ib"});
    CHECK(hostlist_decode("")->empty());
}

TEST_CASE("hostlist: encoding keeps order, padding and repetitions") {
    CHECK(hostlist_encode({"n0", "n1", "n2", "n7", "login"}) == "n[0-2,7],login");
    CHECK(hostlist_encode({"n08", "n09", "n10"}) == "n[08-10]");
    CHECK(hostlist_encode({"n9", "n10"}) == "n[9-10]");
    CHECK(hostlist_encode({"n1", "n1"}) == "n[1,1]");
}

TEST_CASE("hostlist: what is not one is refused with its place") {
    for (const char* text :
         {",", "a,", "a[1", "a]", "a[]", "a[2-1]", "a[1][2]", "a[x]", "a]b[1]", "a[0-999999999]", "a[0-99999999999]"}) {
        CAPTURE(text);
        CHECK_FALSE(hostlist_decode(text).has_value());
    }
}

TEST_CASE("hostlist: no more names than the caller has use for, none longer than a host's") {
    CHECK(hostlist_decode("n[0-2]", 3).has_value());
    CHECK(hostlist_decode("n[0-2]", 2).error().message.find("more than 2 names") != std::string::npos);
    CHECK_FALSE(hostlist_decode("a,b,n[0-1]", 3).has_value());
    CHECK_FALSE(hostlist_decode("n[0-1],a", 2).has_value());
    CHECK_FALSE(hostlist_decode("a", 0).has_value());
    CHECK(hostlist_decode(std::string(255, 'n')).has_value());
    CHECK_FALSE(hostlist_decode(std::string(256, 'n')).has_value());
    CHECK_FALSE(hostlist_decode(std::string(250, 'n') + "[0-1]").has_value());
}

// Kills: an encoder that merges n09 with n9, or n1 with n3.
TEST_CASE("hostlist: decoding what was encoded gives the same names") {
    draw::property("round trip", [] {
        const auto names = draw::several([] {
            const auto prefix = draw::element<std::string>("a", "n", "rack-b");
            const int number = draw::in_range(0, 12);
            const auto width = draw::in_range<std::size_t>(0, 4);
            const std::string digits = std::to_string(number);
            return prefix + std::string(width - std::min(width, digits.size()), '0') + (number == 0 ? "" : digits);
        });
        RC_ASSERT(*hostlist_decode(hostlist_encode(names)) == names);
    });
}
