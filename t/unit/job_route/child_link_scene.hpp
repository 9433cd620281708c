// SPDX-License-Identifier: LGPL-3.0-only
// Owns: what tests of ChildLink begin with: a child that is attached, with a copy of a job, and the words of both
// sides.
#pragma once
#include <string>

#include "modules/job-route/child_link.hpp"

namespace weir::route::child_test {

inline constexpr JobId job{100};
inline constexpr LocalId local{5};

inline Order an_order(Order::Kind kind) {
    Order order;
    order.kind = kind;
    order.id = job;
    order.type = "cancel";
    return order;
}

inline JournalEvent an_event(JournalEvent::Kind kind, const std::string& type = {}) {
    JournalEvent event;
    event.kind = kind;
    event.type = type;
    return event;
}

inline ChildLink attached() {
    ChildLink link;
    link.synced();
    link.attached();
    return link;
}

inline JournalEvent prioritized(std::int64_t priority = 16) {
    JournalEvent event = an_event(JournalEvent::Kind::priority);
    event.priority = priority;
    return event;
}

inline ChildLink with_a_job() {
    ChildLink link = attached();
    link.order(an_order(Order::Kind::submit));
    link.submit_done(job, local);
    link.event(local, prioritized());
    (void)link.take();
    return link;
}

inline JobFacts upstream(JobId id) {
    JobFacts facts;
    facts.upstream = id.value;
    return facts;
}

}  // namespace weir::route::child_test
