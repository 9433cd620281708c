// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the methods of the service "log". Must not know who logs.
#include "broker/core/log_service.hpp"

#include <syslog.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <utility>

namespace weir::broker {

LogService::LogService(Router& router, const Attributes& attributes, std::function<double()> now)
    : attributes_(attributes), now_(std::move(now)) {
    router.add_method("log.append", 0, [this](const Call& call) {
        append(call.request().text());
        if (call.request().aux2() != 0) {
            call.respond();
        }
    });
    router.add_method("log.clear", 0, [this](const Call& call) {
        ring_.clear();
        call.respond();
    });
    router.add_method("log.dmesg", 0, [this](const Call& call) { dmesg(call); });
    router.add_method("log.disconnect", 0, [this](const Call& call) { forget(call.sender()); });
    router.add_method("log.cancel", 0, [this](const Call& call) {
        for (const Call& follower : std::exchange(followers_, {})) {
            if (call.cancels(follower)) {
                follower.fail(ENODATA);
            } else {
                followers_.push_back(follower);
            }
        }
    });
    // Guest: reads how many lines were logged, none of them.
    router.add_method("log.stats-get", ~0u, [this](const Call& call) {
        call.respond(Json::own(json_pack("{s:i s:I}", "ring-used", static_cast<int>(ring_.lines().size()), "count",
                                         static_cast<json_int_t>(ring_.count()))));
    });
}

void LogService::write(int severity, std::string_view text) {
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        append(LogRing::format(now_(), severity, "broker", text.substr(0, end)));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
}

void LogService::open_file() {
    const std::string path = attributes_.get("log-filename").value_or("");
    if (path.empty()) {
        return;
    }
    if (const auto opened = file_.open(path); !opened) {
        write(LOG_ERR, opened.error().message + (file_.is_open() ? "; the one that was open is kept" : ""));
    }
}

std::vector<std::string> LogService::since(std::uint64_t count, int severity) const {
    std::vector<std::string> found;
    const std::uint64_t first = ring_.count() - ring_.lines().size();
    for (std::size_t i = count > first ? count - first : 0; i < ring_.lines().size(); ++i) {
        const std::string& line = ring_.lines()[i];
        if (LogRing::severity(line) <= severity) {
            found.push_back(std::string(LogRing::appname(line)) + ": " + std::string(LogRing::message(line)));
        }
    }
    return found;
}

void LogService::append(std::string_view line) {
    ring_.append(line);
    const std::string kept = ring_.lines().empty() ? std::string() : ring_.lines().back();
    if (LogRing::severity(kept) <= attributes_.severity("log-stderr-level")) {
        const std::string app(LogRing::appname(kept));
        const std::string text(LogRing::message(kept));
        std::fprintf(stderr, "weir-broker: %s: %s\n", app.c_str(), text.c_str());
    }
    for (const Call& follower : followers_) {
        follower.respond_text(kept);
    }
    copy_to_file(kept);
}

/// If the file cannot be written, only the copy is lost. That is reported once until it can be written again.
void LogService::copy_to_file(std::string_view line) {
    if (!file_.is_open() || LogRing::severity(line) > attributes_.severity("log-forward-level")) {
        return;
    }
    const Status written = file_.write(LogRing::readable(line));
    if (!std::exchange(has_file_failed_, !written) && !written) {
        write(LOG_ERR,
              written.error().message + "; `weir log` has the lines, this file will not until it can be written");
    }
}

void LogService::dmesg(const Call& call) {
    const Json payload = call.payload();
    if (!payload || !call.is_streaming()) {
        call.fail(EPROTO, "log.dmesg is a streaming request with {follow:b, nobacklog?:b}");
        return;
    }
    if (!payload.boolean_at("nobacklog").value_or(false)) {
        for (const std::string& line : ring_.lines()) {
            call.respond_text(line);
        }
    }
    if (payload.boolean_at("follow").value_or(false)) {
        followers_.push_back(call);
    } else {
        call.fail(ENODATA);
    }
}

void LogService::forget(std::string_view sender) {
    std::erase_if(followers_, [sender](const Call& follower) { return follower.sender() == sender; });
}

}  // namespace weir::broker
