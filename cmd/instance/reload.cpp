// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see reload.hpp.
#include "cmd/instance/reload.hpp"

#include <algorithm>
#include <memory>

#include "cmd/common/instances.hpp"
#include "cmd/common/log_line.hpp"
#include "cmd/common/reader.hpp"
#include "cmd/common/text.hpp"
#include "libfairshare/base/json/config_changes.hpp"

namespace weir::cmd {
namespace {

constexpr int reload_depth_max = 16;
constexpr double reload_answer_s = 20;  ///< real seconds; its modules may read large files
constexpr int warning_severity = 4;
constexpr const char* nothing_changed = "\nNothing was changed.";

struct ReloadTarget {
    std::string name;
    Client* client = nullptr;
    Json before;
};

void add_once(std::vector<std::string>& list, const std::string& text) {
    if (std::find(list.begin(), list.end(), text) == list.end()) {
        list.push_back(text);
    }
}

/// The end of every warning about an instance that could not be reached.
std::string keeps_its_own(const Error& why) {
    return "keeps its configuration until it reads the files again, at its start or by `weir reload`: " + why.message;
}

/// A partition that has not attached reads the files itself, at a moment that nobody here knows.
void warn_of_starting(Client& parent, const std::vector<ChildEntry>& children, std::vector<std::string>& warnings) {
    const auto is_known = [&children](const PartitionJob& job) {
        return std::any_of(children.begin(), children.end(),
                           [&job](const ChildEntry& child) { return child.jobid == job.job; });
    };
    for (const PartitionState& state : told_partition_states(parent)) {
        for (const PartitionJob& job : state.jobs) {
            if (job.is_current && !job.is_attached && !is_known(job)) {
                add_once(warnings,
                         state.name +
                             " is starting and was not asked: it reads the files at its start. If it has read "
                             "them already, `weir reload` gives it the new ones when it serves.");
            }
        }
    }
}

/// Opens the attached children at all levels and reads their present configurations.
void open_children(Client& parent, int depth, std::vector<std::unique_ptr<Client>>& clients,
                   std::vector<ReloadTarget>& members, std::vector<std::string>& warnings) {
    if (depth == 0) {
        return;
    }
    const std::vector<ChildEntry> children = children_of(parent);
    warn_of_starting(parent, children, warnings);
    for (const ChildEntry& entry : children) {
        if (!may_open(entry)) {  // another user's, whose configuration is his own
            continue;
        }
        const std::string name = instance_name(entry.name, entry.jobid);
        const bool is_there = entry.state == "attached" && !entry.uri.empty();
        auto child =
            is_there ? open_child(entry) : Result<Client>(Error{std::errc::not_connected, "there is no link to it"});
        auto before = child ? child->call("config.get", {}, child_answer_s) : Result<Json>(child.error());
        if (!before) {
            add_once(warnings, name + " was not asked; it " + keeps_its_own(before.error()));
            continue;
        }
        clients.push_back(std::make_unique<Client>(std::move(*child)));
        Client& opened = *clients.back();
        members.push_back({name, &opened, std::move(*before)});
        open_children(opened, depth - 1, clients, members, warnings);
    }
}

/// Restores the former configuration of the first `count` instances. Returns a sentence about each failure, else that
/// nothing was changed.
std::string revert(std::vector<ReloadTarget>& members, std::size_t count) {
    std::string failed;
    for (std::size_t i = 0; i < count; ++i) {
        if (auto back = members[i].client->call("config.load", members[i].before, reload_answer_s); !back) {
            failed += "\n" + members[i].name + " kept the new configuration: " + back.error().message;
        }
    }
    return failed.empty() ? nothing_changed : failed;
}

/// The top has the request: what it does with it is not known.
Error unanswered(const Error& error) {
    return {error.code, error.message + (error.code == std::errc::timed_out
                                             ? "\nIt reads the files when it continues. The partitions were not asked."
                                             : "\nIt reads the files at its next start.")};
}

void note_all(const Json& answer, const char* key, std::vector<std::string>& list) {
    for (const json_t* text : items_at(answer.get(), key)) {
        add_once(list, json_string_value(text) != nullptr ? json_string_value(text) : "");
    }
}

/// The lines that the instance's log has in memory, oldest first.
std::vector<std::string> log_lines(Client& client) {
    std::vector<std::string> lines;
    (void)client.stream_text(
        "log.dmesg", Json::object().set("follow", false).share(),
        [&lines](const char* text) {
            lines.emplace_back(text == nullptr ? "" : text);
            return true;
        },
        child_answer_s);
    return lines;
}

/// A stock Flux answers with nothing. Its configuration tells what changed, and its log has what the modules warned of.
void report_stock(ReloadTarget& member, const std::vector<std::string>& log_before, Reloaded& out) {
    if (const auto after = member.client->call("config.get", {}, child_answer_s)) {
        for (const std::string& change : config_changes(member.before, *after)) {
            add_once(out.changes, change);
        }
    }
    const std::vector<std::string> log = log_lines(*member.client);
    const auto last = log_before.empty() ? log.rend() : std::find(log.rbegin(), log.rend(), log_before.back());
    for (auto line = last.base(); line != log.end(); ++line) {
        if (const LogLine read = parse_ring_line(*line); read.severity <= warning_severity) {
            add_once(out.warnings, read.app + ": " + read.text);
        }
    }
}

/// The result for the share tree, which is a file of its own: a mistake in it does not refuse the configuration.
void report_share_tree(ReloadTarget& member, Reloaded& out) {
    const auto stats = member.client->call("job-priority.stats-get", {}, child_answer_s);
    if (!stats) {
        return;  // none here
    }
    const std::int64_t revision = integer_at(stats->get(), "revision");
    if (const std::string problem = text_at(stats->get(), "share_tree_problem"); !problem.empty()) {
        add_once(out.warnings, problem + "\nThe share tree stays at revision " + std::to_string(revision) + ".");
    }
    if (member.name == "top") {
        out.revision = revision;
    }
}

}  // namespace

Result<Reloaded> reload_tree(Client& top) {
    Reloaded out;
    std::vector<std::unique_ptr<Client>> clients;
    std::vector<ReloadTarget> members;
    auto before = top.call("config.get", {}, child_answer_s);
    if (!before) {
        return Error{before.error().code, before.error().message + nothing_changed};
    }
    members.push_back({"top", &top, std::move(*before)});
    open_children(top, reload_depth_max, clients, members, out.warnings);
    for (std::size_t i = 0; i < members.size(); ++i) {
        const std::vector<std::string> log_before = log_lines(*members[i].client);
        const auto answer = members[i].client->call("config.reload", {}, reload_answer_s);
        const bool is_unanswered = !answer && (answer.error().code == std::errc::timed_out ||
                                               answer.error().code == std::errc::connection_reset);
        if (is_unanswered && i == 0) {
            return unanswered(answer.error());
        }
        if (is_unanswered && answer.error().code == std::errc::timed_out) {
            add_once(out.warnings, members[i].name + " did not answer; it reads the files when it continues: " +
                                       answer.error().message);
            continue;
        }
        if (is_unanswered) {
            add_once(out.warnings, members[i].name +
                                       " ended meanwhile. If this partition is configured, its next instance "
                                       "starts with the new configuration.");
            continue;
        }
        if (!answer) {
            return Error{answer.error().code,
                         (i == 0 ? "" : members[i].name + ": ") + answer.error().message + revert(members, i)};
        }
        if (answer->at("changes")) {
            note_all(*answer, "changes", out.changes);
            note_all(*answer, "warnings", out.warnings);
        } else {
            report_stock(members[i], log_before, out);
        }
        out.instances.push_back(members[i].name);
        report_share_tree(members[i], out);
    }
    return out;
}

}  // namespace weir::cmd
