// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the methods of the service "config". Changes are made one after the other. Must not know what any key means.
#include "broker/core/config_service.hpp"

#include <flux/core.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace weir::broker {

ConfigService::ConfigService(Router& router, Json config, std::vector<std::string> paths, Hooks hooks)
    : router_(router), config_(std::move(config)), paths_(std::move(paths)), hooks_(std::move(hooks)) {
    router.add_method("config.get", FLUX_ROLE_USER, [this](const Call& call) { get(call); });
    router.add_method("config.load", 0, [this](const Call& call) { begin(call.payload(), call); });
    router.add_method("config.reload", 0, [this](const Call& call) {
        auto read = load_config(paths_);
        if (read) {
            begin(*read, call);
        } else {
            call.fail(EINVAL, "Config file error: " + read.error().message);
        }
    });
    router.add_method("config.disconnect", FLUX_ROLE_USER, [this](const Call& call) {
        std::erase_if(getters_, [&call](const Call& getter) { return getter.sender() == call.sender(); });
    });
}

void ConfigService::get(const Call& call) {
    call.respond(config_);
    if (call.is_streaming()) {
        getters_.push_back(call);
    }
}

void ConfigService::begin(Json config, const Call& call) {
    if (!json_is_object(config.get())) {
        call.fail(EPROTO, "the configuration must be a JSON object");
        return;
    }
    changes_.push_back(Change{std::move(config), call});
    if (changes_.size() == 1) {
        next_change();
    }
}

void ConfigService::next_change() {
    if (changes_.empty()) {
        return;
    }
    const Json& wanted = changes_.front().config;
    if (json_equal(wanted.get(), config_.get())) {
        finish(Done{});
        return;
    }
    if (auto allowed = hooks_.check(wanted); !allowed) {
        finish(Error{allowed.error().code, "error updating broker: " + allowed.error().message});
        return;
    }
    names_ = hooks_.modules();
    offer(0);
}

void ConfigService::offer(std::size_t i) {
    if (i == names_.size()) {
        config_ = changes_.front().config;
        hooks_.apply(config_);
        for (const Call& getter : getters_) {
            getter.respond(config_);
        }
        finish(Done{});
        return;
    }
    router_.call(names_[i] + ".config-reload", changes_.front().config, [this, i](int errnum, std::string_view text) {
        if (errnum == 0 || errnum == ENOSYS || errnum == ECONNRESET) {  // a module that has just left has no say
            offer(i + 1);
            return;
        }
        const std::string why = text.empty() ? std::strerror(errnum) : std::string(text);
        revert(i, Error{static_cast<std::errc>(errnum), "error updating " + names_[i] + ": " + why});
    });
}

void ConfigService::revert(std::size_t count, const Error& why) {
    if (count == 0) {
        finish(why);
        return;
    }
    router_.call(names_[count - 1] + ".config-reload", config_,
                 [this, count, why](int, std::string_view) { revert(count - 1, why); });
}

void ConfigService::finish(const Status& how) {
    const Change done = std::move(changes_.front());
    changes_.pop_front();
    if (how) {
        done.asked.respond();
    } else {
        done.asked.fail(how.error());
    }
    next_change();
}

}  // namespace weir::broker
