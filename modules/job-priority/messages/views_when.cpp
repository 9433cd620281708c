// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the view of when one job passes another. See views.hpp.
#include "libsched/order/orders.hpp"
#include "libsched/priority/crossings.hpp"
#include "libsched/priority/explain.hpp"
#include "modules/job-priority/messages/job_views.hpp"
#include "modules/job-priority/messages/views.hpp"
#include "modules/job-priority/ranking/policy_reasons.hpp"

namespace weir::priority {
namespace {

constexpr std::size_t crossings_max = 10;

/// What the crossings of a policy's jobs take for granted.
const char* taken_for_granted(PolicyKind policy) {
    return order::with_order_of(policy, []<typename O>(std::in_place_type_t<O>) { return O::assumes; });
}

/// The same of both kinds of policy.
Passings passings_between(const PriorityService& service, FluxJobId a, FluxJobId b, Instant now) {
    if (!service.ranking().order().is_sum()) {
        const Measured measured = measured_for_order(service, now);
        return passings_of({service.ranking(), service.accounting().tree(), measured, now}, a, b, crossings_max);
    }
    const PriorityEngine& engine = service.ranking().queue().engine();
    const PriorityEngine::Slot first = *service.ranking().queue().find(a);
    const PriorityEngine::Slot second = *service.ranking().queue().find(b);
    const auto key = [&](PriorityEngine::Slot slot) {
        const JobInputs job = engine.inputs(slot);
        return QueueKey{engine.priority(slot, now, service.ranking().factors()), job.submit, job.id};
    };
    Passings found;
    found.first_now = key(first).priority;
    found.second_now = key(second).priority;
    found.is_first_now = key(first) < key(second);
    found.until = never;
    for (const Crossing& crossing :
         crossings({engine, now, service.ranking().factors()}, first, second, crossings_max)) {
        found.list.push_back({crossing.at, crossing.ahead == first});
    }
    return found;
}

/// As long as one of the two alone is held back, the other is ahead.
Passings passings_unless_held_back(const PriorityService& service, FluxJobId a, FluxJobId b, Instant now) {
    Passings found = passings_between(service, a, b, now);
    const bool is_a_held_back = is_held_back(service, a);
    if (is_a_held_back != is_held_back(service, b)) {
        found.is_first_now = !is_a_held_back;
        found.list.clear();
        found.until = never;
    }
    return found;
}

}  // namespace

Result<Json> when_view(const VisiblePart& part, FluxJobId a, FluxJobId b, Instant now) {
    const PriorityService& service = part.service();
    if (a == b) {
        return Error{std::errc::invalid_argument, "a job does not pass itself: name two"};
    }
    for (const FluxJobId id : {a, b}) {
        const BookJob* job = service.ranking().queue().find(id) != nullptr ? service.book().find(id) : nullptr;
        if (job == nullptr || !part.has(*job)) {
            return Error{std::errc::no_such_file_or_directory,
                         "job " + std::to_string(id) + " does not wait here: only waiting jobs pass each other"};
        }
    }
    const Passings found = passings_unless_held_back(service, a, b, now);
    Json jobs = Json::array();
    for (const FluxJobId id : {a, b}) {
        Json entry = Json::object();
        set_job(entry, service, *service.book().find(id));
        // LSF's numbers stand for places: those are the engine's.
        const std::uint32_t place = service.ranking().queue().engine().priority(*service.ranking().queue().find(id),
                                                                                now, service.ranking().factors());
        const double number = service.settings().policy == PolicyKind::lsf ? place
                              : id == a                                    ? found.first_now
                                                                           : found.second_now;
        entry.set("priority", static_cast<long long>(number)).set("is_held_back", is_held_back(service, id));
        jobs.append(std::move(entry));
    }
    Json list = Json::array();
    for (const Passing& passing : found.list) {
        Json entry = Json::object();
        entry.set("at", to_seconds(passing.at)).set("ahead", static_cast<long long>(passing.is_first ? a : b));
        list.append(std::move(entry));
    }
    Json view = Json::object();
    view.set("now", to_seconds(now)).set("ahead", static_cast<long long>(found.is_first_now ? a : b));
    view.set("jobs", std::move(jobs)).set("crossings", std::move(list));
    view.set("until", found.until == never ? Json::own(json_null()) : Json::own(json_real(to_seconds(found.until))));
    const auto queue_of = [&service](FluxJobId id) { return service.book().find(id)->request->queue; };
    view.set("do_compete", service.partition_queues().do_compete(queue_of(a), queue_of(b)));
    view.set("policy", policy_name(service)).set("while", taken_for_granted(service.settings().policy));
    return view;
}

}  // namespace weir::priority
