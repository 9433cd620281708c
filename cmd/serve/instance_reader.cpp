// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see instance_reader.hpp.
#include "cmd/serve/instance_reader.hpp"

#include "cmd/instance/signals.hpp"
#include "cmd/metrics/instance_metrics.hpp"
#include "cmd/pictures/two_jobs.hpp"

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
}

Result<InstanceReading> InstanceReader::read() {
    const auto open = client();
    if (!open) {
        return open.error();
    }
    InstanceReading reading;
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
        reading.scene = std::move(*scene);
    }
    return reading;
}

Result<std::string> InstanceReader::metrics() {
    const auto open = client();
    return open ? Result<std::string>(instance_metrics(**open, {})) : open.error();
}

Result<std::string> InstanceReader::two_jobs(std::uint64_t id) {
    const auto open = client();
    if (!open) {
        return open.error();
    }
    const auto jobs = two_jobs_of(**open, id);
    return jobs ? Result<std::string>(two_jobs_picture(jobs->first, jobs->second)) : jobs.error();
}

}  // namespace weir::cmd
