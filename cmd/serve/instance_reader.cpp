// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see instance_reader.hpp.
#include "cmd/serve/instance_reader.hpp"

#include <unistd.h>

#include <algorithm>

#include "cmd/common/instances.hpp"
#include "cmd/common/jobs.hpp"
#include "cmd/common/private_mode.hpp"
#include "cmd/instance/signals.hpp"
#include "cmd/metrics/instance_metrics.hpp"
#include "cmd/pictures/two_jobs.hpp"
#include "cmd/serve/visible_part.hpp"

namespace weir::cmd {
namespace {

/// Real seconds after which an instance that does not answer counts as gone.
constexpr double instance_answer_s = 10;

/// Rows that are there before the tree is.
constexpr std::int64_t top_rows = 500;

double steady_s() {
    return to_seconds(monotonic_now());
}

}  // namespace

/// A guest's instance could answer what it likes, and as much as it likes: only those of this user are opened.
Status InstanceReader::go_down() {
    for (const std::uint64_t id : way_) {
        const std::vector<ChildEntry> children = children_of(*client_);
        const auto child =
            std::find_if(children.begin(), children.end(), [id](const ChildEntry& entry) { return entry.jobid == id; });
        if (child == children.end() || child->state != "attached") {
            return Error{std::errc::no_such_file_or_directory, "no instance runs as " + job_name(id) + " there now"};
        }
        const auto job = find_job(*client_, id);
        if (!job || job->userid != getuid()) {
            return job ? Error{std::errc::permission_denied, job_name(id) + " is an instance of another user"}
                       : job.error();
        }
        auto opened = Client::open(child->uri, child_answer_s);
        if (!opened) {
            return opened.error();
        }
        above_.push_back(std::move(*client_));
        client_.emplace(std::move(*opened));
        names_.push_back(instance_name(child->name, id));
    }
    return Done{};
}

Result<Client*> InstanceReader::client() {
    if (!client_) {
        above_.clear();
        names_ = way_.empty() ? std::vector<std::string>{} : std::vector<std::string>{top_instance_name};
        auto opened = Client::open(uri_, instance_answer_s);
        if (!opened) {
            return opened.error();
        }
        client_.emplace(std::move(*opened));
        if (const Status done = go_down(); !done) {
            client_.reset();
            return done.error();
        }
        has_top_ = false;
        view_.reset();
        ask_at_once();
    }
    return &*client_;
}

void InstanceReader::ask_at_once() {
    tree_.ask_at_once();
    scene_.ask_at_once();
    usage_.ask_at_once();
    privacy_.ask_at_once();
}

Result<Client*> InstanceReader::client_of_known_privacy() {
    const auto open = client();
    const double begin = steady_s();
    if (!open || !privacy_.is_due(begin)) {
        return open;
    }
    bool is_any_private = false;
    for (std::size_t i = 0; i <= above_.size(); ++i) {
        const auto answer = is_private(i < above_.size() ? above_[i] : **open);
        if (!answer) {
            client_.reset();
            return answer.error();
        }
        is_any_private = is_any_private || *answer;
    }
    privacy_.asked(begin, steady_s());
    is_private_ = is_any_private;
    return open;
}

Status InstanceReader::guest_may_look() const {
    return way_.empty() || !is_private_
               ? Status(Done{})
               : Error{std::errc::permission_denied, "only its owner sees what is inside this instance"};
}

Status InstanceReader::read_scene(Client& client, const std::map<uid_t, std::string>& users, InstanceReading& reading) {
    const double begin = steady_s();
    auto scene = queue_scene(client, "", begin + instance_offset_s_);
    Status done = scene ? Status(Done{}) : Status(scene.error());
    for (const auto& [userid, name] : is_private_&& done ? users : std::map<uid_t, std::string>{}) {
        auto own = own_scene(client, userid, name, begin + instance_offset_s_, visible_box(scene->top));
        if (!own) {
            done = own.error();
            break;
        }
        reading.own.emplace(userid, std::move(*own));
    }
    scene_.asked(begin, steady_s());
    if (done) {
        scene->top.name = names_.empty() ? scene->top.name : names_.back();
        reading.scene = std::move(*scene);
    }
    return done;
}

Status InstanceReader::read_due(Client& client, const std::map<uid_t, std::string>& users, InstanceReading& reading) {
    const double begin = steady_s();
    if (!has_top_) {
        auto top = top_share_view(client, top_rows);
        if (!top) {
            return top.error();
        }
        has_top_ = true;
        instance_offset_s_ = top->now - steady_s();
        reading.top = std::move(*top);
    } else if (scene_.is_due(begin)) {
        return read_scene(client, users, reading);
    } else if (tree_.is_due(begin)) {
        auto view = share_view(client);
        tree_.asked(begin, steady_s());
        if (!view) {
            return view.error();
        }
        instance_offset_s_ = view->now - steady_s();
        view_ = *view;
        reading.tree = std::move(*view);
    } else if (usage_.is_due(begin) && view_) {
        auto usage = usage_facts(client, *view_);
        usage_.asked(begin, steady_s());
        if (!usage) {
            return usage.error();
        }
        reading.usage = std::move(*usage);
    }
    return Done{};
}

Result<InstanceReading> InstanceReader::read(const std::map<uid_t, std::string>& users) {
    const auto open = client_of_known_privacy();
    if (!open) {
        return open.error();
    }
    InstanceReading reading;
    reading.is_private = is_private_;
    reading.names = names_;
    if (const Status done = read_due(**open, users, reading); !done) {
        client_.reset();
        return done.error();
    }
    reading.has_more = is_any_due(steady_s());
    return reading;
}

Result<std::string> InstanceReader::metrics(bool is_guest) {
    const auto open = client_of_known_privacy();
    if (!open) {
        return open.error();
    }
    if (const Status may = guest_may_look(); is_guest && !may) {
        return may.error();
    }
    return instance_metrics(**open, is_private_ ? private_metrics : MetricsOptions{});
}

Result<std::string> InstanceReader::two_jobs(std::uint64_t id, const std::optional<std::string>& guest) {
    const auto open = client_of_known_privacy();
    if (!open) {
        return open.error();
    }
    if (const Status may = guest_may_look(); guest && !may) {
        return may.error();
    }
    auto jobs = two_jobs_of(**open, id);
    if (is_private_ && guest) {
        if (!jobs || (jobs->first.job == job_name(id) ? jobs->first : jobs->second).user != *guest) {
            // The same sentence for a job of another user, one that has ended, and one that never was.
            return Error{std::errc::no_such_file_or_directory,
                         job_name(id) + " is no pending job of yours that has another beside it in its queue"};
        }
        for (JobTerms* job : {&jobs->first, &jobs->second}) {
            if (job->user != *guest) {
                *job = nameless(std::move(*job));
            }
        }
    }
    return jobs ? Result<std::string>(two_jobs_picture(jobs->first, jobs->second)) : jobs.error();
}

}  // namespace weir::cmd
