// SPDX-License-Identifier: LGPL-3.0-only
#include "libfairshare/algorithms/algorithm.hpp"
#include "t/unit/libfairshare/support.hpp"

using namespace weir;
using namespace weir::testing;

namespace {

struct SlurmWorld {
    ShareTree tree;
    std::vector<CoreMicros> usage;

    SlurmWorld(const Lines& lines, const std::vector<std::pair<std::string, CoreMicros>>& used)
        : tree(tree_of(lines)), usage(tree.size(), 0) {
        for (const auto& [path, amount] : used) {
            usage[at(tree, path).value] = amount;
        }
        for (std::uint32_t i = tree.size() - 1; i > 0; --i) {
            usage[tree.parent(NodeId{i}).value] += usage[i];
        }
    }
    std::uint32_t rank(const Algorithm& algorithm, std::string_view path) const {
        return evaluate(algorithm, tree, usage).rank[at(tree, path).value];
    }
};

/// Two accounts that tie; in each one association above and one below its entitlement.
const SlurmWorld tied_accounts{{{"a", 1}, {"a/@u1", 1}, {"a/@u2", 1}, {"b", 1}, {"b/@u3", 1}, {"b/@u4", 1}},
                               {{"a/@u1", 100}, {"a/@u2", 900}, {"b/@u3", 300}, {"b/@u4", 700}}};

}  // namespace

TEST_CASE("fair tree as Slurm: the later of two tied accounts goes on where the earlier ended") {
    CHECK(tied_accounts.rank(FairTreeAsSlurm{}, "a/@u1") == 4);
    CHECK(tied_accounts.rank(FairTreeAsSlurm{}, "a/@u2") == 3);
    CHECK(tied_accounts.rank(FairTreeAsSlurm{}, "b/@u3") == 3);
    CHECK(tied_accounts.rank(FairTreeAsSlurm{}, "b/@u4") == 1);
    CHECK(tied_accounts.rank(FairTree{}, "b/@u3") == 3);  // merged, as documented
    CHECK(tied_accounts.rank(FairTree{}, "b/@u4") == 2);
    CHECK(tied_accounts.rank(FairTree{}, "a/@u2") == 1);
}

TEST_CASE("fair tree as Slurm: whoever ties with an account that nobody is in has the first rank") {
    const SlurmWorld made{{{"a", 1}, {"b", 1}, {"b/@u1", 0}, {"@u2", 0}}, {}};
    CHECK(made.rank(FairTreeAsSlurm{}, "b/@u1") == 2);
    CHECK(made.rank(FairTreeAsSlurm{}, "@u2") == 1);
    const auto factors = evaluate(FairTreeAsSlurm{}, made.tree, made.usage).factor;
    CHECK(factors[at(made.tree, "b/@u1").value] == 1.0);
}

TEST_CASE("fair tree as Slurm: siblings in exact proportion part where rounding parts them") {
    const SlurmWorld made{{{"@u1", 15}, {"@u2", 75}, {"@u3", 132}}, {{"@u1", 2832}, {"@u2", 14160}, {"@u3", 6201363}}};
    CHECK(made.rank(FairTreeAsSlurm{}, "@u1") == 3);
    CHECK(made.rank(FairTreeAsSlurm{}, "@u2") == 2);
    CHECK(made.rank(FairTree{}, "@u1") == 3);
    CHECK(made.rank(FairTree{}, "@u2") == 3);
}

TEST_CASE("fair tree as Slurm: the root has one of 4294967294 shares, and so has what shares its parent's below it") {
    auto lines = specs({{"@u1", 1}, {"@u2", 1}, {"a", 1}, {"a/@u3", 1}, {"a/@u4", 2}, {"b", 1}, {"b/@u5", 1}});
    lines[1].shares_parent = true;
    lines[2].shares_parent = true;
    lines[3].shares_parent = true;
    lines[6].shares_parent = true;
    const ShareTree tree = std::get<ShareTree>(build_share_tree(lines));
    const std::vector<CoreMicros> usage(tree.size(), 0);
    const auto norm_shares = [&](const Algorithm& algorithm, std::string_view path) {
        return node_standing(algorithm, tree, usage, path.empty() ? root_node : at(tree, path)).norm_shares;
    };
    for (const char* path : {"", "@u2", "a", "a/@u3"}) {
        CAPTURE(path);
        CHECK(norm_shares(FairTreeAsSlurm{}, path) == 2.3283064376228985e-10);
        CHECK(norm_shares(FairTree{}, path) == 1.0);
        CHECK(norm_shares(Classic{}, path) == 1.0);
    }
    CHECK(norm_shares(FairTreeAsSlurm{}, "@u1") == 0.25);
    CHECK(norm_shares(FairTreeAsSlurm{}, "a/@u4") == 0.5);
    CHECK(norm_shares(FairTreeAsSlurm{}, "b/@u5") == 0.25);  // of b, which has shares of its own
}

TEST_CASE("fair tree: the children of an account with parent shares stand in its place") {
    auto lines = specs({{"@u1", 1}, {"a", 1}, {"a/@u2", 3}, {"a/@u3", 1}});
    lines[1].shares_parent = true;
    lines[3].shares_parent = true;
    const ShareTree tree = std::get<ShareTree>(build_share_tree(lines));
    std::vector<CoreMicros> usage(tree.size(), 0);
    usage[at(tree, "@u1").value] = 10;
    usage[at(tree, "a/@u2").value] = 10;
    usage[at(tree, "a/@u3").value] = 10;
    usage[at(tree, "a").value] = 20;
    usage[0] = 30;
    for (const Algorithm& algorithm : {Algorithm{FairTree{}}, Algorithm{FairTreeAsSlurm{}}}) {
        const Standings standings = evaluate(algorithm, tree, usage);
        CHECK(standings.rank[at(tree, "a/@u3").value] == 3);  // a user with parent shares: infinite level
        CHECK(standings.rank[at(tree, "a/@u2").value] == 2);  // 3/4 of the shares
        CHECK(standings.rank[at(tree, "@u1").value] == 1);
        CHECK(node_standing(algorithm, tree, usage, at(tree, "a/@u2")).norm_shares == 0.75);
        CHECK_FALSE(node_standing(algorithm, tree, usage, at(tree, "a")).level_fs);
    }
}
