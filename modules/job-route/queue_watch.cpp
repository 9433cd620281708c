// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see queue_watch.hpp.
#include "modules/job-route/queue_watch.hpp"

#include <string_view>
#include <vector>

#include "modules/common/parent_link.hpp"
#include "modules/job-route/messages_json.hpp"

namespace weir::route {
namespace {

constexpr double queues_retry_s = 0.5;  ///< of real time
/// Of the embedded job-manager. A stock Flux has none, and is asked each second.
constexpr const char* change_event = "job-queue-change";

/// A queue that waits for the scheduler alone is not stopped: partitions have their own.
bool is_stopped_as(const json_t* status) {
    const char* blocked = json_string_value(json_object_get(status, "blocked"));
    return json_is_false(json_object_get(status, "start")) &&
           !(blocked != nullptr && std::string_view(blocked) == "scheduler");
}

}  // namespace

QueueWatch::QueueWatch(flux_t* h, std::function<void(const std::set<std::string>& stopped)> told)
    : h_(h), told_(std::move(told)) {
    retry_.reset(flux_timer_watcher_create(flux_get_reactor(h), 0., 0., flux::on_watcher<&QueueWatch::ask>, this));
    if (!retry_) {
        flux::fail_errno("timer");
    }
    std::vector<flux_msg_handler_spec> table = {
        {FLUX_MSGTYPE_EVENT, change_event, flux::on_message<&QueueWatch::on_change>, 0}, FLUX_MSGHANDLER_TABLE_END};
    flux_msg_handler_t** handlers = nullptr;
    if (flux_msg_handler_addvec(h, table.data(), this, &handlers) < 0 || flux_event_subscribe(h, change_event) < 0) {
        flux::fail_errno("following the queues");
    }
    handlers_.reset(handlers);
}

void QueueWatch::on_change(const flux_msg_t*) {
    ask();
}

/// A change while answers are on their way may be missing in them.
void QueueWatch::ask() {
    if (names_ || !statuses_.empty()) {
        is_to_ask_again_ = true;
        return;
    }
    is_to_ask_again_ = false;
    next_.clear();
    failed_.clear();
    names_ = flux::rpc(h_, "job-manager.queue-list", Json::object());
    flux::then<&QueueWatch::on_names>(names_.get(), this);
}

void QueueWatch::on_names(flux_future_t* f) {
    std::vector<std::string> names;
    const flux::Caught caught = flux::catching([&] {
        const Json answer = flux::rpc_get(f, "job-manager.queue-list");
        if (json_t* queues = json_object_get(answer.get(), "queues"); json_array_size(queues) > 0) {
            names = flux::value_or_throw(decode_names(queues, "queues"));
        }
    });
    names_.reset();
    if (caught.errnum != 0) {
        fail(caught.message);
        return;
    }
    for (const std::string& name : names) {
        ask_status(name);
    }
    if (statuses_.empty()) {
        end();
    }
}

void QueueWatch::ask_status(const std::string& name) {
    Json payload = Json::object();
    payload.set("name", name);
    flux::Future status = flux::rpc(h_, "job-manager.queue-status", payload);
    flux_future_t* f = status.get();
    statuses_.emplace(f, std::pair(std::move(status), name));
    flux::then<&QueueWatch::on_status>(f, this);
}

/// A queue that was removed meanwhile is not stopped.
void QueueWatch::on_status(flux_future_t* f) {
    const auto asked = statuses_.extract(f);
    const flux::Caught caught = flux::catching([&] {
        if (is_stopped_as(flux::rpc_get(f, "job-manager.queue-status").get())) {
            next_.insert(asked.mapped().second);
        }
    });
    if (caught.errnum != 0 && caught.errnum != EINVAL) {
        failed_ = caught.message;
    }
    if (statuses_.empty()) {
        end();
    }
}

void QueueWatch::end() {
    if (!failed_.empty()) {
        fail(failed_);
        return;
    }
    is_known_ = true;
    stopped_ = next_;
    if (is_to_ask_again_) {
        ask();
    }
    told_(stopped_);
}

/// Later what is known stays in force, and the next question comes by itself.
void QueueWatch::fail(const std::string& why) {
    flux::log(h_, is_known_ ? LOG_DEBUG : LOG_WARNING, "the status of the queues: " + why);
    if (!is_known_ || is_to_ask_again_) {
        flux_timer_watcher_reset(retry_.get(), flux::real_seconds(h_, queues_retry_s), 0.);
        flux_watcher_start(retry_.get());
    }
}

}  // namespace weir::route
