// SPDX-License-Identifier: LGPL-3.0-only
// The words of a limit of usage: what would let jobs start again.
#include <catch2/catch.hpp>

#include "libfairshare/limits/limit_counts.hpp"
#include "t/unit/libfairshare/support.hpp"

using namespace weir;

TEST_CASE("limit words: what would let jobs start again is told by decay and reset") {
    const ShareTreePtr tree = testing::tree_ptr_of({{"a", 1}, {"a/@u", 1}});
    const LimitHit hours{tree->find("a").value(), LimitKind::usage, 3600};
    const LimitHit part{tree->find("a").value(), LimitKind::usage_part, 250'000};
    const auto says = [&](bool decays, ResetPeriod reset, const std::string& of_hours, const std::string& of_part) {
        CHECK(words_of(hours, *tree, {decays, reset}) == "a has used its 1h" + of_hours);
        CHECK(words_of(part, *tree, {decays, reset}) == "a has used its 25% of all usage" + of_part);
    };
    const std::string again = "; jobs start again when ";
    says(true, ResetPeriod::none, again + "usage has decayed below that", again + "others have used more");
    says(true, ResetPeriod::daily, again + "usage has decayed below that, or is reset daily at midnight",
         again + "others have used more, or usage is reset daily at midnight");
    says(false, ResetPeriod::monthly, again + "usage is reset on the 1st of each month",
         again + "others have used more, or usage is reset on the 1st of each month");
    says(false, ResetPeriod::none, "; usage does not decay here: only an administrator can change that",
         again + "others have used more");
}

TEST_CASE("limit words: a limit of 0 and one of all charges promise nothing") {
    const ShareTreePtr tree = testing::tree_ptr_of({{"a", 1}});
    const NodeId node = tree->find("a").value();
    CHECK(words_of({node, LimitKind::usage, 0}, *tree, {}).find("again") == std::string::npos);
    CHECK(words_of({node, LimitKind::charged, 3600}, *tree, {true, ResetPeriod::daily}) == "a has used up its 1h");
    CHECK(words_of({node, LimitKind::charged_part, 250'000}, *tree, {true, ResetPeriod::daily}) ==
          "a has used up its 25% of all usage; jobs start again when others have used more");
}
