// SPDX-License-Identifier: LGPL-3.0-only
// Owns: AllocWatch. See alloc_watch.hpp.
#include "modules/world/alloc_watch.hpp"

#include <algorithm>

namespace weir::world {

namespace {

/// Ticks are a second apart, and the first may come at once.
constexpr Duration awaited_min = std::chrono::seconds(route::HandDown::stuck_after - 1);

bool has_cores(const route::RouteJob& job) {
    return route::has_alloc(job.progress) || (job.given() != nullptr && job.given()->may_have_alloc);
}

bool waits_for_cores(const route::RouteJob& job) {
    return job.routed() != nullptr && job.progress == route::Progress::sched && job.priority > 0 && job.urgency > 0 &&
           !has_cores(job);
}

/// The child has not said that it has it.
bool is_on_the_way(const route::RouteJob& job, route::JobId child) {
    return waits_for_cores(job) && job.holder() == child && (job.given() == nullptr || job.given()->local.value == 0);
}

bool are_alike(const route::RouteJob& a, const route::RouteJob& b) {
    return a.facts.queue == b.facts.queue && a.kind == b.kind && a.facts.cores == b.facts.cores &&
           a.facts.whole_nodes == 0 && b.facts.whole_nodes == 0;
}

/// The only job whose allocation the report tells; none: there are more, or none.
std::optional<route::JobId> only_allocated(const route::Report& report) {
    const auto is_alloc = [](const route::ChildEvent& event) {
        return event.kind == route::ChildEvent::Kind::allocated;
    };
    const auto found = std::find_if(report.events.begin(), report.events.end(), is_alloc);
    const bool is_only = found != report.events.end() && std::none_of(found + 1, report.events.end(), is_alloc);
    return is_only ? std::optional(found->id) : std::nullopt;
}

}  // namespace

void AllocWatch::before(const route::RouteTable& table, const route::Report& report, Instant now) {
    case_.reset();
    const auto reported = only_allocated(report);
    const route::RouteJob* job = reported ? table.active(*reported) : nullptr;
    if (job == nullptr || !waits_for_cores(*job) || !job->is_with(report.child)) {
        return;
    }
    std::erase_if(handed_down_, [&table](const auto& known) { return table.active(known.first) == nullptr; });
    route::JobId best;
    std::int64_t most = job->priority;
    for (const auto& [id, when] : handed_down_) {
        const route::RouteJob& other = *table.active(id);
        if (waits_for_cores(other) && other.priority >= most) {
            best = other.priority > most ? id : route::JobId{};  // of two equal ones neither is the best
            most = other.priority;
        }
    }
    if (best.value != 0 && now - handed_down_.at(best) < awaited_min &&
        is_on_the_way(*table.active(best), report.child)) {
        case_ = Case{report.child, *reported, best};
    }
}

/// As the parent knows them.
std::int64_t AllocWatch::free_cores(const route::RouteTable& table, const route::ChildView& child) const {
    std::int64_t free = child.cores - child.own_cores;
    for (const auto& [id, when] : handed_down_) {
        const route::RouteJob* job = table.active(id);
        if (job != nullptr && job->is_with(child.job) && has_cores(*job) &&
            !job->routed()->asked.has(route::AskedOnce::Step::clean)) {
            free -= job->cores > 0 ? job->cores : job->facts.cores;
        }
    }
    return free;
}

std::optional<std::string> AllocWatch::after(const route::RouteTable& table,
                                             const route::ParentActions& actions) const {
    const bool is_recorded = case_ && std::any_of(actions.tap.begin(), actions.tap.end(), [this](const auto& op) {
                                 return op.kind == route::TapOp::Kind::alloc && op.id == case_->reported;
                             });
    const route::RouteJob* best = is_recorded ? table.active(case_->best) : nullptr;
    const route::RouteJob* reported = is_recorded ? table.active(case_->reported) : nullptr;
    const auto child = is_recorded ? table.child_without_counts(case_->child) : std::nullopt;
    if (best == nullptr || reported == nullptr || !child || table.is_drained(case_->child) ||
        !is_on_the_way(*best, case_->child) || !are_alike(*best, *reported)) {
        return std::nullopt;
    }
    const bool is_served =
        std::find(child->serves.begin(), child->serves.end(), best->facts.queue) != child->serves.end();
    if (!is_served || free_cores(table, *child) >= best->facts.cores) {
        return std::nullopt;
    }
    return "the allocation of job " + std::to_string(case_->reported.value) + " in child " +
           std::to_string(case_->child.value) + " is recorded, and job " + std::to_string(case_->best.value) +
           ", which comes first and needs these cores, is on the way there";
}

}  // namespace weir::world
