// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the requests to the scheduler. See scheduler_link.hpp.
#include "modules/job-priority/module/scheduler_link.hpp"

#include <algorithm>
#include <utility>

#include "modules/job-priority/messages/wire.hpp"

namespace weir::priority {
namespace {

constexpr double sched_timeout_s = 60.0;
/// The depth of another scheduler that gets all jobs: twice what Fluxion looks at by default.
constexpr std::size_t depth_unlimited = 64;

std::size_t count_of(const Json& answer, const char* key) {
    return static_cast<std::size_t>(std::max<json_int_t>(0, json_integer_value(json_object_get(answer.get(), key))));
}

}  // namespace

SchedulerLink::SchedulerLink(flux_t* h, double time_scale, PriorityService& service, std::function<void()> changed)
    : h_(h), service_(service), changed_(std::move(changed)), answer_timeout_s_(sched_timeout_s * time_scale) {}

bool SchedulerLink::is_settled() const {
    const OrderFeed& feed = service_.sends().scheduler();
    return !out_ && !is_look_due_ && !feed.has_work() && !feed.is_out();
}

void SchedulerLink::pump() {
    is_look_due_ = is_look_due_ && service_.ranking().queue().has_head();
    if (out_ || !service_.is_synced()) {
        return;
    }
    const bool may_send = !may_send_ || may_send_();
    const std::optional<OrderChange> push = may_send ? service_.sends().scheduler().next() : std::nullopt;
    if (push || std::exchange(is_look_due_, false)) {
        send(Sent::order, "sched.order", push ? write_order(*push) : Json::object());
    }
}

void SchedulerLink::send(Sent what, const char* topic, const Json& payload) {
    out_what_ = what;
    out_ = flux::rpc(h_, topic, payload);
    flux::then<&SchedulerLink::on_answer>(out_.get(), this, answer_timeout_s_);
}

void SchedulerLink::set(const SchedulerView& view) {
    if (!(view == service_.ranking().queue().scheduler())) {
        service_.set_scheduler(view);
        changed_();
    }
}

void SchedulerLink::on_answer(flux_future_t* f) {
    const char* text = nullptr;
    const bool is_good = flux_rpc_get(f, &text) == 0;
    const Json answer = is_good && text != nullptr ? flux::value_or_throw(Json::parse(text)) : Json::object();
    const flux::Future answered = std::exchange(out_, {});  // freed at the end: it owns `text`
    if (out_what_ == Sent::window) {
        // If jobs are pending for which there was no alloc request, the scheduler looks at those with one. A scheduler
        // that gets all requests has a limit of its own, which is unknown.
        const std::size_t asked = count_of(answer, "alloc_pending");
        if (asked > 0 && count_of(answer, "queue_length") > 0) {
            set({false, asked});
        } else if (asked > depth_unlimited) {
            set({false, depth_unlimited});
        }
    } else if (is_good) {
        take_order_answer(answer);
    } else {  // another scheduler, or none: the values go to the job-manager
        const SchedulerView before = service_.ranking().queue().scheduler();
        set({false, before.takes_order ? 0 : before.depth});
        service_.sends().scheduler().clear();
        send(Sent::window, "job-manager.alloc-query", Json::object());
    }
}

void SchedulerLink::take_order_answer(const Json& answer) {
    const std::size_t limit = count_of(answer, "queue_depth");
    if (limit > 0) {  // the job-manager chooses the jobs that the scheduler sees
        set({false, limit});
        service_.sends().scheduler().clear();
        return;
    }
    service_.sends().scheduler().acknowledge(json_integer_value(json_object_get(answer.get(), "nonce")));
    set({true, 0});
}

}  // namespace weir::priority
