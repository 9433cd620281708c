// SPDX-License-Identifier: LGPL-3.0-only
// Owns: numeric user ids to names and back: the configuration's [weir.users] first, then the system's database; known
// answers while the database fails. "Could not be asked" differs from "no such user", because a failing database must
// not change the payer. Must not know: accounts, clocks. The system is behind an interface (system_users.hpp).
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "libfairshare/base/result.hpp"

namespace weir::priority {

/// The system's user database (getpwuid, getpwnam, getgrouplist). An error means that it could not be asked, not that
/// there is no such user.
struct UserDatabase {
    std::function<Result<std::optional<std::string>>(std::uint32_t)> name_of;
    std::function<Result<std::optional<std::uint32_t>>(const std::string&)> id_of;
    std::function<Result<std::vector<std::string>>(const std::string&)> groups_of = {};  ///< of a name; may be absent
};

/// One look-up a user. Missing and failed look-ups are repeated at each refresh(); a known answer stays while the
/// database fails. After one failure it is not asked before the next refresh().
class UserNames {
  public:
    /// \param users  the configured names, and their ids
    UserNames(UserDatabase database, const std::map<std::string, std::uint32_t>& users)
        : database_(std::move(database)) {
        configure(users);
    }
    /// Sets the configured names. Everything else is looked up again when needed.
    void configure(const std::map<std::string, std::uint32_t>& users);

    /// The name, or the id in decimal if it has none that a line of the share tree can have: such a user is a member
    /// like any other, within the limits of his account. The reference is valid until refresh().
    const std::string& name(std::uint32_t userid);
    /// Whether it has a name.
    bool is_known(std::uint32_t userid);
    /// The id of a name, or of an id written in decimal.
    std::optional<std::uint32_t> id(const std::string& name);
    /// Whether it may be a user's name, or an id in decimal: false only if the database says that there is none. The
    /// answer is not stored, since any user may ask about any name.
    bool may_be_user(const std::string& name) const;
    /// The groups of a user, by name.
    const std::vector<std::string>& groups(std::uint32_t userid);

    /// Whether the look-up of the user's name or groups failed and has never succeeded, so that the payer is unknown.
    /// No look-up is made.
    bool is_in_doubt(std::uint32_t userid) const;
    /// Repeats missing and failed look-ups. True if an answer has changed. O(such users).
    bool refresh();
    /// Increases whenever an answer may be another one than before.
    std::uint64_t version() const { return version_; }
    /// The error, once for each time that the database began to fail.
    std::optional<std::string> take_problem() { return std::exchange(problem_, std::nullopt); }

  private:
    enum class State : std::uint8_t {
        stale,    ///< not asked yet, or not since configure()
        settled,  ///< answered
        missing,  ///< answered: there is none
        failed,   ///< not answered; `value` is the last answer, if there was one
    };
    template <typename T>
    struct Known {
        T value{};
        State state = State::stale;
        bool was_answered = false;  ///< `value` is an answer of the database
    };
    template <typename T, typename Ask>
    void ask(Known<T>& known, const Ask& question);
    std::vector<std::uint32_t> nameless() const;

    UserDatabase database_;
    std::map<std::string, std::uint32_t> configured_;
    std::unordered_map<std::uint32_t, std::string> configured_names_;
    std::unordered_map<std::uint32_t, Known<std::string>> names_;
    std::map<std::string, Known<std::optional<std::uint32_t>>> ids_;
    std::map<std::uint32_t, Known<std::vector<std::string>>> groups_;
    std::optional<std::string> problem_;
    std::uint64_t version_ = 0;
    bool is_down_ = false;      ///< failed since the last refresh()
    bool is_reported_ = false;  ///< failed, and has not answered since
};

}  // namespace weir::priority
