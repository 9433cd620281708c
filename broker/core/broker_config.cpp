// SPDX-License-Identifier: LGPL-3.0-only
// Owns: checking and reading of the broker's own configuration keys. Must not know other keys.
#include "broker/core/broker_config.hpp"

#include <cmath>
#include <string>

namespace weir::broker {
namespace {

Error bad(const std::string& key, const std::string& right) {
    return {std::errc::invalid_argument, key + " must be " + right};
}

Result<LoadRequest> read_module(const Json& entry) {
    const std::string key = "weir-broker.modules";
    if (const char* name = json_string_value(entry.get())) {
        return LoadRequest{name, {}, {}};
    }
    const auto name = entry.string_at("name");
    if (!name) {
        return bad(key, "a list of names or of tables {name=\"x\", path=\"/p/x.so\", args=[\"a=1\"]}");
    }
    LoadRequest request;
    const auto path = entry.string_at("path");
    request.target = path ? *path : *name;
    request.name = path ? *name : std::string();
    const Json args = entry.at("args");
    std::size_t i = 0;
    json_t* arg = nullptr;
    json_array_foreach(args.get(), i, arg) {
        if (!json_is_string(arg)) {
            return bad(key + " args of " + *name, "a list of strings");
        }
        request.args.emplace_back(json_string_value(arg));
    }
    return request;
}

Status read_modules(const Json& config, BrokerConfig& out) {
    const Json list = config.at("weir-broker").at("modules");
    if (!list) {
        for (const char* name : {"kvs", "resource", "job-manager", "job-exec"}) {
            out.modules.push_back(LoadRequest{name, {}, {}});
        }
        return Done{};
    }
    if (!json_is_array(list.get())) {
        return bad("weir-broker.modules", "a list");
    }
    std::size_t i = 0;
    json_t* entry = nullptr;
    json_array_foreach(list.get(), i, entry) {
        auto module = read_module(Json::ref(entry));
        if (!module) {
            return module.error();
        }
        out.modules.push_back(std::move(*module));
    }
    return Done{};
}

Status read_flag(const Json& table, const char* key, bool& out) {
    const Json value = table.at(key);
    if (value && !json_is_boolean(value.get())) {
        return bad(std::string("access.") + key, "true or false");
    }
    out = json_is_true(value.get());
    return Done{};
}

Status read_clock_number(const Json& table, const char* key, std::optional<double>& out) {
    const Json value = table.at(key);
    if (value) {
        if (!json_is_number(value.get())) {
            return bad(std::string("clock.") + key, "a number");
        }
        out = json_number_value(value.get());
    }
    return Done{};
}

}  // namespace

Result<BrokerConfig> read_broker_config(const Json& config) {
    BrokerConfig out;
    const Json access = config.at("access");
    const Json clock = config.at("clock");
    for (const Status& how :
         {read_modules(config, out), read_flag(access, "allow-guest-user", out.access.allow_guests),
          read_flag(access, "allow-root-owner", out.access.allow_root_owner),
          read_clock_number(clock, "scale", out.clock_scale), read_clock_number(clock, "origin", out.clock_origin)}) {
        if (!how) {
            return how.error();
        }
    }
    if (out.clock_scale && !(*out.clock_scale > 0 && std::isfinite(*out.clock_scale))) {
        return bad("clock.scale", "a number above 0");
    }
    return out;
}

}  // namespace weir::broker
