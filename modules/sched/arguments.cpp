// SPDX-License-Identifier: LGPL-3.0-only
#include "modules/sched/arguments.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <string>

namespace weir::sched {
namespace {

Error wrong(std::string_view argument, const std::string& right) {
    return {std::errc::invalid_argument, "\"" + std::string(argument) + "\": " + right};
}

std::optional<std::uint32_t> positive(std::string_view text) {
    std::uint32_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || end != text.data() + text.size() || number == 0) {
        return std::nullopt;
    }
    return number;
}

/// RFC 5424 severity by Flux's name, in capitals or not.
std::optional<int> severity_named(std::string name) {
    std::transform(name.begin(), name.end(), name.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    constexpr std::array<std::string_view, 8> names{"emerg",   "alert",  "crit", "err",
                                                    "warning", "notice", "info", "debug"};
    const auto* const found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) {
        return std::nullopt;
    }
    return static_cast<int>(found - names.begin());
}

/// `unlimited`, or the number behind `prefix`.
Status read_depth(Settings& settings, std::string_view argument, std::string_view value, std::string_view prefix) {
    if (value == "unlimited") {
        settings.queue_depth.reset();
        return Done{};
    }
    const auto depth = value.starts_with(prefix) ? positive(value.substr(prefix.size())) : std::nullopt;
    if (!depth) {
        return wrong(argument, "write \"unlimited\" or \"" + std::string(prefix) + "N\", N from 1 to 4294967295");
    }
    settings.queue_depth = depth;
    return Done{};
}

Status read_argument(Settings& settings, std::string_view argument) {
    const std::size_t equals = argument.find('=');
    const std::string_view key = argument.substr(0, equals);
    const std::string_view value = equals == std::string_view::npos ? "" : argument.substr(equals + 1);
    if (key == "policy") {
        const auto policy = policy_named(value);
        if (!policy) {
            return wrong(argument, policy.error().message);
        }
        settings.policy = *policy;
        return Done{};
    }
    if (key == "node-choice") {
        const auto choice = node_choice_named(value);
        if (!choice) {
            return wrong(argument, "node-choice is first, best-fit or least-loaded");
        }
        settings.node_choice = *choice;
        return Done{};
    }
    if (key == "queue-depth") {
        return read_depth(settings, argument, value, "");
    }
    if (key == "mode") {
        return read_depth(settings, argument, value, "limited=");
    }
    if (key == "log-level") {
        const auto level = severity_named(std::string(value));
        if (!level) {
            return wrong(argument, "log-level is emerg, alert, crit, err, warning, notice, info or debug");
        }
        settings.log_level = *level;
        return Done{};
    }
    if (key == "pool-class") {
        settings.has_pool_class = true;
        return Done{};
    }
    return wrong(argument,
                 "unknown argument; this module takes policy=, node-choice=, queue-depth=, mode= and log-level=");
}

}  // namespace

Result<Settings> settings_of(Policy policy, std::span<const std::string_view> arguments) {
    Settings settings{std::move(policy), NodeChoice::first, std::nullopt, 7};
    for (const std::string_view argument : arguments) {
        if (const Status read = read_argument(settings, argument); !read) {
            return read.error();
        }
    }
    return settings;
}

}  // namespace weir::sched
