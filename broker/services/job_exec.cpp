// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the service "job-exec": runs a job's tasks as processes, or simulates them, and tells the job-manager start,
// finish, release and exception. Must not know scheduling or job states. Source: flux-core's job-exec protocol
// (job-exec.start, several responses a request; job-exception events).
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <unordered_map>

#include "broker/services/deadlines.hpp"
#include "broker/services/exec_environment.hpp"
#include "broker/services/exec_marks.hpp"
#include "broker/services/exec_process.hpp"
#include "broker/services/job_folder.hpp"
#include "broker/services/job_output.hpp"
#include "broker/services/service.hpp"
#include "broker/services/services.hpp"
#include "libfairshare/base/fsd.hpp"

namespace weir::broker {
namespace {

std::string attribute(flux_t* h, const char* name) {
    const char* value = flux_attr_get(h, name);
    return value != nullptr ? value : "";
}

/// This process, if it is a job.
bool is_of_one_node() {
    const char* count = std::getenv("FLUX_JOB_NNODES");
    return count == nullptr || std::strcmp(count, "1") == 0;
}

struct Job {
    HeldMessage request;
    std::uint32_t userid = 0;
    bool is_simulated = false;
    bool is_started = false;  // "start" was sent
    int status = 0;           // of a simulated end
    double limit = 0;         // end of the time limit on the reactor's clock, 0: none, or not before `end`
    double end = 0;           // of a simulated run, on the same clock
    bool is_killing = false;  // a signal was sent, SIGKILL follows
};

class JobExec {
  public:
    explicit JobExec(flux_t* h)
        : h_(h),
          place_{attribute(h, "local-uri"), attribute(h, "jobid-path"),
                 attribute(h, "clock.scale") + " " + attribute(h, "clock.zero"),
                 std::atoi(attribute(h, "instance-level").c_str()),
                 !attribute(h, "parent-uri").empty() && is_of_one_node()},
          output_(attribute(h, "output-dir"), attribute(h, "statedir").empty()),
          folders_(attribute(h, "rundir")),
          deadlines_(h, [this](flux_jobid_t id) { on_deadline(id); }),
          processes_(
              h, "/proc/self/exe", [this](flux_jobid_t id) { on_started(id); },
              [this](flux_jobid_t id, const LaunchEnd& end) { on_ended(id, end); }) {
        const std::string scale = attribute(h, "clock.scale");
        clock_scale_ = scale.empty() ? 1. : std::stod(scale);
    }

    Status start() {
        if (auto configured = configure(flux_get_conf(h_)); !configured) {
            return configured.error();
        }
        using T = JobExec;
        const flux_msg_handler_spec table[] = {
            {FLUX_MSGTYPE_REQUEST, "job-exec.start", on_message<T, &T::start_job>, 0},
            {FLUX_MSGTYPE_REQUEST, "job-exec.expiration", on_message<T, &T::expiration>, 0},
            {FLUX_MSGTYPE_REQUEST, "job-exec.kill", on_message<T, &T::kill_job>, FLUX_ROLE_USER},
            {FLUX_MSGTYPE_REQUEST, "job-exec.output", on_message<T, &T::read_output>, FLUX_ROLE_USER},
            {FLUX_MSGTYPE_REQUEST, "job-exec.stats-get", on_message<T, &T::stats>, FLUX_ROLE_USER},
            {FLUX_MSGTYPE_REQUEST, "job-exec.config-reload", on_message<T, &T::reload>, 0},
            {FLUX_MSGTYPE_EVENT, "job-exception", on_event<&T::on_exception>, 0},
            {FLUX_MSGTYPE_EVENT, "shell-*", on_event<&T::on_shell_kill>, 0},
            FLUX_MSGHANDLER_TABLE_END,
        };
        if (const Status added = handlers_.add(h_, table, this); !added) {
            return added;
        }
        if (flux_event_subscribe(h_, "job-exception") < 0 || flux_event_subscribe(h_, "shell-") < 0) {
            return Error{static_cast<std::errc>(errno), "cannot subscribe to the events of jobs"};
        }
        // Jobs that wait to start are sent at once; without a job-manager there are none.
        const Future hello(flux_rpc_pack(h_, "job-manager.exec-hello", FLUX_NODEID_ANY, FLUX_RPC_NORESPONSE, "{s:s}",
                                         "service", "job-exec"));
        return Done{};
    }

