// SPDX-License-Identifier: LGPL-3.0-only
// Owns: ChildRole's answers to job-priority of this instance, which wants the parent's order of the jobs.
#include "modules/job-route/child_role.hpp"

namespace weir::route {

void ChildRole::priorities(const flux_msg_t* msg) {
    if (!flux_msg_is_streaming(msg)) {
        throw flux::Failure(EPROTO, "priorities is a streaming request");
    }
    listeners_.push_back(flux::keep(msg));
    send_priorities(msg, link_.priorities(), true);
}

void ChildRole::disconnect(const flux_msg_t* msg) {
    std::erase_if(listeners_, [msg](const auto& listener) { return flux_disconnect_match(msg, listener.get()); });
}

/// {jobs: [[parent's id, priority or null]...], all?: b, complete: b}
void ChildRole::send_priorities(const flux_msg_t* msg, const std::vector<GivenPriority>& priorities, bool is_all) {
    Json jobs = Json::array();
    for (const GivenPriority& one : priorities) {
        Json pair = Json::array();
        pair.append(Json::own(json_integer(static_cast<json_int_t>(one.id.value))));
        pair.append(Json::own(one.value ? json_integer(static_cast<json_int_t>(*one.value)) : json_null()));
        jobs.append(std::move(pair));
    }
    Json payload = Json::object();
    payload.set("jobs", std::move(jobs)).set("all", is_all).set("complete", is_complete_told_);
    flux::respond(h_, msg, payload);
}

void ChildRole::report_if_complete() {
    if (!is_complete_told_ && (is_idle_ || link_.is_complete())) {
        is_complete_told_ = true;
        for (const flux::MessageRef& listener : listeners_) {
            send_priorities(listener.get(), {}, false);
        }
    }
}

}  // namespace weir::route
