// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see world.hpp.
#include "t/oracle/runner/world.hpp"

#include <charconv>
#include <cmath>
#include <stdexcept>

namespace weir::oracle {

ShareTree tree_of(const std::vector<NodeSpec>& specs) {
    auto built = build_share_tree(specs);
    if (const auto* diagnostics = std::get_if<Diagnostics>(&built)) {
        throw std::runtime_error{"no share tree: " + to_string(*diagnostics)};
    }
    return std::get<ShareTree>(std::move(built));
}

NodeId node_at(const ShareTree& tree, std::string_view path) {
    const auto found = tree.find(path);
    if (!found) {
        throw std::runtime_error{"no node " + std::string{path}};
    }
    return *found;
}

void UsageByPath::add(const std::string& path, const Value* number) {
    if (!is_number(number) || !(number->number() >= 0)) {
        throw std::runtime_error{"the usage of " + path + " is no number of 0 or more"};
    }
    if (is_integer(number)) {
        entries_.push_back({path, {static_cast<std::uint64_t>(integer_of(number)), 0}});
        return;
    }
    // The shortest digits that read back as the same double are those that the file printed.
    char text[40];
    const auto end =
        std::to_chars(std::begin(text), std::end(text), number->number(), std::chars_format::scientific).ptr;
    Decimal decimal{0, 0};
    const char* at = std::begin(text);
    bool is_fraction = false;
    for (; at != end && *at != 'e'; ++at) {
        if (*at == '.') {
            is_fraction = true;
            continue;
        }
        decimal.digits = decimal.digits * 10 + static_cast<std::uint64_t>(*at - '0');
        decimal.exponent -= is_fraction ? 1 : 0;
    }
    int exponent = 0;
    std::from_chars(at + (at[1] == '+' ? 2 : 1), end, exponent);
    decimal.exponent += exponent;
    for (; decimal.digits != 0 && decimal.digits % 10 == 0; decimal.digits /= 10) {
        ++decimal.exponent;
    }
    exponent_min_ = decimal.digits == 0 ? exponent_min_ : std::min(exponent_min_, decimal.exponent);
    entries_.emplace_back(path, decimal);
}

std::vector<CoreMicros> UsageByPath::of(const ShareTree& tree) const {
    std::vector<CoreMicros> usage(tree.size(), 0);
    for (const auto& [path, decimal] : entries_) {
        CoreMicros scaled = decimal.digits;
        for (int i = exponent_min_; i < decimal.exponent && scaled <= usage_max; ++i) {
            scaled *= 10;
        }
        CoreMicros& into = usage[node_at(tree, path).value];
        into = decimal.digits == 0 ? into : into + scaled;
    }
    for (std::uint32_t i = tree.size() - 1; i > 0; --i) {
        usage[tree.parent(NodeId{i}).value] += usage[i];
    }
    for (const CoreMicros each : usage) {
        if (each > usage_max) {
            throw std::runtime_error{"usage spans more digits than a ledger holds"};
        }
    }
    return usage;
}

double UsageByPath::unit() const {
    return std::pow(10.0, -exponent_min_);
}

}  // namespace weir::oracle
