// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the broker module job-route.so: one journal follower that feeds both sides of the route, and the loop that
// carries out their actions. It is the parent of instances below, and the child of an instance above. Must not decide
// anything: RouteTable and ChildLink do. Source: RFC 5.
#include <flux/core.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <memory>
#include <optional>

#include "libfairshare/base/fsd.hpp"
#include "modules/common/backoff.hpp"
#include "modules/common/flux_cpp.hpp"
#include "modules/common/journal_jobs.hpp"
#include "modules/common/memo_link.hpp"
#include "modules/common/queue_watch.hpp"
#include "modules/common/stream.hpp"
#include "modules/job-route/child_link.hpp"
#include "modules/job-route/child_role.hpp"
#include "modules/job-route/drain_keeper.hpp"
#include "modules/job-route/drain_watch.hpp"
#include "modules/job-route/messages_json.hpp"
#include "modules/job-route/parent_role.hpp"
#include "modules/job-route/partition_keeper.hpp"
#include "modules/job-route/questions.hpp"
#include "modules/job-route/route_settings.hpp"
#include "modules/job-route/route_table.hpp"
#include "modules/job-route/signal_events.hpp"

namespace weir::route {
namespace {

constexpr double pause_first = 0.5;  ///< seconds of real time before the journal is opened again
constexpr double pause_last = 10.;   ///< after many attempts in a row
constexpr double tick_s = 1.;        ///< of real time, between ticks of the table
constexpr double heartbeats = 3.;    ///< of a child, in the time after which it counts as lost
constexpr int iterations_max = 64;   ///< of the reactor, before changes are carried out though messages wait

// Guests' turns. Their children wait for answers, so a turn does not yield to other messages: it is short itself.
constexpr std::size_t guest_requests_max = 256;     ///< of one guest that wait: several of each of his children
constexpr std::size_t guest_answers_max = 16;       ///< of these, answers of his children, of 2 MiB at most
constexpr std::size_t turn_bytes_max = 64U << 10U;  ///< a turn has one longer request, or short ones of several guests

std::vector<std::string> split(const std::string& text) {
    std::vector<std::string> parts;
    for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t end = std::min(text.find(',', begin), text.size());
        if (end > begin) {
            parts.push_back(text.substr(begin, end - begin));
        }
        begin = end + 1;
    }
    return parts;
}

/// Module argument serves=a,b, else [weir.route] serves, else none: then the parent knows from the jobspec.
std::vector<std::string> configured_serves(flux_t* h, int argc, char** argv) {
    for (int i = 0; i < argc; i++) {
        if (std::strncmp(argv[i], "serves=", 7) != 0) {
            throw flux::Failure(EINVAL,
                                std::string("unknown argument ") + argv[i] + ": serves=QUEUE[,QUEUE...] is all");
        }
        return split(argv[i] + 7);
    }
    json_t* route = json_object_get(flux::conf_table(h, "weir"), "route");
    json_t* serves = json_object_get(route, "serves");
    return serves != nullptr ? flux::value_or_throw(decode_names(serves, "[weir.route] serves"))
                             : std::vector<std::string>{};
}

RouteSettings configured_settings(flux_t* h) {
    return flux::value_or_throw(decode_route_settings(json_object_get(flux::conf_table(h, "weir"), "route")));
}

std::optional<ChildRole::Config> child_config(flux_t* h, int argc, char** argv) {
    const char* uri = flux_attr_get(h, "parent-uri");
    const char* jobid = flux_attr_get(h, "jobid");
    std::vector<std::string> serves = configured_serves(h, argc, argv);
    if (uri == nullptr || jobid == nullptr) {
        return std::nullopt;
    }
    ChildRole::Config config;
    config.parent_uri = uri;
    flux_jobid_t id = 0;
    if (flux_job_id_parse(jobid, &id) < 0) {
        throw flux::Failure(EINVAL, std::string("attribute jobid: ") + jobid + " is not a job id");
    }
    config.jobid = JobId{id};
    const char* own = flux_attr_get(h, "local-uri");
    config.uri = own != nullptr ? own : "";
    config.serves = std::move(serves);
    const char* queue = nullptr;
    json_t* ignored = nullptr;
    json_object_foreach(flux::conf_table(h, "queues"), queue, ignored) {
        config.own_queues.insert(queue);
    }
    return config;
}

class Module {
  public:
    Module(flux_t* h, std::optional<ChildRole::Config> config);
    ~Module();
    Module(const Module&) = delete;
    Module& operator=(const Module&) = delete;
    flux_t* flux() const { return h_; }
    flux::GuestTurns& turns() { return turns_; }

