// SPDX-License-Identifier: LGPL-3.0-only
#include "libfairshare/toml/share_tree_revision.hpp"

#include "libfairshare/toml/share_tree_edit.hpp"
#include "libfairshare/toml/share_tree_toml.hpp"
#include "t/unit/libfairshare/support.hpp"

using namespace weir;

// Kills: a byte of the text that goes with the line; a line that the tree's parser refuses.
TEST_CASE("revision line: what is put on is taken off, every other byte stays") {
    for (const std::string text : {"", "\"a\" = 1\n", "# campus\n\"a\" = 1", "\n\n"}) {
        CAPTURE(text);
        const std::string exported = with_revision(text, 12);
        CHECK(std::holds_alternative<ShareTree>(parse_share_tree(exported)));
        const RevisedText split = split_revision(exported);
        CHECK(split.revision == 12);
        CHECK(split.text == text);
    }
}

TEST_CASE("revision line: the byte order mark of a text goes, since it would stand inside") {
    const std::string exported = with_revision("\xef\xbb\xbf\"a\" = 1\n", 3);
    CHECK(std::holds_alternative<ShareTree>(parse_share_tree(exported)));
    CHECK(split_revision(exported).text == "\"a\" = 1\n");
}

TEST_CASE("revision line: an editor's line ends and cut texts") {
    std::string exported = with_revision("\"a\" = 1\n", 3);
    exported.insert(exported.find('\n'), "\r");
    CHECK(split_revision(exported).revision == 3);
    CHECK(split_revision(exported).text == "\"a\" = 1\n");
    const std::string alone = with_revision("", 3);
    CHECK(split_revision(alone.substr(0, alone.size() - 1)).revision == 3);
    CHECK(split_revision(alone.substr(0, alone.size() - 1)).text.empty());
}

TEST_CASE("revision line: any other first line belongs to the text") {
    for (const std::string line : {"# Revision of the share tree", "# Revision 3", "\"a\" = 1", "#"}) {
        CAPTURE(line);
        CHECK_FALSE(split_revision(line + "\n").revision);
        CHECK(split_revision(line + "\n").text == line + "\n");
    }
    std::string odd = with_revision("", 3);
    odd.replace(odd.find('3'), 1, "99999999999999999999");
    CHECK_FALSE(split_revision(odd).revision);
    odd.replace(odd.find("999"), 20, "-4");
    CHECK_FALSE(split_revision(odd).revision);
}

TEST_CASE("node line: as it stands, whatever its form") {
    const std::string text =
        "\"physics\" = 3   # big\r\n\"lattice\" = { parent = \"physics\", shares = 2 }\n\"bio\" = 1";
    CHECK(node_line(text, "physics") == "\"physics\" = 3   # big");
    CHECK(node_line(text, "physics/lattice") == "\"lattice\" = { parent = \"physics\", shares = 2 }");
    CHECK(node_line(text, "bio") == "\"bio\" = 1");
    CHECK_FALSE(node_line(text, "chem"));
    CHECK_FALSE(node_line("not toml", "chem"));
}
