// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the requests of children whose jobs are counted against the limits here, and the answers. See module.hpp.
#include <utility>

#include "modules/job-priority/messages/place_wire.hpp"
#include "modules/job-priority/module/module.hpp"

namespace weir::priority {

/// Only a partition has our share tree. In any other child the limits count the child itself.
void Module::open_places(Json& answer, FluxJobId child) {
    if (is_partition(child)) {
        answer.set("places", static_cast<long long>(service_->open_places(child)));
    }
}

/// The owner's children alone may ask: for any user whom they may report.
Json Module::on_admit(const flux_msg_t* msg) {
    const char* text = nullptr;
    if (flux_request_decode(msg, nullptr, &text) < 0 || text == nullptr) {
        throw flux::Failure(EPROTO, "admit has a payload");
    }
    const Json payload = flux::value_or_throw(Json::parse(text));
    const auto child = static_cast<FluxJobId>(json_integer_value(json_object_get(payload.get(), "jobid")));
    authorize(msg, child);
    service_->take_wishes_of(child, flux::value_or_throw(read_wishes(payload.get())), now());
    return {};
}

/// A place that is granted is in the state file before the child knows of it.
void Module::pump_places() {
    if (parent_) {
        parent_->pump_wishes();
    }
    ChildPlaces& places = service_->gate().places();
    if (places.has_unwritten() && !state_->has_failed()) {
        (void)state_->commit();  // told
    }
    for (const FluxJobId child : places.to_answer()) {
        const auto to = attached_.find(child);
        if (to == attached_.end()) {
            continue;
        }
        Json payload = Json::object();
        payload.set("factors", Json::array()).set("admissions", write_answers(places.take_answers(child)));
        flux::respond(h_, to->second.get(), payload);
    }
}

}  // namespace weir::priority
