// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the views of the queue: its jobs in their order, and the places of some. See views.hpp.
#include <limits>
#include <map>

#include "libsched/priority/explain.hpp"
#include "modules/job-priority/messages/job_views.hpp"
#include "modules/job-priority/messages/views.hpp"
#include "modules/job-priority/ranking/policy_reasons.hpp"

namespace weir::priority {
namespace {

Json factors_view(const Breakdown& parts) {
    Json factors = Json::object();
    for (const Term& term : parts.terms) {
        if (!is_shown(term)) {
            continue;
        }
        factors.set(factor_names.at(static_cast<std::size_t>(term.factor_id)), term.factor);
    }
    return factors;
}

/// All, as the columns of `sprio -l` are there whatever the weights.
Json contributions_view(const Breakdown& parts) {
    Json contributions = Json::object();
    for (const Term& term : parts.terms) {
        contributions.set(factor_names.at(index_of(term.factor_id)), term.contribution);
    }
    return contributions;
}

Json order_contributions_view(const OrderTerms& order) {
    Json contributions = Json::object();
    for (const OrderTerm& term : order.terms) {
        contributions.set(term.name.c_str(), term.contribution);
    }
    return contributions;
}

/// A pending job and its place among those of its own queue.
struct Placed {
    const BookJob* job;
    PriorityEngine::Change at;
    long long rank = 0;
    long long of = 0;
};

/// The number of pending jobs of each queue.
std::map<std::string_view, long long> waiting_by_queue(const PriorityService& service) {
    std::map<std::string_view, long long> waiting;
    auto last = waiting.end();  // neighbours are mostly of one queue
    for (const auto& [id, job] : service.book().jobs()) {
        if (job.is_pending()) {
            if (last == waiting.end() || last->first != job.request->queue) {
                last = waiting.try_emplace(job.request->queue, 0).first;
            }
            last->second += 1;
        }
    }
    return waiting;
}

/// The first `limit` in the order of their priorities, those that are held back last. O(jobs + limit log limit).
std::vector<Placed> placed_jobs(const PriorityService& service, Instant now,
                                std::size_t limit = std::numeric_limits<std::size_t>::max()) {
    std::vector<Placed> placed;
    std::map<std::string_view, long long> ranks;
    const std::map<std::string_view, long long> waiting = waiting_by_queue(service);
    for (const PriorityEngine::Change& at : in_queue_order(service.ranking().queue().engine(), now,
                                                           service.ranking().factors(), limit, held_back_in(service))) {
        if (const BookJob* job = service.book().find(at.id.value)) {
            const auto of = waiting.find(job->request->queue);
            placed.push_back({job, at, ++ranks[job->request->queue], of == waiting.end() ? 0 : of->second});
        }
    }
    return placed;
}

bool is_listed(const PriorityService& service, const BookJob& job, const ListQuery& query) {
    return (!query.userid || job.charged_userid() == *query.userid) &&
           (!query.queue || job.request->queue == *query.queue) &&
           (query.match.empty() || service.users().name(job.charged_userid()).find(query.match) != std::string::npos ||
            account_of(service, job).find(query.match) != std::string::npos);
}

}  // namespace

Json list_view(const VisiblePart& part, Instant now, const ListQuery& query) {
    const PriorityService& service = part.service();
    const PriorityEngine& engine = service.ranking().queue().engine();
    Json jobs = Json::array();
    const Measured measured = measured_for_order(service, now);
    const RankedScene scene{service.ranking(), service.accounting().tree(), measured, now};
    const std::size_t all = service.ranking().queue().size();
    const bool is_whole = part.is_all() && query.is_all();
    std::size_t matching = 0;
    for (const auto& [job, at, rank, of] :
         placed_jobs(service, now, is_whole && query.limit != 0 ? query.limit : all)) {
        if (!part.has(*job) || !is_listed(service, *job, query)) {
            continue;
        }
        if (++matching > query.limit && query.limit != 0) {
            continue;
        }
        Json entry = Json::object();
        set_job(entry, service, *job);
        entry.set("urgency", job->urgency).set("priority", static_cast<long long>(at.priority));
        entry.set("rank", rank).set("of", of).set("is_held_back", is_held_back(service, job->id));
        entry.set("submit", to_seconds(job->first_submit));
        if (service.ranking().order().is_sum()) {
            const Breakdown parts = breakdown(engine, at.slot, now, service.ranking().factors());
            if (parts.bypass == Bypass::given) {  // the parent has the terms
                entry.set("is_parents", true);
            } else {
                entry.set("factors", factors_view(parts)).set("contributions", contributions_view(parts));
            }
        } else {
            const OrderTerms terms = explain_order(scene, at.id.value);
            entry.set("factors", Json::object()).set("contributions", order_contributions_view(terms));
        }
        entry.set("qos", job->request->qos).set("cores", job->request->cores);
        jobs.append(std::move(entry));
    }
    Json view = Json::object();
    view.set("jobs", std::move(jobs)).set("of", static_cast<long long>(all)).set("now", to_seconds(now));
    view.set("matching", static_cast<long long>(is_whole ? all : matching)).set("policy", policy_name(service));
    return view;
}

Json places_view(const VisiblePart& part, Instant now, const std::set<FluxJobId>& ids) {
    Json places = Json::array();
    for (const Placed& one : placed_jobs(part.service(), now)) {
        if (ids.count(one.job->id) != 0 && part.has(*one.job)) {
            places.append(Json::own(json_pack("[I,I,I,I,b]", static_cast<json_int_t>(one.job->id),
                                              static_cast<json_int_t>(one.rank), static_cast<json_int_t>(one.of),
                                              static_cast<json_int_t>(one.at.priority),
                                              static_cast<int>(is_held_back(part.service(), one.job->id)))));
        }
    }
    Json view = Json::object();
    view.set("places", std::move(places));
    return view;
}

}  // namespace weir::priority
