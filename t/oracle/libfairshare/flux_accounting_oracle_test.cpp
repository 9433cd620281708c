// SPDX-License-Identifier: LGPL-3.0-only
// Every rank of flux-accounting's own program, and its exact ranks where the program errs.
#include <cmath>
#include <map>

#include "libfairshare/algorithms/algorithm.hpp"
#include "t/oracle/libfairshare/json.hpp"
#include "t/unit/libfairshare/support.hpp"

using namespace weir;
using namespace weir::testing;

namespace {

struct World {
    Lines lines;
    std::map<std::string, CoreMicros> usage;                  // by path
    std::map<std::string, std::vector<std::string>> path_of;  // "bank user" to paths
};

/// Usage in millionths of the file's unit: it has five decimals at most.
void read_node(const json_t* node, const std::string& path, const std::string& bank, World& into) {
    if (json_is_integer(json_object_get(node, "active")) ? json_integer_value(json_object_get(node, "active")) == 0
                                                         : json_is_false(json_object_get(node, "active"))) {
        return;
    }
    const std::string user = text_at(node, "user");
    const std::string name = user.empty() ? text_at(node, "bank") : "@" + user;
    const std::string here = bank.empty() ? "" : (path.empty() ? "" : path + "/") + name;
    if (!bank.empty()) {  // all but the root bank
        into.lines.emplace_back(here, json_integer_value(json_object_get(node, "shares")));
    }
    if (!user.empty()) {
        const json_t* usage = json_object_get(node, "usage");
        into.usage[here] = json_is_integer(usage)
                               ? static_cast<CoreMicros>(json_integer_value(usage)) * 1000000
                               : static_cast<CoreMicros>(std::llround(json_number_value(usage) * 1e6));
        into.path_of[bank + " " + user].push_back(here);
    }
    const json_t* child = nullptr;
    std::size_t i = 0;
    json_array_foreach(json_object_get(node, "children"), i, child) {
        read_node(child, here, user.empty() ? text_at(node, "bank") : bank, into);
    }
}

std::vector<CoreMicros> usage_of(const ShareTree& tree, const World& world) {
    std::vector<CoreMicros> usage(tree.size(), 0);
    for (const auto& [path, amount] : world.usage) {
        usage[at(tree, path).value] = amount;
    }
    for (std::uint32_t i = tree.size() - 1; i > 0; --i) {
        usage[tree.parent(NodeId{i}).value] += usage[i];
    }
    return usage;
}

}  // namespace

TEST_CASE("flux-accounting: ranks and factors are the program's, or exact where it errs") {
    const auto files = oracle_files("flux-accounting");
    REQUIRE(files.size() >= 25);
    for (const auto& file : files) {
        CAPTURE(file.string());
        const Json loaded = load_json(file);
        if (!json_is_array(json_object_get(loaded.get(), "expected"))) {
            WARN(file.string() << ": other format, left out");
            continue;
        }
        World world;
        read_node(json_object_get(loaded.get(), "tree"), "", "", world);
        const ShareTree tree = tree_of(world.lines);
        const Standings standings = evaluate(*algorithm_named("weighted-tree"), tree, usage_of(tree, world));
        std::size_t seen = 0;
        const json_t* row = nullptr;
        std::size_t i = 0;
        json_array_foreach(json_object_get(loaded.get(), "expected"), i, row) {
            const std::string who = text_at(row, "bank") + " " + text_at(row, "user");
            CAPTURE(who);
            REQUIRE(world.path_of[who].size() == 1);
            const NodeId id = at(tree, world.path_of[who].front());
            const json_t* exact = json_object_get(row, "rank_exact");
            const auto rank = json_integer_value(exact != nullptr ? exact : json_object_get(row, "rank"));
            CHECK(standings.rank[id.value] == rank);
            if (exact == nullptr) {
                CHECK(std::abs(standings.factor[id.value] - json_number_value(json_object_get(row, "fairshare"))) <
                      1e-12);
            }
            ++seen;
        }
        CHECK(seen == tree.association_count());
    }
}
