// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see instance_reader.hpp.
#include "cmd/serve/instance_reader.hpp"

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

double steady_s() {
    return to_seconds(monotonic_now());
}

}  // namespace

Result<Client*> InstanceReader::client() {
    if (!client_) {
        auto opened = Client::open(uri_, instance_answer_s);
        if (!opened) {
            return opened.error();
        }
        client_.emplace(std::move(*opened));
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
    const auto answer = is_private(**open);
    privacy_.asked(begin, steady_s());
    if (!answer) {
        client_.reset();
        return answer.error();
    }
    is_private_ = *answer;
    return open;
}

Result<InstanceReading> InstanceReader::read(const std::map<uid_t, std::string>& users) {
    const auto open = client_of_known_privacy();
    if (!open) {
        return open.error();
    }
    InstanceReading reading;
    reading.is_private = is_private_;
    const auto lost = [&](const Error& error) {
        client_.reset();
        return error;
    };
    if (const double begin = steady_s(); tree_.is_due(begin)) {
        auto view = share_view(**open);
        tree_.asked(begin, steady_s());
        if (!view) {
            return lost(view.error());
        }
        instance_offset_s_ = view->now - steady_s();
        reading.tree = std::move(*view);
    }
    if (const double begin = steady_s(); reading.tree && usage_.is_due(begin)) {
        auto usage = usage_facts(**open, *reading.tree);
        usage_.asked(begin, steady_s());
        if (!usage) {
            return lost(usage.error());
        }
        reading.usage = std::move(*usage);
    }
    const double begin = steady_s();
    reading.now = begin + instance_offset_s_;
    if (scene_.is_due(begin)) {
        auto scene = queue_scene(**open, "", reading.now);
        scene_.asked(begin, steady_s());
        if (!scene) {
            return lost(scene.error());
        }
        for (const auto& [userid, name] : is_private_ ? users : std::map<uid_t, std::string>{}) {
            auto own = own_scene(**open, userid, name, reading.now, visible_box(scene->top));
            if (!own) {
                return lost(own.error());
            }
            reading.own.emplace(userid, std::move(*own));
        }
        scene_.asked(begin, steady_s());
        reading.scene = std::move(*scene);
    }
    return reading;
}

Result<std::string> InstanceReader::metrics() {
    const auto open = client_of_known_privacy();
    return open ? Result<std::string>(instance_metrics(**open, is_private_ ? private_metrics : MetricsOptions{}))
                : open.error();
}

Result<std::string> InstanceReader::two_jobs(std::uint64_t id, const std::optional<std::string>& guest) {
    const auto open = client_of_known_privacy();
    if (!open) {
        return open.error();
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
