// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the requests to job-manager.jobpriority. See plugin_link.hpp.
#include "modules/job-priority/module/plugin_link.hpp"

#include <algorithm>
#include <utility>

#include "modules/common/monotonic_clock.hpp"
#include "modules/job-priority/sends/accounts_view.hpp"
#include "modules/job-priority/sends/project_view.hpp"
#include "modules/job-priority/sends/shown_rate.hpp"
#include "modules/job-priority/tap/tap_table.hpp"
#include "modules/job-priority/tree/unknown_names.hpp"

namespace weir::priority {
namespace {

constexpr double plugin_retry_first_s = 0.1;
constexpr double plugin_retry_last_s = 10.0;
constexpr double plugin_timeout_s = 60.0;
constexpr double shown_pause_s = 0.5;
/// More than [id,priority] takes.
constexpr std::size_t pair_bytes = 36;
constexpr const char* update_topic = "job-manager.jobpriority.update";
constexpr const char* accounts_topic = "job-manager.jobpriority.accounts";

const char* mode_name(Push::Mode mode) {
    return mode == Push::Mode::job ? "job" : mode == Push::Mode::fill ? "fill" : "all";
}

Json names(const std::vector<std::string>& from) {
    Json array = Json::array();
    for (const std::string& name : from) {
        array.append(Json::string(name));
    }
    return array;
}

Json project_numbers(const ProjectView::Index& index) {
    Json numbers = Json::object();
    for (const auto& [account, number] : index) {
        numbers.set(account.c_str(), static_cast<long long>(number));
    }
    return numbers;
}

Json project_lists(const ProjectView& view) {
    Json lists = Json::array();
    for (const ProjectAccess& access : view.lists) {
        Json list = Json::object();
        lists.append(std::move(list.set("default", access.by_default).set("names", names(access.names))));
    }
    return lists;
}

}  // namespace

PluginLink::PluginLink(flux_t* h, double time_scale, PriorityService& service)
    : h_(h),
      service_(service),
      backoff_(plugin_retry_first_s * time_scale, plugin_retry_last_s * time_scale),
      timer_(flux_timer_watcher_create(flux_get_reactor(h), 1., 0., flux::on_watcher<&PluginLink::on_retry>, this)),
      shown_timer_(flux_timer_watcher_create(flux_get_reactor(h), 1., 0., flux::on_watcher<&PluginLink::pump>, this)),
      answer_timeout_s_(plugin_timeout_s * time_scale) {
    if (!timer_ || !shown_timer_) {
        flux::fail_errno("plugin timer");
    }
}

void PluginLink::pump() {
    if (out_ || is_waiting_ || !service_.is_synced() || (may_send_ && !may_send_())) {
        return;  // before the backlog is complete the plugin must get nothing
    }
    if (accounts_sent_ != service_.accounts_version()) {
        send_accounts();
        return;
    }
    if (const auto push = service_.sends().plugin().next(shown_max())) {
        shown_out_ = push->is_shown ? push->jobs.size() : 0;
        shown_allowed_ -= static_cast<double>(shown_out_);
        send_push(push);
    } else if (is_heartbeat_due_ || service_.first_values().has_work()) {
        send_push(std::nullopt);
    }
}

std::size_t PluginLink::shown_max() {
    const Pusher& pusher = service_.sends().plugin();
    if (!pusher.has_shown() || pusher.has_work()) {
        return 0;
    }
    if (is_all_wanted_) {
        return SIZE_MAX;
    }
    const Settings& settings = service_.settings();
    const PendingQueue& queue = service_.ranking().queue();
    const bool is_for_children = queue.is_routed();
    if (is_for_children && !settings.push_rate) {
        return shown_by_pace();
    }
    return shown_by_rate(settings.push_rate.value_or(shown_rate(settings.push, queue.size())));
}

std::size_t PluginLink::shown_by_rate(double rate) {
    const double now = flux_reactor_now(flux_get_reactor(h_));
    shown_allowed_ = std::min(std::max(1., rate), shown_allowed_ + rate * (now - shown_counted_at_));
    shown_counted_at_ = now;
    look_again_in(std::max(shown_pause_s, 1. / rate));
    return shown_allowed_ < 1. ? 0 : static_cast<std::size_t>(shown_allowed_);
}

/// What was measured by another rule is no matter: the first requests correct it.
std::size_t PluginLink::shown_by_pace() {
    const double pause = pace_.wait(flux::monotonic_seconds());
    if (pause > 0) {
        look_again_in(pause);
        return 0;
    }
    return pace_.portion();
}

void PluginLink::look_again_in(double seconds) {
    flux_timer_watcher_reset(shown_timer_.get(), seconds, 0.);
    flux_watcher_start(shown_timer_.get());
}

bool PluginLink::is_settled() const {
    return !service_.sends().plugin().has_shown() && !is_absent_ && !out_ && !service_.sends().plugin().has_work() &&
           !service_.sends().plugin().is_out();
}

void PluginLink::send(Sent what, const std::string& topic, const std::string& payload) {
    out_what_ = what;
    out_ = flux::rpc_text(h_, topic, payload);
    out_since_s_ = flux::monotonic_seconds();
    flux::then<&PluginLink::on_answer>(out_.get(), this, answer_timeout_s_);
}

void PluginLink::send_accounts() {
    const AccountsView view = accounts_view(service_.accounting().tree(), *service_.trees().tree(), service_.users());
    const ProjectView projects = project_view(service_.accounting().tree());
    Json users = Json::array();
    for (const AccountsView::User& user : view.users) {
        Json entry = Json::array();
        entry.append(Json::own(json_integer(user.userid)));
        entry.append(user.default_account ? Json::string(*user.default_account) : Json::own(json_null()));
        entry.append(names(user.accounts));
        entry.append(Json::string(user.has_line ? user.name : ""));  // others have none before their first job either
        if (const auto own = projects.users.find(user.name); own != projects.users.end()) {
            entry.append(project_numbers(own->second));
        }
        users.append(std::move(entry));
    }
    // Without a share tree there are no associations to enforce.
    const bool has_tree = service_.trees().in_force().revision != 0;
    Json payload = Json::object();
    payload.set("users", std::move(users)).set("any", names(view.open_accounts)).set("queues", Json::own(json_null()));
    payload.set("known", names(view.known_accounts));
    payload.set("projects", project_lists(projects)).set("any_projects", project_numbers(projects.open));
    if (const auto qos = service_.settings().is_enforced ? known_qos(service_.settings(), service_.accounting().tree())
                                                         : std::nullopt) {
        payload.set("qos", names({qos->begin(), qos->end()}));
    }
    payload.set("enforce", service_.settings().is_enforced && has_tree);
    payload.set("enforce_copies", !service_.settings().takes_parent_factors);
    payload.set("fill_bank", view.has_plain_defaults && has_tree);
    if (view.open_default) {
        payload.set("any_default", *view.open_default);
    }
    accounts_out_ = service_.accounts_version();
    send(Sent::accounts, accounts_topic, payload.dump());
}

void PluginLink::send_push(const std::optional<Push>& push) {
    ArrayText jobs(push ? push->jobs.size() * pair_bytes : 0);
    if (push) {
        for (const auto& [id, value] : push->jobs) {
            const std::int64_t sent = value == Push::overridden ? overridden_on_wire : std::int64_t{value};
            jobs.splice(ArrayText(pair_bytes).append(id).append(sent).text());
        }
    }
    // "synced" only with the last portion: until then a job may be unknown because its value has not been sent.
    const bool is_last = !service_.sends().plugin().has_work();
    const std::string list = jobs.text();
    ObjectText payload(list.size() + pair_bytes);
    payload.splice("jobs", list).set("mode", mode_name(push ? push->mode : Push::Mode::job));
    if (is_last) {
        payload.set("synced", true);
    }
    if (service_.first_values().has_work()) {
        add_first_values(payload);
    }
    is_heartbeat_due_ = false;
    send(push ? Sent::push : Sent::heartbeat, update_topic, payload.text());
}

void PluginLink::add_first_values(ObjectText& payload) {
    const FirstValueRows values = service_.first_values().take();
    ArrayText rows;
    for (const auto& [kind, value] : values.rows) {
        rows.splice(ArrayText().append(kind).append(value).text());
    }
    payload.splice("first_values", rows.text()).set("all_first_values", values.is_all);
}

void PluginLink::send_load() {
    has_tried_load_ = true;
    Json payload = Json::object();
    payload.set("load", service_.settings().plugin);
    send(Sent::load, "job-manager.jobtap", payload.dump());
}

void PluginLink::on_answer(flux_future_t* f) {
    const char* text = nullptr;
    const bool is_good = flux_rpc_get(f, &text) == 0;
    const int errnum = is_good ? 0 : errno;
    const char* said = is_good ? nullptr : flux_future_error_string(f);
    const std::string why = said != nullptr ? said : flux_strerror(errnum);
    const std::string answer = text != nullptr ? text : "{}";
    const flux::Future answered = std::exchange(out_, {});  // freed at the end: it owns `text`
    if (!is_good) {
        if (out_what_ == Sent::load) {
            flux_log(h_, LOG_ERR, "could not load %s: %s", service_.settings().plugin.c_str(), why.c_str());
        }
        absent(errnum, why);
        return;
    }
    const double now = flux::monotonic_seconds();
    round_trips_.add(now - out_since_s_);
    if (const std::size_t shown = std::exchange(shown_out_, 0); shown > 0) {
        pace_.answered(shown, out_since_s_, now);
    }
    if (out_what_ == Sent::load) {
        is_heartbeat_due_ = true;
        return;
    }
    const Json payload = flux::value_or_throw(Json::parse(answer));
    const std::int64_t nonce = json_integer_value(json_object_get(payload.get(), "nonce"));
    service_.first_values().acknowledge();
    if (nonce_ && *nonce_ != nonce) {
        accounts_sent_ = 0;
        service_.first_values().fail();
    }
    if (out_what_ == Sent::accounts && (!nonce_ || *nonce_ == nonce)) {
        accounts_sent_ = accounts_out_;
        is_heartbeat_due_ = true;
    }
    nonce_ = nonce;
    if (is_absent_) {
        flux_log(h_, LOG_INFO, "the jobtap plugin is loaded: sending it every priority");
    }
    is_absent_ = false;
    backoff_.reset();
    if (out_what_ == Sent::push) {
        service_.sends().plugin().acknowledge(nonce);
    } else {
        service_.sends().plugin().check_nonce(nonce);
    }
}

void PluginLink::absent(int errnum, const std::string& why) {
    shown_out_ = 0;
    service_.sends().plugin().fail();
    service_.first_values().fail();
    accounts_sent_ = 0;
    is_absent_ = true;
    is_heartbeat_due_ = true;
    if (errnum == ENOSYS && !service_.settings().plugin.empty() && !has_tried_load_) {
        send_load();
        return;
    }
    if (!backoff_.has_failed()) {
        flux_log(h_, LOG_WARNING,
                 "the jobtap plugin does not answer (%s): priorities have no effect until it is loaded with "
                 "`flux jobtap load .../job-priority-tap.so` or from [job-manager] plugins; trying again",
                 why.c_str());
    }
    is_waiting_ = true;
    flux_timer_watcher_reset(timer_.get(), backoff_.next(), 0.);
    flux_watcher_start(timer_.get());
}

void PluginLink::on_retry() {
    is_waiting_ = false;
    pump();
}

void PluginLink::plugin_appeared() {
    is_waiting_ = false;
    has_tried_load_ = false;
    flux_watcher_stop(timer_.get());
    backoff_.reset();
    is_heartbeat_due_ = true;
    pump();
}

void PluginLink::say_goodbye(double timeout) {
    Json payload = Json::object();
    payload.set("jobs", Json::array()).set("mode", "job").set("synced", false);
    payload.set("limited", service_.gate().is_limited());
    const flux::Future future = flux::rpc(h_, update_topic, payload);
    (void)flux_future_wait_for(future.get(), timeout);  // without a plugin there is no receiver
}

}  // namespace weir::priority
