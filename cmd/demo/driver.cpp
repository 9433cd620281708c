// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the loop of a demo. Everything shown is asked of the instances by RPC.
#include "cmd/demo/driver.hpp"

#include <unistd.h>

#include <algorithm>

#include "cmd/common/instance_clock.hpp"
#include "cmd/common/instances.hpp"
#include "cmd/common/jobs.hpp"
#include "cmd/common/live_reader.hpp"
#include "cmd/common/reader.hpp"
#include "cmd/common/share_view.hpp"
#include "cmd/common/submission.hpp"

namespace weir::cmd {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t queue_shown = 10;
/// Real seconds between the first picture and the first submission.
constexpr double head_start_s = 0.3;

Submission submission_of(const DemoJob& job, std::uint32_t userid) {
    Submission submission;
    Jobspec& spec = submission.jobspec;
    spec.request.slots = static_cast<std::uint32_t>(job.cores);
    spec.request.cores_per_slot = 1;
    spec.limit = job.requested;
    spec.queue = job.queue;
    spec.account = job.account;
    spec.name = job.user;
    spec.cwd = "/";
    spec.command = {"simulated"};
    spec.run_duration = job.run;
    submission.userid = userid;
    return submission;
}

}  // namespace

// ---- output ----

LiveOutput::LiveOutput(const Screen& screen, bool is_plain, int fd) : screen_(screen), fd_(fd) {
    if (!is_plain && screen.escapes) {
        terminal_.emplace(-1, fd);
    }
}

Duration LiveOutput::interval() const {
    return terminal_ ? Duration(500ms) : Duration(5s);
}

void LiveOutput::draw(const LiveState& state) {
    if (terminal_) {
        terminal_->draw(live_view(state, screen_of(stream_facts(fd_))));  // the window may have changed
        return;
    }
    const std::string line = live_line(state, screen_.glyphs) + "\n";
    for (std::size_t at = 0; at < line.size();) {
        const ssize_t count = write(fd_, line.data() + at, line.size() - at);
        if (count <= 0) {
            return;
        }
        at += static_cast<std::size_t>(count);
    }
}

// ---- driver ----

Driver::Driver(const Workload& workload, Session& session, double scale, double origin)
    : workload_(workload), session_(session), scale_(scale), origin_(origin) {
    state_.scale = scale;
    state_.jobs = static_cast<std::int64_t>(workload.jobs.size());
    for (const SessionChild& child : session.children()) {
        PartitionLine line;
        line.name = child.partition.name;
        line.policy = child.partition.scheduler == "sched-weir-fcfs" ? "FCFS" : "EASY backfill";
        line.cores = child.partition.cores();
        state_.partitions.push_back(line);
    }
    makespan_ = cmd::makespan(workload).has_value() ? *cmd::makespan(workload) : Duration(0s);
}

double Driver::now() const {
    return InstanceClock{scale_, origin_}.scaled(real_now());
}

Instant Driver::first_submit() const {
    return instant_from_seconds(begin_);
}

Instant Driver::last_submit() const {
    return first_submit() + workload_.jobs.back().submit;
}

Status Driver::submit_due() {
    const double at = now();
    std::vector<Submission> due;
    for (std::size_t i = next_; i < workload_.jobs.size() && begin_ + to_seconds(workload_.jobs[i].submit) <= at; ++i) {
        due.push_back(submission_of(workload_.jobs[i], workload_.users.at(workload_.jobs[i].user)));
    }
    for (const auto& id : submit_all(session_.client(), due)) {
        if (!id) {
            return Error{id.error().code, "job " + std::to_string(next_ + 1) + " of " + workload_.jobs[next_].user +
                                              " was refused: " + id.error().message};
        }
        ++next_;
    }
    return Done{};
}

