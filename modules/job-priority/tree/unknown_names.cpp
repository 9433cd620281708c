// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see unknown_names.hpp.
#include "modules/job-priority/tree/unknown_names.hpp"

#include <algorithm>
#include <map>
#include <string_view>

#include "libfairshare/base/nearest_name.hpp"

namespace weir::priority {
namespace {

/// "; did you mean "batch"?", or nothing.
std::string hint(const std::string& word, const std::vector<std::string_view>& names) {
    const std::string meant = did_you_mean(word, names);
    return meant.empty() ? "" : "; " + meant;
}

/// Each queue that is named, with the first place where it is.
std::map<std::string, std::string> queues_named(const PolicySettings& settings, const ShareTree& tree) {
    std::map<std::string, std::string> named;
    const auto add = [&named](const auto& table) {
        for (const auto& [queue, ignored] : table) {
            named.emplace(queue, "[weir.queues." + queue + "]");
        }
    };
    add(settings.queues);
    add(settings.billing.factors.queue);
    add(settings.billing.queue_weights);
    for (const std::string& queue : tree.partitions()) {
        named.emplace(queue, "the share tree: at." + queue);
    }
    for (std::uint32_t index = 1; index < tree.size(); ++index) {
        const NodeId node{index};
        const std::string queue(tree.kind(node) == NodeKind::queue ? tree.name(node) : tree.partition(node));
        if (!queue.empty()) {
            named.emplace(queue, "the share tree: " + tree.path(node));
        }
    }
    return named;
}

/// Also a user whom an `@*` line admits when he has his first job.
bool is_in_tree(const ShareTree& tree, const std::string& path) {
    const std::size_t slash = path.rfind('/');
    const std::size_t last = slash == std::string::npos ? 0 : slash + 1;
    return tree.find(path).has_value() ||
           (path.compare(last, 1, "@") == 0 && tree.find(path.substr(0, last) + "@*").has_value());
}

/// Their paths.
std::vector<std::string> accounts_of(const ShareTree& tree) {
    std::vector<std::string> paths;
    for (std::uint32_t index = 1; index < tree.size(); ++index) {
        if (tree.is_account(NodeId{index})) {
            paths.push_back(tree.path(NodeId{index}));
        }
    }
    return paths;
}

}  // namespace

std::vector<std::string> unknown_names(const PolicySettings& settings, const ShareTree& tree,
                                       const std::optional<std::set<std::string>>& queues) {
    std::vector<std::string> sentences;
    if (queues) {
        const std::vector<std::string_view> names(queues->begin(), queues->end());
        for (const auto& [queue, place] : queues_named(settings, tree)) {
            if (queues->count(queue) == 0) {
                sentences.push_back(place + " has no effect: there is no queue " + queue + hint(queue, names));
            }
        }
    }
    std::vector<std::string> paths;
    for (std::uint32_t index = 1; index < tree.size() && !settings.associations.empty(); ++index) {
        paths.push_back(tree.path(NodeId{index}));
    }
    const std::vector<std::string_view> names(paths.begin(), paths.end());
    double greatest = 0;  // of the lines that the tree has: a greater one divides them all the same
    for (const auto& [path, priority] : settings.associations) {
        greatest = is_in_tree(tree, path) ? std::max(greatest, priority) : greatest;
    }
    for (const auto& [path, priority] : settings.associations) {
        if (!paths.empty() && !is_in_tree(tree, path)) {
            sentences.push_back(
                "[weir.associations] \"" + path + "\" " +
                (priority > greatest ? "has no job, and all others are divided by its priority" : "has no effect") +
                ": the share tree has no such line" + hint(path, names));
        }
    }
    return sentences;
}

std::vector<std::string> unknown_taken(const PolicySettings& settings, const ShareTree& tree,
                                       const std::vector<TakenNames>& partitions) {
    std::vector<std::string> sentences;
    const std::vector<std::string> accounts = accounts_of(tree);
    const std::vector<std::string_view> account_names(accounts.begin(), accounts.end());
    const auto qos = known_qos(settings, tree);
    const auto complain = [&](const TakenNames& of, const std::string& what, const std::string& name,
                              const std::vector<std::string_view>& names) {
        sentences.push_back("[[partition]] \"" + of.partition + "\" takes no job by " + what + " \"" + name +
                            "\": there is no such " + what + hint(name, names));
    };
    for (const TakenNames& of : partitions) {
        for (const std::string& name : of.accounts) {
            const auto found = tree.account(name);
            if (!accounts.empty() && !found && found.error().code == std::errc::no_such_file_or_directory) {
                complain(of, "account", name, account_names);
            }
        }
        for (const std::string& name : of.qos) {
            if (qos && qos->count(name) == 0) {
                complain(of, "QoS", name, {qos->begin(), qos->end()});
            }
        }
    }
    return sentences;
}

std::optional<std::set<std::string>> known_qos(const PolicySettings& settings, const ShareTree& tree) {
    std::set<std::string> names;
    for (const auto& [name, priority] : settings.qos) {
        names.insert(name);
    }
    for (const auto& [name, factor] : settings.billing.factors.qos) {
        names.insert(name);
    }
    if (names.empty()) {
        return std::nullopt;
    }
    for (std::uint32_t index = 1; index < tree.size(); ++index) {
        if (tree.kind(NodeId{index}) == NodeKind::qos) {
            names.emplace(tree.name(NodeId{index}));
        }
    }
    return names;
}

}  // namespace weir::priority
