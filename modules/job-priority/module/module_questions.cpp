// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the module's requests that change nothing: payloads of requests and answers. See module.hpp; payloads in
// README.md.
#include <algorithm>
#include <numeric>
#include <utility>

#include "modules/job-priority/messages/share_figures.hpp"
#include "modules/job-priority/messages/share_rows.hpp"
#include "modules/job-priority/messages/usage_report.hpp"
#include "modules/job-priority/messages/views.hpp"
#include "modules/job-priority/module/module.hpp"

namespace weir::priority {
namespace {

/// Bounds of a hypothetical job.
constexpr json_int_t thought_cores_max = 10'000'000;
constexpr double thought_seconds_max = 10. * 365 * 86400;

/// The texts of an array; of anything else none.
std::vector<std::string> strings_of(const json_t* array) {
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < json_array_size(array); ++i) {
        const json_t* item = json_array_get(array, i);
        texts.emplace_back(json_is_string(item) ? json_string_value(item) : "");
    }
    return texts;
}

std::set<std::string> set_of(const std::vector<std::string>& texts) {
    return {texts.begin(), texts.end()};
}

}  // namespace

VisiblePart Module::part_of(const flux_msg_t* msg) const {
    const auto user = private_.only(msg);
    return user ? VisiblePart(*service_, *user) : VisiblePart(*service_);
}

// Guest: reads shares, usage and factors of all. Costs a reading of the whole tree. Private: his part and sums.
Json Module::on_tree_get(const flux_msg_t* msg) {
    return tree_view(part_of(msg), now());
}

// Guest: reads when the share tree was changed, by whom and why. Private: only when.
Json Module::on_history(const flux_msg_t* msg) {
    return history_view(part_of(msg));
}

// Guest: reads what every account and user used. Private: his part and sums.
Json Module::on_usage(const flux_msg_t* msg) {
    return usage_view(part_of(msg), now());
}

// Guest: reads what everybody used, hour by hour. Costs a reading of the rows of the hours that he asks for: below a
// microsecond a row. His jobs' projects are rows as well: a report has the 20000 with the most usage, and one sum of
// the rest. Private: his own and the sum.
Json Module::on_usage_report(const flux_msg_t* msg) {
    const char* payload = nullptr;
    if (flux_request_decode(msg, nullptr, &payload) < 0) {
        flux::fail_errno("usage-report");
    }
    const Json asked = payload != nullptr ? Json::parse_payload(payload) : Json::object();
    const VisiblePart part = part_of(msg);
    UsageReport report(flux::value_or_throw(read_usage_query(asked.get())),
                       part.is_all() ? std::nullopt : std::optional(part.user()));
    const Instant at = now();
    flux::value_or_throw(state_->read_usage(report, at));
    return flux::value_or_throw(report.view(*service_, at));
}

// Guest: reads the settings that make a priority.
Json Module::on_weights(const flux_msg_t* msg) {
    const VisiblePart part = part_of(msg);
    return std::move(
        weights_view(part).set("in_force", part.is_all() ? policy_->view() : json_of(policy_->in_force())));
}

// Guest: reads the waiting jobs of all, as job-list tells them too. Costs a look at each of them, with a name a sort.
// Private: his own, and how many wait.
Json Module::on_list(const flux_msg_t* msg) {
    json_int_t limit = 0;
    json_int_t userid = -1;
    const char* match = "";
    const char* queue = nullptr;
    const char* payload = nullptr;
    if (flux_request_decode(msg, nullptr, &payload) == 0 && payload != nullptr) {
        flux::unpack(msg, "{s?I s?I s?s s?s}", "limit", &limit, "userid", &userid, "match", &match, "queue", &queue);
    }
    ListQuery query{static_cast<std::size_t>(std::max<json_int_t>(0, limit)), std::nullopt, match, std::nullopt};
    if (queue != nullptr) {
        query.queue = queue;
    }
    if (userid >= 0) {
        query.userid = static_cast<std::uint32_t>(userid);
    }
    return list_view(part_of(msg), now(), query);
}

// Guest: reads the places of waiting jobs, also of others'. Costs a sort of the queue. Private: of his own.
Json Module::on_places(const flux_msg_t* msg) {
    json_t* list = nullptr;
    flux::unpack(msg, "{s:o}", "ids", &list);
    std::set<FluxJobId> ids;
    std::size_t index = 0;
    json_t* id = nullptr;
    json_array_foreach(list, index, id) {
        ids.insert(static_cast<FluxJobId>(json_integer_value(id)));
    }
    return places_view(part_of(msg), now(), ids);
}

// Guest: reads why a job has its priority, also another's. Private: his own; the jobs ahead of it have no ids and no
// users.
Json Module::on_explain(const flux_msg_t* msg) {
    json_int_t id = 0;
    flux::unpack(msg, "{s:I}", "id", &id);
    return flux::value_or_throw(explain_view(part_of(msg), static_cast<FluxJobId>(id), now()));
}

