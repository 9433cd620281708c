// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the order of starting and stopping.
#include "cmd/instance/session.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "broker/api/private_dir.hpp"
#include "cmd/common/folders.hpp"
#include "cmd/common/instances.hpp"
#include "cmd/common/job_output.hpp"
#include "cmd/common/jobs.hpp"
#include "cmd/common/submission.hpp"
#include "cmd/common/text.hpp"

namespace weir::cmd {
namespace {

using namespace std::chrono_literals;

constexpr int revivals_max = 5;

Submission child_job(const std::string& broker, const Plan& plan, const Partition& partition,
                     const std::string& config) {
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
    spec.command = {broker, "-c", config, "--rundir", plan.rundir + "/" + partition.name};
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
    Status done = session.start_children(*broker, files);
    if (done) {
        done = session.wait_attached(signals);
    }
    if (!done) {
        const Error error = done.error();
        session.stop(signals);
        return error;
    }
    for (const SessionChild& child : session.children_) {
        say(padded_right(child.partition.name, 8) + " " + child.uri + "  (" + child.partition.scheduler + ", " +
            std::to_string(child.partition.cores()) + " cores, job " + job_name(child.jobid) + ")");
    }
    return session;
}

Status Session::start_children(const std::string& broker, const std::string& files) {
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
        jobs_.push_back(child_job(broker, plan, partition, config));
        auto id = submit(*client_, jobs_.back());
        if (!id) {
            return Error{id.error().code, "the partition " + partition.name + " was refused: " + id.error().message};
        }
        children_.push_back({partition, *id, "", 0});
    }
    return Done{};
}

std::string Session::child_failure(const SessionChild& child) {
    auto job = find_job(*client_, child.jobid);
    if (!job || job->state != FLUX_JOB_STATE_INACTIVE) {
        return "";
    }
    const auto output = job_output(*client_, child.jobid, 0);
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
            return Done{};
        }
        (void)wait_readable({signals.fd(), process_->pidfd()}, pause);
        if (signals.is_stop_asked()) {
            return Error{std::errc::interrupted, "interrupted"};
        }
        if (process_->has_ended()) {
            return Error{std::errc::io_error, "the parent broker ended:\n" + process_->last_words()};
        }
    }
    return Error{std::errc::timed_out, "the partitions did not come up within a minute; see " + plan_.rundir};
}

std::string Session::revive() {
    for (std::size_t i = 0; i < children_.size(); ++i) {
        SessionChild& child = children_[i];
        const auto job = find_job(*client_, child.jobid);
        if (!job || job->state != FLUX_JOB_STATE_INACTIVE || child.revivals >= revivals_max) {
            continue;
        }
        ++child.revivals;
        const auto id = submit(*client_, jobs_[i]);
        child.jobid = id ? *id : child.jobid;
        return "The partition " + child.partition.name + " ended" + (job->note.empty() ? "" : " (" + job->note + ")") +
               (id ? "; it starts again as " + job_name(*id) + "." : " and cannot start again: " + id.error().message);
    }
    return "";
}

void Session::stop(Signals& signals) {
    if (client_ != nullptr && !process_->has_ended()) {
        for (const SessionChild& child : children_) {
            Json payload = Json::object();
            payload.set("id", child.jobid).set("type", "cancel").set("severity", 0).set("note", "the instance ends");
            (void)client_->call("job-manager.raise", payload, 5);
        }
        for (const SessionChild& child : children_) {
            const Duration deadline = monotonic_now() + 5s;
            for (Duration pause = 5ms; monotonic_now() < deadline && !process_->has_ended();
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
        process_->stop(signals, 10s);
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
