// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see partition_changes.hpp.
#include "modules/job-route/partition_changes.hpp"

#include <algorithm>

#include "modules/job-route/partition_json.hpp"

namespace weir::route {
namespace {

constexpr json_int_t folder_max = 1 << 20;

/// Whether that is the configured table that the change replaced; null: there was none.
bool is_over(const json_t* change, const json_t* table) {
    const json_t* over = json_object_get(change, "over");
    return table == nullptr ? !json_is_object(over)
                            : json_equal(const_cast<json_t*>(table), const_cast<json_t*>(over)) == 1;
}

}  // namespace

Result<PartitionChanges> PartitionChanges::parse(const std::string& text) {
    auto document = Json::parse(text);
    if (!document || !json_is_object(document->at("changes").get())) {
        return Error{std::errc::invalid_argument, document ? "it has no \"changes\"" : document.error().message};
    }
    Json folders = document->at("folders");
    return PartitionChanges(document->at("changes"),
                            json_is_object(folders.get()) ? std::move(folders) : Json::object());
}

std::string PartitionChanges::text() const {
    Json document = Json::object();
    document.set("version", 1).set("changes", changes_.share()).set("folders", folders_.share());
    return document.dump(JSON_INDENT(1)) + "\n";
}

std::vector<std::string> PartitionChanges::forget_stale(const json_t* configured) {
    std::vector<std::string> stale;
    const char* name = nullptr;
    json_t* change = nullptr;
    json_object_foreach(changes_.get(), name, change) {
        if (!is_over(change, partition_table_of(configured, name))) {
            stale.emplace_back(name);
        }
    }
    for (const std::string& one : stale) {
        json_object_del(changes_.get(), one.c_str());
    }
    return stale;
}

void PartitionChanges::forget_tables() {
    Json drains = Json::object();
    const char* name = nullptr;
    json_t* change = nullptr;
    json_object_foreach(changes_.get(), name, change) {
        if (is_drained(name) && json_is_object(json_object_get(change, "over"))) {
            Json kept = Json::object();
            kept.set("over", Json::ref(json_object_get(change, "over"))).set("drained", true);
            drains.set(name, std::move(kept));
        }
    }
    changes_ = std::move(drains);
}

Json PartitionChanges::applied_to(const json_t* configured) const {
    Json array = Json::array();
    std::size_t i = 0;
    json_t* table = nullptr;
    json_array_foreach(const_cast<json_t*>(configured), i, table) {
        const json_t* own = json_object_get(table, "name");
        const json_t* change = json_is_string(own) ? json_object_get(changes_.get(), json_string_value(own)) : nullptr;
        const json_t* now = change != nullptr && is_over(change, table) ? json_object_get(change, "now") : nullptr;
        if (now == nullptr || json_is_object(now)) {
            array.append(Json::ref(now == nullptr ? table : now));
        }
    }
    const char* name = nullptr;
    json_t* change = nullptr;
    json_object_foreach(changes_.get(), name, change) {
        const json_t* now = json_object_get(change, "now");
        if (json_is_object(now) && is_over(change, nullptr) && partition_table_of(configured, name) == nullptr) {
            array.append(Json::ref(now));
        }
    }
    return array;
}

Json PartitionChanges::change_of(const json_t* configured, const std::string& name) {
    Json change = changes_.at(name.c_str());
    if (!change) {
        const json_t* table = partition_table_of(configured, name);
        change = Json::object();
        change.set("over", table != nullptr ? Json::ref(table) : Json::own(json_null()));
        changes_.set(name.c_str(), change.share());
    }
    return change;
}

void PartitionChanges::set(const json_t* configured, const std::string& name, Json table) {
    Json change = change_of(configured, name);
    change.set("now", table ? std::move(table) : Json::own(json_null()));
    if (json_is_null(change.at("now").get())) {
        json_object_del(change.get(), "drained");  // one of that name that is added later is another one
    }
    if (json_is_null(change.at("now").get()) && json_is_null(change.at("over").get())) {
        json_object_del(changes_.get(), name.c_str());  // what a command had added
    }
}

void PartitionChanges::set_drained(const json_t* configured, const std::string& name, bool is_drained) {
    change_of(configured, name).set("drained", is_drained);
}

bool PartitionChanges::set_folder(const std::string& name, int folder) {
    const bool is_other = folder_of(name) != folder;
    if (folder != 0) {
        folders_.set(name.c_str(), folder);
    } else {
        json_object_del(folders_.get(), name.c_str());
    }
    return is_other;
}

int PartitionChanges::folder_of(const std::string& name) const {
    return static_cast<int>(std::clamp<json_int_t>(json_integer_value(folders_.at(name.c_str()).get()), 0, folder_max));
}

bool PartitionChanges::is_drained(const std::string& name) const {
    return json_is_true(changes_.at(name.c_str()).at("drained").get());
}

}  // namespace weir::route
