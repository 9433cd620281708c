// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see queue_watch.hpp.
#include "modules/common/queue_watch.hpp"

#include <cerrno>
#include <string_view>
#include <vector>

#include "modules/common/parent_link.hpp"

namespace weir::flux {
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
    retry_.reset(flux_timer_watcher_create(flux_get_reactor(h), 0., 0., on_watcher<&QueueWatch::ask>, this));
    if (!retry_) {
        fail_errno("timer");
    }
    std::vector<flux_msg_handler_spec> table = {
        {FLUX_MSGTYPE_EVENT, change_event, on_message<&QueueWatch::on_change>, 0}, FLUX_MSGHANDLER_TABLE_END};
    flux_msg_handler_t** handlers = nullptr;
    if (flux_msg_handler_addvec(h, table.data(), this, &handlers) < 0 || flux_event_subscribe(h, change_event) < 0) {
        fail_errno("following the queues");
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
    names_ = rpc(h_, "job-manager.queue-list", Json::object());
    then<&QueueWatch::on_names>(names_.get(), this);
}

void QueueWatch::on_names(flux_future_t* f) {
    std::vector<std::string> names;
    const Caught caught = catching([&] {
        const Json answer = rpc_get(f, "job-manager.queue-list");
        std::size_t index = 0;
        json_t* name = nullptr;
        json_array_foreach(json_object_get(answer.get(), "queues"), index, name) {
            if (!json_is_string(name)) {
                throw Failure(EPROTO, "job-manager.queue-list: a queue's name is no text");
            }
            names.emplace_back(json_string_value(name));
        }
    });
    names_.reset();
    if (caught.errnum != 0) {
        fail(caught.message);
        return;
    }
    if (names.empty()) {
        names.emplace_back();
    }
    for (const std::string& name : names) {
        ask_status(name);
    }
}

void QueueWatch::ask_status(const std::string& name) {
    Json payload = Json::object();
    if (!name.empty()) {
        payload.set("name", name);
    }
    Future status = rpc(h_, "job-manager.queue-status", payload);
    flux_future_t* f = status.get();
    statuses_.emplace(f, std::pair(std::move(status), name));
    then<&QueueWatch::on_status>(f, this);
}

/// A queue that was removed meanwhile is not stopped.
void QueueWatch::on_status(flux_future_t* f) {
    const auto asked = statuses_.extract(f);
    const Caught caught = catching([&] {
        if (is_stopped_as(rpc_get(f, "job-manager.queue-status").get())) {
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
    log(h_, is_known_ ? LOG_DEBUG : LOG_WARNING, "the status of the queues: " + why);
    if (!is_known_ || is_to_ask_again_) {
        flux_timer_watcher_reset(retry_.get(), real_seconds(h_, queues_retry_s), 0.);
        flux_watcher_start(retry_.get());
    }
}

}  // namespace weir::flux
