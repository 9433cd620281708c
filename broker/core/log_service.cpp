// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the methods of the service "log". Must not know who logs.
#include "broker/core/log_service.hpp"

#include <cerrno>
#include <cstdio>
#include <utility>

namespace weir::broker {

LogService::LogService(Router& router, std::function<double()> now) : now_(std::move(now)) {
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
        const json_int_t matchtag = json_integer_value(call.payload().at("matchtag").get());
        for (const Call& follower : std::exchange(followers_, {})) {
            const bool is_meant = follower.sender() == call.sender() && follower.request().aux2() == matchtag;
            if (is_meant) {
                follower.fail(ENODATA);
            } else {
                followers_.push_back(follower);
            }
        }
    });
    router.add_method("log.stats-get", ~0u, [this](const Call& call) {
        call.respond(Json::take(json_pack("{s:i s:I}", "ring-used", static_cast<int>(ring_.lines().size()), "count",
                                          static_cast<json_int_t>(ring_.count()))));
    });
}

void LogService::write(int severity, std::string_view text) {
    append(LogRing::format(now_(), severity, "broker", text));
}

void LogService::append(std::string_view line) {
    ring_.append(line);
    if (LogRing::severity(line) <= stderr_severity_) {
        const std::string app(LogRing::appname(line));
        const std::string text(LogRing::message(ring_.lines().back()));
        std::fprintf(stderr, "weir-broker: %s: %s\n", app.c_str(), text.c_str());
    }
    const std::string kept = ring_.lines().empty() ? std::string() : ring_.lines().back();
    for (const Call& follower : followers_) {
        follower.respond_text(kept);
    }
}

void LogService::dmesg(const Call& call) {
    const Json payload = call.payload();
    if (!payload || !call.is_streaming()) {
        call.fail(EPROTO, "log.dmesg is a streaming request with {follow:b, nobacklog?:b}");
        return;
    }
    if (!payload.boolean("nobacklog", false)) {
        for (const std::string& line : ring_.lines()) {
            call.respond_text(line);
        }
    }
    if (payload.boolean("follow", false)) {
        followers_.push_back(call);
    } else {
        call.fail(ENODATA);
    }
}

void LogService::forget(std::string_view sender) {
    std::erase_if(followers_, [sender](const Call& follower) { return follower.sender() == sender; });
}

}  // namespace weir::broker
