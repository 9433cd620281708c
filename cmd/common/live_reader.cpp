// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the requests to each service, and when they are skipped.
#include "cmd/common/live_reader.hpp"

#include <algorithm>
#include <utility>

#include "cmd/common/jobs.hpp"
#include "cmd/common/reader.hpp"
#include "cmd/common/text.hpp"
#include "cmd/common/time_text.hpp"

namespace weir::cmd {
namespace {

Json array_of(const std::set<std::string>& texts) {
    Json array = Json::array();
    for (const std::string& text : texts) {
        array.append(text);
    }
    return array;
}

std::string first_line(const std::string& text) {
    return printable(text.substr(0, text.find('\n')));
}

}  // namespace

std::vector<QueueLine> queue_lines_of(const json_t* answer, bool unicode) {
    std::vector<QueueLine> lines;
    const double now = number_at(answer, "now");
    for (json_t* job : items_at(answer, "jobs")) {
        QueueLine line;
        line.job = id_at(job);
        line.id = job_name(line.job, unicode);
        line.user = printable(text_at(job, "user"));
        line.account = printable(text_at(job, "account"));
        line.queue = printable(text_at(job, "queue"));
        line.cores = integer_at(job, "cores");
        line.priority = integer_at(job, "priority");
        line.waited = duration_from_seconds(std::max(0., now - number_at(job, "submit", now)));
        const char* name = nullptr;
        json_t* contribution = nullptr;
        json_object_foreach(json_object_get(job, "contributions"), name, contribution) {
            if (json_number_value(contribution) != 0) {
                line.terms.emplace_back(name, json_number_value(contribution));
            }
        }
        lines.push_back(std::move(line));
    }
    return lines;
}

enum class JobsOf : std::uint8_t { instance, child };

PartitionLine partition_line_of(Client& client, double answer_s, JobsOf whose) {
    PartitionLine line;
    if (const auto answer = client.call("resource.sched-status", {}, answer_s)) {
        line.cores = cores_of_r(json_object_get(answer->get(), "all"));
        line.cores_busy = cores_of_r(json_object_get(answer->get(), "allocated"));
    } else {
        line.problem = first_line(answer.error().message);
        return line;
    }
    const JobCounts counts = job_counts(client);
    line.pending = counts.pending;
    line.running = counts.running;
    line.finished = whose == JobsOf::child ? counts.ended_in_child() : counts.inactive;
    return line;
}

/// Of one that refuses this user.
PartitionLine told_line(const ChildEntry& child) {
    PartitionLine line;
    line.policy = scheduler_of({child.scheduler});
    line.cores = child.told->cores;
    line.cores_busy.reset();
    line.pending = child.told->pending;
    line.running = child.told->running;
    line.problem = told_problem;
    line.is_told = true;
    return line;
}

PartitionLine PartitionReader::read_child(const ChildEntry& child) {
    PartitionLine line;
    if (child.lost_since > 0) {
        line.problem = "lost since " + local_time(child.lost_since);
        return line;
    }
    Below& below = below_[child.uri];
    if (!below.client) {
        auto opened = open_child(child, answer_s_);
        if (!opened && opened.error().code == std::errc::operation_not_permitted && child.told) {
            return told_line(child);
        }
        if (!opened) {
            line.problem = first_line(opened.error().message);
            return line;
        }
        below.client = std::make_unique<Client>(std::move(*opened));
        std::vector<std::string> names;
        if (const auto modules = below.client->call("module.list", {}, answer_s_)) {
            for (const json_t* module : items_at(modules->get(), "mods")) {
                names.push_back(text_at(module, "name"));
            }
        }
        below.policy = scheduler_of(names);
    }
    line = partition_line_of(*below.client, answer_s_, JobsOf::child);
    line.policy = below.policy;
    if (!line.problem.empty()) {
        below_.erase(child.uri);  // another connection next time
    }
    return line;
}

std::vector<PartitionLine> PartitionReader::read(Client& client) {
    std::vector<PartitionLine> lines;
    std::vector<ChildEntry> children = children_of(client);
    std::erase_if(children, [](const ChildEntry& child) { return !may_open(child); });
    const std::vector<PartitionState> states = told_partition_states(client);
    add_told(children, states);
    for (const ChildEntry& child : children) {
        PartitionLine line = read_child(child);
        line.name = printable(instance_name(child.name, child.jobid));
        lines.push_back(std::move(line));
    }
    for (const PartitionState& state : states) {
        const bool is_there = std::any_of(children.begin(), children.end(),
                                          [&state](const ChildEntry& child) { return child.partition == state.name; });
        if (!is_there) {
            PartitionLine line;
            line.name = printable(state.name);
            line.problem = absent_text(state);
            lines.push_back(std::move(line));
        }
    }
    if (lines.empty()) {
        lines.push_back(partition_line_of(client, answer_s_, JobsOf::instance));
        lines.back().name = "all";
    }
    return lines;
}

Status LiveReader::read_shares(Client& client, const SceneQuery& query) {
    Json payload = Json::object();
    payload.set("limit", query.share_rows).set("order", query.order).set("match", query.match);
    payload.set("open", array_of(query.open)).set("shut", array_of(query.shut));
    payload.set("seen", query == query_ ? version_ : "");
    const auto answer = client.call("job-priority.share-rows", payload, answer_s_);
    if (!answer) {
        return answer.error();
    }
    last_.now = number_at(answer->get(), "now");
    last_.started = integer_at(answer->get(), "started");
    if (json_object_get(answer->get(), "rows") == nullptr) {
        return Done{};
    }
    last_.scene.shares.clear();
    for (json_t* row : items_at(answer->get(), "rows")) {
        const bool has_below = json_is_true(json_object_get(row, "has_below"));
        last_.scene.shares.push_back({printable(text_at(row, "path")), number_at(row, "entitled"),
                                      number_at(row, "used"), integer_at(row, "running_cores"),
                                      integer_at(row, "pending_jobs"),
                                      has_below && !json_is_true(json_object_get(row, "is_open"))});
    }
    last_.revision = integer_at(answer->get(), "revision");
    last_.nodes = integer_at(answer->get(), "of");
    last_.left_out = integer_at(answer->get(), "left_out");
    const auto queue = read_queue(client, query);
    version_ = queue ? text_at(answer->get(), "version") : "";
    query_ = query;
    return queue;
}

Status LiveReader::read_queue(Client& client, const SceneQuery& query) {
    Json payload = Json::object();
    payload.set("limit", query.queue_rows).set("match", query.match);
    const auto answer = client.call("job-priority.list", payload, answer_s_);
    if (!answer) {
        return answer.error();
    }
    last_.scene.queue = queue_lines_of(answer->get(), unicode_);
    last_.queue_matches = integer_at(answer->get(), "matching");
    queue_at_ = last_.now;
    return Done{};
}

Result<LiveAnswer> LiveReader::read(Client& client, const SceneQuery& query) {
    if (const auto done = read_shares(client, query); !done) {
        version_.clear();
        return done.error();
    }
    last_.jobs = job_counts(client);
    last_.scene.partitions = partitions_.read(client);
    LiveAnswer answer = last_;
    for (QueueLine& line : answer.scene.queue) {
        line.waited += duration_from_seconds(std::max(0., last_.now - queue_at_));
    }
    return answer;
}

}  // namespace weir::cmd
