// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the views of the queue and of one job's priority. See views.hpp.
#include <algorithm>
#include <cstdio>
#include <limits>
#include <map>

#include "libfairshare/base/fsd.hpp"
#include "libsched/order/orders.hpp"
#include "libsched/priority/crossings.hpp"
#include "libsched/priority/explain.hpp"
#include "modules/job-priority/messages/views.hpp"
#include "modules/job-priority/ranking/policy_reasons.hpp"

namespace weir::priority {
namespace {

constexpr std::size_t ahead_max = 5;
constexpr std::size_t crossings_max = 10;

std::string rounded(double value, int digits) {
    char buffer[64];
    const int size = std::snprintf(buffer, sizeof buffer, "%.*f", digits, value);
    std::string text(buffer, static_cast<std::size_t>(size));
    if (text.find('.') != std::string::npos) {
        text.erase(text.find_last_not_of('0') + 1);
        if (text.back() == '.') {
            text.pop_back();
        }
    }
    return text;
}

std::string account_of(const PriorityService& service, const BookJob& job) {
    const ShareTree& tree = service.accounting().tree();
    const auto payer = service.payers().would_pay(tree, job);
    return payer ? tree.path(account_above(tree, payer->association.account)) : std::string();
}

/// "alice in physics/queue:debug", "physics/group:staff".
std::string share_of(const ShareTree& tree, const Payer& payer) {
    const auto [account, leaf] = payer.association;
    const bool is_user = !leaf || tree.kind(*leaf) == NodeKind::user;
    return is_user ? payer.user + " in " + tree.path(leaf ? tree.parent(*leaf) : account) : tree.path(*leaf);
}

std::string policy_name(const PriorityService& service) {
    return std::string(name_of(service.settings().policy));
}

const char* state_name(const BookJob& job) {
    return job.has_resources ? "RUN" : job.is_over ? "CLEANUP" : job.is_eligible ? "SCHED" : "DEPEND";
}

void set_job(Json& view, const PriorityService& service, const BookJob& job) {
    view.set("id", static_cast<long long>(job.id)).set("user", service.users().name(job.charged_userid()));
    view.set("account", account_of(service, job)).set("queue", job.request->queue);
}

/// Flux's six always, the others where the job has something of them.
bool is_shown(const Term& term) {
    return term.factor_id <= Factor::user || term.contribution != 0 || term.raw != 0;
}

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

Json terms_view(const Breakdown& parts) {
    Json terms = Json::array();
    for (const Term& term : parts.terms) {
        if (!is_shown(term)) {
            continue;
        }
        Json entry = Json::object();
        entry.set("name", factor_names.at(static_cast<std::size_t>(term.factor_id))).set("raw", term.raw);
        entry.set("unit", term.unit).set("factor", term.factor).set("weight", term.weight);
        entry.set("contribution", term.contribution).set("share", term.share);
        terms.append(std::move(entry));
    }
    return terms;
}

Json resources_view(const Breakdown& parts) {
    Json list = Json::array();
    for (const ResourcePart& part : parts.resources) {
        Json entry = Json::object();
        entry.set("name", part.name).set("amount", part.amount).set("factor", part.factor);
        entry.set("weight", part.weight).set("contribution", part.contribution);
        list.append(std::move(entry));
    }
    return list;
}

/// What policies other than multifactor go by; nothing for that one.
Measured measured_for_order(const PriorityService& service, Instant now) {
    Measured measured;
    if (!service.ranking().order().is_sum()) {
        service.ranking().measure(service.accounting(), now, measured);
    }
    return measured;
}

/// A policy's own terms: not parts of a greatest, so they have no factor.
Json order_terms_view(const OrderTerms& order) {
    Json terms = Json::array();
    for (const OrderTerm& term : order.terms) {
        Json entry = Json::object();
        entry.set("name", term.name).set("raw", term.raw).set("unit", term.unit).set("weight", term.weight);
        entry.set("contribution", term.contribution);
        entry.set("share", order.sum == 0 ? 0. : term.contribution / order.sum);
        terms.append(std::move(entry));
    }
    return terms;
}

Json order_contributions_view(const OrderTerms& order) {
    Json contributions = Json::object();
    for (const OrderTerm& term : order.terms) {
        contributions.set(term.name.c_str(), term.contribution);
    }
    return contributions;
}

Json ahead_view(const PriorityService& service, FluxJobId id, const Standing& place, Instant now) {
    Json ahead = Json::array();
    const Measured measured = measured_for_order(service, now);
    const RankedScene scene{service.ranking(), service.accounting().tree(), measured, now};
    for (const Ahead& other : place.ahead) {
        const std::string lead = service.ranking().order().is_sum() ? "" : order_lead(scene, id, other.id.value);
        const BookJob* job = service.book().find(other.id.value);
        Json entry = Json::object();
        entry.set("id", static_cast<long long>(other.id.value));
        entry.set("user", job != nullptr ? service.users().name(job->charged_userid()) : std::string());
        entry.set("account", job != nullptr ? account_of(service, *job) : std::string());
        entry.set("queue", job != nullptr ? job->request->queue : std::string());
        entry.set("priority", static_cast<long long>(other.priority)).set("why", lead.empty() ? other.why : lead);
        ahead.append(std::move(entry));
    }
    return ahead;
}

/// One sentence on each term that gives something, greatest first.
void add_term_words(Json& words, const Breakdown& parts) {
    std::vector<const Term*> order;
    for (const Term& term : parts.terms) {
        if (term.contribution > 0) {
            order.push_back(&term);
        }
    }
    std::stable_sort(order.begin(), order.end(),
                     [](const Term* a, const Term* b) { return a->contribution > b->contribution; });
    for (const Term* term : order) {
        std::string of;
        for (const ResourcePart& part : parts.resources) {
            if (term->factor_id == Factor::resources && part.contribution != 0) {
                of += (of.empty() ? "" : ", ") + rounded(part.amount, 3) + " " + part.name + " give " +
                      rounded(part.contribution, 1);
            }
        }
        const std::string name = factor_names.at(static_cast<std::size_t>(term->factor_id));
        const std::string raw = std::string_view(term->unit) == "s" ? duration_text(duration_from_seconds(term->raw))
                                                                    : rounded(term->raw, 3) + " " + term->unit;
        words.append(Json::string(name + " gives " + rounded(term->contribution, 1) + ": factor " +
                                  rounded(term->factor, 4) + " of weight " + rounded(term->weight, 3) + " (" +
                                  (of.empty() ? raw : of) + ")."));
    }
}

/// What the sum is made of, and what waiting adds.
void add_sum_words(Json& words, const Settings& s, const BookJob& job, const Breakdown& parts, Instant now) {
    add_term_words(words, parts);
    const Term& wait = parts.terms.at(static_cast<std::size_t>(Factor::wait));
    const Duration free = s.wait_after.of(job.request->wall_time);
    const Duration waited = job.ageing.wait(now);
    if (s.weights.wait > 0 && waited < free && parts.bypass == Bypass::none) {
        const bool is_by_limit = free > s.wait_after.time;
        words.append(
            Json::string("Its wait counts once it is " + duration_text(free) + " long" +
                         (is_by_limit ? " (" + rounded(s.wait_after.limits, 2) + " times its time limit)" : "") +
                         ", in " + duration_text(free - waited) + "; until then fair share decides."));
    } else if (wait.factor >= 1) {
        words.append(Json::string("It has waited the maximum of " + duration_text(s.wait_max) +
                                  ": waiting longer gains nothing."));
    } else if (s.weights.wait > 0 && parts.bypass == Bypass::none) {
        words.append(Json::string("Each hour of waiting gains " +
                                  rounded(s.weights.wait * 3600. / to_seconds(s.wait_max), 2) + ", up to " +
                                  duration_text(s.wait_max) + "."));
    }
}

/// What a waiting job's priority is made of.
struct JobTerms {
    Breakdown parts;
    Standing place;
    OrderTerms order;  ///< of another policy than multifactor
};

Json words_view(const PriorityService& service, const BookJob& job, const JobTerms& terms, Instant now) {
    const auto& [parts, place, order] = terms;
    Json words = Json::array();
    const std::string user = service.users().name(job.charged_userid());
    if (job.is_held()) {
        words.append(
            Json::string("The job is held (urgency 0): it does not start and does not gain by waiting until "
                         "its urgency is raised."));
    } else if (job.is_expedited()) {
        words.append(Json::string("The job is expedited (urgency 31): it is ahead of every job that is not."));
    }
    if (const std::string limit = held_back_by(service, job.id); !limit.empty()) {
        words.append(Json::string("It is held back by a limit: " + limit + "."));
    }
    const std::string where = job.request->queue.empty() ? "" : " in the queue " + job.request->queue;
    words.append(Json::string("It is number " + std::to_string(place.rank) + " of " + std::to_string(place.of) +
                              " waiting jobs" + where + ", with priority " + std::to_string(parts.priority) + "."));
    const ShareTree& tree = service.accounting().tree();
    const auto payer = service.payers().would_pay(tree, job);
    words.append(Json::string(payer ? "It uses the share of " + share_of(tree, *payer) + "."
                                    : "It is charged to no account: " + user +
                                          " has no association in the share tree, so its fair share is 0."));
    if (service.ranking().order().is_sum()) {
        add_sum_words(words, service.settings(), job, parts, now);
    }
    for (const std::string& sentence : order.words) {
        words.append(Json::string(sentence));
    }
    return words;
}

Json not_pending_view(const PriorityService& service, const BookJob& job) {
    Json view = Json::object();
    set_job(view, service, job);
    Json words = Json::array();
    words.append(Json::string(job.has_resources ? "The job has its resources: priority matters no more."
                              : job.is_over     ? "The job is over."
                                                : "The job waits for its dependencies and is not in the queue yet."));
    view.set("state", state_name(job)).set("priority", 0).set("pushed", Json::own(json_null())).set("rank", 0);
    view.set("of", static_cast<long long>(service.ranking().queue().size())).set("bypass", Json::own(json_null()));
    view.set("terms", Json::array()).set("ahead", Json::array()).set("words", std::move(words));
    return view;
}

const char* push_name(config::PushRule rule) {
    return rule == config::PushRule::head ? "head" : rule == config::PushRule::order ? "order" : "numbers";
}

/// A waiting job and its place among those of its own queue: those of another one are in nobody's way.
struct Placed {
    const BookJob* job;
    PriorityEngine::Change at;
    long long rank = 0;
    long long of = 0;
};

/// Of each queue the number of its pending jobs.
std::map<std::string_view, long long> waiting_by_queue(const PriorityService& service) {
    std::map<std::string_view, long long> waiting;
    for (const auto& [id, job] : service.book().jobs()) {
        if (job.is_pending()) {
            waiting[job.request->queue] += 1;
        }
    }
    return waiting;
}

/// The first `limit` in the order of their priorities. O(jobs + limit log limit).
std::vector<Placed> placed_jobs(const PriorityService& service, Instant now,
                                std::size_t limit = std::numeric_limits<std::size_t>::max()) {
    std::vector<Placed> placed;
    std::map<std::string_view, long long> ranks;
    const std::map<std::string_view, long long> waiting = waiting_by_queue(service);
    for (const PriorityEngine::Change& at :
         in_queue_order(service.ranking().queue().engine(), now, service.ranking().factors(), limit)) {
        if (const BookJob* job = service.book().find(at.id.value)) {
            const auto of = waiting.find(job->request->queue);
            placed.push_back({job, at, ++ranks[job->request->queue], of == waiting.end() ? 0 : of->second});
        }
    }
    return placed;
}

bool is_listed(const PriorityService& service, const BookJob& job, const ListQuery& query) {
    return (!query.userid || job.charged_userid() == *query.userid) &&
           (query.match.empty() || service.users().name(job.charged_userid()).find(query.match) != std::string::npos ||
            account_of(service, job).find(query.match) != std::string::npos);
}

}  // namespace

std::string held_back_by(const PriorityService& service, FluxJobId id) {
    std::string limit = service.gate().limit_of(service.accounting().tree(), id);
    return !limit.empty() || !service.gate().is_capped(id) ? limit : cap_of(service.ranking(), id);
}

std::string why_held(const PriorityService& service, FluxJobId id) {
    const BookJob* job = service.book().find(id);
    if (job == nullptr || !job->is_pending()) {
        return {};
    }
    const std::string limit = job->is_held() ? std::string() : held_back_by(service, id);
    return job->is_held() ? "held: urgency 0" : limit.empty() ? limit : "limit: " + limit;
}

Json list_view(const PriorityService& service, Instant now, const ListQuery& query) {
    const PriorityEngine& engine = service.ranking().queue().engine();
    Json jobs = Json::array();
    const Measured measured = measured_for_order(service, now);
    const RankedScene scene{service.ranking(), service.accounting().tree(), measured, now};
    const std::size_t all = service.ranking().queue().size();
    const bool is_cut = query.is_all() && query.limit != 0;
    std::size_t matching = 0;
    for (const auto& [job, at, rank, of] : placed_jobs(service, now, is_cut ? query.limit : all)) {
        if (!is_listed(service, *job, query)) {
            continue;
        }
        if (++matching > query.limit && query.limit != 0) {
            continue;
        }
        Json entry = Json::object();
        set_job(entry, service, *job);
        entry.set("urgency", job->urgency).set("priority", static_cast<long long>(at.priority));
        entry.set("rank", rank).set("of", of);
        entry.set("submit", to_seconds(job->submit));
        if (service.ranking().order().is_sum()) {
            const Breakdown parts = breakdown(engine, at.slot, now, service.ranking().factors());
            entry.set("factors", factors_view(parts)).set("contributions", contributions_view(parts));
        } else {
            const OrderTerms terms = explain_order(scene, at.id.value);
            entry.set("factors", Json::object()).set("contributions", order_contributions_view(terms));
        }
        entry.set("qos", job->request->qos).set("cores", job->request->cores);
        jobs.append(std::move(entry));
    }
    Json view = Json::object();
    view.set("jobs", std::move(jobs)).set("of", static_cast<long long>(all)).set("now", to_seconds(now));
    view.set("matching", static_cast<long long>(query.is_all() ? all : matching)).set("policy", policy_name(service));
    return view;
}

Json places_view(const PriorityService& service, Instant now, const std::set<FluxJobId>& ids) {
    Json places = Json::array();
    for (const Placed& one : placed_jobs(service, now)) {
        if (ids.count(one.job->id) != 0) {
            places.append(Json::own(json_pack("[I,I,I]", static_cast<json_int_t>(one.job->id),
                                              static_cast<json_int_t>(one.rank), static_cast<json_int_t>(one.of))));
        }
    }
    Json view = Json::object();
    view.set("places", std::move(places));
    return view;
}

namespace {

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

}  // namespace

Result<Json> when_view(const PriorityService& service, FluxJobId a, FluxJobId b, Instant now) {
    if (a == b) {
        return Error{std::errc::invalid_argument, "a job does not pass itself: name two"};
    }
    for (const FluxJobId id : {a, b}) {
        if (service.ranking().queue().find(id) == nullptr || service.book().find(id) == nullptr) {
            return Error{std::errc::no_such_file_or_directory,
                         "job " + std::to_string(id) + " does not wait here: only waiting jobs pass each other"};
        }
    }
    const Passings found = passings_between(service, a, b, now);
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
        entry.set("priority", static_cast<long long>(number));
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
    view.set("policy", policy_name(service)).set("while", taken_for_granted(service.settings().policy));
    return view;
}

Result<Json> explain_view(const PriorityService& service, FluxJobId id, Instant now) {
    const BookJob* job = service.book().find(id);
    if (job == nullptr) {
        return Error{std::errc::no_such_file_or_directory, "there is no active job with this id here"};
    }
    const PriorityEngine::Slot* slot = service.ranking().queue().find(id);
    if (slot == nullptr) {
        return not_pending_view(service, *job);
    }
    const PriorityEngine& engine = service.ranking().queue().engine();
    JobTerms terms;
    terms.parts = breakdown(engine, *slot, now, service.ranking().factors());
    terms.place = standing({engine, now, service.ranking().factors()}, *slot, ahead_max, [&](JobId other) {
        const BookJob* its = service.book().find(other.value);
        return its != nullptr && its->request->queue == job->request->queue;
    });
    const Measured measured = measured_for_order(service, now);
    if (!service.ranking().order().is_sum()) {
        terms.order = explain_order({service.ranking(), service.accounting().tree(), measured, now}, id);
    }
    const auto& [parts, place, order] = terms;
    Json view = Json::object();
    set_job(view, service, *job);
    view.set("state", state_name(*job)).set("urgency", job->urgency);
    view.set("priority", static_cast<long long>(parts.priority)).set("policy", policy_name(service));
    const auto pushed = service.sends().plugin().pushed(id);
    view.set("pushed", pushed ? Json::own(json_integer(*pushed)) : Json::own(json_null()));
    view.set("push", push_name(service.settings().push));
    view.set("rank", static_cast<long long>(place.rank)).set("of", static_cast<long long>(place.of));
    view.set("bypass", parts.bypass == Bypass::none   ? Json::own(json_null())
                       : parts.bypass == Bypass::held ? Json::string("held")
                                                      : Json::string("expedited"));
    if (const std::string limit = held_back_by(service, id); !limit.empty()) {
        view.set("limit", limit);
    }
    view.set("resources", resources_view(parts));
    view.set("terms", service.ranking().order().is_sum() ? terms_view(parts) : order_terms_view(order));
    view.set("ahead", ahead_view(service, id, place, now));
    Json words = words_view(service, *job, terms, now);
    const bool is_order = service.settings().push == config::PushRule::order;
    const bool is_head = service.settings().push == config::PushRule::head && pushed.value_or(0) > behind_head_max;
    if (pushed && (is_order || is_head)) {
        words.append(Json::string("The job-manager has it as " + std::to_string(*pushed) + ": a place " +
                                  (is_order ? "in the order" : "among the first jobs of the queue") + " (push = \"" +
                                  push_name(service.settings().push) + "\"), not the priority."));
    }
    view.set("words", std::move(words));
    return view;
}

}  // namespace weir::priority
