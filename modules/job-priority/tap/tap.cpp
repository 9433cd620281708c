// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the jobtap plugin job-priority-tap.so: unpacks the job-manager's calls, asks the table, packs the answer.
// Must not know: fair share, the share tree, how a priority is computed. No exception may leave this file. Registered
// as "jobpriority": its methods are job-manager.jobpriority.update, .accounts, .withheld (owner only).
// Source: flux-jobtap-plugins(7).
#include <flux/core.h>
#include <flux/jobtap.h>
#include <jansson.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "libfairshare/base/json/json.hpp"
#include "modules/common/monotonic_clock.hpp"
#include "modules/job-priority/tap/tap_accounts.hpp"
#include "modules/job-priority/tap/tap_messages.hpp"
#include "modules/job-priority/tap/tap_questions.hpp"
#include "modules/job-priority/tap/tap_table.hpp"

namespace {

using weir::Duration;
using weir::Instant;
using weir::priority::TapAccounts;
using weir::priority::TapQuestion;
using weir::priority::TapTable;
using weir::priority::TapUpdate;

constexpr Duration unavail_timeout_default = std::chrono::seconds(60);
constexpr const char* plugin_name = "jobpriority";

struct WatcherDestroy {
    void operator()(flux_watcher_t* watcher) const { flux_watcher_destroy(watcher); }
};

struct ArgDestroy {
    void operator()(flux_plugin_arg_t* args) const { flux_plugin_arg_destroy(args); }
};

struct Tap {
    flux_plugin_t* plugin = nullptr;
    TapTable table{unavail_timeout_default};
    TapAccounts accounts;
    double time_scale = 1;   ///< instance seconds, of which timers are made, in a real second
    std::int64_t nonce = 0;  ///< a new one tells the module that the plugin was loaded again, with an empty table
    bool has_conf_timeout = false;
    std::unique_ptr<flux_watcher_t, WatcherDestroy> timer;
    bool is_timer_armed = false;
};

flux_t* handle_of(const Tap& tap) {
    return flux_jobtap_get_flux(tap.plugin);
}

/// The monotonic clock, in real seconds: only differences count. The timeout concerns a thread that must answer, which
/// is no faster in an instance with scaled time.
Instant monotonic_now() {
    return weir::instant_from_seconds(weir::flux::monotonic_seconds());
}

/// Runs `body` so that no exception reaches the job-manager, where it would end the broker.
template <typename Body>
int guarded(Tap& tap, const char* what, Body body) noexcept {
    try {
        return body();
    } catch (const std::exception& failure) {
        flux_log(handle_of(tap), 3, "jobpriority: %s: %s", what, failure.what());
    } catch (...) {
        flux_log(handle_of(tap), 3, "jobpriority: %s: unknown failure", what);
    }
    errno = EINVAL;
    return -1;
}

// ---- release of jobs without a value ----

void release_withheld(Tap& tap) {
    const std::size_t jobs = tap.table.release_withheld(monotonic_now());
    if (jobs == 0) {
        return;
    }
    flux_log(handle_of(tap), 4,
             "jobpriority: the job-priority module was removed: %zu jobs that it held back get a priority by urgency",
             jobs);
    if (flux_jobtap_reprioritize_all(tap.plugin) < 0) {
        flux_log(handle_of(tap), 3, "jobpriority: could not release them: %s", flux_strerror(errno));
    }
}

void release_overdue(Tap& tap) {
    for (const auto& [id, value] : tap.table.release_overdue(monotonic_now())) {
        if (flux_jobtap_reprioritize_job(tap.plugin, id, value) < 0 && errno != ENOENT) {
            flux_log(handle_of(tap), 3, "jobpriority: could not release a waiting job: %s", flux_strerror(errno));
        }
    }
}

void arm_timer(Tap& tap) {
    if (tap.is_timer_armed || !tap.timer) {
        return;  // the first waiting job set it; a search for the first would cost O(waiting)
    }
    const auto deadline = tap.table.next_deadline();
    if (!deadline) {
        return;
    }
    const double after = weir::to_seconds(*deadline - monotonic_now()) * tap.time_scale;
    flux_timer_watcher_reset(tap.timer.get(), after > 0.001 ? after : 0.001, 0.);
    flux_watcher_start(tap.timer.get());
    tap.is_timer_armed = true;
}

void timer_cb(flux_reactor_t*, flux_watcher_t*, int, void* arg) noexcept {
    Tap& tap = *static_cast<Tap*>(arg);
    tap.is_timer_armed = false;
    guarded(tap, "timeout", [&tap] {
        const bool was_fallback = tap.table.mode() == TapTable::Mode::fallback;
        release_overdue(tap);
        if (!was_fallback && tap.table.mode() == TapTable::Mode::fallback) {
            flux_log(handle_of(tap), 4,
                     "jobpriority: the job-priority module does not answer: jobs it does not know get a priority "
                     "by urgency, behind those it does");
        }
        release_withheld(tap);
        arm_timer(tap);
        return 0;
    });
}

// ---- job-manager callbacks ----

int priority_cb(flux_plugin_t* p, const char* topic, flux_plugin_arg_t* args, void* arg) noexcept {
    Tap& tap = *static_cast<Tap*>(arg);
    return guarded(tap, "priority", [&] {
        TapQuestion job;
        if (!weir::priority::unpack_question(args, job)) {
            flux_log(handle_of(tap), 3, "jobpriority: %s: %s", topic, flux_plugin_arg_strerror(args));
            return -1;
        }
        const bool is_get = std::string_view(topic) == "job.priority.get";
        std::optional<std::int64_t> value;
        if (!is_get && tap.table.wants_kind()) {
            job.kind = weir::priority::kind_of(args, job.urgency);
        }
        if (is_get) {
            value = tap.table.on_get(job, monotonic_now());
        } else if (const auto entered = tap.table.on_enter(job, monotonic_now())) {
            value = *entered;
        }
        arm_timer(tap);
        if (!value) {
            return flux_jobtap_priority_unavail(p, args);
        }
        return flux_plugin_arg_pack(args, FLUX_PLUGIN_ARG_OUT, "{s:I}", "priority", static_cast<json_int_t>(*value));
    });
}

int inactive_cb(flux_plugin_t*, const char*, flux_plugin_arg_t* args, void* arg) noexcept {
    Tap& tap = *static_cast<Tap*>(arg);
    return guarded(tap, "inactive", [&] {
        json_int_t id = 0;
        if (flux_plugin_arg_unpack(args, FLUX_PLUGIN_ARG_IN, "{s:I}", "id", &id) < 0) {
            return -1;
        }
        tap.table.forget(static_cast<std::uint64_t>(id));
        return 0;
    });
}

int validate_cb(flux_plugin_t* p, const char*, flux_plugin_arg_t* args, void* arg) noexcept {
    Tap& tap = *static_cast<Tap*>(arg);
    return guarded(tap, "validate", [&] {
        weir::priority::TapSubmission job;
        if (!weir::priority::unpack_submission(args, job)) {
            return flux_jobtap_reject_job(p, args, "attributes.system.bank and .queue must be text: %s",
                                          flux_plugin_arg_strerror(args));
        }
        if (const auto sentence = weir::priority::rejection(tap.accounts, job)) {
            return flux_jobtap_reject_job(p, args, "%s", sentence->c_str());
        }
        return 0;
    });
}

/// An update of a pending job's account or project. validate_cb checks it next, with the whole new jobspec, since both
/// may change in one request. A running job keeps both: its charge has them since its start.
int update_name_cb(flux_plugin_t* p, const char*, flux_plugin_arg_t* args, void* arg) noexcept {
    Tap& tap = *static_cast<Tap*>(arg);
    return guarded(tap, "update", [&] {
        const char* key = "";
        const char* name = nullptr;
        if (flux_plugin_arg_unpack(args, FLUX_PLUGIN_ARG_IN, "{s:s s:s}", "key", &key, "value", &name) < 0 ||
            *name == '\0') {
            return flux_jobtap_error(p, args, "%s must be a name", key);
        }
        int state = 0;
        weir::priority::TapSubmission job;
        if (flux_plugin_arg_unpack(args, FLUX_PLUGIN_ARG_IN, "{s:i}", "state", &state) == 0 &&
            (state & FLUX_JOB_STATE_RUNNING) != 0 && weir::priority::unpack_submission(args, job)) {
            return flux_jobtap_error(p, args, "%s", weir::priority::rejection_of_running(key, job).c_str());
        }
        return 0;
    });
}

/// Also called for each active job at a load or a restart: those keep their account and project.
int new_cb(flux_plugin_t* p, const char*, flux_plugin_arg_t* args, void* arg) noexcept {
    Tap& tap = *static_cast<Tap*>(arg);
    return guarded(tap, "new", [&] {
        int state = 0;
        weir::priority::TapSubmission job;
        if (flux_plugin_arg_unpack(args, FLUX_PLUGIN_ARG_IN, "{s:i}", "state", &state) < 0 ||
            state != FLUX_JOB_STATE_NEW || !weir::priority::unpack_submission(args, job)) {
            return 0;
        }
        weir::Json update = weir::Json::object();
        if (const auto bank = weir::priority::bank_to_fill(tap.accounts, job)) {
            update.set("attributes.system.bank", *bank);
            if (job.is_owner) {  // an instance that attaches in it is a partition all the same
                update.set("attributes.system.weir.default_bank", *bank);
            }
        }
        if (const auto project = weir::priority::project_to_fill(tap.accounts, job)) {
            update.set("attributes.system.project", *project);
        }
        return json_object_size(update.get()) == 0 ? 0 : flux_jobtap_jobspec_update_pack(p, "O", update.get());
    });
}

/// Called with the instance's whole configuration at load and at each change. The plugin's own conf has precedence.
int conf_update_cb(flux_plugin_t*, const char*, flux_plugin_arg_t* args, void* arg) noexcept {
    Tap& tap = *static_cast<Tap*>(arg);
    return guarded(tap, "conf.update", [&] {
        json_t* timeout = nullptr;
        if (tap.has_conf_timeout || flux_plugin_arg_unpack(args, FLUX_PLUGIN_ARG_IN, "{s:{s?{s?o}}}", "conf", "weir",
                                                           "unavail-timeout", &timeout) < 0) {
            return 0;
        }
        const auto parsed =
            timeout != nullptr ? weir::priority::duration_of(timeout) : weir::Result<Duration>(unavail_timeout_default);
        if (!parsed) {
            const std::string message = "[weir] unavail-timeout: " + parsed.error().message;
            flux_plugin_arg_pack(args, FLUX_PLUGIN_ARG_OUT, "{s:s}", "errmsg", message.c_str());
            return -1;
        }
        tap.table.set_unavail_timeout(*parsed);
        return 0;
    });
}

int query_cb(flux_plugin_t*, const char*, flux_plugin_arg_t* args, void* arg) noexcept {
    Tap& tap = *static_cast<Tap*>(arg);
    return guarded(tap, "query", [&] {
        constexpr std::array<const char*, 3> modes{"starting", "synced", "fallback"};
        return flux_plugin_arg_pack(
            args, FLUX_PLUGIN_ARG_OUT, "{s:s s:I s:I s:I s:I s:b}", "mode",
            modes.at(static_cast<std::size_t>(tap.table.mode())), "known", static_cast<json_int_t>(tap.table.known()),
            "waiting", static_cast<json_int_t>(tap.table.waiting()), "gave_first",
            static_cast<json_int_t>(tap.table.gave_first()), "users",
            static_cast<json_int_t>(tap.accounts.users.size()), "enforce", tap.accounts.is_enforced ? 1 : 0);
    });
}

// ---- service: job-manager.jobpriority.update ----

struct Applied {
    int pushed = 0;
    int gone = 0;
};

void push_one(Tap& tap, std::uint64_t id, std::uint32_t value, Applied& applied) {
    if (flux_jobtap_reprioritize_job(tap.plugin, id, value) == 0) {
        applied.pushed += 1;
        return;
    }
    if (errno == ENOENT) {
        tap.table.forget(id);
        applied.gone += 1;
        return;
    }
    flux_log(handle_of(tap), 3, "jobpriority: reprioritize: %s", flux_strerror(errno));
}

/// The module reports that the job is held or expedited. It may have become so while it waited for a value, and no
/// state callback reports that. The job-manager's present urgency decides, since the user may have changed it again.
void release_overridden(Tap& tap, std::uint64_t id, Applied& applied) {
    int urgency = 0;
    const std::unique_ptr<flux_plugin_arg_t, ArgDestroy> job(flux_jobtap_job_lookup(tap.plugin, id));
    if (job && flux_plugin_arg_unpack(job.get(), FLUX_PLUGIN_ARG_IN, "{s:i}", "urgency", &urgency) == 0 &&
        tap.table.on_urgency(id, urgency)) {
        push_one(tap, id, weir::priority::priority_lowest, applied);
    }
}

void apply_jobs(Tap& tap, const TapUpdate& update, Applied& applied) {
    for (const TapUpdate::Entry& entry : update.jobs) {
        if (entry.priority == weir::priority::overridden_on_wire) {
            release_overridden(tap, entry.id, applied);
            continue;
        }
        const std::optional alone = update.mode == TapUpdate::Mode::job
                                        ? tap.table.set(entry.id, entry.priority)
                                        : tap.table.set_for_all(entry.id, entry.priority);
        if (alone) {
            push_one(tap, entry.id, *alone, applied);
        }
    }
}

void update_cb(flux_t* h, flux_msg_handler_t*, const flux_msg_t* msg, void* arg) noexcept {
    Tap& tap = *static_cast<Tap*>(arg);
    const int rc = guarded(tap, "update", [&] {
        const char* text = nullptr;
        if (flux_request_decode(msg, nullptr, &text) < 0) {
            return -1;
        }
        weir::FlatJson reader;
        const auto update = weir::priority::read_update(reader.read(text != nullptr ? text : ""));
        if (!update) {
            flux_respond_error(h, msg, EPROTO,
                               "update wants {jobs:[[id,priority],...], mode:\"job\"|\"fill\"|\"all\"}");
            return 0;
        }
        Applied applied;
        apply_jobs(tap, *update, applied);
        tap.table.set_first_values(update->first_values, update->is_all_first_values);
        if (update->is_synced == true) {
            tap.table.set_synced(monotonic_now());
        } else if (update->is_synced == false) {
            tap.table.set_detached(monotonic_now(), update->is_limited);
            release_overdue(tap);
            arm_timer(tap);
        }
        if (update->mode == TapUpdate::Mode::all && tap.table.is_ahead()) {
            if (flux_jobtap_reprioritize_all(tap.plugin) < 0) {
                return -1;
            }
            tap.table.set_reprioritized();
        }
        return flux_respond_pack(h, msg, "{s:i s:i s:I s:I s:I}", "pushed", applied.pushed, "gone", applied.gone,
                                 "known", static_cast<json_int_t>(tap.table.known()), "waiting",
                                 static_cast<json_int_t>(tap.table.waiting()), "nonce",
                                 static_cast<json_int_t>(tap.nonce));
    });
    if (rc < 0) {
        flux_respond_error(h, msg, errno, nullptr);
    }
}

// ---- service: job-manager.jobpriority.withheld ----

void withheld_cb(flux_t* h, flux_msg_handler_t*, const flux_msg_t* msg, void* arg) noexcept {
    Tap& tap = *static_cast<Tap*>(arg);
    const int rc = guarded(tap, "withheld", [&] {
        tap.table.set_attached();
        weir::Json jobs = weir::Json::array();
        for (const std::uint64_t id : tap.table.withheld()) {
            jobs.append(weir::Json::own(json_integer(static_cast<json_int_t>(id))));
        }
        return flux_respond_pack(h, msg, "{s:O}", "jobs", jobs.get());
    });
    if (rc < 0) {
        flux_respond_error(h, msg, errno, nullptr);
    }
}

// ---- service: job-manager.jobpriority.accounts ----

void accounts_cb(flux_t* h, flux_msg_handler_t*, const flux_msg_t* msg, void* arg) noexcept {
    Tap& tap = *static_cast<Tap*>(arg);
    const int rc = guarded(tap, "accounts", [&] {
        json_t* request = nullptr;
        if (flux_request_unpack(msg, nullptr, "o", &request) < 0) {
            return -1;
        }
        TapAccounts accounts;
        const bool is_good = weir::priority::read_accounts(request, accounts);
        if (!is_good) {
            flux_respond_error(h, msg, EPROTO,
                               "accounts wants {users:[[userid,default|null,[bank,...],name?],...], enforce:b}");
            return 0;
        }
        tap.accounts = std::move(accounts);
        return flux_respond_pack(h, msg, "{s:I}", "nonce", static_cast<json_int_t>(tap.nonce));
    });
    if (rc < 0) {
        flux_respond_error(h, msg, errno, nullptr);
    }
}

// ---- life ----

/// Notifies the module, if it runs, that a plugin with an empty table was loaded. No response is needed.
void announce(const Tap& tap) {
    flux_future_destroy(
        flux_rpc(handle_of(tap), "job-priority.tap-loaded", "{}", FLUX_NODEID_ANY, FLUX_RPC_NORESPONSE));
}

bool read_own_conf(Tap& tap) {
    json_t* timeout = nullptr;
    if (flux_plugin_conf_unpack(tap.plugin, "{s?o}", "unavail-timeout", &timeout) < 0 || timeout == nullptr) {
        return true;
    }
    const auto parsed = weir::priority::duration_of(timeout);
    if (!parsed) {
        flux_log(handle_of(tap), 3, "jobpriority: conf unavail-timeout: %s", parsed.error().message.c_str());
        errno = EINVAL;
        return false;
    }
    tap.has_conf_timeout = true;
    tap.table.set_unavail_timeout(*parsed);
    return true;
}

void destroy_tap(void* arg) noexcept {
    delete static_cast<Tap*>(arg);
}

int init(flux_plugin_t* p) {
    auto owned = std::make_unique<Tap>();
    Tap* tap = owned.get();
    tap->plugin = p;
    const std::array<flux_plugin_handler, 10> handlers{{
        {"job.state.priority", priority_cb, tap},
        {"job.priority.get", priority_cb, tap},
        {"job.state.inactive", inactive_cb, tap},
        {"job.validate", validate_cb, tap},
        {"job.new", new_cb, tap},
        {"job.update.attributes.system.bank", update_name_cb, tap},
        {"job.update.attributes.system.project", update_name_cb, tap},
        {"conf.update", conf_update_cb, tap},
        {"plugin.query", query_cb, tap},
        {nullptr, nullptr, nullptr},
    }};
    if (flux_plugin_aux_set(p, "weir::tap", tap, destroy_tap) < 0) {
        return -1;
    }
    owned.release();  // the plugin owns it now
    flux_t* h = handle_of(*tap);
    const char* scale = flux_attr_get(h, "clock.scale");
    tap->time_scale = scale != nullptr ? std::strtod(scale, nullptr) : 1.;
    tap->nonce = static_cast<std::int64_t>(flux_reactor_time() * 1e6);
    tap->timer.reset(flux_timer_watcher_create(flux_get_reactor(h), 1.0, 0., timer_cb, tap));
    if (!tap->timer || !read_own_conf(*tap) || flux_plugin_register(p, plugin_name, handlers.data()) < 0 ||
        flux_jobtap_service_register(p, "update", update_cb, tap) < 0 ||
        flux_jobtap_service_register(p, "withheld", withheld_cb, tap) < 0 ||
        flux_jobtap_service_register(p, "accounts", accounts_cb, tap) < 0) {
        return -1;
    }
    announce(*tap);
    return 0;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int flux_plugin_init(flux_plugin_t* p);
int flux_plugin_init(flux_plugin_t* p) {
    try {
        return init(p);
    } catch (...) {
        errno = ENOMEM;
        return -1;
    }
}
