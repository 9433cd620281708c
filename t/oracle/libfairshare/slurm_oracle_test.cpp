// SPDX-License-Identifier: LGPL-3.0-only
// Every column of `sshare -l` as a real Slurm filled it, under Fair Tree and classic.
#include <cmath>
#include <map>
#include <optional>
#include <set>

#include "libfairshare/algorithms/algorithm.hpp"
#include "t/oracle/libfairshare/json.hpp"
#include "t/unit/libfairshare/support.hpp"

using namespace weir;
using namespace weir::testing;

namespace {

/// Files in which the shipped program departs from its documentation: it never merges tied accounts, and it breaks
/// exact ties by rounding. There Fair Tree's ranks are not compared, all other columns are.
const std::set<std::string> rank_departs{"t14_partition_assocs", "t17_tie_zero_usage_accounts", "t40_rounding_ties"};

struct World {
    ShareTree tree;
    std::vector<CoreMicros> usage;
    std::map<std::string, NodeId> node;  // by the file's id
};

std::string id_of(const json_t* row) {
    return std::to_string(json_integer_value(json_object_get(row, "id")));
}

/// None where a node has `parent` shares.
std::optional<World> read_world(const json_t* associations) {
    std::map<std::string, std::string> path_of{{"root", ""}};  // accounts
    Lines lines;
    std::map<std::string, std::string> path_by_id;
    std::map<std::string, CoreMicros> usage;
    const json_t* row = nullptr;
    std::size_t i = 0;
    json_array_foreach(associations, i, row) {  // parents come before their children
        const std::string account = text_at(row, "account");
        const bool is_user = text_at(row, "kind") == "user";
        if (!is_user && account == "root") {
            path_by_id[id_of(row)] = "";
            continue;
        }
        if (!json_is_integer(json_object_get(row, "raw_shares"))) {
            return std::nullopt;
        }
        const std::string partition = text_at(row, "partition");
        const std::string above = is_user ? path_of.at(account) : path_of.at(text_at(row, "parent"));
        const std::string name =
            is_user ? "@" + text_at(row, "user") + (partition.empty() ? "" : "." + partition) : account;
        const std::string path = (above.empty() ? "" : above + "/") + name;
        lines.emplace_back(path, json_integer_value(json_object_get(row, "raw_shares")));
        path_by_id[id_of(row)] = path;
        if (is_user) {
            usage[path] = static_cast<CoreMicros>(json_integer_value(json_object_get(row, "raw_usage"))) * 1000000;
        } else {
            path_of[account] = path;
        }
    }
    World world{tree_of(lines), {}, {}};
    for (const auto& [id, path] : path_by_id) {
        world.node[id] = at(world.tree, path);
    }
    world.usage.assign(world.tree.size(), 0);
    for (const auto& [path, amount] : usage) {
        world.usage[at(world.tree, path).value] = amount;
    }
    for (std::uint32_t k = world.tree.size() - 1; k > 0; --k) {
        world.usage[world.tree.parent(NodeId{k}).value] += world.usage[k];
    }
    return world;
}

void check_number(const json_t* row, const char* key, double got) {
    const json_t* expected = json_object_get(row, key);
    if (json_is_number(expected)) {
        CAPTURE(key);
        CHECK(relative_error(got, json_number_value(expected)) < 1e-12);
    }
}

void check_mode(const World& world, const json_t* expected, const Algorithm& algorithm, bool has_documented_ranks) {
    const Standings standings = evaluate(algorithm, world.tree, world.usage);
    const char* id = nullptr;
    json_t* row = nullptr;
    json_object_foreach(const_cast<json_t*>(expected), id, row) {
        const NodeId node = world.node.at(id);
        CAPTURE(world.tree.path(node));
        CHECK(world.usage[node.value] / 1000000 ==
              static_cast<CoreMicros>(json_integer_value(json_object_get(row, "raw_usage"))));
        if (node == root_node) {
            continue;
        }
        const NodeStanding standing = node_standing(algorithm, world.tree, world.usage, node);
        check_number(row, "norm_shares", standing.norm_shares);
        check_number(row, "norm_usage", standing.norm_usage);
        check_number(row, "effectv_usage", standing.effective_usage);
        if (text_at(row, "level_fs") == "inf") {
            CHECK_FALSE(standing.level_fs);
        } else if (json_is_number(json_object_get(row, "level_fs"))) {
            REQUIRE(standing.level_fs);
            check_number(row, "level_fs", *standing.level_fs);
        }
        if (world.tree.kind(node) == NodeKind::user && has_documented_ranks) {
            check_number(row, "fairshare", standings.factor[node.value]);
        }
    }
}

}  // namespace

TEST_CASE("slurm: every column of sshare, Fair Tree, classic, classic with dampening") {
    const auto files = oracle_files("slurm");
    REQUIRE(files.size() >= 5);
    std::size_t checked = 0;
    for (const auto& file : files) {
        const Json loaded = load_json(file);
        const json_t* expected = json_object_get(loaded.get(), "expected");
        if (!json_is_object(json_object_get(expected, "fair_tree"))) {
            continue;  // another kind of file
        }
        CAPTURE(file.string());
        const auto world = read_world(json_object_get(loaded.get(), "assocs"));
        if (!world) {
            WARN(file.string() << ": parent shares, left out");
            continue;
        }
        check_mode(*world, json_object_get(expected, "fair_tree"), FairTree{},
                   !rank_departs.contains(text_at(loaded.get(), "case")));
        check_mode(*world, json_object_get(expected, "classic"), Classic{}, true);
        check_mode(*world, json_object_get(expected, "classic_damp3"), Classic{3}, true);
        ++checked;
    }
    CHECK(checked >= 5);
}

TEST_CASE("slurm: siblings in exact proportion tie, which the program's rounding breaks") {
    const ShareTree tree = tree_of({{"@u1", 15}, {"@u2", 75}, {"@u4", 46}, {"@u5", 414}});
    const std::vector<CoreMicros> usage{2832 + 14160 + 5140 + 46260, 2832, 14160, 5140, 46260};
    const Standings standings = evaluate(FairTree{}, tree, usage);
    CHECK(standings.rank[1] == standings.rank[2]);
    CHECK(standings.rank[3] == standings.rank[4]);
}
