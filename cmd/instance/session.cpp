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
#include "cmd/common/reader.hpp"
#include "cmd/common/submission.hpp"
#include "cmd/common/text.hpp"
#include "cmd/common/wait_reason.hpp"
#include "cmd/instance/folder_lock.hpp"

namespace weir::cmd {
namespace {

using namespace std::chrono_literals;

constexpr int log_warning = 4;  // of syslog(3)
/// Seconds for the answer to a check whether an instance is alive.
constexpr double answer_s = 2;
/// Longer than a broker gives its own modules.
constexpr Duration broker_patience = 40s;
/// After it people are told why a partition has not started.
constexpr Duration start_patience = 5s;

/// What a killed broker leaves, and the folder if nothing else is in it. Nothing where a broker lives: it has the lock.
void remove_rundir(const std::string& folder) {
    const auto lock = FolderLock::take(folder, FolderLock::of_broker);
    if (!lock) {
        return;
    }
    std::error_code ignored;
    for (const char* name : {"/local-0", "/broker.pid", ""}) {
        std::filesystem::remove(folder + name, ignored);
    }
}

}  // namespace

Result<Session> Session::start(const SessionSetup& setup, Signals& signals,
                               const std::function<void(const std::string&)>& print_line) {
    const auto& [plan, queues, files, extra_configs] = setup;
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
    if (auto done = broker::write_private_file(config, parent_config(plan, queues)); !done) {
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
    print_line("parent   " + *uri);
    auto client = Client::open(*uri);
    if (!client) {
        session.stop(signals);
        return client.error();
    }
    session.client_ = std::make_unique<Client>(std::move(*client));
    if (Status done = session.wait_up(signals, print_line); !done) {
        session.stop(signals);
        return done.error();
    }
    for (const SessionChild& child : session.children_) {
        print_line(padded_right(child.partition.name, 8) + " " + child.uri + "  (" + child.partition.scheduler + ", " +
                   std::to_string(child.partition.cores()) + " cores, job " + job_name(child.jobid) + ")");
    }
    return session;
}

void Session::learn_children(const std::vector<PartitionState>& states) {
    const auto rank = [this](const std::string& name) {
        return std::find_if(plan_.partitions.begin(), plan_.partitions.end(),
                            [&name](const Partition& planned) { return planned.name == name; }) -
               plan_.partitions.begin();
    };
    for (const PartitionState& state : states) {
        for (const PartitionJob& job : state.jobs) {
            if (job.is_current) {
                children_.push_back({{state.name, state.scheduler, 1, job.cores}, job.job, job.uri});
            }
        }
    }
    std::stable_sort(children_.begin(), children_.end(), [&rank](const SessionChild& a, const SessionChild& b) {
        return rank(a.partition.name) < rank(b.partition.name);
    });
}

void Session::follow_logs(const std::vector<PartitionState>& states) {
    for (const PartitionState& state : states) {
        if (!state.log.empty()) {
            logs_.try_emplace(state.name, state.log);
        }
        for (const PartitionJob& job : state.jobs) {
            rundirs_.insert(job.rundir);
        }
    }
}

/// "debug waits for 6 cores; free: 2", for each partition that has not served its queue yet.
std::string Session::starting_text(const std::vector<PartitionState>& states) {
    std::string text;
    for (const PartitionState& state : states) {
        if (const std::string waits = start_wait(*client_, state).text; !waits.empty()) {
            text += (text.empty() ? "" : ", ") + state.name + " " + waits;
        }
    }
    return text;
}

/// Whether `weir start` waits for the partition. One that `weir partition` added or resized does not keep the others
/// from serving: it is warned of, and can be removed or resized again. Nor does one whose nodes are drained or down,
/// with those behind it in the queue: they start when the nodes are up.
bool Session::is_awaited(const PartitionState& state, bool is_patient) {
    const bool is_to_come = state.state == "starting" || state.state == "down";
    return is_to_come && !(state.is_changed && (state.is_down || !is_patient)) &&
           (is_patient || !start_wait(*client_, state).is_for_nodes);
}

/// Asks with growing pauses; a signal, the parent's end or a partition's end cuts it short.
Status Session::wait_up(Signals& signals, const std::function<void(const std::string&)>& print_line) {
    const Duration begin = monotonic_now(), deadline = begin + 60s;
    std::string told;
    for (Duration pause = 10ms; monotonic_now() < deadline; pause = std::min<Duration>(pause * 2, 200ms)) {
        const auto answer = partition_states(*client_);
        const auto states = answer ? *answer : std::vector<PartitionState>();
        follow_logs(states);
        bool are_up = answer.has_value();
        for (const PartitionState& state : states) {
            are_up = are_up && !is_awaited(state, monotonic_now() < begin + start_patience);
            if (state.is_down && !state.is_changed) {
                return Error{std::errc::io_error,
                             "the partition " + state.name + " ended before it served its queue: " + state.why};
            }
        }
        std::string text = told;
        if (monotonic_now() >= begin + start_patience) {
            text = answer ? starting_text(states) : "the parent says: " + answer.error().message;
        }
        if (text != told) {
            print_line("Not all partitions have started: " + text + ".");
            told = text;
        }
        if (are_up) {
            learn_children(states);
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
    return Error{std::errc::timed_out, "the partitions did not come up within a minute" +
                                           (told.empty() ? "" : ": " + told) + "; see " + plan_.rundir};
}

/// Whether the parent answers: a stopped parent must not block this process.
bool Session::is_answering() {
    return client_ != nullptr && !process_->has_ended() &&
           client_->call("broker.ping", Json::object(), answer_s).has_value();
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
    const std::vector<LogLine> lines = process_->log();
    for (const LogLine& line : lines) {
        add("", line);
    }
    if (!lines.empty() && is_answering()) {  // partitions may be new
        follow_logs(told_partition_states(*client_));
    }
    for (auto& [name, log] : logs_) {
        for (const std::string& line : log.lines()) {
            if (const auto parsed = parse_file_line(line)) {
                add(name + ": ", *parsed);
            }
        }
    }
    return found;
}

void Session::stop(Signals& signals) {
    if (is_answering()) {
        std::vector<std::uint64_t> jobs;
        const std::vector<PartitionState> states = told_partition_states(*client_);
        follow_logs(states);
        for (const PartitionState& state : states) {
            for (const PartitionJob& job : state.jobs) {
                jobs.push_back(job.job);
            }
        }
        // Before the partitions' cores are free: jobs that wait must not get them.
        (void)client_->call("job-manager.alloc-close", Json::object(), answer_s);
        Json payload = Json::object();
        (void)client_->call("job-route.partition-change", payload.set("op", "close"), answer_s);
        const Duration deadline = monotonic_now() + 5s;
        for (const std::uint64_t id : jobs) {
            for (Duration pause = 5ms; monotonic_now() < deadline && !process_->has_ended() && !signals.is_end_urgent();
                 pause = std::min<Duration>(pause * 2, 100ms)) {
                const auto job = find_job(*client_, id);
                if (!job || job->state == FLUX_JOB_STATE_INACTIVE) {
                    break;
                }
                (void)wait_readable({process_->pidfd(), signals.fd()}, pause);
            }
        }
    }
    client_.reset();
    if (process_ != nullptr) {
        process_->stop(signals, broker_patience);
    }
    for (const Partition& planned : plan_.partitions) {  // one that comes up may have told nobody yet
        rundirs_.insert(plan_.rundir + "/" + planned.name);
    }
    for (const std::string& folder : rundirs_) {
        remove_rundir(folder);
    }
    remove_rundir(plan_.rundir);
}

}  // namespace weir::cmd
