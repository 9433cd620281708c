// SPDX-License-Identifier: LGPL-3.0-only
#include "cmd/common/node_path.hpp"

#include <catch2/catch.hpp>

#include "libfairshare/toml/share_tree_toml.hpp"

using namespace weir;
using namespace weir::cmd;
using Catch::Matchers::Contains;

namespace {

const ShareTree& tree() {
    static const ShareTree made = std::get<ShareTree>(
        parse_share_tree("\"physics\" = 1\n\"physics/lattice\" = 1\n\"physics/lattice/@alice\" = 1\n\"chem\" = 1\n"
                         "\"chem/@alice\" = 1\n\"chem/@carol\" = 1\n\"chem/lab\" = 1\n\"bio\" = 1\n\"bio/lab\" = 1\n"));
    return made;
}

}  // namespace

TEST_CASE("node path: by path, by an account's last name, by a user") {
    CHECK(*node_path(tree(), "physics/lattice") == "physics/lattice");
    CHECK(*node_path(tree(), "lattice") == "physics/lattice");
    CHECK(*node_path(tree(), "lattice/@alice") == "physics/lattice/@alice");
    CHECK(*node_path(tree(), "carol") == "chem/@carol");
    CHECK(*node_path(tree(), "@carol") == "chem/@carol");
}

// Kills: the first of a user's lines where another was meant.
TEST_CASE("node path: what could be several is refused with all of them") {
    CHECK_THAT(node_path(tree(), "alice").error().message,
               Contains("physics/lattice/@alice") && Contains("chem/@alice"));
    CHECK(node_path(tree(), "alice").error().code == std::errc::invalid_argument);
    CHECK(node_path(tree(), "lab").error().code == std::errc::invalid_argument);
}

TEST_CASE("node path: what is not there is refused with the nearest") {
    for (const char* reference : {"", "/", "@", "dora", "chem/@dora", "chme/@carol", "physics/@alice"}) {
        CAPTURE(reference);
        CHECK(node_path(tree(), reference).error().code == std::errc::no_such_file_or_directory);
    }
    CHECK_THAT(node_path(tree(), "physcis").error().message, Contains("did you mean \"physics\""));
}