  private:
    template <void (JobExec::*method)(const flux_msg_t*)>
    static void on_event(flux_t* h, flux_msg_handler_t*, const flux_msg_t* msg, void* arg) noexcept {
        guarded(h, [msg, arg] { (static_cast<JobExec*>(arg)->*method)(msg); });
    }

    Status configure(const flux_conf_t* conf) {
        json_t* timeout = nullptr;
        flux_conf_unpack(conf, nullptr, "{s?{s?o}}", "exec", "kill-timeout", &timeout);
        const char* text = timeout != nullptr ? json_string_value(timeout) : "5s";
        const auto seconds = parse_fsd_seconds(text != nullptr ? text : "");
        if (!seconds || *seconds > 1e6) {
            return Error{std::errc::invalid_argument,
                         "configuration key exec.kill-timeout: " +
                             (text != nullptr ? "'" + std::string(text) + "' is no duration such as 5s"
                                              : std::string("a duration is a text, such as \"5s\""))};
        }
        int is_private = 0;
        flux_conf_unpack(conf, nullptr, "{s?{s?b}}", "access", "private-mode", &is_private);
        is_private_ = is_private != 0;
        kill_grace_s_ = *seconds;
        processes_.set_grace(*seconds);
        return Done{};
    }

    void reload(const flux_msg_t* msg) {
        flux_conf_t* conf = nullptr;
        if (flux_module_config_request_decode(msg, &conf) < 0) {
            flux_respond_error(h_, msg, errno, nullptr);
            return;
        }
        const Status done = configure(conf);
        if (!done || flux_set_conf_new(h_, conf) < 0) {
            flux_conf_decref(conf);
            respond(h_, msg,
                    done ? Error{std::errc::invalid_argument, "the configuration cannot be set"} : done.error());
            return;
        }
        flux_respond(h_, msg, nullptr);
    }

    double now() const { return flux_reactor_now(flux_get_reactor(h_)); }

    // ---- starting ----

    void start_job(const flux_msg_t* msg) {
        const Json payload = payload_of(msg);
        const auto number = payload.integer_at("id");
        if (!number) {
            respond(
                h_, msg,
                Error{std::errc::protocol_error, "job-exec.start takes {id:I, userid:i, jobspec:o, reattach:b, R:o}"});
            return;
        }
        const auto id = static_cast<flux_jobid_t>(*number);
        if (const auto known = jobs_.find(id); known != jobs_.end()) {  // the job-manager was loaded again
            known->second.request = HeldMessage(msg);
            send(known->second, id, "reattached", Json::object());
            return;
        }
        Job& job = jobs_[id];
        job.request = HeldMessage(msg);
        job.userid = static_cast<std::uint32_t>(payload.integer_at("userid").value_or(FLUX_USERID_UNKNOWN));
        ++started_count_;
        auto spec = read_exec_spec(payload.at("jobspec"), payload.at("R"));
        const bool is_reattach = payload.boolean_at("reattach").value_or(false);
        if (!spec) {
            fail(id, job, "exec", spec.error().message);
        } else if (spec->simulated) {
            simulate(id, job, *spec, is_reattach ? payload.number_at("t_start") : std::nullopt);
        } else if (is_reattach) {
            fail(id, job, "exec", "lost in a restart of the broker or of job-exec");
        } else if (auto launched = launch(id, *spec); !launched) {
            fail(id, job, "exec", launched.error().message);
        }
    }

    void simulate(flux_jobid_t id, Job& job, const ExecSpec& spec, std::optional<double> since) {
        job.is_simulated = true;
        job.status = spec.simulated_status;
        send(job, id, since ? "reattached" : "start", Json::object());
        job.is_started = true;
        const double begin = since.value_or(now());
        job.end = begin + *spec.simulated;
        if (*spec.simulated <= 0) {
            finish(id, job.status);
        } else {
            set_limit(id, job, spec.duration > 0 ? begin + spec.duration : 0);
        }
    }

