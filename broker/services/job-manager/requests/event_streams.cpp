// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the stream of all jobs' events.
// Must not know: the disk journal; what events mean.
#include "broker/services/job-manager/requests/event_streams.hpp"
#include "broker/services/job-manager/codecs/event_stream.hpp"

#include <cerrno>

namespace weir::broker::jobs {
struct EventStreamsTable {
    static constexpr flux_msg_handler_spec specs[] = {
        {FLUX_MSGTYPE_REQUEST, "job-manager.events-journal", on_request<EventStreams, &EventStreams::open>, 0},
        {FLUX_MSGTYPE_REQUEST, "job-manager.events-journal-cancel", on_request<EventStreams, &EventStreams::cancel>, 0},
        FLUX_MSGHANDLER_TABLE_END,
    };
};

Status EventStreams::start() {
    return handlers_.add(engine_.handle(), EventStreamsTable::specs, this);
}

bool EventStreams::Listener::takes(std::string_view name) const {
    if (has_allow && allow.find(name) == allow.end()) {
        return false;
    }
    return deny.find(name) == deny.end();
}

void EventStreams::on_event(const Job& job, const std::string& name, const std::string& line) {
    ++events_;
    const std::string later = brings_more(name) ? "" : later_event_text(line);
    std::string payload;
    for (Listener& listener : listeners_) {
        if (!listener.takes(name)) {
            continue;
        }
        const std::size_t tail = listener.is_together ? together_tail : 0;
        if (listener.last == job.id && !later.empty() &&
            outbox().extend(listener.place, tail + live_event_tail, later)) {
            continue;
        }
        if (payload.empty()) {
            payload = live_event_text(job, name, line);
        }
        listener.last = job.id;
        if (!listener.is_together) {
            listener.place = outbox().respond(listener.request.get(), payload);
        } else if (!outbox().extend(listener.place, tail, "," + payload)) {
            listener.place = outbox().respond(listener.request.get(), together_text(payload));
        }
    }
}

void EventStreams::send_job(const Listener& listener, const Job& job) {
    const auto takes = [&listener](std::string_view line) { return listener.takes(name_of_line(line)); };
    outbox().respond(listener.request.get(), backlog_text(job, takes));
}

Answer EventStreams::open(const Request& request) {
    if (!flux_msg_is_streaming(request.msg)) {
        return protocol_error("job-manager.events requires streaming RPC flag");
    }
    Listener listener{MessageRef(request.msg)};
    for (const char* which : {"allow", "deny"}) {
        json_t* rule = json_object_get(request.body(), which);
        if (rule && !json_is_object(rule)) {
            return protocol_error(std::string("job-manager.events ") + which + " should be an object");
        }
        const char* name;
        json_t* value;
        json_object_foreach(rule, name, value)(*which == 'a' ? listener.allow : listener.deny).insert(name);
        listener.has_allow |= rule && *which == 'a';
    }
    listener.is_together = read_boolean(request.body(), "together").value_or(false);
    if (read_boolean(request.body(), "full").value_or(false)) {
        for (const Job* job : engine_.jobs().inactive_jobs()) {
            send_job(listener, *job);
        }
    }
    for (const auto& [id, job] : engine_.jobs().active_jobs()) {
        send_job(listener, *job);
    }
    outbox().respond(request.msg, std::string(end_of_backlog));
    listeners_.push_back(std::move(listener));
    return Reply::later();
}

Answer EventStreams::cancel(const Request& request) {
    for (auto at = listeners_.begin(); at != listeners_.end(); ++at) {
        if (!flux_cancel_match(request.msg, at->request.get())) {
            continue;
        }
        outbox().respond_error(at->request.get(), ENODATA, "");
        listeners_.erase(at);
        break;
    }
    return Reply::later();
}

void EventStreams::on_disconnect(const flux_msg_t* msg) {
    listeners_.remove_if([msg](const Listener& l) { return flux_disconnect_match(msg, l.request.get()); });
}

void EventStreams::end_all() {
    for (const Listener& listener : listeners_) {
        outbox().respond_error(listener.request.get(), ENODATA, "");
    }
    listeners_.clear();
}

}  // namespace weir::broker::jobs
