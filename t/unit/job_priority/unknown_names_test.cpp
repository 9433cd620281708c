// SPDX-License-Identifier: LGPL-3.0-only
// Names that nothing has, in the settings and in the share tree.
#include "modules/job-priority/tree/unknown_names.hpp"

#include <catch2/catch.hpp>

#include "libfairshare/toml/share_tree_toml.hpp"

using namespace weir;
using namespace weir::priority;

namespace {

using Names = std::vector<std::string>;
const std::set<std::string> queues{"batch", "debug"};

ShareTree tree_of(const std::string& text) {
    auto read = parse_share_tree(text);
    REQUIRE(std::holds_alternative<ShareTree>(read));
    return std::get<ShareTree>(std::move(read));
}

}  // namespace

TEST_CASE("unknown names: queues of the settings and of the tree, each once, with the one that is meant") {
    PolicySettings settings;
    settings.queues = {{"debug", 10}, {"batc", 5}};
    settings.billing.factors.queue = {{"batc", 2.}, {"gpu", 1.}};
    const ShareTree tree = tree_of(
        "\"bio\" = { shares = 10, at.debgu = 20 }\n\"bio/@eve:batch\" = 1\n"
        "\"queue:nihgt\" = 1\n\"chem\" = { shares = 1, at.batch = 2 }\n\"chem/@*\" = 1\n");
    CHECK(unknown_names(settings, tree, queues) ==
          Names{"[weir.queues.batc] has no effect: there is no queue batc; did you mean \"batch\"?",
                "the share tree: at.debgu has no effect: there is no queue debgu; did you mean \"debug\"?",
                "[weir.queues.gpu] has no effect: there is no queue gpu",
                "the share tree: queue:nihgt has no effect: there is no queue nihgt"});
    CHECK(unknown_names(settings, tree, std::nullopt).empty());
    settings.queues.erase("batc");
    settings.billing.factors.queue.clear();
    CHECK(unknown_names(settings, tree_of("\"a/@bob\" = 1\n\"a\" = 1\n"), queues).empty());
}

TEST_CASE("unknown names: paths of associations, but those of users whom an @* line admits") {
    PolicySettings settings;
    settings.associations = {{"bio", 1}, {"bio/@eve", 2}, {"boi", 3}, {"chem/@new", 4}, {"bio/@new", 5}, {"@root", 6}};
    const ShareTree tree = tree_of("\"bio\" = 1\n\"bio/@eve\" = 1\n\"chem\" = 1\n\"chem/@*\" = 1\n");
    CHECK(unknown_names(settings, tree, std::nullopt) ==
          Names{"[weir.associations] \"@root\" has no job, and all others are divided by its priority: the share tree "
                "has no such line",
                "[weir.associations] \"bio/@new\" has no job, and all others are divided by its priority: the share "
                "tree has no such line",
                "[weir.associations] \"boi\" has no effect: the share tree has no such line; did you mean \"bio\"?"});
    CHECK(unknown_names(settings, ShareTree(), std::nullopt).empty());  // there is no share tree yet
}

TEST_CASE("unknown names: accounts and QoS that a partition takes, where there are any") {
    PolicySettings settings;
    const std::vector<TakenNames> taken{{"small", {"bio", "bip", "lab", "a/lab"}, {"high", "hgih"}}};
    const ShareTree tree = tree_of("\"bio\" = 1\n\"bio/@*\" = 1\n\"a/lab\" = 1\n\"b/lab\" = 1\n\"a\" = 1\n\"b\" = 1\n");
    const std::string account =
        "[[partition]] \"small\" takes no job by account \"bip\": there is no such account; did you mean \"bio\"?";
    CHECK(unknown_taken(settings, tree, taken) == Names{account});
    settings.qos = {{"high", 10}};
    CHECK(unknown_taken(settings, tree, taken) ==
          Names{account,
                "[[partition]] \"small\" takes no job by QoS \"hgih\": there is no such QoS; did you mean \"high\"?"});
    CHECK(unknown_taken(PolicySettings(), ShareTree(), taken).empty());
}

TEST_CASE("known QoS: those of the settings and of the tree; where the settings have none, any") {
    PolicySettings settings;
    const ShareTree tree = tree_of("\"qos:urgent\" = 1\n\"bio\" = 1\n");
    CHECK_FALSE(known_qos(settings, tree));
    settings.qos = {{"high", 10}};
    settings.billing.factors.qos = {{"scavenger", 0.}};
    CHECK(known_qos(settings, tree) == std::set<std::string>{"high", "scavenger", "urgent"});
}
