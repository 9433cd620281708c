// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the book's transitions. See job_book.hpp.
#include "modules/job-priority/jobs/job_book.hpp"

#include <algorithm>
#include <utility>

#include "libfairshare/usage/usage_ledger.hpp"

namespace weir::priority {
namespace {

void settle_ageing(BookJob& job, Instant time) {
    if (job.is_pending() && !job.is_held()) {
        job.ageing.begin(time);
    } else {
        job.ageing.pause(time);
    }
}

}  // namespace

AppliedEvent JobBook::submit(const JobEvent& event, const SubmitEvent& submit, bool is_live) {
    BookJob job;
    job.id = event.id;
    job.userid = submit.userid;
    job.copy_of = job.userid == owner_ ? submit.copy_of : 0;
    job.request = believed(submit);
    job.urgency = submit.urgency;
    job.submit = event.time;
    job.first_submit = job.copy_of != 0 ? submit.submit_above.value_or(event.time) : event.time;
    job.submit_stamp = event.stamp();
    job.ageing = Ageing(rule_, event.time);
    const auto [known, is_new] = jobs_.try_emplace(event.id, std::move(job));
    return {event, BookChange::none, &known->second, is_new, is_live};
}

AppliedEvent JobBook::apply(const JobEvent& event, bool is_live) {
    if (const auto* submitted = std::get_if<SubmitEvent>(&event.what)) {
        return submit(event, *submitted, is_live);
    }
    const auto found = jobs_.find(event.id);
    if (found == jobs_.end()) {
        return {event, BookChange::none, nullptr, false, is_live};
    }
    if (std::holds_alternative<CleanEvent>(event.what)) {
        gone_ = std::move(found->second);
        jobs_.erase(found);
        return {event, BookChange::gone, &*gone_, false, is_live};
    }
    const BookChange change = std::visit(
        [&](const auto& what) {
            if constexpr (requires { on(found->second, what, event.time); }) {
                return on(found->second, what, event.time);
            } else {
                return BookChange::none;
            }
        },
        event.what);
    return {event, change, &found->second, false, is_live};
}

bool JobBook::lacks_free(const JobEvent& event) const {
    if (!std::holds_alternative<CleanEvent>(event.what)) {
        return false;
    }
    const BookJob* job = find(event.id);
    return job != nullptr && job->has_resources;
}

SharedRequest JobBook::believed(const SubmitEvent& submit) {
    const bool is_instance = submit.request.is_instance || !submit.request.serves.empty();
    if (submit.userid == owner_ || !(is_instance || submit.request.routed_for || !submit.request.queue_above.empty())) {
        return requests_.intern(submit.request);
    }
    JobRequest request = submit.request;
    request.routed_for.reset();
    request.serves.clear();
    request.queue_above.clear();
    request.is_instance = false;
    return requests_.intern(request);
}

BookChange JobBook::on(BookJob& job, const DependEvent&, Instant time) {
    if (job.is_eligible) {
        return BookChange::none;
    }
    job.is_eligible = true;
    settle_ageing(job, time);
    return job.is_pending() ? BookChange::inputs : BookChange::none;
}

BookChange JobBook::on(BookJob& job, const UrgencyEvent& event, Instant time) {
    if (job.urgency == event.urgency) {
        return BookChange::none;
    }
    job.urgency = event.urgency;
    settle_ageing(job, time);
    return job.is_pending() ? BookChange::inputs : BookChange::none;
}

BookChange JobBook::on(BookJob& job, const UpdateEvent& event, Instant) {
    JobRequest request = *job.request;
    if (event.account) {
        const std::string filled_in = request.is_account_filled_in ? request.account : std::string();
        request.is_account_filled_in = *event.account == event.filled_in.value_or(filled_in);
        request.account = *event.account;
    }
    request.queue = event.queue.value_or(request.queue);
    request.qos = event.qos.value_or(request.qos);
    request.wall_time = event.wall_time.value_or(request.wall_time);
    request.project = event.project.value_or(request.project);
    const SharedRequest before = std::exchange(job.request, requests_.intern(request));
    job.payer_basis = 0;
    job.factor_basis = 0;
    return job.is_pending() && !(*job.request == *before) ? BookChange::inputs : BookChange::none;
}

BookChange JobBook::on(BookJob& job, const AllocEvent& event, Instant time) {
    if (job.has_resources || job.is_over) {
        return BookChange::none;
    }
    job.is_eligible = true;  // an alloc without depend: a journal that lost its beginning
    job.has_resources = true;
    job.got_cores = event.cores;
    job.got_nodes = event.nodes;
    settle_ageing(job, time);
    return BookChange::started;
}

BookChange JobBook::on(BookJob& job, const FreeEvent&, Instant time) {
    if (!job.has_resources) {
        return BookChange::none;
    }
    job.has_resources = false;
    job.is_over = true;
    settle_ageing(job, time);
    return BookChange::ended;
}

void JobBook::set_payer(FluxJobId id, NodeId payer, std::uint64_t basis) {
    BookJob& job = jobs_.at(id);
    job.payer = payer;
    job.payer_basis = basis;
}

void JobBook::set_factor(FluxJobId id, std::uint32_t factor, std::uint64_t basis) {
    BookJob& job = jobs_.at(id);
    job.factor = factor;
    job.factor_basis = basis;
}

std::set<FluxJobId> JobBook::pending() const {
    std::set<FluxJobId> pending;
    for (const auto& [id, job] : jobs_) {
        if (job.is_pending()) {
            pending.insert(id);
        }
    }
    return pending;
}

std::vector<const BookJob*> JobBook::in_order() const {
    std::vector<const BookJob*> jobs;
    jobs.reserve(jobs_.size());
    for (const auto& [id, job] : jobs_) {
        jobs.push_back(&job);
    }
    std::sort(jobs.begin(), jobs.end(), [](const BookJob* a, const BookJob* b) { return a->id < b->id; });
    return jobs;
}

void JobBook::follow_tree(std::span<const NodeId> moved) {
    for (auto& [id, job] : jobs_) {
        job.payer = is_in_tree(job.payer) ? moved[job.payer.value] : job.payer;
    }
}

const BookJob* JobBook::find(FluxJobId id) const {
    const auto found = jobs_.find(id);
    return found == jobs_.end() ? nullptr : &found->second;
}

}  // namespace weir::priority