void Driver::observe_partition(const SessionChild& child, Client& client) {
    PartitionLine& line = state_.partitions[static_cast<std::size_t>(&child - session_.children().data())];
    const JobCounts counts = job_counts(client);
    line.pending = counts.pending;
    line.running = counts.running;
    line.finished = counts.ended_in_child();
    line.jobs.clear();
    std::int64_t busy = 0;
    JobQuery query;
    query.states = FLUX_JOB_STATE_RUNNING;
    const double at = now();
    (void)list_jobs(client, query, [&](const Job& job) {
        busy += job.cores;
        const double limit = job.duration > 0 ? job.duration : 1;
        line.jobs.push_back({job_name(job.id), job.name, job.cores, std::clamp((at - job.run) / limit, 0.0, 1.0)});
    });
    line.cores_busy = busy;
    std::reverse(line.jobs.begin(), line.jobs.end());
}

void Driver::keep_fullest(std::int64_t pending, const ShareView& view) {
    if (pending * 4 <= fullest_.queue.pending * 5) {
        return;
    }
    if (auto queue = queue_scene(session_.client(), "", view.now)) {
        fullest_ = {view, std::move(*queue), instance_boxes(session_.client()),
                    duration_from_seconds(std::max(0.0, view.now - begin_))};
    }
}

Status Driver::observe() {
    Client& parent = session_.client();
    auto view = share_view(parent);
    if (!view) {
        return view.error();
    }
    state_.shares.clear();
    for (const ShareNode& node : view->nodes) {
        state_.shares.push_back({node.path, node.entitled, node.used, node.running_cores, node.pending_jobs});
    }
    Json payload = Json::object();
    payload.set("limit", queue_shown);
    auto queue = parent.call("job-priority.list", payload);
    if (!queue) {
        return queue.error();
    }
    state_.queue = queue_lines_of(queue->get());
    keep_fullest(integer_at(queue->get(), "of"), *view);
    const double at = now();
    finished_ = job_counts(parent).inactive;
    for (std::size_t i = 0; i < children_.size(); ++i) {
        observe_partition(session_.children()[i], children_[i]);
    }
    state_.span = duration_from_seconds(std::max(0.0, at - begin_));
    state_.submitted = static_cast<std::int64_t>(next_);
    state_.finished = finished_;
    state_.elapsed = monotonic_now() - started_;
    const double ahead_s = (begin_ + to_seconds(makespan_) - at) / scale_;
    state_.left = duration_from_seconds(std::max(ahead_s, finished_ < state_.jobs ? 1.0 : 0.0));
    return Done{};
}

Duration Driver::next_wait(Duration view_at) const {
    Duration wait = view_at - monotonic_now();
    if (next_ < workload_.jobs.size()) {
        const double due = (begin_ + to_seconds(workload_.jobs[next_].submit) - now()) / scale_;
        wait = std::min(wait, duration_from_seconds(std::max(0.0, due)));
    }
    return std::max(wait, Duration::zero());
}

Status Driver::run(LiveOutput& output, Signals& signals) {
    for (const SessionChild& child : session_.children()) {
        auto client = Client::open(child.uri);
        if (!client) {
            return client.error();
        }
        children_.push_back(std::move(*client));
    }
    started_ = monotonic_now();
    begin_ = now() + head_start_s * scale_;
    Duration view_at = started_;
    Duration draw_at = started_;
    while (finished_ < state_.jobs) {
        if (auto done = submit_due(); !done) {
            return done;
        }
        if (monotonic_now() >= view_at) {
            if (auto done = observe(); !done) {
                return done;
            }
            view_at = monotonic_now() + 500ms;
            if (monotonic_now() >= draw_at || finished_ >= state_.jobs) {
                output.draw(state_);
                draw_at = monotonic_now() + output.interval();
            }
        }
        (void)wait_readable({signals.fd(), session_.broker().pidfd()}, next_wait(view_at));
        if (signals.is_stop_asked()) {
            return Error{std::errc::interrupted, "interrupted"};
        }
        if (session_.broker().has_ended()) {
            return Error{std::errc::io_error, "the parent broker ended: " + session_.broker().end_text()};
        }
    }
    return Done{};
}

}  // namespace weir::cmd