  private:
    static flux::GuestTurns::Rules turn_rules();
    void serve(const std::vector<flux::GuestTurns::Request>& requests);
    void on_queues(const std::set<std::string>& stopped);
    void on_drains();
    void open_journal();
    void on_journal(flux_future_t* f);
    void take_entry(const JournalEntry& entry);
    void start_over(flux::Backoff& pauses, const std::string& why);
    void change();
    void before_sleep();
    void carry_out_changes();
    void pump();
    void carry_out();
    void tick();
    void note_places(const std::vector<JobId>& moved);
    std::string place_of(JobId id) const;
    Json stats(const flux_msg_t* msg);

    flux_t* h_;
    bool is_child_;
    RouteSettings settings_;  // of the start
    RouteTable table_;
    ChildLink link_;
    flux::PrivateMode privacy_;
    flux::GuestTurns turns_;
    Guests guests_{privacy_, turns_};
    bool is_pumping_ = false;
    bool is_changed_ = false;  // something is to be carried out
    int iterations_ = 0;       // of the reactor since then
    std::uint64_t entries_ = 0;
    std::uint64_t restarts_ = 0;
    std::unique_ptr<ParentRole> parent_;
    std::unique_ptr<Questions> questions_;
    std::unique_ptr<PartitionKeeper> keeper_;
    std::unique_ptr<ChildRole> child_;
    std::unique_ptr<flux::QueueWatch> queues_;
    std::unique_ptr<SignalEvents> signals_;
    std::unique_ptr<DrainKeeper> drains_above_;  // of a child
    std::unique_ptr<DrainWatch> drains_;
    flux::Memos memos_;
    std::unique_ptr<flux::MemoLink> memo_link_;
    flux::Stream journal_;
    FlatJson journal_response_;
    flux::Backoff journal_pauses_;
    flux::Backoff plugin_pauses_;
    flux::Watcher retry_;
    flux::Watcher ticks_;
    flux::Watcher before_sleep_;  // runs before the reactor would sleep
    bool is_ticking_ = false;
    bool are_queues_known_ = false;
    flux::Handlers handlers_;
};

Module::Module(flux_t* h, std::optional<ChildRole::Config> config)
    : h_(h),
      is_child_(config.has_value()),
      settings_(configured_settings(h)),
      table_(config.has_value(), settings_.patience_s, settings_.depth, getuid(), flux::is_embedded(h)),
      privacy_(flux::conf_table(h, "access")),
      turns_(h, flux::real_seconds(h, 1.), turn_rules(),
             [this](const std::vector<flux::GuestTurns::Request>& requests) { serve(requests); }),
      journal_pauses_(flux::real_seconds(h, pause_first), flux::real_seconds(h, pause_last)),
      plugin_pauses_(journal_pauses_) {
    const std::string service = flux::service_name(h, "job-route");
    parent_ = std::make_unique<ParentRole>(
        h, table_, static_cast<double>(settings_.patience_s) * tick_s / heartbeats, guests_,
        ParentRole::Callbacks{[this] { change(); }, [this] { plugin_pauses_.reset(); },
                              [this](const std::string& why) { start_over(plugin_pauses_, why); },
                              [this](const flux_msg_t* msg) {
                                  if (child_) {
                                      child_->disconnect(msg);
                                  }
                              }});
    questions_ = std::make_unique<Questions>(
        h, Questions::Facts{table_, link_, guests_},
        Questions::Sessions{[this](JobId child) { return parent_->session_of(child); },
                            [this](JobId child, const Json& message) { parent_->send(child, message); },
                            [this](JobId child, const std::string& session, std::uint32_t userid) {
                                return parent_->is_from(child, session, userid);
                            }});
    keeper_ = std::make_unique<PartitionKeeper>(h, table_, guests_, [this] { change(); });
    if (config) {
        child_ = std::make_unique<ChildRole>(
            h, std::move(*config), link_,
            ChildRole::Callbacks{[this] { change(); },
                                 [this](LocalId job) {
                                     const JobId id{job.value};
                                     table_.allow_go(id);
                                     return table_.is_routed(id);
                                 },
                                 [this](Drains drains) { drains_above_->want(std::move(drains)); }});
    }
    if (is_child_) {
        drains_above_ = std::make_unique<DrainKeeper>(h);
    }
    drains_ = std::make_unique<DrainWatch>(
        h, DrainWatch::Callbacks{[this] { on_drains(); }, is_child_ ? [this] { change(); } : std::function<void()>()});
    signals_ = std::make_unique<SignalEvents>(h, [this](JobId id, int signum) {
        table_.signal(id, signum);
        change();
    });
    handlers_ = flux::add_handlers(
        h, service,
        {{FLUX_MSGTYPE_REQUEST, "stats-get", flux::in_turn<Module, flux::on_request<&Module::stats>>, FLUX_ROLE_USER}},
        this);
    retry_.reset(flux_timer_watcher_create(flux_get_reactor(h), 0., 0., flux::on_watcher<&Module::open_journal>, this));
    ticks_.reset(flux_timer_watcher_create(flux_get_reactor(h_), 0., 0., flux::on_watcher<&Module::tick>, this));
    before_sleep_.reset(
        flux_prepare_watcher_create(flux_get_reactor(h_), flux::on_watcher<&Module::before_sleep>, this));
    if (!retry_ || !ticks_ || !before_sleep_) {
        flux::fail_errno("watchers");
    }
    queues_ =
        std::make_unique<flux::QueueWatch>(h, [this](const std::set<std::string>& stopped) { on_queues(stopped); });
    queues_->ask();
    memo_link_ = std::make_unique<flux::MemoLink>(
        h, "partition",
        flux::MemoLink::Source{memos_, [this] { return table_.is_synced(); },
                               [this](std::uint64_t id) { return place_of(JobId{id}); }});
}

Module::~Module() {
    (void)flux::catching([this] { memo_link_->withdraw(); });
    (void)flux::catching([this] { turns_.end("job-route was removed"); });
}

flux::GuestTurns::Rules Module::turn_rules() {
    return {guest_requests_max, turn_bytes_max, GuestPace(0., false),
            std::to_string(guest_requests_max) + " of your requests to job-route wait: ask again when one is answered",
            guest_answers_max};
}

/// What the requests lead to is part of what the turn costs.
void Module::serve(const std::vector<flux::GuestTurns::Request>& requests) {
    turns_.call(requests);
    if (is_changed_) {
        carry_out_changes();
    }
}

/// Without a word about the queues no job is looked at: it could be one of a stopped queue.
void Module::on_queues(const std::set<std::string>& stopped) {
    table_.set_stopped(stopped);
    if (!std::exchange(are_queues_known_, true)) {
        open_journal();
    } else {
        change();
    }
}

/// What the parent drains is drained here, and what is drained here is told to the children.
void Module::on_drains() {
    parent_->set_drains(*drains_->drains());
    keeper_->set_drains(*drains_->drains());
    if (drains_above_) {
        drains_above_->present(*drains_->drains());
    }
}

void Module::open_journal() {
    Json payload = Json::object();
    payload.set("full", is_child_).set("together", true).set("allow", journal_filter());
    journal_ = flux::open_stream(h_, "job-manager.events-journal", payload);
    flux::then<&Module::on_journal>(journal_.get(), this);
}

void Module::on_journal(flux_future_t* f) {
    const char* text = nullptr;
    if (flux_rpc_get(f, &text) < 0) {
        const int errnum = errno;
        const char* why = flux_future_error_string(f);
        start_over(journal_pauses_, std::string("journal: ") + (why != nullptr ? why : flux_strerror(errnum)));
        return;
    }
    std::vector<JournalEntry> entries;  // decoded before the text is gone
    flux::for_each_job(journal_response_.read(text != nullptr ? text : ""), [&](FlatValue job) {
        auto entry = decode_journal(job);
        if (entry) {
            entries.push_back(std::move(*entry));
        } else {
            flux::log(h_, LOG_ERR, "journal: " + entry.error().message);
        }
    });
    flux_future_reset(f);
    for (const JournalEntry& entry : entries) {
        entries_ += 1;
        take_entry(entry);
    }
    drains_->jobs_changed();
    change();
}

/// Only the owner submits copies of the parent's jobs, and jobs with an R of their own; the attributes in another
/// user's jobspec are ignored.
void Module::take_entry(const JournalEntry& entry) {
    if (entry.is_end_of_backlog) {
        journal_pauses_.reset();
        table_.synced();
        link_.synced();
        if (child_) {
            child_->ready();
        }
        keeper_->ready();
        return;
    }
    const JobId id{entry.id};
    const LocalId local{entry.id};
    for (const JournalEvent& event : entry.events) {
        if (event.kind == JournalEvent::Kind::submit) {
            JobFacts facts = entry.facts;
            const bool is_mine = event.userid == getuid();
            if (!is_child_ || !is_mine) {
                facts.upstream = 0;
            }
            facts.has_own_R = facts.has_own_R && is_mine;
            table_.submitted(id, event, facts);
            keeper_->submitted(id, event, facts);
            if (facts.upstream != 0) {
                link_.submitted(local, event, facts);
            }
        } else {
            table_.event(id, event);
            keeper_->event(id, event);
            link_.event(local, event);
        }
    }
}

/// The journal has the record; everything else is rebuilt from it and from the parent and the children. What keeps
/// failing is told once.
void Module::start_over(flux::Backoff& pauses, const std::string& why) {
    flux::log(h_, pauses.has_failed() ? LOG_DEBUG : LOG_WARNING, "starting over: " + why);
    restarts_ += 1;
    journal_.reset();
    table_ = RouteTable(is_child_, settings_.patience_s, settings_.depth, getuid(), flux::is_embedded(h_));
    table_.set_stopped(queues_->stopped());
    memos_.renew();  // the next journal tells which are right
    link_ = ChildLink();
    parent_->reset();
    keeper_->reset();
    if (child_) {
        child_->reset("this instance starts over");
    }
    flux_timer_watcher_reset(retry_.get(), pauses.next(), 0.);
    flux_watcher_start(retry_.get());
}

void Module::change() {
    if (!std::exchange(is_changed_, true)) {
        iterations_ = 0;
        flux_watcher_start(before_sleep_.get());
    }
}

/// What came together is carried out together: when no message waits any more, or after many of them. So a burst of
/// events is one plan, one message of orders and one report.
void Module::before_sleep() {
    const bool is_idle = (flux_pollevents(h_) & FLUX_POLLIN) == 0;
    if (is_idle || ++iterations_ == iterations_max) {
        carry_out_changes();
    }
}

void Module::carry_out_changes() {
    flux_watcher_stop(before_sleep_.get());
    is_changed_ = false;
    pump();
}

/// Carries out the actions of both sides until there are none left. A nested call returns at once and leaves them to
/// the outer one.
void Module::pump() {
    if (std::exchange(is_pumping_, true)) {
        return;
    }
    const flux::Caught caught = flux::catching([this] { carry_out(); });
    is_pumping_ = false;
    if (caught.errnum != 0) {
        throw flux::Failure(caught.errnum, caught.message);
    }
}

void Module::carry_out() {
    for (bool is_more = true; is_more;) {
        if (table_.take_children_changed()) {
            keeper_->look();
        }
        ParentActions up = table_.take();
        ChildActions down = link_.take();
        is_more = !up.tap.empty() || !up.fetch.empty() || !up.silent.empty() || !up.orders.empty() ||
                  !down.priorities.empty() || !down.submits.empty() || !down.ops.empty();
        note_places(up.moved);
        parent_->perform(std::move(up));
        if (child_) {
            child_->perform(std::move(down));
        }
    }
    if (child_) {
        const std::int64_t cores =
            table_.own_cores(child_->serves()) + drains_->lost_cores();  // both: not for the parent
        child_->report_own(table_.own_jobs(), std::min(cores, cores_max));
        child_->report_if_complete();
        child_->send_report();
    }
    if ((table_.needs_ticks() || table_.has_instances()) && !std::exchange(is_ticking_, true)) {
        queues_->ask();
        flux_timer_watcher_reset(ticks_.get(), flux::real_seconds(h_, tick_s), 0.);
        flux_watcher_start(ticks_.get());
    }
}

void Module::note_places(const std::vector<JobId>& moved) {
    for (const JobId id : moved) {
        const RouteJob* job = table_.active(id);
        if (job == nullptr) {
            memos_.forget(id.value);
        } else {
            memos_.mark(id.value, job->given() != nullptr);
        }
    }
    memo_link_->pump();
}

/// For `flux jobs`: the partition that has the job; one that is not configured by its job's id. Empty: none has it.
std::string Module::place_of(JobId id) const {
    const RouteJob* job = table_.active(id);
    if (job == nullptr || job->given() == nullptr) {
        return {};
    }
    const JobId child = job->given()->child;
    const RouteJob* host = table_.active(child);
    if (host != nullptr && !host->facts.partition.empty() && host->userid == getuid()) {
        return host->facts.partition;
    }
    char name[64];
    return flux_job_id_encode(child.value, "f58", name, sizeof(name)) == 0 ? name : std::to_string(child.value);
}

void Module::tick() {
    is_ticking_ = false;
    table_.tick();
    pump();
}

// Guest: reads counts of the router's work.
Json Module::stats(const flux_msg_t*) {
    Json stats = Json::object();
    stats.set("journal",
              Json::own(json_pack("{s:b s:I s:I}", "synced", table_.is_synced() ? 1 : 0, "entries",
                                  static_cast<json_int_t>(entries_), "restarts", static_cast<json_int_t>(restarts_))));
    stats.set("parent", parent_->stats()).set("guests_waiting", static_cast<long long>(turns_.size()));
    if (child_) {
        stats.set("child", child_->stats());
    }
    return stats;
}

}  // namespace
}  // namespace weir::route

// The reactor runs outside of every catch: a broker that shuts down with the module still loaded cancels its thread,
// which unwinds the stack, and that must not be caught.
extern "C" __attribute__((visibility("default"))) int mod_main(flux_t* h, int argc, char** argv);
int mod_main(flux_t* h, int argc, char** argv) {
    std::unique_ptr<weir::route::Module> module;
    const int created = weir::flux::guard(h, "job-route", [&] {
        module = std::make_unique<weir::route::Module>(h, weir::route::child_config(h, argc, argv));
    });
    return created < 0 || flux_reactor_run(flux_get_reactor(h), 0) < 0 ? -1 : 0;
}