    /// \param time  the end of the time limit, 0: none
    void set_limit(flux_jobid_t id, Job& job, double time) {
        job.limit = time > 0 && (!job.is_simulated || time < job.end) ? time : 0;
        if (const double due = job.limit > 0 ? job.limit : job.end; due > 0 && due < 1e15) {
            deadlines_.set(id, due);
        } else {
            deadlines_.clear(id);  // it runs until it ends or is cancelled
        }
    }

    /// The time limit of a running job is another one. The job-manager waits for no answer.
    void expiration(const flux_msg_t* msg) {
        json_int_t id = 0;
        double time = 0;
        if (flux_request_unpack(msg, nullptr, "{s:I s:F}", "id", &id, "expiration", &time) < 0) {
            return;
        }
        if (const auto it = jobs_.find(static_cast<flux_jobid_t>(id)); it != jobs_.end() && !it->second.is_killing) {
            set_limit(it->first, it->second, time);
        }
    }

    /// A job whose working directory is not here runs in /tmp, as in flux-core.
    static void use_existing_folder(ExecSpec& spec) {
        if (!spec.cwd.empty() && ::access(spec.cwd.c_str(), X_OK) < 0) {
            spec.notes += "weir-broker: cannot change to the directory " + spec.cwd + ": " + std::strerror(errno) +
                          "; the job runs in /tmp\n";
            spec.cwd = "/tmp";
        }
    }

    Status launch(flux_jobid_t id, ExecSpec& spec) {
        if (is_child_instance(spec) && spec.task_count > 1) {
            return Error{std::errc::not_supported,
                         "a child instance here is one broker on one node, and this job has " +
                             std::to_string(spec.task_count) + ": request one node"};
        }
        use_existing_folder(spec);
        const std::string name = encode_id(id, "f58plain");
        const auto folder = folders_.make(name, spec.files);
        if (!folder) {
            return folder.error();
        }
        const Marks marks = marks_of(id, spec, *folder);
        LaunchRequest request;
        for (const std::string& word : spec.command) {
            request.command.push_back(filled_in(word, marks));
        }
        request.environment = task_environment(spec, place_, encode_id(id, "f58"), marks, *folder);
        request.cwd = spec.cwd;
        request.task_count = spec.task_count;
        request.input = in_folder(spec.cwd, filled_in(spec.input, marks));
        const double until = spec.duration > 0 ? now() + spec.duration : 0;
        const Status launched = launch_with_output(id, spec, marks, request);
        if (const auto it = jobs_.find(id); launched && it != jobs_.end()) {  // it may have ended meanwhile
            set_limit(id, it->second, until);
        }
        return launched;
    }

    /// A relative path is meant from the job's working directory.
    static std::string in_folder(const std::string& folder, const std::string& path) {
        return path.empty() || path[0] == '/' || folder.empty() ? path : folder + "/" + path;
    }

    /// Where only stdout is named, stderr goes there, too.
    Status launch_with_output(flux_jobid_t id, const ExecSpec& spec, const Marks& marks, LaunchRequest request) {
        const std::string name = encode_id(id, "f58plain");
        const std::string output = in_folder(spec.cwd, filled_in(spec.output, marks));
        const std::string error = in_folder(spec.cwd, filled_in(spec.error.empty() ? spec.output : spec.error, marks));
        const OpenMode mode = spec.is_appending ? OpenMode::append : OpenMode::truncate;
        const auto out = output_.open(name, output, OutputStream::out, mode);
        if (!out) {
            return out.error();
        }
        const auto err = output_.open(name, error, OutputStream::err, mode);
        if (!err) {
            ::close(*out);
            return err.error();
        }
        if (!spec.output_above.empty() && jobs_.at(id).userid == getuid()) {  // as job-route submitted it
            for (const OutputStream stream : {OutputStream::out, OutputStream::err}) {
                if (const auto named = output_.add_name(name, spec.output_above, stream); !named) {
                    flux_log(h_, LOG_DEBUG, "%s: %s", name.c_str(), named.error().message.c_str());
                }
            }
        }
        if (::write(*err, spec.notes.data(), spec.notes.size()) < 0) {
            flux_log(h_, LOG_WARNING, "%s: %s", name.c_str(), spec.notes.c_str());
        }
        request.output_fd = *out;
        request.error_fd = *err;
        const Status launched = processes_.launch(id, request);
        ::close(*out);
        ::close(*err);
        return launched;
    }

