// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the flat trees of a log's numbers, and sums down a tree.
#include "libsched/sim/party_tree.hpp"

#include <map>

namespace weir {
namespace {

template <typename NumberOf>
PartyTree flat(std::span<const SimJob> jobs, const std::string& kind, NumberOf number) {
    std::map<std::uint32_t, std::uint32_t> place;
    for (const SimJob& job : jobs) {
        place.emplace(number(job), 0);
    }
    PartyTree tree;
    for (auto& [of, at] : place) {
        at = static_cast<std::uint32_t>(tree.parties.size());
        tree.parties.push_back({kind + " " + std::to_string(of), 0, 1});
    }
    tree.payer.reserve(jobs.size());
    for (const SimJob& job : jobs) {
        tree.payer.push_back(place[number(job)]);
    }
    return tree;
}

}  // namespace

std::vector<std::uint32_t> PartyTree::depths() const {
    std::vector<std::uint32_t> depths(parties.size());
    for (std::size_t i = 1; i < parties.size(); ++i) {
        depths[i] = depths[parties[i].parent] + 1;
    }
    return depths;
}

std::uint32_t PartyTree::first_fork() const {
    std::vector<bool> is_payer(parties.size());
    for (const std::uint32_t party : payer) {
        is_payer[party] = true;
    }
    std::vector<std::uint32_t> children(parties.size()), last_child(parties.size());
    for (std::uint32_t i = 1; i < parties.size(); ++i) {
        if (parties[i].shares > 0 || is_payer[i]) {
            children[parties[i].parent] += 1;
            last_child[parties[i].parent] = i;
        }
    }
    std::uint32_t fork = 0;
    while (children[fork] == 1 && children[last_child[fork]] > 0) {
        fork = last_child[fork];
    }
    return fork;
}

std::vector<double> PartyTree::entitled() const {
    std::vector<double> sums(parties.size());
    for (std::size_t i = 1; i < parties.size(); ++i) {
        sums[parties[i].parent] += parties[i].shares;
    }
    std::vector<double> entitled(parties.size(), 1);
    for (std::size_t i = 1; i < parties.size(); ++i) {
        const Party& party = parties[i];
        entitled[i] = sums[party.parent] > 0 ? entitled[party.parent] * party.shares / sums[party.parent] : 0;
    }
    return entitled;
}

PartyTree parties_by_user(std::span<const SimJob> jobs) {
    return flat(jobs, "user", [](const SimJob& job) { return job.user; });
}

PartyTree parties_by_group(std::span<const SimJob> jobs) {
    return flat(jobs, "group", [](const SimJob& job) { return job.group; });
}

}  // namespace weir