// Guest: reads where anybody stands. A name that the tree does not have costs a question to the user database and a
// copy of the tree, and stays nowhere. Private: he himself and the accounts above him; in an account that admits every
// user from his first job there on. The reason names nobody else.
Json Module::on_share_explain(const flux_msg_t* msg) {
    const char* path = nullptr;
    flux::unpack(msg, "{s:s}", "path", &path);
    return flux::value_or_throw(share_explain_view(part_of(msg), path, now()));
}

// Guest: as share-explain, and evaluates the tree twice. Private: of himself.
Json Module::on_share_after(const flux_msg_t* msg) {
    const char* path = nullptr;
    json_int_t cores = 0;
    double seconds = 0;
    flux::unpack(msg, "{s:s s:I s:F}", "path", &path, "cores", &cores, "seconds", &seconds);
    if (cores < 1 || cores > thought_cores_max || !(seconds >= 0 && seconds <= thought_seconds_max)) {
        throw flux::Failure(EINVAL, "share-after: a job has 1 to 10000000 cores, for at most 10 years");
    }
    const ThoughtJob job{static_cast<std::uint32_t>(cores), duration_from_seconds(seconds)};
    return flux::value_or_throw(share_after_view(part_of(msg), path, job, now()));
}

// Guest: as share-explain, twice. Private: his own accounts and he himself.
Json Module::on_share_compare(const flux_msg_t* msg) {
    const char* a = nullptr;
    const char* b = nullptr;
    flux::unpack(msg, "{s:s s:s}", "a", &a, "b", &b);
    return flux::value_or_throw(share_compare_view(part_of(msg), a, b, now()));
}

// Guest: reads when one waiting job passes another; both may be others'. Private: both are his own.
Json Module::on_when(const flux_msg_t* msg) {
    json_int_t a = 0;
    json_int_t b = 0;
    flux::unpack(msg, "{s:I s:I}", "a", &a, "b", &b);
    return flux::value_or_throw(when_view(part_of(msg), static_cast<FluxJobId>(a), static_cast<FluxJobId>(b), now()));
}

// Guest: reads a bounded part of what tree-get tells. Costs a look at each pending job, and with a name at each node;
// nothing where he has seen the answer. Private: his part and sums.
Json Module::on_share_rows(const flux_msg_t* msg) {
    RowsQuery query;
    json_int_t limit = static_cast<json_int_t>(query.limit);
    const char* order = "tree";
    const char* match = "";
    const char* seen = "";
    json_t* open = nullptr;
    json_t* shut = nullptr;
    flux::unpack(msg, "{s?I s?s s?s s?s s?o s?o}", "limit", &limit, "order", &order, "match", &match, "seen", &seen,
                 "open", &open, "shut", &shut);
    const std::optional<RowOrder> known = row_order_of(order);
    if (!known || limit < 1 || limit > static_cast<json_int_t>(share_rows_max)) {
        throw flux::Failure(EPROTO, "share-rows: the limit is from 1 to " + std::to_string(share_rows_max) +
                                        ", the order one of tree, name, used, ratio, running and waiting");
    }
    query.limit = static_cast<std::size_t>(limit);
    query.order = *known;
    query.match = match;
    query.open = set_of(strings_of(open));
    query.shut = set_of(strings_of(shut));
    const std::string version = share_rows_version(*service_);
    Json view = version == seen ? Json::object() : share_rows_view(part_of(msg), query);
    const auto& starts = service_->charges().waits().counts;
    view.set("started", static_cast<long long>(std::accumulate(starts.begin(), starts.end(), std::uint64_t{0})));
    return std::move(view.set("version", version).set("now", to_seconds(now())));
}

// Guest: reads what tree-get tells of up to 5000 nodes. Costs a look at each pending job and each of these nodes;
// nothing where he has seen the answer. Private: of his part.
void Module::on_share_figures(const flux_msg_t* msg) {
    json_t* list = nullptr;
    const char* seen = "";
    flux::unpack(msg, "{s:o s?s}", "paths", &list, "seen", &seen);
    if (!json_is_array(list) || json_array_size(list) > share_figures_max) {
        throw flux::Failure(EPROTO, "share-figures: paths is an array of at most " + std::to_string(share_figures_max));
    }
    const std::string version = share_rows_version(*service_);
    Json more = Json::object();
    more.set("version", version).set("now", to_seconds(now())).set("private", private_.is_on());
    const std::string text =
        version == seen ? more.dump() : share_figures_text(part_of(msg), strings_of(list), more.share());
    if (flux_respond(h_, msg, text.c_str()) < 0) {
        flux::fail_errno("share-figures");
    }
}