    void on_started(flux_jobid_t id) {
        const auto it = jobs_.find(id);
        if (it != jobs_.end()) {
            it->second.is_started = true;
            send(it->second, id, "start", Json::object());
        }
    }

    // ---- ending ----

    /// A job that did not start and is not being killed ends by an exception, and has a status, since some of its tasks
    /// may have run. Without an end the manager would offer it once more.
    void on_ended(flux_jobid_t id, const LaunchEnd& end) {
        const auto it = jobs_.find(id);
        if (it == jobs_.end()) {
            return;
        }
        Job& job = it->second;
        if (end.failed_errno != 0) {
            end_unstarted(id, job, status_of_failure(end), words_of_failure(end));
        } else if (!job.is_started && !job.is_killing) {
            end_unstarted(id, job, end.status, "its launcher ended before all tasks ran");
        } else {
            finish(id, end.status);
        }
    }

    void end_unstarted(flux_jobid_t id, Job& job, int status, const std::string& why) {
        send_exception(job, id, "exec", why);
        send(job, id, "finish", std::move(Json::object().set("status", status)));
        release(id, job);
    }

    void finish(flux_jobid_t id, int status) {
        const auto it = jobs_.find(id);
        if (it->second.is_started) {
            send(it->second, id, "finish", std::move(Json::object().set("status", status)));
        }
        release(id, it->second);
    }

    void release(flux_jobid_t id, Job& job) {
        send(job, id, "release", std::move(Json::object().set("ranks", "all").set("final", true)));
        if (!job.is_simulated) {
            folders_.remove(encode_id(id, "f58plain"));
        }
        deadlines_.clear(id);
        jobs_.erase(id);
        ++ended_count_;
    }

    /// A job that never ran, or cannot go on.
    void fail(flux_jobid_t id, Job& job, const char* type, const std::string& note) {
        send_exception(job, id, type, note);
        release(id, job);
    }

    void on_deadline(flux_jobid_t id) {
        const auto it = jobs_.find(id);
        if (it == jobs_.end()) {
            return;
        }
        Job& job = it->second;
        if (job.is_killing) {
            processes_.kill(id, SIGKILL);
        } else if (job.is_simulated && job.limit == 0) {
            finish(id, job.status);
        } else {
            send_exception(job, id, "timeout", "resource allocation expired");
            terminate(id, job, SIGALRM);
        }
    }

    /// This signal now, SIGKILL after the grace time, which is real time whatever the clock's scale.
    void terminate(flux_jobid_t id, Job& job, int signal) {
        if (job.is_simulated) {
            finish(id, signal);
        } else if (!job.is_killing) {
            job.is_killing = true;
            processes_.kill(id, signal);
            deadlines_.set(id, now() + kill_grace_s_ * clock_scale_);
        }
    }

    void on_exception(const flux_msg_t* msg) {
        json_int_t id = 0;
        int severity = -1;
        if (flux_event_unpack(msg, nullptr, "{s:I s:i}", "id", &id, "severity", &severity) < 0 || severity != 0) {
            return;
        }
        const auto it = jobs_.find(static_cast<flux_jobid_t>(id));
        if (it != jobs_.end()) {
            terminate(it->first, it->second, SIGTERM);
        }
    }

    // ---- signals ----

    void on_shell_kill(const flux_msg_t* msg) {
        const char* topic = nullptr;
        int signal = 0;
        if (flux_event_unpack(msg, &topic, "{s:i}", "signum", &signal) < 0) {
            return;
        }
        const std::string text(topic);  // shell-ID.kill
        const auto dot = text.find('.');
        if (dot != std::string::npos && text.substr(dot) == ".kill") {
            signal_job(std::strtoull(text.c_str() + std::strlen("shell-"), nullptr, 10), signal);
        }
    }

    void signal_job(flux_jobid_t id, int signal) {
        const auto it = jobs_.find(id);
        if (it == jobs_.end()) {
            return;
        }
        if (!it->second.is_simulated) {
            processes_.kill(id, signal);
        } else if (signal == SIGKILL || signal == SIGTERM || signal == SIGINT || signal == SIGHUP) {
            finish(id, signal);
        }
    }

