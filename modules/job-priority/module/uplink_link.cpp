// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the requests to the parent. See uplink_link.hpp.
#include "modules/job-priority/module/uplink_link.hpp"

#include <algorithm>
#include <utility>

#include "modules/job-priority/messages/place_wire.hpp"
#include "modules/job-priority/messages/report_wire.hpp"
#include "modules/job-priority/messages/wire.hpp"
#include "modules/job-priority/module/instance_name.hpp"

namespace weir::priority {
namespace {

constexpr double retry_max_s = 15.0;

// A parent that never had job-priority may never have it. Records beyond this number are dropped: the owner of the
// child's job pays for the whole allocation in any case, and memory stays bounded.
constexpr std::size_t kept_for_nobody_max = 100000;

std::uint64_t acked_in(const Json& payload) {
    return static_cast<std::uint64_t>(json_integer_value(json_object_get(payload.get(), "seq_acked")));
}

}  // namespace

UplinkLink::UplinkLink(flux_t* h, PriorityService& service, std::function<const SteadyTime&()> time,
                       const Parent& parent, std::function<std::optional<Json>(const json_t*)> on_policy)
    : h_(h),
      service_(service),
      time_(std::move(time)),
      jobid_(parent.jobid),
      on_policy_(std::move(on_policy)),
      pace_(duration_from_seconds(flux::real_seconds(h, report_pause_real_s))),
      pace_timer_(flux_timer_watcher_create(flux_get_reactor(h), 1., 0., flux::on_watcher<&UplinkLink::pump>, this)),
      link_(h, parent.uri, retry_max_s,
            {[this] { on_connected(); }, [this](const std::string& why) { on_lost(why); }}) {
    if (!pace_timer_) {
        flux::fail_errno("report timer");
    }
}

void UplinkLink::on_connected() {
    Json request = Json::object();
    request.set("jobid", static_cast<long long>(jobid_)).set("instance", service_.log().meta().instance);
    request.set("first_seq", static_cast<long long>(service_.sends().uplink().queue().first_seq()));
    request.set("hosts", write_hosts(service_.log().meta().hosts));
    is_first_answer_ = true;
    told_policy_.clear();
    attach_ = flux::rpc(link_.handle(), "job-priority.attach", request, FLUX_RPC_STREAMING);
    flux::then<&UplinkLink::on_attach>(attach_.get(), this);
}

void UplinkLink::on_lost(const std::string& why) {
    report_.reset();
    wishes_.reset();
    attach_.reset();
    service_.gate().detach_from_parent();
    service_.sends().uplink().queue().detached();
    pace_.restart();
    if (state_ == State::attached) {
        state_ = State::connecting;
    }
    if (why != last_reason_) {
        flux_log(h_, LOG_WARNING,
                 "no link to the parent's job-priority (%s): usage is kept and will be reported when there is one",
                 why.c_str());
        last_reason_ = why;
    }
}

void UplinkLink::refuse(flux_future_t* f, int errnum) {
    const char* said = flux_future_error_string(f);
    state_ = errnum == ENOSYS || errnum == EPERM ? State::refused : State::connecting;
    if (state_ == State::refused && service_.gate().parent() == PlaceAsks::Parent::unknown) {
        service_.set_parent(PlaceAsks::Parent::absent);
    }
    if (state_ == State::refused && !was_attached_ &&
        service_.sends().uplink().queue().unacknowledged() > kept_for_nobody_max) {
        flux_log(h_, LOG_WARNING, "the parent has no job-priority that takes reports: %zu usage records are dropped",
                 service_.sends().uplink().queue().unacknowledged());
        service_.sends().uplink().acknowledged(service_.sends().uplink().queue().last_seq());
    }
    link_.fail(said != nullptr ? said : flux_strerror(errnum));
}

void UplinkLink::on_attach(flux_future_t* f) {
    const char* text = nullptr;
    if (flux_rpc_get(f, &text) < 0) {
        refuse(f, errno);
        return;
    }
    const Json payload = flux::value_or_throw(Json::parse(text != nullptr ? text : "{}"));
    const auto rows = flux::value_or_throw(read_factors(json_object_get(payload.get(), "factors")));
    const bool is_first = is_first_answer_;
    const bool is_complete = is_first || json_is_true(json_object_get(payload.get(), "complete"));
    if (is_first_answer_) {
        is_first_answer_ = false;
        if (!service_.sends().uplink().queue().attached(acked_in(payload))) {
            service_.log().set_instance(new_instance_name(h_));
            link_.fail(
                "the parent has usage records that are not in our state file, which is an older copy: records are "
                "numbered anew, under another name of this instance");
            return;
        }
        service_.sends().uplink().acknowledged(acked_in(payload));
        state_ = State::attached;
        was_attached_ = true;
        if (!last_reason_.empty()) {
            flux_log(h_, LOG_INFO, "linked to the parent's job-priority: sending it %zu usage records",
                     service_.sends().uplink().queue().unacknowledged());
            last_reason_.clear();
        }
        if (!is_report_failing_) {
            link_.proven();
        }
    }
    service_.take_parent_factors(rows, is_complete);
    if (const json_t* policy = json_object_get(payload.get(), "policy"); policy != nullptr) {
        std::optional<Json> told = on_policy_(policy);
        if (!told) {
            link_.fail("the parent's policy could not be written");
            return;
        }
        tell_policy(std::move(*told));
    }
    if (is_first) {
        take_first(payload.get());
    }
    service_.take_answers(flux::value_or_throw(read_answers(json_object_get(payload.get(), "admissions"))));
    flux_future_reset(f);
    pump();
}

/// After its policy: a parent that counts our jobs gives the link a number.
void UplinkLink::take_first(const json_t* answer) {
    if (const json_t* link = json_object_get(answer, "places"); json_is_integer(link)) {
        service_.gate().attach_to_parent(static_cast<std::uint64_t>(json_integer_value(link)));
        service_.set_parent(PlaceAsks::Parent::counts);
    } else {
        service_.set_parent(PlaceAsks::Parent::absent);
    }
}

void UplinkLink::pump_wishes() {
    if (state_ != State::attached || link_.handle() == nullptr || wishes_ || !service_.has_wishes()) {
        return;
    }
    const PlaceWishes wishes = service_.take_wishes(time_().now());
    if (!wishes.is_empty()) {
        wishes_ = flux::rpc(link_.handle(), "job-priority.admit", write_wishes(jobid_, wishes));
        flux::then<&UplinkLink::on_wishes>(wishes_.get(), this);
    }
}

/// The parent has read them: its answers come with those of attach.
void UplinkLink::on_wishes(flux_future_t* f) {
    if (flux_rpc_get(f, nullptr) < 0) {
        refuse(f, errno);
        return;
    }
    wishes_.reset();
    pump_wishes();
}

void UplinkLink::tell_policy(Json policy) {
    if (state_ != State::attached) {
        return;
    }
    policy.set("jobid", static_cast<long long>(jobid_));
    if (std::string text = policy.dump(); text != std::exchange(told_policy_, text)) {
        (void)flux::catching([&] {  // after a failure the link is lost, and the next attach tells it
            (void)flux::rpc(link_.handle(), "job-priority.policy", policy, FLUX_RPC_NORESPONSE);
        });
    }
}

void UplinkLink::pump() {
    const std::size_t sendable = service_.sends().uplink().sendable();
    if (link_.handle() == nullptr || report_ || sendable == 0) {
        return;
    }
    const Duration rest = std::max(pace_.wait(instant_from_seconds(flux_reactor_time()), sendable), time_().lag());
    if (rest > Duration{}) {
        wait(rest);
    } else {
        send();
    }
}

void UplinkLink::pump_soon() {
    if (link_.handle() != nullptr && !report_) {
        wait({});
    }
}

void UplinkLink::wait(Duration time) {
    flux_watcher_stop(pace_timer_.get());
    flux_timer_watcher_reset(pace_timer_.get(), to_seconds(time), 0.);
    flux_watcher_start(pace_timer_.get());
}

void UplinkLink::send() {
    auto batch = service_.sends().uplink().next();
    if (!batch) {
        return;
    }
    const Duration ahead = time_().ahead();
    for (UplinkRow& record : batch->records) {
        record.time += ahead;  // the parent subtracts the steps that it saw itself
    }
    report_ = flux::rpc_text(link_.handle(), "job-priority.report", write_report(jobid_, *batch));
    report_since_s_ = flux_reactor_time();
    pace_.sent(instant_from_seconds(report_since_s_));
    flux::then<&UplinkLink::on_report>(report_.get(), this);
}

/// A record that the parent cannot read would hold up all behind it for good. The next batches are smaller, until it is
/// alone, and then it is dropped: the attach that follows says from which record on we report.
void UplinkLink::find_refused(const char* why) {
    const auto alone = service_.sends().uplink().queue().refused();
    if (alone) {
        flux_log(h_, LOG_ERR, "usage record %llu is dropped: the parent's job-priority cannot read it (%s)",
                 static_cast<unsigned long long>(*alone), why);
        service_.sends().uplink().acknowledged(*alone);
    }
}

void UplinkLink::on_report(flux_future_t* f) {
    const char* text = nullptr;
    if (flux_rpc_get(f, &text) < 0) {
        const int errnum = errno;
        is_report_failing_ = true;
        if (errnum == EPROTO) {
            const char* said = flux_future_error_string(f);
            find_refused(said != nullptr ? said : flux_strerror(errnum));
        }
        refuse(f, errnum);
        return;
    }
    if (std::exchange(is_report_failing_, false)) {
        link_.proven();
    }
    const flux::Future answered = std::exchange(report_, {});  // freed at the end: it owns `text`
    round_trips_.add(flux_reactor_time() - report_since_s_);
    service_.sends().uplink().acknowledged(acked_in(flux::value_or_throw(Json::parse(text != nullptr ? text : "{}"))));
    pump();
}

void UplinkLink::flush(double seconds, const std::function<void()>& commit) {
    const double deadline = flux_reactor_time() + seconds;
    while (state_ == State::attached && service_.sends().uplink().queue().unacknowledged() > 0 &&
           flux_reactor_time() < deadline) {
        commit();
        pace_.restart();
        pump();
        if (!report_ || flux_future_wait_for(report_.get(), deadline - flux_reactor_time()) < 0) {
            return;
        }
        on_report(report_.get());
    }
}

}  // namespace weir::priority
