// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the words of policies, read and written by the same tables.
#include "libsched/policy/policy.hpp"

#include <array>
#include <charconv>
#include <functional>
#include <vector>

#include "libfairshare/base/fsd.hpp"
#include "libfairshare/base/nearest_name.hpp"

namespace weir {
namespace {

struct Named {
    std::string_view name;
    Policy policy;
    std::vector<std::string_view> settings;
};

const std::vector<Named>& policies() {
    constexpr std::uint32_t hybrid_depth = 8;
    static const std::vector<Named> table{
        {"fcfs", Fcfs{}, {}},
        {"first-fit", FirstFit{}, {"starve-after"}},
        {"easy", Backfill{}, {"backfill", "metric", "reserve-after", "reserve-above"}},
        {"easy-sjf", Backfill{.choice = BackfillChoice::shortest}, {"reserve-after", "reserve-above"}},
        {"hybrid", Backfill{.depth = hybrid_depth}, {"depth", "backfill", "metric", "reserve-after", "reserve-above"}},
        {"conservative", Backfill{.depth = Backfill::all}, {}},
        {"conservative-fw", KeptReservations{}, {}}};
    return table;
}

constexpr std::array<std::string_view, 4> choices{"first-fit", "shortest", "best-fit", "greedy"};
constexpr std::array<std::string_view, 3> metrics{"procs", "seconds", "proc-seconds"};

Error wrong(const std::string& what) {
    return Error{std::errc::invalid_argument, what};
}

/// "NOUN "x" is unknown; did you mean "y"?" or the list.
Error unknown(const std::string& noun, std::string_view name, const std::vector<std::string_view>& known) {
    std::string text = noun + " \"" + std::string(name) + "\" is unknown; ";
    if (const std::string hint = did_you_mean(name, known); !hint.empty()) {
        return wrong(text + hint);
    }
    if (known.empty()) {
        return wrong(text + "this policy has none");
    }
    text += "there " + std::string(known.size() == 1 ? "is " : "are ");
    for (std::size_t i = 0; i < known.size(); i++) {
        text += std::string(i == 0 ? "" : ", ") + std::string(known[i]);
    }
    return wrong(text);
}

template <typename Enum, std::size_t size>
Status read_word(std::string_view key, std::string_view value, const std::array<std::string_view, size>& words,
                 Enum& out) {
    const auto found = std::find(words.begin(), words.end(), value);
    if (found == words.end()) {
        return unknown(std::string(key), value, {words.begin(), words.end()});
    }
    out = static_cast<Enum>(found - words.begin());
    return Done{};
}

Status read_number(std::string_view key, std::string_view value, std::uint32_t least, std::uint32_t& out) {
    std::uint32_t number = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
    if (error != std::errc{} || end != value.data() + value.size() || number < least) {
        return wrong(std::string(key) + " takes a whole number from " + std::to_string(least) +
                     " to 4294967295, not \"" + std::string(value) + "\"");
    }
    out = number;
    return Done{};
}

Status read_duration(std::string_view key, std::string_view value, Duration& out) {
    const auto duration = parse_fsd_with_unit(value);
    if (!duration) {
        return wrong(std::string(key) + ": " + duration.error().message);
    }
    out = *duration;
    return Done{};
}

Status set(Policy& policy, std::string_view key, std::string_view value) {
    if (auto* first_fit = std::get_if<FirstFit>(&policy)) {
        return read_duration(key, value, first_fit->starve_after);
    }
    auto& backfill = std::get<Backfill>(policy);
    if (key == "backfill") {
        return read_word(key, value, choices, backfill.choice);
    }
    if (key == "metric") {
        return read_word(key, value, metrics, backfill.metric);
    }
    if (key == "reserve-after") {
        return read_duration(key, value, backfill.reserve_after);
    }
    if (key == "reserve-above") {
        return read_number(key, value, 0, backfill.reserve_above);
    }
    if (value == "all") {
        backfill.depth = Backfill::all;
        return Done{};
    }
    return read_number(key, value, 1, backfill.depth);
}

std::string settings_of(const Backfill& one, const Backfill& usual) {
    std::string text;
    const auto add = [&](bool differs, std::string_view key, const std::string& value) {
        if (differs) {
            text += std::string(text.empty() ? ":" : ",") + std::string(key) + "=" + value;
        }
    };
    add(one.depth != usual.depth, "depth", one.depth == Backfill::all ? "all" : std::to_string(one.depth));
    add(one.choice != usual.choice, "backfill", std::string(choices[static_cast<std::size_t>(one.choice)]));
    add(one.metric != usual.metric, "metric", std::string(metrics[static_cast<std::size_t>(one.metric)]));
    add(one.reserve_after != usual.reserve_after, "reserve-after", encode_fsd(one.reserve_after));
    add(one.reserve_above != usual.reserve_above, "reserve-above", std::to_string(one.reserve_above));
    return text;
}

}  // namespace

std::vector<std::string_view> policy_names() {
    std::vector<std::string_view> names;
    for (const Named& named : policies()) {
        names.push_back(named.name);
    }
    return names;
}

Result<Policy> policy_named(std::string_view text) {
    const std::string_view name = text.substr(0, text.find(':'));
    const auto named =
        std::find_if(policies().begin(), policies().end(), [&](const Named& n) { return n.name == name; });
    if (named == policies().end()) {
        return unknown("scheduling policy", name, policy_names());
    }
    Policy policy = named->policy;
    std::string_view rest = text.substr(std::min(text.size(), name.size() + 1));
    while (!rest.empty()) {
        const std::string_view setting = rest.substr(0, rest.find(','));
        rest = rest.substr(std::min(rest.size(), setting.size() + 1));
        const std::string_view key = setting.substr(0, setting.find('='));
        if (std::find(named->settings.begin(), named->settings.end(), key) == named->settings.end()) {
            return unknown("setting of " + std::string(name), key, named->settings);
        }
        if (key.size() == setting.size()) {
            return wrong("setting \"" + std::string(key) + "\" of " + std::string(name) +
                         " wants a value: " + std::string(key) + "=…");
        }
        if (auto done = set(policy, key, setting.substr(key.size() + 1)); !done) {
            return done.error();
        }
    }
    return policy;
}

std::string name_of(const Policy& policy) {
    for (const Named& named : policies()) {
        if (named.policy == policy) {
            return std::string(named.name);
        }
    }
    if (const auto* first_fit = std::get_if<FirstFit>(&policy)) {
        return "first-fit:starve-after=" + encode_fsd(first_fit->starve_after);
    }
    const auto& backfill = std::get<Backfill>(policy);
    const auto& usual = std::get<Backfill>(policies()[backfill.depth == 1 ? 2 : 4].policy);
    return std::string(backfill.depth == 1 ? "easy" : "hybrid") + settings_of(backfill, usual);
}

}  // namespace weir
