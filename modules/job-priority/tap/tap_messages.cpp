// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see tap_messages.hpp.
#include "modules/job-priority/tap/tap_messages.hpp"

#include <set>
#include <string_view>

#include "libfairshare/base/fsd.hpp"
#include "libfairshare/base/json/json.hpp"
#include "modules/job-priority/tap/tap_table.hpp"

namespace weir::priority {
namespace {

bool read_names(json_t* array, std::set<std::string>& names) {
    std::size_t index = 0;
    json_t* entry = nullptr;
    json_array_foreach(array, index, entry) {
        const char* name = json_string_value(entry);
        if (name == nullptr) {
            return false;
        }
        names.insert(name);
    }
    return array == nullptr || json_is_array(array);
}

bool read_user(json_t* entry, TapAccounts& accounts) {
    json_int_t userid = 0;
    json_t* by_default = nullptr;
    json_t* names = nullptr;
    json_t* name = nullptr;
    if (json_unpack(entry, "[I,o,o,o]", &userid, &by_default, &names, &name) < 0 &&
        json_unpack(entry, "[I,o,o]", &userid, &by_default, &names) < 0) {
        return false;
    }
    TapUser user;
    if (json_is_string(by_default)) {
        user.default_account = json_string_value(by_default);
    }
    if (json_is_string(name)) {
        user.name = json_string_value(name);
    }
    if (!read_names(names, user.accounts)) {
        return false;
    }
    accounts.users.insert_or_assign(static_cast<std::uint32_t>(userid), std::move(user));
    return true;
}

bool read_mode(std::string_view name, TapUpdate::Mode& mode) {
    using enum TapUpdate::Mode;
    for (const auto& [known, value] : {std::pair("job", job), std::pair("fill", fill), std::pair("all", all)}) {
        if (name == known) {
            mode = value;
            return true;
        }
    }
    return false;
}

/// Ids have 64 bits, of which integers of JSON have one less: FLUIDs end before that.
bool read_jobs(FlatValue list, std::vector<TapUpdate::Entry>& jobs) {
    if (!list.is_array()) {
        return false;
    }
    for (FlatValue entry = list.first(); entry; entry = entry.next()) {
        const FlatValue first = entry.is_array() ? entry.first() : FlatValue();
        const auto id = first.integer();
        const auto priority = first.next().integer();
        if (!id || !priority) {
            return false;
        }
        jobs.push_back({static_cast<std::uint64_t>(*id), *priority});
    }
    return true;
}

/// Nothing is as good as an empty list.
bool read_first_values(FlatValue list, std::vector<std::pair<std::string, std::uint32_t>>& rows) {
    if (list && !list.is_array()) {
        return false;
    }
    for (FlatValue entry = list ? list.first() : FlatValue(); entry; entry = entry.next()) {
        const FlatValue first = entry.is_array() ? entry.first() : FlatValue();
        auto kind = first.string();
        const auto value = first.next().integer();
        if (!kind || !value) {
            return false;
        }
        rows.emplace_back(std::move(*kind), clamp_priority(*value));
    }
    return true;
}

}  // namespace

bool read_accounts(const AccountLists& lists, TapAccounts& accounts) {
    bool is_good = json_is_array(lists.users) && read_names(lists.open, accounts.open_accounts) &&
                   read_names(lists.known, accounts.known_accounts);
    if (json_is_array(lists.queues)) {
        is_good = is_good && read_names(lists.queues, accounts.queues.emplace());
    }
    std::size_t index = 0;
    json_t* entry = nullptr;
    json_array_foreach(lists.users, index, entry) {
        is_good = is_good && read_user(entry, accounts);
    }
    return is_good;
}

std::optional<TapUpdate> read_update(FlatValue request) {
    TapUpdate update;
    const FlatValue mode = request["mode"];
    const bool has_mode = !mode || read_mode(mode.string().value_or(""), update.mode);
    if (!has_mode || !read_jobs(request["jobs"], update.jobs) ||
        !read_first_values(request["first_values"], update.first_values)) {
        return std::nullopt;
    }
    update.is_synced = request["synced"].boolean();
    update.is_all_first_values = request["all_first_values"].boolean().value_or(false);
    return update;
}

Result<Duration> duration_of(const json_t* value) {
    const char* text = json_string_value(value);
    const std::string number = json_is_number(value) ? Json::ref(const_cast<json_t*>(value)).dump() : "";
    return parse_fsd_with_unit(text != nullptr ? text : !number.empty() ? number : "(not a duration)");
}

}  // namespace weir::priority