    // Guest: signals his own running jobs. Private: another's does not run.
    void kill_job(const flux_msg_t* msg) {
        const Json payload = payload_of(msg);
        const auto id = payload.integer_at("id");
        const json_int_t signal = payload.integer_at("signum").value_or(SIGTERM);
        const auto it = id ? jobs_.find(static_cast<flux_jobid_t>(*id)) : jobs_.end();
        if (!id || signal < 1 || signal > 64) {
            respond(h_, msg,
                    Error{std::errc::protocol_error, "job-exec.kill takes {id:I, signum?:i} with a signal of 1 to 64"});
        } else if (it == jobs_.end() || (is_private_ && flux_msg_authorize(msg, it->second.userid) < 0)) {
            respond(h_, msg, Error{std::errc::no_such_file_or_directory, "the job is not running"});
        } else if (flux_msg_authorize(msg, it->second.userid) < 0) {
            respond(h_, msg, Error{std::errc::operation_not_permitted, "the job is another user's"});
        } else {
            signal_job(it->first, static_cast<int>(signal));
            flux_respond(h_, msg, nullptr);
        }
    }

    // ---- output ----

    // Guest: reads what his own running jobs printed, 256 KiB of one stream a request.
    void read_output(const flux_msg_t* msg) {
        const Json payload = payload_of(msg);
        const auto id = payload.integer_at("id");
        const json_int_t offset = payload.integer_at("offset").value_or(0);
        if (!id || offset < 0) {
            respond(h_, msg,
                    Error{std::errc::protocol_error,
                          "job-exec.output takes {id:I, offset?:I, stream?:s} with offset 0 or more"});
            return;
        }
        const auto running = jobs_.find(static_cast<flux_jobid_t>(*id));
        const bool is_running = running != jobs_.end();
        if (flux_msg_authorize(msg, is_running ? running->second.userid : FLUX_USERID_UNKNOWN) < 0) {
            respond(h_, msg, Error{std::errc::operation_not_permitted, "the output is the instance owner's to read"});
            return;
        }
        const std::string name = encode_id(static_cast<flux_jobid_t>(*id), "f58plain");
        const std::string stream = payload.string_at("stream").value_or("stdout");
        const auto which = stream == "stderr" ? OutputStream::err : OutputStream::out;
        const auto part = output_.read(name, static_cast<std::uint64_t>(offset), which);
        if (!part) {
            respond(h_, msg, part.error());
            return;
        }
        Json answer = Json::object();
        answer.set("data", part->text).set("eof", part->is_end && !is_running);
        respond(h_, msg, answer.set("path", output_.path(name, which)).set("offset", part->next));
    }

    // Guest: reads counts.
    void stats(const flux_msg_t* msg) {
        respond(
            h_, msg,
            Json::own(json_pack("{s:i s:i s:I s:I}", "running", static_cast<int>(jobs_.size()), "launchers",
                                static_cast<int>(processes_.size()), "started", static_cast<json_int_t>(started_count_),
                                "ended", static_cast<json_int_t>(ended_count_))));
    }

    // ---- responses ----

    void send(const Job& job, flux_jobid_t id, const char* type, Json data) {
        Json response = Json::object();
        response.set("id", id).set("type", type).set("data", std::move(data));
        respond(h_, job.request.get(), response);
    }

    void send_exception(const Job& job, flux_jobid_t id, const char* type, const std::string& note) {
        Json data = Json::object();
        data.set("severity", 0).set("type", type).set("note", to_utf8(note));
        send(job, id, "exception", std::move(data));
    }

    flux_t* h_;
    ExecPlace place_;
    JobOutput output_;
    JobFolders folders_;
    Handlers handlers_;
    std::unordered_map<flux_jobid_t, Job> jobs_;
    Deadlines deadlines_;
    ProcessPool processes_;
    bool is_private_ = false;  // [access] private-mode
    double clock_scale_ = 1;
    double kill_grace_s_ = 5;
    std::uint64_t started_count_ = 0;
    std::uint64_t ended_count_ = 0;
};

}  // namespace
}  // namespace weir::broker

extern "C" int job_exec_mod_main(flux_t* h, int, char**) {
    return weir::broker::run_service<weir::broker::JobExec>(h);
}
