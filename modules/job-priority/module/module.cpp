// SPDX-License-Identifier: LGPL-3.0-only
// Owns: mod_main, start and end, and what happens in one iteration of the reactor. See module.hpp.
#include "modules/job-priority/module/module.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <iterator>
#include <utility>

#include "modules/common/monotonic_clock.hpp"
#include "modules/job-priority/messages/views.hpp"
#include "modules/job-priority/messages/wire.hpp"
#include "modules/job-priority/module/dated_event.hpp"
#include "modules/job-priority/module/system_users.hpp"
#include "modules/job-priority/tree/unknown_names.hpp"

namespace weir::priority {
namespace {

constexpr double goodbye_s = 2.0;
constexpr double machine_interval_s = 60.0;  // between two requests for the size, whose answer is the whole R
constexpr double evaluation_pause_s = 0.01;  // at least: the instance's time may stand still for some seconds
constexpr double answer_timeout_s = 10.0;    // a job-manager that is being reloaded never answers

/// In a stock Flux the wall clock; in the embedded broker its own clock, which does not step.
ClockReading read_clocks(double time_scale) {
    constexpr double together_s = 0.1;  // else the process was suspended between the two
    constexpr int tries_max = 5;
    for (int tries = 1;; ++tries) {
        const double before = flux::monotonic_seconds();
        const double wall = flux_reactor_time();
        if (flux::monotonic_seconds() - before < together_s || tries == tries_max) {
            return {instant_from_seconds(wall), duration_from_seconds(before * time_scale)};
        }
    }
}

std::string attribute(flux_t* h, const char* name) {
    const char* value = flux_attr_get(h, name);
    return value != nullptr ? value : "";
}

EventClock clock_of_events(flux_t* h) {
    return flux::is_embedded(h) ? EventClock::instance : EventClock::wall;
}

/// Local time less UTC.
Duration utc_offset(Instant now) {
    const auto seconds = static_cast<std::time_t>(to_seconds(now));
    std::tm local{};
    return localtime_r(&seconds, &local) != nullptr ? std::chrono::seconds(local.tm_gmtoff) : Duration{};
}

/// The keys of a table; nothing: there is none.
std::optional<std::set<std::string>> names_of(const json_t* table) {
    if (!json_is_object(table)) {
        return std::nullopt;
    }
    std::set<std::string> names;
    const char* name = nullptr;
    json_t* ignored = nullptr;
    json_object_foreach(const_cast<json_t*>(table), name, ignored) {  // it only walks
        names.insert(name);
    }
    return names;
}

std::vector<std::string> texts_of(const json_t* list) {
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < json_array_size(list); ++i) {
        const char* text = json_string_value(json_array_get(list, i));
        texts.emplace_back(text != nullptr ? text : "");
    }
    return texts;
}

/// Of the [[partition]] tables; job-route checks their form.
std::vector<TakenNames> taken_names(const json_t* partitions) {
    std::vector<TakenNames> all;
    for (std::size_t i = 0; i < json_array_size(partitions); ++i) {
        const json_t* table = json_array_get(partitions, i);
        const json_t* takes = json_object_get(table, "takes");
        const char* name = json_string_value(json_object_get(table, "name"));
        all.push_back({name != nullptr ? name : "", texts_of(json_object_get(takes, "accounts")),
                       texts_of(json_object_get(takes, "qos"))});
    }
    return all;
}

/// Of the same tables: by default a partition serves the queue of its name.
PartitionQueues served_queues(const json_t* partitions) {
    std::vector<PartitionQueues::Names> served;
    for (std::size_t i = 0; i < json_array_size(partitions); ++i) {
        const json_t* table = json_array_get(partitions, i);
        const json_t* queues = json_object_get(table, "queues");
        const char* name = json_string_value(json_object_get(table, "name"));
        served.push_back(queues != nullptr ? texts_of(queues) : PartitionQueues::Names{name != nullptr ? name : ""});
    }
    return PartitionQueues(std::move(served));
}

std::string state_path(flux_t* h, const Settings& settings) {
    if (!settings.state.empty()) {
        return ConfigPlaces::of(h).resolved(settings.state).string();
    }
    const std::string directory = attribute(h, "statedir");
    return directory.empty() ? std::string() : directory + "/job-priority.sqlite";
}

}  // namespace

