// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the view of one job's priority, and what the views of jobs have in common. See views.hpp.
#include <algorithm>
#include <cstdio>
#include <map>

#include "libfairshare/base/fsd.hpp"
#include "libsched/priority/explain.hpp"
#include "modules/job-priority/messages/job_views.hpp"
#include "modules/job-priority/messages/views.hpp"
#include "modules/job-priority/ranking/policy_reasons.hpp"

namespace weir::priority {
namespace {

constexpr std::size_t ahead_max = 5;

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

/// "alice in physics/queue:debug", "physics/group:staff".
std::string share_of(const ShareTree& tree, const Payer& payer) {
    const auto [account, leaf] = payer.association;
    const bool is_user = !leaf || tree.kind(*leaf) == NodeKind::user;
    return is_user ? payer.user + " in " + tree.path(leaf ? tree.parent(*leaf) : account) : tree.path(*leaf);
}

const char* state_name(const BookJob& job) {
    return job.has_resources ? "RUN" : job.is_over ? "CLEANUP" : job.is_eligible ? "SCHED" : "DEPEND";
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

/// A policy's own terms. They are no fractions of a maximum, so they have no factor.
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

Json ahead_view(const VisiblePart& part, FluxJobId id, const Standing& place, Instant now) {
    const PriorityService& service = part.service();
    Json ahead = Json::array();
    const Measured measured = measured_for_order(service, now);
    const RankedScene scene{service.ranking(), service.accounting().tree(), measured, now};
    for (const Ahead& other : place.ahead) {
        const bool is_by_order =
            !service.ranking().order().is_sum() && is_held_back(service, id) == is_held_back(service, other.id.value);
        const std::string lead = is_by_order ? order_lead(scene, id, other.id.value) : "";
        const BookJob* job = service.book().find(other.id.value);
        const bool is_told = job != nullptr && part.has(*job);
        Json entry = Json::object();
        if (is_told) {
            set_job(entry, service, *job);
        } else {
            entry.set("id", Json::own(json_null())).set("user", "").set("account", "").set("queue", "");
        }
        entry.set("priority", static_cast<long long>(other.priority));
        entry.set("why", lead.empty() || !is_told ? other.why : lead);  // a policy's own reason names accounts
        ahead.append(std::move(entry));
    }
    return ahead;
}

/// One sentence for each term that is not 0, greatest first.
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

/// The parts of the sum, and the gain by waiting.
void add_sum_words(Json& words, const Settings& s, const BookJob& job, const Breakdown& parts, Instant now) {
    add_term_words(words, parts);
    if (parts.is_kept_up) {
        words.append(Json::string(
            "An earlier pass gave it " + std::to_string(parts.priority) + ". Its terms give " + rounded(parts.sum, 1) +
            " now, but no pass lowers a priority (only-raises): it rises again when they give more."));
    }
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

/// The parts of a pending job's priority.
struct JobTerms {
    Breakdown parts;
    Standing place;
    OrderTerms order;  ///< of another policy than multifactor
};

/// Whether the parent gives the priority.
bool is_parents(const PriorityService& service, const BookJob& job, const Breakdown& parts) {
    return parts.bypass == Bypass::given && service.has_given(job);
}

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
    } else if (is_parents(service, job, parts)) {
        words.append(Json::string("The parent instance gives it its priority, by the shares and the usage there."));
    }
    const ShareTree& tree = service.accounting().tree();
    if (const std::string refusal = refusal_of(service, job.id); !refusal.empty()) {
        words.append(Json::string("It is held back until somebody pays for it: " + refusal + "."));
    } else if (const std::string limit = held_back_by(service, job.id); !limit.empty()) {
        words.append(Json::string("It is held back by a limit: " + limit + "."));
    }
    const std::string where = job.request->queue.empty() ? "" : " in the queue " + job.request->queue;
    words.append(Json::string("It is number " + std::to_string(place.rank) + " of " + std::to_string(place.of) +
                              " waiting jobs" + where + ", with priority " + std::to_string(parts.priority) + "."));
    if (is_parents(service, job, parts)) {
        return words;
    }
    const auto payer = service.payers().would_pay(tree, job);
    const std::string refusal = service.payers().refusal(tree, job);
    words.append(
        Json::string(payer ? "It uses the share of " + share_of(tree, *payer) + "."
                           : "It is charged to no account: " +
                                 (refusal.empty() ? user + " has no association in the share tree for it" : refusal) +
                                 ". So its fair share is 0."));
    if (service.ranking().order().is_sum()) {
        add_sum_words(words, service.settings(), job, parts, now);
    }
    for (const std::string& sentence : order.words) {
        words.append(Json::string(sentence));
    }
    return words;
}

Json bypass_name(Bypass bypass) {
    switch (bypass) {
        case Bypass::held:
            return Json::string("held");
        case Bypass::expedited:
            return Json::string("expedited");
        case Bypass::none:
        case Bypass::given:  // each value of an order that is no sum
            break;
    }
    return Json::own(json_null());
}

Json not_pending_view(const PriorityService& service, const BookJob& job) {
    Json view = Json::object();
    set_job(view, service, job);
    Json words = Json::array();
    words.append(Json::string(job.has_resources ? "The job has its resources: its priority has no further effect."
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

/// Its rank among the jobs of its own queue, and the jobs ahead of it of all queues that it competes with.
Standing place_of(const PriorityService& service, const BookJob& job, PriorityEngine::Slot slot, Instant now) {
    std::map<std::string_view, Counts> counts{{job.request->queue, Counts::fully}};
    const auto of_queue = [&](const std::string& queue) {
        const auto [at, is_new] = counts.try_emplace(queue, Counts::not_at_all);
        if (is_new && service.partition_queues().do_compete(job.request->queue, queue)) {
            at->second = Counts::as_ahead;
        }
        return at->second;
    };
    return standing(
        {service.ranking().queue().engine(), now, service.ranking().factors()}, slot, ahead_max,
        [&](JobId other) {
            const BookJob* its = service.book().find(other.value);
            return its == nullptr ? Counts::not_at_all : of_queue(its->request->queue);
        },
        held_back_in(service));
}

/// Why the job-manager's number of a pending job is not its priority; empty where it is the priority of some time.
std::string number_sentence(const PriorityService& service, std::uint32_t number, std::uint32_t priority) {
    const config::PushRule rule = service.settings().push;
    const PendingQueue& queue = service.ranking().queue();
    const std::string known_as = "The job-manager has it as " + std::to_string(number) + ": ";
    if (rule == config::PushRule::order || (rule == config::PushRule::head && number > behind_head_max)) {
        return known_as + "a place " +
               (rule == config::PushRule::order ? "in the order" : "among the first jobs of the queue") +
               " (push = \"" + push_name(rule) + "\"), not the priority.";
    }
    if (queue.has_head() && queue.scheduler().takes_order && number == priority_min && priority != number) {
        return known_as +
               "the job came to a deep queue, whose numbers follow slowly (push-rate). The scheduler has its priority.";
    }
    return {};
}

}  // namespace

std::string account_of(const PriorityService& service, const BookJob& job) {
    const ShareTree& tree = service.accounting().tree();
    const auto payer = service.payers().would_pay(tree, job);
    return payer ? tree.path(account_above(tree, payer->association.account)) : std::string();
}

/// A job with urgency 0 waits for its urgency alone: the limits do not count it.
bool is_held_back(const PriorityService& service, FluxJobId id) {
    if (!service.gate().is_held_back(id)) {
        return false;
    }
    const BookJob* job = service.book().find(id);
    return job != nullptr && !job->is_held();
}

IsHeldBack held_back_in(const PriorityService& service) {
    return [&service](JobId id) { return is_held_back(service, id.value); };
}

bool is_shown(const Term& term) {
    return term.factor_id <= Factor::user || term.contribution != 0 || term.raw != 0;
}

std::string policy_name(const PriorityService& service) {
    return std::string(name_of(service.settings().policy));
}

void set_job(Json& view, const PriorityService& service, const BookJob& job) {
    view.set("id", static_cast<long long>(job.id)).set("user", service.users().name(job.charged_userid()));
    view.set("account", account_of(service, job)).set("queue", job.request->queue);
}

Measured measured_for_order(const PriorityService& service, Instant now) {
    Measured measured;
    if (!service.ranking().order().is_sum()) {
        service.ranking().measure(service.accounting(), now, measured);
    }
    return measured;
}

std::string held_back_by(const PriorityService& service, FluxJobId id) {
    std::string limit = service.gate().limit_of(service.accounting().tree(), id);
    return !limit.empty() || !service.gate().is_capped(id) ? limit : cap_of(service.ranking(), id);
}

std::string refusal_of(const PriorityService& service, FluxJobId id) {
    const BookJob* job = service.gate().is_stranger(id) ? service.book().find(id) : nullptr;
    return job != nullptr ? service.payers().refusal(service.accounting().tree(), *job) : std::string();
}

std::string why_held(const PriorityService& service, FluxJobId id) {
    const BookJob* job = service.book().find(id);
    if (job == nullptr || !job->is_pending()) {
        return {};
    }
    if (job->is_held()) {
        return "held: urgency 0";
    }
    if (service.gate().is_stopped(*job)) {
        const std::string& queue = job->request->queue;
        return (queue.empty() ? "the queue" : "queue " + queue) + " starts no jobs";
    }
    if (const std::string refusal = refusal_of(service, id); !refusal.empty()) {
        return "nobody would pay: " + refusal;
    }
    const std::string limit = held_back_by(service, id);
    return limit.empty() ? limit : "limit: " + limit;
}

Result<Json> explain_view(const VisiblePart& part, FluxJobId id, Instant now) {
    const PriorityService& service = part.service();
    const BookJob* job = service.book().find(id);
    if (job == nullptr || !part.has(*job)) {
        return Error{std::errc::no_such_file_or_directory, "there is no active job with this id here"};
    }
    const PriorityEngine::Slot* slot = service.ranking().queue().find(id);
    if (slot == nullptr) {
        return not_pending_view(service, *job);
    }
    const PriorityEngine& engine = service.ranking().queue().engine();
    JobTerms terms;
    terms.parts = breakdown(engine, *slot, now, service.ranking().factors());
    terms.place = place_of(service, *job, *slot, now);
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
    const bool is_given = is_parents(service, *job, parts);
    view.set("bypass", is_given ? Json::string("given") : bypass_name(parts.bypass));
    if (const std::string refusal = refusal_of(service, id); !refusal.empty()) {
        view.set("refusal", refusal);
    }
    if (const std::string limit = held_back_by(service, id); !limit.empty()) {
        view.set("limit", limit);
    }
    view.set("resources", resources_view(parts));
    view.set("terms", is_given                             ? Json::array()
                      : service.ranking().order().is_sum() ? terms_view(parts)
                                                           : order_terms_view(order));
    view.set("ahead", ahead_view(part, id, place, now));
    Json words = words_view(service, *job, terms, now);
    if (const std::string sentence = pushed ? number_sentence(service, *pushed, parts.priority) : "";
        !sentence.empty()) {
        words.append(Json::string(sentence));
    }
    view.set("words", std::move(words));
    return view;
}

}  // namespace weir::priority
