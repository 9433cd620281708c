// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the service "config" and the instance's current configuration. A new one is offered to every module in load
// order; one veto and those that took it get the old one back. Must not know what any key means. Source:
// flux-config(1), RFC 5 config-reload.
#pragma once
#include <cstddef>
#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "broker/core/config.hpp"
#include "broker/core/router.hpp"

namespace weir::broker {

class ConfigService {
  public:
    struct Hooks {
        std::function<std::vector<std::string>()> modules;  // who must agree
        std::function<Status(const Json&)> check;           // the broker's own veto
        std::function<void(const Json&)> apply;             // the broker's own keys
    };
    ConfigService(Router& router, Json config, std::vector<std::string> paths, Hooks hooks);
    const Json& config() const { return config_; }

  private:
    struct Change {
        Json config;
        Call asked;
    };
    void get(const Call& call);
    void begin(Json config, const Call& call);
    void next_change();
    void offer(std::size_t i);
    void revert(std::size_t count, const Error& why);
    void finish(const Status& how);

    Router& router_;
    Json config_;
    std::vector<std::string> paths_;
    Hooks hooks_;
    std::vector<Call> getters_;
    std::deque<Change> changes_;  // the first one is being offered
    std::vector<std::string> names_;
};

}  // namespace weir::broker
