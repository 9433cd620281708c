// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see slurm_tree.hpp.
#include "t/oracle/runner/slurm_tree.hpp"

#include "libsched/priority/slurm.hpp"
#include "t/oracle/runner/slurm_text.hpp"

namespace weir::oracle {

namespace {

std::string below(const std::string& path, const std::string& name) {
    return path.empty() ? name : path + "/" + name;
}

}  // namespace

SlurmTree slurm_tree(const json_t* associations) {
    std::vector<NodeSpec> specs;
    UsageByPath usage;
    std::map<std::string, std::string> account_path{{"root", ""}};
    std::map<std::int64_t, std::string> path_of;
    std::map<std::string, std::string> name_path;
    const json_t* row = nullptr;
    std::size_t i = 0;
    json_array_foreach(associations, i, row) {  // parents come before their children
        const std::string account = text_at(row, "account");
        const std::string user = text_at(row, "user");
        const std::string partition = text_at(row, "partition");
        if (user.empty() && account == "root") {
            path_of[integer_at(row, "id")] = "";
            name_path["root"] = "";
            continue;
        }
        const std::string path =
            user.empty() ? below(account_path.at(text_at(row, "parent")), account)
                         : below(account_path.at(account), "@" + user + (partition.empty() ? "" : ":" + partition));
        NodeSpec spec{path, std::nullopt, 0, {}};
        const json_t* shares = member(row, "raw_shares");
        if (json_is_string(shares) && text_at(row, "raw_shares") == "parent") {
            spec.shares_parent = true;
        } else {
            spec.shares = integer_at(row, "raw_shares");
        }
        specs.push_back(std::move(spec));
        if (user.empty()) {
            account_path[account] = path;
        } else {
            usage.add(path, member(row, "raw_usage"));
        }
        path_of[integer_at(row, "id")] = path;
        name_path[account + (user.empty() ? "" : "/" + user) + (partition.empty() ? "" : "/" + partition)] = path;
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
