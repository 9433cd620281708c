// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the methods of the service "config". Changes are made one after the other. Must not know what any key means.
#include "broker/core/config_service.hpp"

#include <flux/core.h>
#include <syslog.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "broker/core/config_keys.hpp"
#include "libfairshare/base/json/config_changes.hpp"

namespace weir::broker {
namespace {

Json list_of(const std::vector<std::string>& texts) {
    Json list = Json::array();
    for (const std::string& text : texts) {
        json_array_append(list.get(), Json::string(text).get());
    }
    return list;
}

}  // namespace

ConfigService::ConfigService(Router& router, LoadedConfig config, std::vector<ConfigSource> sources, Hooks hooks)
    : router_(router),
      config_(std::move(config)),
      at_start_(config_.config.deep_copy()),
      sources_(std::move(sources)),
      hooks_(std::move(hooks)) {
    router.add_method("config.get", FLUX_ROLE_USER, [this](const Call& call) { get(call); });
    router.add_method("config.load", 0, [this](const Call& call) {
        LoadedConfig given;
        given.config = call.payload();
        if (json_is_object(given.config.get())) {
            begin(std::move(given), call);
        } else {
            call.fail(EPROTO, "the configuration must be a JSON object");
        }
    });
    router.add_method("config.reload", 0, [this](const Call& call) { read_again(call); });
    // Guest: ends his own connection's streams.
    router.add_method("config.disconnect", FLUX_ROLE_USER, [this](const Call& call) {
        std::erase_if(getters_, [&call](const Call& getter) { return getter.sender() == call.sender(); });
    });
}

// Guest: reads the configuration, which holds no secrets, and keeps one streaming answer a request until he hangs up.
void ConfigService::get(const Call& call) {
    call.respond(config_.config);
    if (call.is_streaming()) {
        getters_.push_back(call);
    }
}

void ConfigService::read_again(std::optional<Call> asked) {
    hooks_.reload_asked();
    auto read = load_config(sources_);
    if (read) {
        begin(std::move(*read), std::move(asked));
        return;
    }
    hooks_.log(LOG_ERR, "the configuration stays as it is: " + read.error().message);
    if (asked) {
        asked->fail(EINVAL, read.error().message);
    }
}

void ConfigService::begin(LoadedConfig config, std::optional<Call> asked) {
    changes_.push_back(Change{std::move(config), std::move(asked)});
    if (changes_.size() == 1) {
        next_change();
    }
}

void ConfigService::next_change() {
    if (changes_.empty()) {
        return;
    }
    changes_.front().log_count = hooks_.log_count();
    if (auto allowed = hooks_.check(changes_.front().config.config); !allowed) {
        const Error& why = allowed.error();
        refuse(Error{why.code, explained(why.message, changes_.front().config)});
        return;
    }
    names_ = hooks_.modules();
    offer(0);
}

void ConfigService::offer(std::size_t i) {
    if (i == names_.size()) {
        accept();
        return;
    }
    router_.call(
        names_[i] + ".config-reload", changes_.front().config.config, [this, i](int errnum, std::string_view text) {
            if (errnum == 0 || errnum == ENOSYS || errnum == ECONNRESET) {  // a module that has just left has no veto
                offer(i + 1);
                return;
            }
            const std::string why = text.empty() ? std::strerror(errnum) : std::string(text);
            const std::string placed = explained(why, changes_.front().config);
            const std::string lead = placed == why ? "error updating " + names_[i] + ": " : "";
            revert(i + 1, Error{static_cast<std::errc>(errnum), lead + placed});
        });
}

/// Also the module that refused: it may have applied a part of the new one.
void ConfigService::revert(std::size_t count, const Error& why) {
    if (count == 0) {
        refuse(why);
        return;
    }
    router_.call(names_[count - 1] + ".config-reload", config_.config,
                 [this, count, why](int, std::string_view) { revert(count - 1, why); });
}

void ConfigService::accept() {
    Change done = std::move(changes_.front());
    changes_.pop_front();
    const std::vector<std::string> changes = config_changes(config_.config, done.config.config);
    for (const std::vector<std::string>& warnings :
         {kept_until_restart(at_start_, done.config), unknown_keys(done.config)}) {
        for (const std::string& warning : warnings) {
            hooks_.log(LOG_WARNING, warning);
        }
    }
    config_ = std::move(done.config);
    hooks_.apply(config_.config);
    for (const Call& getter : getters_) {
        getter.respond(config_.config);
    }
    for (const std::string& change : changes) {
        hooks_.log(LOG_NOTICE, "configuration: " + change);
    }
    if (changes.empty()) {
        hooks_.log(LOG_INFO, "the configuration was read again: no key changed");
    }
    if (done.asked) {
        Json answer = Json::object();
        answer.set("changes", list_of(changes));
        answer.set("warnings", list_of(hooks_.warnings(done.log_count)));
        done.asked->respond(answer);
    }
    next_change();
}

void ConfigService::refuse(const Error& why) {
    const Change done = std::move(changes_.front());
    changes_.pop_front();
    hooks_.log(LOG_ERR, "the configuration stays as it is: " + why.message);
    if (done.asked) {
        done.asked->fail(why);
    }
    next_change();
}

}  // namespace weir::broker
