// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the service "config" and the instance's current configuration. A new one is offered to every module in load
// order; after a refusal all modules that were asked get the old one back. Must not know what any key means. Source:
// flux-config(1), RFC 5 config-reload.
#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "broker/core/config.hpp"
#include "broker/core/router.hpp"

namespace weir::broker {

class ConfigService {
  public:
    struct Hooks {
        std::function<std::vector<std::string>()> modules;  // the modules that must agree
        std::function<Status(const Json&)> check;           // the broker's own veto
        std::function<void(const Json&)> apply;             // the broker's own keys
        std::function<void()> reload_asked;                 // the files are about to be read again
        std::function<void(int severity, const std::string& text)> log;
        std::function<std::uint64_t()> log_count;
        std::function<std::vector<std::string>(std::uint64_t since)> warnings;  // logged since
    };
    ConfigService(Router& router, LoadedConfig config, std::vector<ConfigSource> sources, Hooks hooks);
    const LoadedConfig& loaded() const { return config_; }
    const Json& config() const { return config_.config; }
    /// Reads the files again, as the request config.reload does. There is no response; the result is in the log.
    void reload() { read_again(std::nullopt); }

  private:
    struct Change {
        LoadedConfig config;
        std::optional<Call> asked;  // none: the reload came from a signal
        std::uint64_t log_count = 0;
    };
    void get(const Call& call);
    void read_again(std::optional<Call> asked);
    void begin(LoadedConfig config, std::optional<Call> asked);
    void next_change();
    void offer(std::size_t i);
    void revert(std::size_t count, const Error& why);
    void accept();
    void refuse(const Error& why);

    Router& router_;
    LoadedConfig config_;
    const Json at_start_;  ///< what the keys that are read at the start alone have
    std::vector<ConfigSource> sources_;
    Hooks hooks_;
    std::vector<Call> getters_;
    std::deque<Change> changes_;  // the first one is being offered
    std::vector<std::string> names_;
};

}  // namespace weir::broker
