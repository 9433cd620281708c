// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see reload.hpp.
#include "cmd/instance/reload.hpp"

#include <algorithm>
#include <memory>

#include "cmd/common/instances.hpp"
#include "cmd/common/reader.hpp"
#include "cmd/common/text.hpp"

namespace weir::cmd {
namespace {

constexpr int reload_depth_max = 16;

struct Member {
    std::string name;
    Client* client = nullptr;
    Json before;
};

void add_once(std::vector<std::string>& list, const std::string& text) {
    if (std::find(list.begin(), list.end(), text) == list.end()) {
        list.push_back(text);
    }
}

/// Opens the attached children, theirs, and so on. A child that is not there reads its files when it starts.
void open_children(Client& parent, int depth, std::vector<std::unique_ptr<Client>>& clients,
                   std::vector<Member>& members, std::vector<std::string>& warnings) {
    if (depth == 0) {
        return;
    }
    for (const ChildEntry& entry : children_of(parent)) {
        const std::string name = entry.serves.empty() ? "job " + std::to_string(entry.jobid) : listed(entry.serves);
        if (entry.state != "attached" || entry.uri.empty()) {
            continue;
        }
        auto child = Client::open(entry.uri);
        if (!child) {
            add_once(warnings, name + " was not asked; it reads the files when it starts: " + child.error().message);
            continue;
        }
        clients.push_back(std::make_unique<Client>(std::move(*child)));
        Client& opened = *clients.back();
        members.push_back({name, &opened, {}});
        open_children(opened, depth - 1, clients, members, warnings);
    }
}

}  // namespace

Result<Reloaded> reload_tree(Client& top) {
    Reloaded out;
    std::vector<std::unique_ptr<Client>> clients;
    std::vector<Member> members;
    members.push_back({"top", &top, {}});
    open_children(top, reload_depth_max, clients, members, out.warnings);
    for (Member& member : members) {
        auto before = member.client->call("config.get");
        if (!before) {
            return before.error();
        }
        member.before = std::move(*before);
    }
    for (std::size_t i = 0; i < members.size(); ++i) {
        const auto answer = members[i].client->call("config.reload");
        if (!answer) {
            std::string message = (i == 0 ? "" : members[i].name + ": ") + answer.error().message;
            for (std::size_t j = 0; j < i; ++j) {
                if (auto back = members[j].client->call("config.load", members[j].before); !back) {
                    message += "\n" + members[j].name + " kept the new configuration: " + back.error().message;
                }
            }
            return Error{answer.error().code, message};
        }
        for (const json_t* text : items_at(answer->get(), "changes")) {
            add_once(out.changes, json_string_value(text) != nullptr ? json_string_value(text) : "");
        }
        for (const json_t* text : items_at(answer->get(), "warnings")) {
            add_once(out.warnings, json_string_value(text) != nullptr ? json_string_value(text) : "");
        }
        out.instances.push_back(members[i].name);
    }
    return out;
}

}  // namespace weir::cmd