// Guest: reads what tree-get and stats-get tell, of the upper levels. Costs a look at each child of the accounts above
// the depth where he changes his question each time; nothing is evaluated. Private: the accounts on top alone.
void Module::on_metrics(const flux_msg_t* msg) {
    MetricsQuery query;
    json_int_t depth = static_cast<json_int_t>(query.depth);
    int with_users = 0;
    const char* payload = nullptr;
    if (flux_request_decode(msg, nullptr, &payload) == 0 && payload != nullptr) {
        flux::unpack(msg, "{s?I s?b}", "depth", &depth, "users", &with_users);
    }
    if (depth < 1 || depth > static_cast<json_int_t>(ShareTree::depth_max)) {
        throw flux::Failure(EPROTO, "metrics: depth is from 1 to " + std::to_string(ShareTree::depth_max));
    }
    query.depth = static_cast<std::size_t>(depth);
    query.with_users = with_users != 0;
    if (!part_of(msg).is_all() && (query.depth > 1 || query.with_users)) {
        throw flux::Failure(EPERM, "metrics: the instance is private: guests read the accounts on top, depth 1");
    }
    Json view = Json::object();
    const auto timing = [&](const char* name, const Timing& of) {
        Json one = Json::object();
        one.set("count", static_cast<long long>(of.count)).set("total_s", of.total_s / time_scale_);
        view.set(name, std::move(one));
    };
    timing("passes", passes_);
    timing("pushes", plugin_->round_trips());
    timing("commits", state_->commits());
    timing("reports", parent_ ? parent_->round_trips() : Timing{});
    view.set("commit_lag_s", state_->lag_s() / time_scale_);
    const std::string text = metrics_.text(*service_, query, std::move(view));
    if (flux_respond(h_, msg, text.c_str()) < 0) {
        flux::fail_errno("metrics");
    }
}

// Guest: reads counts of work and where the state file is. Private: without what is wrong with the share tree, which
// may name users.
Json Module::on_stats(const flux_msg_t* msg) {
    const ServiceCounts& counts = service_->counts();
    const auto number = [](std::uint64_t value) { return static_cast<long long>(value); };
    Json stats = Json::object();
    stats.set("passes", number(counts.passes)).set("pending", number(service_->ranking().queue().size()));
    stats.set("active", number(service_->book().size()))
        .set("running", number(service_->accounting().running().size()));
    stats.set("pushed", number(service_->sends().plugin().pushed_total()))
        .set("ordered", number(service_->sends().scheduler().sent_total()));
    stats.set("changes", number(counts.changes));
    stats.set("last_pass_us", last_pass_us_).set("events", number(counts.events + service_->children().records()));
    stats.set("evaluations", number(service_->ranking().shares().evaluations()))
        .set("vanished", number(service_->charges().vanished()));
    stats.set("nodes", number(service_->accounting().tree().size()));
    stats.set("ledger_touches", number(service_->accounting().ledger().touches()));
    stats.set("journal_position", to_seconds(service_->log().meta().position));
    stats.set("synced", service_->is_synced()).set("plugin", plugin_->is_absent() ? "absent" : "present");
    stats.set("state_file", state_->path()).set("state_failed", state_->has_failed());
    stats.set("state_failures", number(state_->failures()));
    stats.set("revision", static_cast<long long>(service_->trees().in_force().revision));
    stats.set("private", private_.is_on());
    stats.set("share_tree_problem", part_of(msg).is_all() ? service_->trees().problem() : "");  // may name somebody
    Json uplink = Json::object();
    uplink.set("state", !parent_                                          ? "none"
                        : parent_->state() == UplinkLink::State::attached ? "attached"
                        : parent_->state() == UplinkLink::State::refused  ? "refused"
                                                                          : "connecting");
    uplink.set("last_seq", number(service_->sends().uplink().queue().last_seq()));
    uplink.set("unacknowledged", number(service_->sends().uplink().queue().unacknowledged()));
    uplink.set("factors", service_->ranking().shares().are_parents());
    stats.set("uplink", std::move(uplink));
    stats.set("questions_waiting", number(questions_->size()));
    stats.set("children", number(service_->children().children().size()));
    stats.set("attached", number(attached_.size())).set("not_believed", number(service_->children().not_believed()));
    return stats;
}

// Guest: sees what share history and share export show to everybody. Two parses of kept texts a request, and the
// members of both trees: O(nodes + jobs). Private: the changes of his own part.
Json Module::on_tree_diff(const flux_msg_t* msg) {
    json_int_t a = 0;
    json_int_t b = -1;
    flux::unpack(msg, "{s:I s?I}", "a", &a, "b", &b);
    const std::int64_t to = b < 0 ? service_->trees().in_force().revision : b;
    return tree_diff_view(part_of(msg), a, to, flux::value_or_throw(service_->changes_between(a, to)));
}

}  // namespace weir::priority
