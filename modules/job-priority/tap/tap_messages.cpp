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

bool read_project_index(json_t* object, TapProjectIndex& index) {
    const char* account = nullptr;
    json_t* number = nullptr;
    json_object_foreach(object, account, number) {
        if (!json_is_integer(number) || json_integer_value(number) < 0) {
            return false;
        }
        index.emplace(account, static_cast<std::size_t>(json_integer_value(number)));
    }
    return object == nullptr || json_is_object(object);
}

bool read_projects(json_t* list, std::vector<TapProjects>& projects) {
    std::size_t index = 0;
    json_t* entry = nullptr;
    json_array_foreach(list, index, entry) {
        const char* by_default = nullptr;
        json_t* names = nullptr;
        TapProjects one;
        if (json_unpack(entry, "{s:s s:o}", "default", &by_default, "names", &names) < 0 ||
            !read_names(names, one.names)) {
            return false;
        }
        one.by_default = by_default;
        projects.push_back(std::move(one));
    }
    return list == nullptr || json_is_array(list);
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
    if (!read_names(names, user.accounts) || !read_project_index(json_array_get(entry, 4), user.projects)) {
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

/// Ids have 64 bits and JSON integers 63; FLUIDs need fewer.
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

/// An absent list counts as empty.
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

bool read_accounts(json_t* request, TapAccounts& accounts) {
    json_t* users = nullptr;
    json_t* open = nullptr;
    json_t* known = nullptr;
    json_t* queues = nullptr;
    json_t* projects = nullptr;
    json_t* open_projects = nullptr;
    json_t* qos = nullptr;
    const char* open_default = nullptr;
    int is_enforced = 0;
    int checks_copies = 0;
    int fills_bank = 0;
    if (json_unpack(request, "{s:o s?o s?o s?o s?s s:b s?b s?b s?o s?o s?o}", "users", &users, "any", &open, "known",
                    &known, "queues", &queues, "any_default", &open_default, "enforce", &is_enforced, "enforce_copies",
                    &checks_copies, "fill_bank", &fills_bank, "projects", &projects, "any_projects", &open_projects,
                    "qos", &qos) < 0) {
        return false;
    }
    accounts.is_enforced = is_enforced != 0;
    accounts.checks_copies = checks_copies != 0;
    accounts.fills_bank = fills_bank != 0;
    if (open_default != nullptr) {
        accounts.open_default = open_default;
    }
    bool is_good = json_is_array(users) && read_names(open, accounts.open_accounts) &&
                   read_names(known, accounts.known_accounts) && read_projects(projects, accounts.projects) &&
                   read_project_index(open_projects, accounts.open_projects);
    if (json_is_array(queues)) {
        is_good = is_good && read_names(queues, accounts.queues.emplace());
    }
    if (json_is_array(qos)) {
        is_good = is_good && read_names(qos, accounts.qos.emplace());
    }
    std::size_t index = 0;
    json_t* entry = nullptr;
    json_array_foreach(users, index, entry) {
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
    update.is_limited = request["limited"].boolean().value_or(false);
    update.is_all_first_values = request["all_first_values"].boolean().value_or(false);
    return update;
}

Result<Duration> duration_of(const json_t* value) {
    const char* text = json_string_value(value);
    const std::string number = json_is_number(value) ? Json::ref(const_cast<json_t*>(value)).dump() : "";
    return parse_fsd_with_unit(text != nullptr ? text : !number.empty() ? number : "(not a duration)");
}

}  // namespace weir::priority
