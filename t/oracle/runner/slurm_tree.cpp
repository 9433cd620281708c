// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see slurm_tree.hpp.
#include "t/oracle/runner/slurm_tree.hpp"

#include <stdexcept>

#include "libsched/priority/slurm.hpp"
#include "t/oracle/runner/slurm_text.hpp"

namespace weir::oracle {

namespace {

std::string below(const std::string& path, const std::string& name) {
    return path.empty() ? name : path + "/" + name;
}

/// A number, or none for "parent".
std::optional<std::int64_t> shares_at(const Value* row, const char* key) {
    const Value* shares = member(row, key);
    return is_text(shares) && shares->text() == "parent" ? std::nullopt : std::optional{integer_at(row, key)};
}

}  // namespace

std::vector<SlurmAssociation> slurm_associations(const Value* rows) {
    std::vector<SlurmAssociation> made;
    for (const Value* row : each(rows)) {
        SlurmAssociation one;
        one.id = integer_at(row, "id");
        one.account = text_at(row, "account");
        one.user = text_at(row, "user");
        one.partition = text_at(row, "partition");
        one.parent = text_at(row, "parent");
        const bool is_root = one.user.empty() && one.account == "root";
        one.shares = is_root ? 1 : shares_at(row, "raw_shares");
        one.usage = one.user.empty() ? nullptr : member(row, "raw_usage");
        made.push_back(std::move(one));
    }
    return made;
}

std::vector<SlurmAssociation> slurm_tree_rows(const Value* rows) {
    std::vector<SlurmAssociation> made{{1, "root", "", "", "", 1, nullptr}, {2, "root", "root", "", "", 1, nullptr}};
    for (const Value* row : each(rows)) {
        const std::string type = text_at(row, "type");
        if (type != "user" && type != "account") {
            throw std::runtime_error{"a row of the tree has the type \"" + type + "\""};
        }
        const bool is_user = type == "user";
        SlurmAssociation one;
        one.id = static_cast<std::int64_t>(made.size()) + 1;
        one.account = text_at(row, is_user ? "account" : "name");
        one.user = is_user ? text_at(row, "name") : "";
        one.partition = text_at(row, "partition");
        one.parent = is_user ? "" : text_at(row, "parent");
        one.shares = find(row, "shares") == nullptr ? 1 : shares_at(row, "shares");
        one.usage = is_user ? find(row, "usage") : nullptr;
        made.push_back(std::move(one));
    }
    return made;
}

SlurmTree slurm_tree(const std::vector<SlurmAssociation>& associations) {
    std::vector<NodeSpec> specs;
    UsageByPath usage;
    std::map<std::string, std::string> account_path{{"root", ""}};
    std::map<std::int64_t, std::string> path_of;
    std::map<std::string, std::string> name_path;
    for (const SlurmAssociation& one : associations) {
        if (one.user.empty() && one.account == "root") {
            path_of[one.id] = "";
            name_path["root"] = "";
            continue;
        }
        const std::string leaf = "@" + one.user + (one.partition.empty() ? "" : ":" + one.partition);
        const std::string path = one.user.empty() ? below(account_path.at(one.parent), one.account)
                                                  : below(account_path.at(one.account), leaf);
        NodeSpec spec{path, std::nullopt, one.shares.value_or(0), {}};
        spec.shares_parent = !one.shares;
        specs.push_back(std::move(spec));
        if (one.user.empty()) {
            account_path[one.account] = path;
        } else if (one.usage != nullptr) {
            usage.add(path, one.usage);
        }
        path_of[one.id] = path;
        name_path[one.account + (one.user.empty() ? "" : "/" + one.user) +
                  (one.partition.empty() ? "" : "/" + one.partition)] = path;
    }
    SlurmTree made{tree_of(specs), {}, usage.unit(), {}, {}};
    made.usage = usage.of(made.tree);
    for (const auto& [id, path] : path_of) {
        made.node[id] = node_at(made.tree, path);
    }
    for (const auto& [name, path] : name_path) {
        made.by_name[name] = node_at(made.tree, path);
    }
    return made;
}

Algorithm slurm_algorithm(const std::string& slurm_conf) {
    const Words conf = all_words(slurm_conf);
    const slurm::PriorityFlags flags = slurm::priority_flags(word(conf, "PriorityFlags"));
    if (flags.fair_tree) {
        return FairTreeAsSlurm{};
    }
    return Classic{number_word(conf, "FairShareDampeningFactor", 1), flags.depth_oblivious};
}

}  // namespace weir::oracle
