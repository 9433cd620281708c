// SPDX-License-Identifier: LGPL-3.0-only
// Owns: SignalEvents. See signal_events.hpp.
#include "modules/job-route/signal_events.hpp"

#include <cstdlib>
#include <string_view>
#include <utility>

namespace weir::route {
namespace {

constexpr std::string_view topic_begin = "shell-";
constexpr std::string_view topic_end = ".kill";

}  // namespace

/// Without a rolemask the handler gets the owner's events alone: the job-manager publishes as the owner.
SignalEvents::SignalEvents(flux_t* h, Take take) : h_(h), take_(std::move(take)) {
    const flux_msg_handler_spec table[] = {
        {FLUX_MSGTYPE_EVENT, "shell-*.kill", flux::on_message<&SignalEvents::on_event>, 0}, FLUX_MSGHANDLER_TABLE_END};
    flux_msg_handler_t** handlers = nullptr;
    if (flux_msg_handler_addvec(h, table, this, &handlers) < 0) {
        flux::fail_errno("registering the handler of signals");
    }
    handlers_.reset(handlers);
    if (flux_event_subscribe(h, topic_begin.data()) < 0) {
        flux::fail_errno("subscribing to signals");
    }
}

void SignalEvents::on_event(const flux_msg_t* msg) {
    const char* text = nullptr;
    int signum = 0;
    if (flux_event_unpack(msg, &text, "{s:i}", "signum", &signum) < 0) {
        flux::fail_errno("a signal's payload");
    }
    const std::string_view topic(text);
    char* end = nullptr;
    const std::uint64_t id = std::strtoull(text + topic_begin.size(), &end, 10);
    if (end == text + topic.size() - topic_end.size()) {
        take_(JobId{id}, signum);
    }
}

}  // namespace weir::route
