// SPDX-License-Identifier: LGPL-3.0-only
// Owns: numeric user ids to names and back: the configuration's [weir.users] first, then the system's database.
// Must not know: accounts. The system is behind a seam, so that tests need no such users.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace weir::priority {

/// The system's user database (getpwuid, getpwnam, getgrouplist).
struct UserDatabase {
    std::function<std::optional<std::string>(std::uint32_t)> name_of;
    std::function<std::optional<std::uint32_t>(const std::string&)> id_of;
    std::function<std::vector<std::string>(const std::string&)> groups_of = {};  ///< of a user's name; may be absent
};

class UserNames {
  public:
    explicit UserNames(UserDatabase database) : database_(std::move(database)) {}
    /// Takes the configured names; what was looked up before is forgotten.
    void configure(const std::map<std::string, std::uint32_t>& users);

    /// The name, or the id in decimal when nobody has one for it. Cached: one look-up a user.
    const std::string& name(std::uint32_t userid);
    /// Whether somebody has a name for it.
    bool is_known(std::uint32_t userid) { return name(userid) != std::to_string(userid); }
    /// The id of a name, or of an id written in decimal.
    std::optional<std::uint32_t> id(const std::string& name);

    /// The groups of a user, by name. Cached until configure().
    const std::vector<std::string>& groups(std::uint32_t userid);

  private:
    UserDatabase database_;
    std::map<std::string, std::uint32_t> configured_;
    std::unordered_map<std::uint32_t, std::string> names_;
    std::map<std::string, std::optional<std::uint32_t>> ids_;
    std::unordered_map<std::uint32_t, std::vector<std::string>> groups_;
};

}  // namespace weir::priority
