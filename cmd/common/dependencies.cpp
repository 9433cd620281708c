// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the words for each kind of dependency.
#include "cmd/common/dependencies.hpp"

#include <array>
#include <charconv>
#include <optional>
#include <string_view>

#include "cmd/common/text.hpp"

namespace weir::cmd {
namespace {

struct After {
    std::string_view kind;
    const char* words;
};
constexpr std::array<After, 5> afters{{{"after-start", "has started"},
                                       {"after-finish", "has ended"},
                                       {"after-success", "has succeeded"},
                                       {"after-failure", "has failed"},
                                       {"after-except", "has had an exception"}}};

std::optional<double> begin_time(std::string_view description) {
    constexpr std::string_view key = "begin-time=";
    double seconds = 0;
    const bool is_one = description.starts_with(key);
    const char* const end = description.data() + description.size();
    return is_one && std::from_chars(description.data() + key.size(), end, seconds).ec == std::errc{}
               ? std::optional(seconds)
               : std::nullopt;
}

std::string words_of(const std::string& description) {
    const std::size_t equals = description.find('=');
    for (const After& after : afters) {
        if (equals != std::string::npos && description.compare(0, equals, after.kind) == 0) {
            return "until " + printable(description.substr(equals + 1)) + " " + after.words;
        }
    }
    return begin_time(description)      ? "for its begin time"
           : description == "singleton" ? "until no other job of its user and name is active"
                                        : "for \"" + printable(description) + "\"";
}

}  // namespace

Json dependency_reason(const std::vector<std::string>& descriptions) {
    if (descriptions.empty()) {
        return {};
    }
    Json out = Json::object();
    Json list = Json::array();
    std::vector<std::string> words;
    std::optional<double> earliest;
    bool has_others = false;
    for (const std::string& description : descriptions) {
        const auto begin = begin_time(description);
        earliest = begin ? begin : earliest;
        has_others = has_others || !begin;
        words.push_back(words_of(description));
        list.append(Json::string(description));
    }
    out.set("reason", has_others ? "dependencies" : "begin-time").set("text", "waits " + listed(words));
    out.set("dependencies", std::move(list));
    if (earliest) {
        out.set("not_before", *earliest);
    }
    return out;
}

}  // namespace weir::cmd
