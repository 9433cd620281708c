// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the order of starting and stopping.
#include "cmd/instance/session.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <sstream>
#include <utility>

#include "broker/api/private_dir.hpp"
#include "cmd/common/folders.hpp"
#include "cmd/common/instance_clock.hpp"
#include "cmd/common/instances.hpp"
#include "cmd/common/job_output.hpp"
#include "cmd/common/jobs.hpp"
#include "cmd/common/submission.hpp"
#include "cmd/common/text.hpp"

namespace weir::cmd {
namespace {

using namespace std::chrono_literals;

constexpr int log_err = 3;  // severities of syslog(3)
constexpr int log_warning = 4;
constexpr int log_notice = 5;
/// An instance that is asked whether it answers has so many seconds.
constexpr double answer_s = 2;
/// Longer than a broker gives its own modules.
constexpr Duration broker_patience = 40s;

std::string log_path(const std::string& files, const Partition& partition) {
    return files + "/" + partition.name + ".log";
}

Submission child_job(const std::string& broker, const Plan& plan, const Partition& partition, const std::string& files,
                     const std::vector<std::string>& extra_configs) {
    Submission submission;
    Jobspec& spec = submission.jobspec;
    spec.request.nodes = plan.nodes == 1 ? 0 : static_cast<std::uint32_t>(partition.nodes);
    spec.request.slots = 1;
    submission.tasks_total = 1;
    spec.request.cores_per_slot =
        static_cast<std::uint32_t>(plan.nodes == 1 ? partition.cores() : partition.cores_per_node);
    spec.queue = instance_queue;
    spec.name = partition.name;
    spec.cwd = plan.rundir;
    spec.weir_serves = {partition.name};
    spec.command = {broker, "-c", files + "/" + partition.name + ".toml", "--rundir",
                    plan.rundir + "/" + partition.name};
    for (const std::string& extra : extra_configs) {
        spec.command.insert(spec.command.end(), {"--inherit", extra});
    }
    spec.command.insert(spec.command.end(), {"-S", "log-filename=" + log_path(files, partition)});
    if (!plan.statedir.empty()) {
        spec.command.insert(spec.command.end(), {"-S", "statedir=" + plan.statedir + "/" + partition.name});
    }
    for (const char* name : {"PATH", "HOME", "LANG", "LD_LIBRARY_PATH", "TMPDIR"}) {
        if (const char* value = std::getenv(name)) {
            spec.environment[name] = value;
        }
    }
    return submission;
}

}  // namespace

Result<Session> Session::start(const Plan& plan, const std::string& files,
                               const std::vector<std::string>& extra_configs, Signals& signals,
                               const std::function<void(const std::string&)>& say) {
    auto broker = find_broker();
    if (!broker) {
        return broker.error();
    }
    for (const std::string& folder : {plan.rundir, plan.statedir, files}) {
        if (auto is_made = folder.empty() ? Result<bool>(false) : make_private_tree(folder); !is_made) {
            return is_made.error();
        }
    }
    const std::string config = files + "/parent.toml";
    if (auto done = broker::write_private_file(config, parent_config(plan)); !done) {
        return done.error();
    }
    std::vector<std::string> argv{*broker, "-c", config, "--rundir", plan.rundir};
    for (const std::string& extra : extra_configs) {
        argv.insert(argv.end(), {"-c", extra});
    }
    if (!plan.statedir.empty()) {
        argv.insert(argv.end(), {"-S", "statedir=" + plan.statedir});
    }
    argv.insert(argv.end(), {"-S", "log-filename=" + files + "/broker.log", "-S", "log-stderr-level=-1"});
    auto process = BrokerProcess::start(argv, files + "/broker.log", signals);
    if (!process) {
        return process.error();
    }
    Session session;
    session.plan_ = plan;
    session.process_ = std::make_unique<BrokerProcess>(std::move(*process));
    auto uri = session.process_->wait_ready(signals, 60s);
    if (!uri) {
        session.stop(signals);
        return uri.error();
    }
    say("parent   " + *uri);
    auto client = Client::open(*uri);
    if (!client) {
        session.stop(signals);
        return client.error();
    }
    session.client_ = std::make_unique<Client>(std::move(*client));
    Status done = session.start_children(*broker, files, extra_configs);
    if (done) {
        done = session.wait_attached(signals);
    }
    if (!done) {
        session.stop(signals);
        return done.error();
    }
    for (const SessionChild& child : session.children_) {
        say(padded_right(child.partition.name, 8) + " " + child.uri + "  (" + child.partition.scheduler + ", " +
            std::to_string(child.partition.cores()) + " cores, job " + job_name(child.jobid) + ")");
    }
    return session;
}

Status Session::start_children(const std::string& broker, const std::string& files,
                               const std::vector<std::string>& extra_configs) {
    const Plan& plan = plan_;
    for (const Partition& partition : plan.partitions) {
        const std::string config = files + "/" + partition.name + ".toml";
        if (auto done = broker::write_private_file(config, child_config(plan, partition)); !done) {
            return done;
        }
        for (const std::string& above : {plan.rundir, plan.statedir}) {
            if (above.empty()) {
                continue;
            }
            if (auto is_made = broker::make_private_dir(above + "/" + partition.name); !is_made) {
                return is_made.error();
            }
        }
        jobs_.push_back(child_job(broker, plan, partition, files, extra_configs));
        logs_.emplace_back(log_path(files, partition));
        auto id = submit(*client_, jobs_.back());
        if (!id) {
            return Error{id.error().code, "the partition " + partition.name + " was refused: " + id.error().message};
        }
        PartitionState state;
        state.name = partition.name;
        state.log = log_path(files, partition);
        children_.push_back({partition, *id, "", std::move(state), {}, false});
    }
    return Done{};
}

std::string Session::child_failure(const SessionChild& child) {
    auto job = find_job(*client_, child.jobid);
    if (!job || job->state != FLUX_JOB_STATE_INACTIVE) {
        return "";
    }
    const auto output = job_output(*client_, child.jobid);
    return "the partition " + child.partition.name + " ended before it served its queue" +
           (job->note.empty() ? "" : " (" + job->note + ")") + ". It said:\n" + (output ? output->data : "(nothing)");
}

/// Asks with growing pauses; a signal, the parent's end or a child's end cuts it short.
Status Session::wait_attached(Signals& signals) {
    const Duration deadline = monotonic_now() + 60s;
    for (Duration pause = 10ms; monotonic_now() < deadline; pause = std::min<Duration>(pause * 2, 200ms)) {
        std::size_t attached = 0;
        const auto entries = children_of(*client_);
        for (SessionChild& child : children_) {
            for (const ChildEntry& entry : entries) {
                if (entry.jobid == child.jobid && entry.state == "attached") {
                    child.uri = entry.uri;
                    ++attached;
                }
            }
            if (const std::string failure = child_failure(child); !failure.empty()) {
                return Error{std::errc::io_error, failure};
            }
        }
        if (attached == children_.size()) {
            (void)watch();
            return Done{};
        }
        (void)wait_readable({signals.fd(), process_->pidfd()}, pause);
        if (signals.is_stop_asked()) {
            return Error{std::errc::interrupted, "interrupted"};
        }
        if (process_->has_ended()) {
            return Error{std::errc::io_error, "the parent broker ended: " + process_->end_text()};
        }
    }
    return Error{std::errc::timed_out, "the partitions did not come up within a minute; see " + plan_.rundir};
}

/// Whether the parent can be asked: one that is stopped must not stop us.
bool Session::is_answering() {
    return client_ != nullptr && !process_->has_ended() &&
           client_->call("broker.ping", Json::object(), answer_s).has_value();
}

void Session::say(int severity, const std::string& sentence, std::vector<std::string>& said) {
    client_->log(severity, sentence);
    said.push_back(sentence);
}

/// How its job ended, or "" while it is active.
std::string Session::end_of(SessionChild& child) {
    const auto job = find_job(*client_, child.jobid);
    if (!job) {
        return job.error().code == std::errc::no_such_file_or_directory ? "its job is gone" : "";
    }
    if (job->state != FLUX_JOB_STATE_INACTIVE) {
        return "";
    }
    const int status = static_cast<int>(std::max<std::int64_t>(job->waitstatus, 0));
    if (WIFSIGNALED(status)) {
        return "killed by signal " + std::to_string(WTERMSIG(status));
    }
    const auto output = job_output(*client_, child.jobid);
    std::istringstream lines(output ? output->data : "");
    std::string last;
    for (std::string line; std::getline(lines, line);) {
        last = line.empty() ? last : line;
    }
    const std::string why = job->note.empty() ? "exit code " + std::to_string(WEXITSTATUS(status)) : job->note;
    return why + (last.empty() || status == 0 ? "" : "; it said: " + printable(last));
}

void Session::note_end(SessionChild& child, const std::string& why, std::vector<std::string>& said) {
    const Duration now = monotonic_now();
    child.revival.ended(now);
    child.is_attached = false;
    const Duration pause = child.revival.next() - now;
    PartitionState& state = child.state;
    state.since = state.is_down ? state.since : real_now();
    state.is_down = true;
    state.job = 0;
    state.deaths = child.revival.deaths();
    state.why = why;
    state.next = real_now() + to_seconds(pause);
    const std::string when = pause > Duration::zero() ? "in " + duration_text(pause) : "now";
    const std::string nth = state.deaths == 1 ? "" : ", death " + std::to_string(state.deaths) + " in a row";
    say(log_err, "The partition " + state.name + " ended (" + why + ")" + nth + "; it starts again " + when + ".",
        said);
    (void)publish(*client_, state);
}

void Session::start_again(std::size_t i, std::vector<std::string>& said) {
    SessionChild& child = children_[i];
    const auto id = submit(*client_, jobs_[i]);
    if (!id) {
        note_end(child, "it cannot start: " + id.error().message, said);
        return;
    }
    child.jobid = *id;
    child.uri.clear();
    child.state.job = *id;
    (void)publish(*client_, child.state);
    say(log_notice, "The partition " + child.state.name + " starts again as " + job_name(*id) + ".", said);
}

std::vector<std::string> Session::watch() {
    std::vector<std::string> said;
    if (!is_answering()) {
        return said;
    }
    const auto entries = children_of(*client_);
    for (std::size_t i = 0; i < children_.size(); ++i) {
        SessionChild& child = children_[i];
        const bool is_waiting = child.state.is_down && child.jobid == 0;
        if (is_waiting && monotonic_now() >= child.revival.next()) {
            start_again(i, said);
            continue;
        }
        const auto entry = std::find_if(entries.begin(), entries.end(), [&](const ChildEntry& known) {
            return known.jobid == child.jobid && known.state == "attached";
        });
        if (is_waiting) {
            continue;
        }
        if (const std::string why = end_of(child); !why.empty()) {
            child.jobid = 0;
            note_end(child, why, said);
        } else if (entry != entries.end() && !child.is_attached) {
            child.is_attached = true;
            child.uri = entry->uri;
            child.revival.serves(monotonic_now());
            if (std::exchange(child.state.is_down, false)) {
                say(log_notice, "The partition " + child.state.name + " serves its queue again.", said);
            }
            child.state.since = real_now();
            child.state.job = 0;
            (void)publish(*client_, child.state);
        }
    }
    return said;
}

Duration Session::pause() const {
    Duration pause = 1s;
    for (const SessionChild& child : children_) {
        if (child.state.is_down) {  // a start that is under way is looked at more often
            pause = std::min<Duration>(pause, child.jobid != 0 ? 200ms : child.revival.next() - monotonic_now());
        }
    }
    return std::max<Duration>(pause, 0s);
}

std::vector<std::string> Session::warnings() {
    std::vector<std::string> found;
    std::set<std::string> seen;  // the partitions read the same files
    const auto add = [&](const std::string& lead, const LogLine& line) {
        const std::string text = line.app + (line.app.empty() ? "" : ": ") + line.text;
        if (line.severity <= log_warning && line.app != "weir" && seen.insert(text).second) {  // "weir": our own words
            found.push_back(lead + (line.severity == log_warning ? "warning: " : "error: ") + printable(text));
        }
    };
    for (const LogLine& line : process_->log()) {
        add("", line);
    }
    for (std::size_t i = 0; i < children_.size(); ++i) {
        for (const std::string& line : logs_[i].lines()) {
            if (const auto parsed = parse_file_line(line)) {
                add(children_[i].state.name + ": ", *parsed);
            }
        }
    }
    return found;
}

void Session::stop(Signals& signals) {
    const int signals_before = signals.count();
    const auto is_impatient = [&] { return signals.count() > signals_before; };
    if (is_answering()) {
        for (const SessionChild& child : children_) {
            Json payload = Json::object();
            payload.set("id", child.jobid).set("type", "cancel").set("severity", 0).set("note", "the instance ends");
            (void)client_->call("job-manager.raise", payload, answer_s);
        }
        const Duration deadline = monotonic_now() + 5s;
        for (const SessionChild& child : children_) {
            for (Duration pause = 5ms; monotonic_now() < deadline && !process_->has_ended() && !is_impatient();
                 pause = std::min<Duration>(pause * 2, 100ms)) {
                const auto job = find_job(*client_, child.jobid);
                if (!job || job->state == FLUX_JOB_STATE_INACTIVE) {
                    break;
                }
                (void)wait_readable({process_->pidfd(), signals.fd()}, pause);
            }
        }
    }
    client_.reset();
    if (process_ != nullptr) {
        process_->stop(signals, is_impatient() ? Duration{} : broker_patience);
    }
    std::error_code ignored;
    for (const SessionChild& child : children_) {
        const std::string folder = plan_.rundir + "/" + child.partition.name;
        std::filesystem::remove(folder + "/local-0", ignored);
        std::filesystem::remove(folder, ignored);  // only if empty
    }
    std::filesystem::remove(plan_.rundir + "/local-0", ignored);
    std::filesystem::remove(plan_.rundir, ignored);
}

}  // namespace weir::cmd
