// SPDX-License-Identifier: LGPL-3.0-only
// Owns: collecting an instance's attributes. Must not know messages.
#include "broker/core/instance.hpp"

#include <flux/core.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include "broker/api/clock.hpp"
#include "broker/core/local_listener.hpp"
#include "broker/core/uuid.hpp"

#ifndef WEIR_VERSION
#error "WEIR_VERSION is set by broker/core/CMakeLists.txt"
#endif

namespace weir::broker {
namespace {

std::string take_variable(const char* name) {
    const char* value = std::getenv(name);
    std::string text = value != nullptr ? value : "";
    unsetenv(name);
    return text;
}

std::string to_f58(const std::string& jobid) {
    flux_jobid_t id = 0;
    std::array<char, 64> text{};
    if (flux_job_id_parse(jobid.c_str(), &id) < 0 || flux_job_id_encode(id, "f58", text.data(), text.size()) < 0) {
        return jobid;
    }
    return text.data();
}

std::string in_digits(double value) {
    std::array<char, 64> text{};
    const auto [end, failed] = std::to_chars(text.data(), text.data() + text.size(), value);
    return failed == std::errc() ? std::string(text.data(), end) : "0";
}

std::optional<double> as_number(const std::string& text) {
    double value = 0;
    const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (failed != std::errc() || end != text.data() + text.size()) {
        return std::nullopt;
    }
    return value;
}

std::string host_name() {
    std::array<char, 256> name{};
    gethostname(name.data(), name.size() - 1);
    return name.data();
}

/// Attributes that the command line may not set, because they report facts.
bool is_read_only(const std::string& name) {
    constexpr std::array attributes_read_only{"rundir",       "local-uri",      "rank",           "size",
                                              "version",      "broker.pid",     "parent-uri",     "jobid",
                                              "jobid-path",   "broker.uuid",    "security.owner", "broker.starttime",
                                              "config.files", "instance-level", "clock.zero",     "clock.last-seen",
                                              "output-dir",   "content.hash"};
    return std::any_of(attributes_read_only.begin(), attributes_read_only.end(),
                       [&name](const char* other) { return name == other; });
}

/// config.path and config.files: the latter for partitions, which read their part of them.
void set_config_files(Attributes& all, const Options& options) {
    if (options.configs.empty()) {
        return;
    }
    std::error_code failed;
    all.set("config.path", std::filesystem::absolute(options.configs.front().path, failed).string());
    std::string files;
    for (const ConfigSource& source : options.configs) {
        files += (files.empty() ? "" : ":") + std::filesystem::absolute(source.path, failed).string();
    }
    all.set("config.files", files);
}

}  // namespace

Parent take_parent_from_environment() {
    Parent parent;
    parent.uri = take_variable("FLUX_URI");
    parent.jobid = take_variable("FLUX_JOB_ID");
    parent.jobid_path = take_variable("FLUX_JOB_ID_PATH");
    parent.clock = take_variable("WEIR_CLOCK");
    if (parent.uri.empty() || parent.jobid.empty()) {
        return {};
    }
    parent.jobid = to_f58(parent.jobid);
    if (parent.jobid_path.empty()) {
        parent.jobid_path = "/" + parent.jobid;
    }
    parent.level = static_cast<int>(std::count(parent.jobid_path.begin(), parent.jobid_path.end(), '/'));
    return parent;
}

Result<Attributes> instance_attributes(const Options& options, const BrokerConfig& config, const Parent& parent,
                                       const std::string& rundir) {
    using Kind = Attributes::Kind;
    Attributes all;
    all.set("rundir", rundir);
    all.set("local-uri", "local://" + rundir + "/" + LocalListener::socket_name);
    all.set("rank", "0");
    all.set("size", "1");
    // Clients compare major and minor number with their own: it is the version of the protocols, and ours behind it.
    all.set("version", std::string("0.88.0+weir-") + WEIR_VERSION);
    all.set("hostlist", host_name());
    all.set("instance-level", std::to_string(parent.level));
    all.set("jobid-path", parent.jobid_path.empty() ? "/" : parent.jobid_path);
    if (!parent.uri.empty()) {
        all.set("parent-uri", parent.uri);
        all.set("jobid", parent.jobid);
    }
    all.set("security.owner", std::to_string(getuid()));
    all.set("broker.pid", std::to_string(getpid()));
    all.set("broker.uuid", new_uuid());
    all.set("content.hash", "sha1");  // of the references that the KVS gives, which name no content
    all.set("broker.module-nopanic", "0", Kind::runtime);
    all.set("log-stderr-level", "3", Kind::severity);
    all.set("log-forward-level", "6", Kind::severity);
    set_config_files(all, options);
    if (config.clock_scale) {
        all.set("clock.scale", in_digits(*config.clock_scale));
    }
    if (config.clock_origin) {
        all.set("clock.origin", in_digits(*config.clock_origin));
    }
    for (const auto& [name, value] : options.attributes) {
        if (is_read_only(name)) {
            return Error{std::errc::invalid_argument, "attribute " + name + " cannot be set: it reports a fact"};
        }
        const auto* known = all.find(name);
        const Kind kind = known != nullptr ? known->kind : Kind::fixed;
        if (auto fits = Attributes::check(name, value, kind); !fits) {
            return fits.error();
        }
        const bool is_file = name == "log-filename" && !value.empty();
        all.set(name, is_file ? std::filesystem::absolute(value).string() : value, kind);
    }
    const std::string statedir = all.get("statedir").value_or("");
    all.set("output-dir", std::filesystem::absolute(statedir.empty() ? rundir : statedir).string() + "/output");
    for (const char* name : {"clock.scale", "clock.origin"}) {
        const auto value = all.get(name);
        const auto number = value ? as_number(*value) : std::optional(1.0);
        if (!number || !std::isfinite(*number) || (*number <= 0 && std::string_view(name) == "clock.scale")) {
            return Error{std::errc::invalid_argument, "attribute " + std::string(name) + "=" + *value +
                                                          " must be a number" +
                                                          (std::string_view(name) == "clock.scale" ? " above 0" : "")};
        }
    }
    return all;
}

ClockWish clock_wish(const Attributes& attributes, const Parent& parent) {
    const auto number = [&attributes](const char* name) {
        const auto text = attributes.get(name);
        return text ? as_number(*text) : std::nullopt;
    };
    ClockWish wish{number("clock.scale"), number("clock.origin"), {}};
    const auto space = parent.clock.find(' ');
    if (space != std::string::npos) {
        const auto scale = as_number(parent.clock.substr(0, space));
        const auto zero = as_number(parent.clock.substr(space + 1));
        if (scale && zero && *scale > 0 && std::isfinite(*scale) && std::isfinite(*zero)) {
            wish.parent = {*scale, *zero};
        }
    }
    return wish;
}

void announce_clock(Attributes& attributes, const ClockStart& start, const std::optional<ClockPast>& past) {
    attributes.set("clock.scale", in_digits(start.scale));
    attributes.set("clock.origin", in_digits(start.origin));
    attributes.set("clock.zero", in_digits(start.zero));
    if (past) {
        attributes.set("clock.last-seen", in_digits(past->seen));
    }
    std::array<char, 64> text{};
    std::snprintf(text.data(), text.size(), "%.3f", clock_now());
    attributes.set("broker.starttime", text.data());
}

}  // namespace weir::broker