Module::Module(flux_t* h, std::vector<std::string> arguments)
    : h_(h),
      arguments_(std::move(arguments)),
      time_scale_(flux::real_seconds(h, 1.)),
      service_name_(flux::service_name(h, "job-priority")),
      private_(flux::conf_table(h, "access")) {
    Settings settings = flux::value_or_throw(read_settings(flux::conf_table(h_, "weir"), arguments_));
    const bool is_child = flux_attr_get(h_, "parent-uri") != nullptr && flux_attr_get(h_, "jobid") != nullptr;
    service_ = std::make_unique<PriorityService>(std::move(settings), system_users(), getuid(), is_child);
    state_ = std::make_unique<StateLink>(h_, time_scale_, *service_, [this] {
        if (parent_) {
            parent_->pump_soon();
        }
    });
    const bool is_named = !service_->settings().state.empty();
    const Instant kept_until =
        state_->open(state_path(h_, service_->settings()), is_named ? StatePlace::named : StatePlace::own);
    time_.emplace(read_clocks(time_scale_), kept_until, duration_from_seconds(time_scale_), clock_of_events(h_));
    state_->restore(now());
    service_->set_utc_offset(utc_offset(now()));
    policy_ = std::make_unique<PolicyLink>(h_, *service_, *state_, arguments_,
                                           [this](Settings next) { put_settings(std::move(next)); });
    share_tree_file_ = std::make_unique<ShareTreeFile>(h_, *service_, *state_);
    is_pass_due_ = share_tree_file_->read(now());
    take_names(flux::conf_table(h_, "queues"), flux::conf_table(h_, "partition"));
    plugin_ = std::make_unique<PluginLink>(h_, time_scale_, *service_);
    memos_ = std::make_unique<flux::MemoLink>(
        h_, "why",
        flux::MemoLink::Source{service_->sends().memos(), [this] { return service_->is_synced(); },
                               [this](FluxJobId id) { return why_held(*service_, id); }});
    scheduler_ = std::make_unique<SchedulerLink>(h_, time_scale_, *service_, [this] { is_pass_due_ = true; });
    queues_ = std::make_unique<QueueLink>(h_, *service_);
    plugin_->send_only_if([this] { return may_send_values(); });
    journal_ = std::make_unique<JournalLink>(h_, time_scale_, journal_listener());
    flux_reactor_t* reactor = flux_get_reactor(h_);
    const double interval = to_seconds(service_->settings().update_interval);
    pass_timer_.reset(flux_timer_watcher_create(reactor, interval, interval, flux::on_watcher<&Module::on_pass>, this));
    evaluation_timer_.reset(flux_timer_watcher_create(reactor, 0, 0, flux::on_watcher<&Module::on_evaluation>, this));
    iteration_.reset(flux_prepare_watcher_create(reactor, flux::on_watcher<&Module::on_iteration>, this));
    if (!pass_timer_ || !evaluation_timer_ || !iteration_) {
        flux::fail_errno("watchers");
    }
    using Requests = std::vector<flux::GuestTurns::Request>;
    questions_ = std::make_unique<flux::GuestTurns>(h_, time_scale_, question_rules(),
                                                    [this](const Requests& all) { questions_->call(all); });
    reports_ = std::make_unique<flux::GuestTurns>(h_, time_scale_, report_rules(),
                                                  [this](Requests all) { answer_reports(std::move(all)); });
    handlers_ = flux::add_handlers(h_, service_name_, handlers(), this);
}

Module::~Module() = default;

