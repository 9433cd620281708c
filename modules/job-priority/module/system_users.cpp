// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see system_users.hpp.
#include "modules/job-priority/module/system_users.hpp"

#include <grp.h>
#include <pwd.h>

#include <algorithm>
#include <optional>

namespace weir::priority {
namespace {

struct User {
    std::string name;
    uid_t id = 0;
    gid_t group = 0;
};

Result<std::optional<User>> user_by_id(std::uint32_t userid) {
    std::optional<User> user;
    const Status asked = with_buffer("getpwuid_r " + std::to_string(userid), [&](char* buffer, std::size_t size) {
        passwd entry{};
        passwd* found = nullptr;
        const int failed = getpwuid_r(userid, &entry, buffer, size, &found);
        user = found != nullptr ? std::optional(User{found->pw_name, found->pw_uid, found->pw_gid}) : std::nullopt;
        return failed;
    });
    return asked ? Result<std::optional<User>>(std::move(user)) : asked.error();
}

Result<std::optional<User>> user_by_name(const std::string& name) {
    std::optional<User> user;
    const Status asked = with_buffer("getpwnam_r " + name, [&](char* buffer, std::size_t size) {
        passwd entry{};
        passwd* found = nullptr;
        const int failed = getpwnam_r(name.c_str(), &entry, buffer, size, &found);
        user = found != nullptr ? std::optional(User{found->pw_name, found->pw_uid, found->pw_gid}) : std::nullopt;
        return failed;
    });
    return asked ? Result<std::optional<User>>(std::move(user)) : asked.error();
}

std::vector<gid_t> group_ids(const User& user) {
    std::vector<gid_t> ids(64);
    for (;;) {
        int count = static_cast<int>(ids.size());
        if (getgrouplist(user.name.c_str(), user.group, ids.data(), &count) >= 0) {
            ids.resize(static_cast<std::size_t>(count));
            return ids;
        }
        ids.resize(std::max(static_cast<std::size_t>(count), 2 * ids.size()));
    }
}

Result<std::vector<std::string>> groups_of(const std::string& name) {
    const auto user = user_by_name(name);
    if (!user) {
        return user.error();
    }
    std::vector<std::string> names;
    for (const gid_t id : *user ? group_ids(**user) : std::vector<gid_t>{}) {
        const Status asked = with_buffer("getgrgid_r " + std::to_string(id), [&](char* buffer, std::size_t size) {
            group entry{};
            group* found = nullptr;
            const int failed = getgrgid_r(id, &entry, buffer, size, &found);
            if (found != nullptr) {
                names.emplace_back(found->gr_name);
            }
            return failed;
        });
        if (!asked) {
            return asked.error();
        }
    }
    return names;
}

}  // namespace

UserDatabase system_users() {
    UserDatabase database;
    database.name_of = [](std::uint32_t userid) -> Result<std::optional<std::string>> {
        const auto user = user_by_id(userid);
        if (!user) {
            return user.error();
        }
        return *user ? std::optional((*user)->name) : std::nullopt;
    };
    database.id_of = [](const std::string& name) -> Result<std::optional<std::uint32_t>> {
        const auto user = user_by_name(name);
        if (!user) {
            return user.error();
        }
        return *user ? std::optional<std::uint32_t>((*user)->id) : std::nullopt;
    };
    database.groups_of = groups_of;
    return database;
}

}  // namespace weir::priority
