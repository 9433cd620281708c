// SPDX-License-Identifier: LGPL-3.0-only
#include "libfairshare/tree/projects.hpp"

#include "libfairshare/toml/share_tree_toml.hpp"
#include "t/unit/libfairshare/support.hpp"

using namespace weir;
using namespace weir::testing;
using Catch::Matchers::Contains;

namespace {

std::string project_mistakes(std::string_view text) {
    auto parsed = parse_share_tree(text, "s.toml");
    auto* diagnostics = std::get_if<Diagnostics>(&parsed);
    return diagnostics != nullptr ? to_string(*diagnostics) : std::string{};
}

ShareTree tree_with_projects(std::string_view text) {
    REQUIRE(project_mistakes(text).empty());
    return std::get<ShareTree>(parse_share_tree(text, "s.toml"));
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("projects: the nearest list counts, with the nearest default up to it, else its first") {
    const ShareTree tree = tree_with_projects(
        "\"physics\" = { shares = 1, projects = [\"qcd\", \"qed\"], default_project = \"qed\" }\n"
        "\"physics/lattice\" = 1\n"
        "\"physics/lattice/@alice\" = 1\n"
        "\"physics/lattice/@bob\" = { shares = 1, default_project = \"qcd\" }\n"
        "\"physics/lattice/@carol\" = { shares = 1, projects = \"hep,*\" }\n"
        "\"physics/@*\" = { shares = 1, projects = [\"*\"] }\n"
        "\"bio\" = 1\n"
        "\"bio/@dave\" = 1\n");
    CHECK(project_access(tree, at(tree, "physics/lattice/@alice")) == ProjectAccess{Names{"qcd", "qed"}, "qed"});
    CHECK(project_access(tree, at(tree, "physics/lattice/@bob")) == ProjectAccess{Names{"qcd", "qed"}, "qcd"});
    CHECK(project_access(tree, at(tree, "physics/lattice/@carol")) == ProjectAccess{Names{"hep", "*"}, "hep"});
    CHECK_FALSE(project_access(tree, at(tree, "bio/@dave")));
    CHECK(has_projects(tree));
    const auto [grown, member] = *tree.with_member(at(tree, "physics"), "eve");
    CHECK(project_access(grown, member) == ProjectAccess{Names{"*"}, "*"});
    CHECK_FALSE(has_projects(tree_with_projects("\"bio\" = 1\n")));
}

TEST_CASE("projects: mistakes are told with what would be right") {
    CHECK_THAT(project_mistakes("\"a\" = { projects = [] }\n"), Contains("projects") && Contains("[\"qcd\", \"qed\"]"));
    CHECK_THAT(project_mistakes("\"a\" = { projects = [\"q\", \"q\"] }\n"), Contains("has \"q\" twice"));
    CHECK_THAT(project_mistakes("\"a\" = { projects = [\"q\", 7] }\n"), Contains("1 to 255 bytes"));
    CHECK_THAT(project_mistakes("\"a\" = { projects = \"q,,r\" }\n"), Contains("1 to 255 bytes"));
    CHECK_THAT(project_mistakes("\"a\" = { projects = [\"q,r\"] }\n"), Contains("no commas"));
    CHECK_THAT(project_mistakes("\"a\" = { default_project = \"q\" }\n"),
               Contains("none of its projects: \"q\"") && Contains("name it in `projects`"));
    CHECK_THAT(project_mistakes("\"a\" = { projects = [\"q\"] }\n\"a/@u\" = { default_project = \"r\" }\n"),
               Contains("2:") && Contains("none of its projects: \"r\""));
    CHECK_THAT(project_mistakes("\"a\" = 1\n\"a/queue:b\" = { projects = [\"q\"] }\n"),
               Contains("cannot have projects"));
    CHECK_THAT(project_mistakes("\"a\" = 1\n\"a/@u:b\" = { projects = [\"q\"] }\n"), Contains("cannot have projects"));
}
