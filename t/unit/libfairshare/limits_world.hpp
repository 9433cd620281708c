// SPDX-License-Identifier: LGPL-3.0-only
// Owns: what the tests of limits begin with: a tree from its text, and who wants to start there.
#pragma once
#include <catch2/catch.hpp>
#include <map>
#include <string>
#include <vector>

#include "libfairshare/limits/admission.hpp"
#include "libfairshare/toml/share_tree_toml.hpp"
#include "t/unit/libfairshare/support.hpp"

namespace weir::testing {

inline ShareTreePtr tree_from(const std::string& text) {
    auto parsed = parse_share_tree(text);
    if (auto* diagnostics = std::get_if<Diagnostics>(&parsed)) {
        FAIL(to_string(*diagnostics));
    }
    return std::make_shared<const ShareTree>(std::get<ShareTree>(std::move(parsed)));
}

/// One tree, its ledger, its gate.
struct LimitsWorld {
    ShareTreePtr tree;
    UsageLedger ledger;
    Admission gate;
    std::map<std::uint64_t, std::uint64_t> priorities = {};

    explicit LimitsWorld(const std::string& text) : tree(tree_from(text)), ledger(tree, week) {}
    NodeId at(const char* path) const { return testing::at(*tree, path); }
    void wait(std::uint64_t id, const char* who, const LimitedJob& job = {}) { gate.wait(*tree, id, at(who), job); }
    std::vector<std::uint64_t> admit(double t = 0) {
        return gate.admit(*tree, ledger, second(t), [this](std::uint64_t id) { return priorities[id]; });
    }
    std::string why(std::uint64_t id) const { return gate.hit(id) ? words_of(*gate.hit(id), *tree, {}) : ""; }
};
using Ids = std::vector<std::uint64_t>;

inline LimitedJob sized(std::uint64_t nodes, std::uint64_t cores) {
    return {nodes, cores, Duration::max()};
}

}  // namespace weir::testing
