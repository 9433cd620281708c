// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the look-ups. See user_names.hpp.
#include "modules/job-priority/jobs/user_names.hpp"

#include <algorithm>
#include <charconv>

#include "libfairshare/tree/share_tree.hpp"

namespace weir::priority {

/// `question` returns Result<optional<T>>.
template <typename T, typename Ask>
void UserNames::ask(Known<T>& known, const Ask& question) {
    version_ += 1;
    if (is_down_) {
        known.state = State::failed;
        return;
    }
    auto answer = question();
    if (!answer) {
        is_down_ = true;
        known.state = State::failed;
        if (!std::exchange(is_reported_, true)) {
            problem_ = answer.error().message +
                       ": the user database does not answer. Known names and groups stay in force; users whose names "
                       "or groups are "
                       "unknown pay as unassociated until it answers. It is asked again at each pass";
        }
        return;
    }
    is_reported_ = false;
    known.was_answered = answer->has_value();
    known.state = known.was_answered ? State::settled : State::missing;
    known.value = std::move(*answer).value_or(T{});
}

void UserNames::configure(const std::map<std::string, std::uint32_t>& users) {
    version_ += 1;
    configured_ = users;
    configured_names_.clear();
    for (const auto& [name, userid] : users) {
        configured_names_[userid] = user_name_error(name).empty() ? name : std::to_string(userid);
    }
    const auto forget = [](auto& all) {
        for (auto& [key, known] : all) {
            known.state = State::stale;
        }
    };
    forget(names_);
    forget(ids_);
    forget(groups_);
    is_down_ = false;
}

const std::string& UserNames::name(std::uint32_t userid) {
    if (const auto given = configured_names_.find(userid); given != configured_names_.end()) {
        return given->second;
    }
    Known<std::string>& known = names_[userid];
    if (known.state == State::stale) {
        ask(known, [&] { return database_.name_of(userid); });
    }
    if (!known.was_answered || !user_name_error(known.value).empty()) {
        known.value = std::to_string(userid);
    }
    return known.value;
}

bool UserNames::is_known(std::uint32_t userid) {
    (void)name(userid);
    const auto known = names_.find(userid);
    return configured_names_.count(userid) != 0 || (known != names_.end() && known->second.was_answered);
}

const std::vector<std::string>& UserNames::groups(std::uint32_t userid) {
    const std::string& of = name(userid);
    Known<std::vector<std::string>>& known = groups_[userid];
    if (known.state == State::stale && database_.groups_of) {
        ask(known, [&]() -> Result<std::optional<std::vector<std::string>>> {
            auto answer = database_.groups_of(of);
            return answer ? Result<std::optional<std::vector<std::string>>>(std::move(*answer)) : answer.error();
        });
    }
    return known.value;
}

std::optional<std::uint32_t> UserNames::id(const std::string& name) {
    if (const auto given = configured_.find(name); given != configured_.end()) {
        return given->second;
    }
    Known<std::optional<std::uint32_t>>& known = ids_[name];
    if (known.state == State::stale) {
        ask(known, [&]() -> Result<std::optional<std::optional<std::uint32_t>>> {
            auto answer = database_.id_of(name);
            if (!answer) {
                return answer.error();
            }
            std::optional<std::optional<std::uint32_t>> found;
            if (*answer) {
                found.emplace(**answer);
            }
            return found;
        });
    }
    if (!known.was_answered) {
        std::uint32_t number = 0;
        const auto [end, failure] = std::from_chars(name.data(), name.data() + name.size(), number);
        known.value = failure == std::errc{} && end == name.data() + name.size() ? std::optional(number) : std::nullopt;
    }
    return known.value;
}

bool UserNames::may_be_user(const std::string& name) const {
    const bool is_id = !name.empty() && name.find_first_not_of("0123456789") == std::string::npos;
    if (is_id || is_down_ || configured_.count(name) != 0) {
        return true;
    }
    const auto answer = database_.id_of(name);
    return !answer || answer->has_value();
}

bool UserNames::is_in_doubt(std::uint32_t userid) const {
    const auto is_doubtful = [userid](const auto& all) {
        const auto known = all.find(userid);
        return known != all.end() && known->second.state == State::failed && !known->second.was_answered;
    };
    return (is_doubtful(names_) && configured_names_.count(userid) == 0) || is_doubtful(groups_);
}

/// In order of id, so that a run can be repeated: behind a look-up that fails none is made.
std::vector<std::uint32_t> UserNames::nameless() const {
    std::vector<std::uint32_t> users;
    for (const auto& [userid, known] : names_) {
        if ((known.state == State::failed || known.state == State::missing) && configured_names_.count(userid) == 0) {
            users.push_back(userid);
        }
    }
    std::sort(users.begin(), users.end());
    return users;
}

bool UserNames::refresh() {
    is_down_ = false;
    bool is_changed = false;
    for (const std::uint32_t userid : nameless()) {
        Known<std::string>& known = names_.at(userid);
        const Known<std::string> before = known;
        known.state = State::stale;
        is_changed = name(userid) != before.value || known.was_answered != before.was_answered || is_changed;
    }
    for (auto& [userid, known] : groups_) {
        if (known.state == State::failed) {
            const Known<std::vector<std::string>> before = known;
            known.state = State::stale;
            is_changed = groups(userid) != before.value || known.was_answered != before.was_answered || is_changed;
        }
    }
    for (auto& [name, known] : ids_) {
        if (known.state == State::failed) {
            const auto before = known.value;
            known.state = State::stale;
            is_changed = id(name) != before || is_changed;
        }
    }
    return is_changed;
}

}  // namespace weir::priority