JournalLink::Listener Module::journal_listener() {
    JournalLink::Listener listener;
    listener.begin = [this] { service_->begin_backlog(); };
    listener.backlog = [this](JournalMessage message) {
        for (JobEvent& event : message.events) {
            event = dated(*time_, std::move(event), false);
        }
        service_->add_backlog(std::move(message.events));
    };
    listener.synced = [this] {
        for (const std::string& fault : service_->end_backlog(now())) {
            flux::log(h_, LOG_ERR, "journal: " + fault);
        }
        state_->report_rebuilt();
        is_pass_due_ = true;
    };
    listener.live = [this](const JournalMessage& message) {
        (void)now();  // an event that was stamped after a step arrives after it
        for (const JobEvent& event : message.events) {
            service_->apply(dated(*time_, event, true));
        }
    };
    return listener;
}

Instant Module::now() {
    const Duration step = time_->look(read_clocks(time_scale_));
    if (step != Duration{}) {
        flux_log(
            h_, LOG_WARNING,
            "the wall clock was set by %+.3f s: usage continues without the step; it is now kept %+.3f s off the wall "
            "clock",
            to_seconds(step), -to_seconds(time_->ahead()));
    }
    return time_->now();
}

/// A child reads tables of the instance above, whose queues are not its own.
void Module::take_names(const json_t* queues, const json_t* partitions) {
    service_->set_partition_queues(served_queues(partitions));
    SiteFacts facts;
    facts.unknown_aps = {ApsPart::swap};
    std::vector<std::string> warnings = policy_warnings(service_->settings(), facts);
    for (std::string& warning : policy_order_warnings(service_->settings(), service_->accounting().tree())) {
        warnings.push_back(std::move(warning));
    }
    if (attribute(h_, "parent-uri").empty()) {
        for (std::string& sentence :
             unknown_names(service_->settings(), service_->accounting().tree(), names_of(queues))) {
            warnings.push_back(std::move(sentence));
        }
    }
    for (std::string& sentence :
         unknown_taken(service_->settings(), service_->accounting().tree(), taken_names(partitions))) {
        warnings.push_back(std::move(sentence));
    }
    for (const std::string& warning : warnings) {
        flux::log(h_, LOG_WARNING, "[weir] " + warning);
    }
}

// ---- start ----

void Module::connect_parent() {
    const std::string uri = attribute(h_, "parent-uri");
    flux_jobid_t jobid = 0;
    if (uri.empty() || flux_job_id_parse(attribute(h_, "jobid").c_str(), &jobid) < 0) {
        return;
    }
    const auto time = [this]() -> const SteadyTime& {
        (void)now();
        return *time_;
    };
    service_->log().begin_life(jobid);
    parent_ = std::make_unique<UplinkLink>(
        h_, *service_, time, UplinkLink::Parent{uri, jobid}, [this](const json_t* policy) -> std::optional<Json> {
            const Status taken = policy_->take(policy, now());  // logged
            is_pass_due_ = true;
            return !taken && state_->has_failed() ? std::nullopt : std::optional(json_of(policy_->in_force()));
        });
    order_ = std::make_unique<OrderLink>(h_, time_scale_, *service_,
                                         [this] { return parent_->state() != UplinkLink::State::connecting; });
    scheduler_->send_only_if([this] { return order_->is_ordered(); });
}

void Module::read_machine() {
    if (machine_) {
        return;
    }
    machine_asked_s_ = flux_reactor_time();
    machine_ = flux::rpc(h_, "resource.sched-status", Json());
    flux::then<&Module::on_machine>(machine_.get(), this, answer_timeout_s * time_scale_);
}

void Module::on_machine(flux_future_t* f) {
    const char* text = nullptr;
    if (flux_rpc_get(f, &text) == 0 && text != nullptr) {
        const Json payload = flux::value_or_throw(Json::parse(text));
        const MachineSize machine = machine_of_R(json_object_get(payload.get(), "all"));
        if (machine.cores > 0) {
            policy_->set_machine(machine);
            if (!policy_->has_parents_machine()) {
                service_->set_machine(machine);
            }
            is_pass_due_ = true;
        }
    }  // else: no resource module now; the size stays, or is that of the largest job
    machine_.reset();
    open_journal();
}

/// The journal is opened after the machine's size is known: all priorities depend on it, and a job-manager that sends a
/// long backlog answers no other request.
void Module::open_journal() {
    if (std::exchange(is_journal_due_, false)) {
        journal_->open();
    }
}

