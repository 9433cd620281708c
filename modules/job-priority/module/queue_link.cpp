// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see queue_link.hpp.
#include "modules/job-priority/module/queue_link.hpp"

#include <cerrno>
#include <utility>

#include "modules/common/parent_link.hpp"

namespace weir::priority {
namespace {

constexpr double question_pause_s = 1.;  ///< of real time, between two questions
constexpr const char* partitions_topic = "job-route.partitions";

}  // namespace

QueueLink::QueueLink(flux_t* h, PriorityService& service)
    : h_(h),
      service_(service),
      timer_(flux_timer_watcher_create(flux_get_reactor(h), 1., 0., flux::on_watcher<&QueueLink::on_timer>, this)),
      queues_(h, [this](const std::set<std::string>&) { apply_stopped(); }) {
    if (!timer_) {
        flux::fail_errno("queue timer");
    }
}

void QueueLink::ask() {
    queues_.ask();
    is_to_ask_partitions_again_ = static_cast<bool>(partitions_);
    if (!partitions_) {
        ask_partitions();
    }
}

void QueueLink::ask_partitions() {
    partitions_ = flux::rpc(h_, partitions_topic, Json::object());
    flux::then<&QueueLink::on_partitions>(partitions_.get(), this);
}

void QueueLink::pump() {
    if (is_paused_ || service_.ranking().queue().size() == 0) {
        return;
    }
    is_paused_ = true;
    flux_timer_watcher_reset(timer_.get(), flux::real_seconds(h_, question_pause_s), 0.);
    flux_watcher_start(timer_.get());
    ask();
}

/// Without job-route there are no partitions. While it does not answer, what is known stays.
void QueueLink::on_partitions(flux_future_t* f) {
    const char* text = nullptr;
    const bool is_good = flux_rpc_get(f, &text) == 0;
    if (is_good || errno == ENOSYS) {
        const Json answer = is_good && text != nullptr ? flux::value_or_throw(Json::parse(text)) : Json::object();
        closed_.clear();
        std::size_t index = 0;
        json_t* queue = nullptr;
        json_array_foreach(json_object_get(answer.get(), "closed"), index, queue) {
            const char* name = json_string_value(queue);
            closed_.insert(name != nullptr ? name : "");
        }
    }
    partitions_.reset();
    if (std::exchange(is_to_ask_partitions_again_, false)) {
        ask_partitions();
    }
    apply_stopped();
}

void QueueLink::apply_stopped() {
    std::set<std::string> all = queues_.stopped();
    all.insert(closed_.begin(), closed_.end());
    service_.set_stopped_queues(std::move(all));
}

}  // namespace weir::priority
