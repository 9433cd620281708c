// SPDX-License-Identifier: LGPL-3.0-only
// Owns: reading job-priority.tree-get.
#include "cmd/common/share_view.hpp"

#include "cmd/common/reader.hpp"

namespace weir::cmd {

namespace {

ShareNode share_node_of(const json_t* entry) {
    ShareNode node;
    node.path = text_at(entry, "path");
    node.is_user = text_at(entry, "kind") == "user";
    node.is_sum = text_at(entry, "kind") == "sum";
    node.shares = integer_at(entry, "shares");
    node.shares_parent = json_is_true(json_object_get(entry, "shares_parent"));
    node.entitled = number_at(entry, "entitled");
    node.used = number_at(entry, "used");
    node.usage_core_s = number_at(entry, "usage_core_s");
    node.charged_core_us = integer_at(entry, "charged_core_us");
    if (has_number(entry, "level_fs")) {
        node.level_fs = number_at(entry, "level_fs");
    }
    if (has_number(entry, "factor")) {
        node.factor = number_at(entry, "factor");
    }
    node.running_cores = integer_at(entry, "running_cores");
    node.pending_jobs = integer_at(entry, "pending_jobs");
    return node;
}

}  // namespace

ShareView share_view_of(const json_t* answer) {
    ShareView view;
    view.revision = integer_at(answer, "revision");
    view.author = text_at(answer, "author");
    view.reason = text_at(answer, "reason");
    view.toml = text_at(answer, "toml");
    view.time = number_at(answer, "time");
    view.now = number_at(answer, "now");
    view.tree_size = static_cast<std::size_t>(integer_at(answer, "of"));
    for (const json_t* entry : items_at(answer, "nodes")) {
        ShareNode node = share_node_of(entry);
        if (!node.path.empty()) {
            view.nodes.push_back(std::move(node));
        }
    }
    const json_t* idle = json_object_get(answer, "idle");
    const double held_core_s = number_at(json_object_get(answer, "total"), "usage_core_s");
    view.idle_core_s = number_at(idle, "usage_core_s");
    view.idle = held_core_s > 0 ? view.idle_core_s / held_core_s : 0;
    view.idle_cores = integer_at(idle, "running_cores");
    view.nobodys_core_s = number_at(json_object_get(answer, "unassociated"), "usage_core_s");
    view.all_core_s = view.nobodys_core_s;
    for (const ShareNode& node : view.nodes) {
        view.all_core_s += node.path.find('/') == std::string::npos ? node.usage_core_s : 0;
    }
    return view;
}

Result<ShareView> top_share_view(Client& client, std::int64_t rows, std::optional<std::uint32_t> guest) {
    Json query = Json::object();
    query.set("limit", rows);
    const auto answer = client.call_for(guest, "job-priority.share-rows", query);
    if (!answer) {
        return answer.error();
    }
    ShareView view;
    view.revision = integer_at(answer->get(), "revision");
    view.now = number_at(answer->get(), "now");
    view.of = static_cast<std::size_t>(integer_at(answer->get(), "of"));
    for (const json_t* entry : items_at(answer->get(), "rows")) {
        view.nodes.push_back(share_node_of(entry));
        view.nodes.back().children = json_is_true(json_object_get(entry, "has_below")) ? 1 : 0;
        view.all_core_s += view.nodes.back().path.find('/') == std::string::npos ? view.nodes.back().usage_core_s : 0;
    }
    return view;
}

Result<ShareFigures> share_figures(Client& client, const std::vector<std::string>& paths, const std::string& seen) {
    Json list = Json::array();
    for (const std::string& path : paths) {
        list.append(path);
    }
    Json query = Json::object();
    query.set("paths", std::move(list)).set("seen", seen);
    const auto answer = client.call("job-priority.share-figures", query);
    if (!answer) {
        return answer.error();
    }
    ShareFigures figures;
    figures.version = text_at(answer->get(), "version");
    figures.revision = integer_at(answer->get(), "revision");
    figures.tree_size = static_cast<std::size_t>(integer_at(answer->get(), "of"));
    figures.now = number_at(answer->get(), "now");
    figures.all_core_s = number_at(answer->get(), "all_core_s");
    const json_t* rows = json_object_get(answer->get(), "figures");
    for (std::size_t i = 0; i < paths.size() && i < json_array_size(rows); ++i) {
        const json_t* row = json_array_get(rows, i);
        const auto real = [row](std::size_t column) { return json_number_value(json_array_get(row, column)); };
        const auto real_or_none = [row, &real](std::size_t column) {
            return json_is_number(json_array_get(row, column)) ? std::optional(real(column)) : std::nullopt;
        };
        if (json_array_size(row) != 8) {
            continue;  // it is not there any more
        }
        ShareNode node;
        node.path = paths[i];
        node.shares = static_cast<std::int64_t>(real(0));
        node.entitled = real(1);
        node.used = real(2);
        node.usage_core_s = real(3);
        node.level_fs = real_or_none(4);
        node.factor = real_or_none(5);
        node.running_cores = static_cast<std::int64_t>(real(6));
        node.pending_jobs = static_cast<std::int64_t>(real(7));
        figures.nodes.push_back(std::move(node));
    }
    return figures;
}

Result<ShareView> share_view(Client& client, std::optional<std::uint32_t> guest) {
    auto answer = client.call_for(guest, "job-priority.tree-get", Json::object());
    if (!answer) {
        return answer.error();
    }
    return share_view_of(answer->get());
}

}  // namespace weir::cmd