/// A job that the plugin has released may be starting, even if the journal does not show it yet. So the plugin is asked
/// before the journal is opened.
void Module::on_withheld(flux_future_t* f) {
    const char* text = nullptr;
    if (flux_rpc_get(f, &text) == 0 && text != nullptr) {
        const Json payload = flux::value_or_throw(Json::parse(text));
        std::set<FluxJobId> ids;
        std::size_t index = 0;
        json_t* id = nullptr;
        json_array_foreach(json_object_get(payload.get(), "jobs"), index, id) {
            ids.insert(static_cast<FluxJobId>(json_integer_value(id)));
        }
        service_->gate().set_withheld(std::move(ids));
    }  // else: no plugin, or an older one: jobs are admitted anew
    withheld_.reset();
    read_machine();
}

void Module::start() {
    connect_parent();
    (void)state_->commit();  // told
    if (service_->gate().is_limited()) {
        queues_->ask();  // answered before the journal is opened
        withheld_ = flux::rpc(h_, "job-manager.jobpriority.withheld", Json::object());
        flux::then<&Module::on_withheld>(withheld_.get(), this, answer_timeout_s * time_scale_);
    } else {
        read_machine();
    }
    flux_watcher_start(pass_timer_.get());
    flux_watcher_start(iteration_.get());
}

void Module::finish() {
    memos_->withdraw();
    plugin_->say_goodbye(goodbye_s * time_scale_);
    if (parent_) {
        parent_->flush(goodbye_s * time_scale_, [this] { (void)state_->commit(); });
    }
    for (flux::GuestTurns* turns : {questions_.get(), reports_.get()}) {
        turns->end("job-priority was removed");
    }
    detach_children();
    service_->log().want_checkpoint();
    (void)state_->commit();  // told
}

/// Not before this instance has the parent's order, nor while the scheduler has an order that is to be withdrawn.
bool Module::may_send_values() {
    const bool is_withdrawn = service_->ranking().queue().has_head() || !service_->sends().scheduler().has_any();
    return is_withdrawn && (!order_ || order_->is_ordered());
}

// ---- reactor ----

void Module::on_iteration() {
    is_pass_due_ |= !policy_->has_parents_tree() && share_tree_file_->read_if_due(now());
    if (policy_->has_changed()) {
        publish_policy();
        if (parent_ && parent_->state() == UplinkLink::State::attached) {
            parent_->tell_policy(json_of(policy_->in_force()));
        }
    }
    if ((is_pass_due_ || service_->is_full_due()) && service_->is_synced()) {
        is_pass_due_ = false;
        on_pass();
    } else if (service_->has_marked()) {
        service_->pass(now(), Pass::marked);
    }
    arm_evaluation();
    if (service_->take_was_reset()) {
        flux::log(h_, LOG_INFO,
                  "usage was reset, by usage-reset = \"" + std::string(name_of(service_->settings().usage_reset)) +
                      "\"; the totals charged stay");
    }
    if (const auto problem = service_->users().take_problem()) {
        flux::log(h_, LOG_ERR, *problem);
    }
    for (const auto& [id, why] : service_->gate().take_refusals()) {
        Json payload = Json::object();
        payload.set("id", static_cast<long long>(id)).set("severity", 0).set("type", "limit").set("note", why);
        (void)flux::rpc(h_, "job-manager.raise", payload, FLUX_RPC_NORESPONSE);
    }
    scheduler_->pump();
    plugin_->pump();
    memos_->pump();
    queues_->pump();
    pump_places();
    answer_syncs();
    if (service_->log().is_dirty()) {
        state_->commit_soon();
    }
}

/// Usage that no event has evaluated is not to wait for the next full pass.
void Module::arm_evaluation() {
    const std::optional<Instant> due = service_->evaluation_due();
    if (!due || due == evaluation_armed_) {
        return;
    }
    evaluation_armed_ = due;
    flux_watcher_stop(evaluation_timer_.get());
    flux_timer_watcher_reset(evaluation_timer_.get(), std::max(to_seconds(*due - now()), evaluation_pause_s), 0);
    flux_watcher_start(evaluation_timer_.get());
}

