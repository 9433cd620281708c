// SPDX-License-Identifier: LGPL-3.0-only
// Owns: short ways to take values, trees and usage out of an oracle file. Must not know any system.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "libfairshare/tree/share_tree_builder.hpp"
#include "libfairshare/usage/usage.hpp"
#include "t/oracle/runner/oracle.hpp"

namespace weir::oracle {

/// Throws with all that is wrong.
ShareTree tree_of(const std::vector<NodeSpec>& specs);
/// Throws where there is no such node.
NodeId node_at(const ShareTree& tree, std::string_view path);

/// Usage by path, taken from numbers of any size and any decimals; all are multiplied by one power of ten that makes
/// them integers, so that every ratio stays exact.
class UsageByPath {
  public:
    /// Adds to the path's usage. Throws for what is no number or below 0.
    void add(const std::string& path, const Value* number);
    /// Of every node of the tree, accounts summed. Throws where a path is none of the tree's, or a sum is too large.
    std::vector<CoreMicros> of(const ShareTree& tree) const;
    /// What one unit of the file is in the integers of of(): a power of ten.
    double unit() const;

  private:
    struct Decimal {
        std::uint64_t digits;
        int exponent;  // of ten
    };
    std::vector<std::pair<std::string, Decimal>> entries_;
    int exponent_min_ = 0;
};

}  // namespace weir::oracle