void Module::on_evaluation() {
    evaluation_armed_.reset();
    service_->pass(now(), Pass::marked);
}

void Module::on_pass() {
    if (!service_->is_synced()) {
        return;
    }
    const double started = flux_reactor_time();
    service_->set_utc_offset(utc_offset(now()));
    if (!policy_->has_parents_tree()) {
        (void)share_tree_file_->read_if_changed(now());  // this pass uses it
    }
    if (!service_->ranking().is_machine_known() || started - machine_asked_s_ >= machine_interval_s * time_scale_) {
        read_machine();
    }
    service_->pass(now());
    passes_.add(flux_reactor_time() - started);
    last_pass_us_ = (flux_reactor_time() - started) * 1e6 / time_scale_;
    scheduler_->look_again();
    scheduler_->pump();
    plugin_->want_heartbeat();
    plugin_->pump();
    publish_factors();
}

std::optional<std::uint32_t> Module::only_user_of(FluxJobId child) const {
    const BookJob* job = service_->book().find(child);
    return private_.is_on() && job != nullptr && job->userid != getuid() ? std::optional(job->userid) : std::nullopt;
}

/// In a private instance a guest's child gets the factors of its owner, or those of newcomers if he has none.
Json Module::factors_for(FluxJobId child, const std::vector<FactorRow>& rows) const {
    const auto userid = only_user_of(child);
    if (!userid) {
        return write_factors(rows);
    }
    const std::string user = service_->users().name(*userid);
    const bool has_own = !service_->accounting().tree().associations_of(user).empty();
    std::vector<FactorRow> own;
    std::copy_if(rows.begin(), rows.end(), std::back_inserter(own),
                 [&](const FactorRow& row) { return row.user == (has_own ? user : "*"); });
    return write_factors(own);
}

Json Module::policy_for(FluxJobId child) const {
    return policy_->for_child(is_partition(child)   ? ChildKind::partition
                              : only_user_of(child) ? ChildKind::outsider
                                                    : ChildKind::other);
}

void Module::publish_policy() {
    for (const auto& [child, msg] : attached_) {
        Json payload = Json::object();
        payload.set("factors", Json::array()).set("policy", policy_for(child));
        flux::respond(h_, msg.get(), payload);
    }
}

bool Module::is_partition(FluxJobId child) const {
    const BookJob* job = service_->book().find(child);
    return job != nullptr && service_->book().is_partition(*job);
}

void Module::put_settings(Settings settings) {
    const double interval = to_seconds(settings.update_interval);
    service_->configure(std::move(settings), now());
    flux_timer_watcher_reset(pass_timer_.get(), interval, interval);
    flux_watcher_stop(pass_timer_.get());
    flux_watcher_start(pass_timer_.get());
    is_pass_due_ = true;
}

void Module::publish_factors() {
    end_attached();
    if (attached_.empty()) {
        return;
    }
    const auto changed = service_->changed_factors();
    if (changed.is_nothing()) {
        return;
    }
    for (const auto& [child, msg] : attached_) {
        Json payload = Json::object();
        payload.set("factors", factors_for(child, changed.rows)).set("complete", changed.is_complete);
        flux::respond(h_, msg.get(), payload);
    }
}

}  // namespace weir::priority

extern "C" __attribute__((visibility("default"))) int mod_main(flux_t* h, int argc, char** argv);
int mod_main(flux_t* h, int argc, char** argv) {
    std::unique_ptr<weir::priority::Module> module;
    const auto start = [&] {
        module = std::make_unique<weir::priority::Module>(h, std::vector<std::string>(argv, argv + argc));
        module->start();
    };
    if (weir::flux::guard(h, "job-priority", start) < 0) {
        return -1;
    }
    // Not inside guard(): a broker that ends with the module loaded cancels this thread in the reactor, and glibc
    // unwinds it with an exception that must not be caught.
    const int rc = flux_reactor_run(flux_get_reactor(h), 0);
    const int saved = errno;
    (void)weir::flux::guard(h, "job-priority", [&] { module->finish(); });  // logged
    errno = saved;
    return rc < 0 ? -1 : 0;
}
