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

/// For questions in guests' names, one after the other.
constexpr double guests_turn_s = 0.05;

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
        if (child->userid != getuid()) {
            return Error{std::errc::permission_denied, job_name(id) + " is an instance of another user"};
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
        met_.clear();
        view_.reset();
        ask_at_once();
    }
    return &*client_;
}

void InstanceReader::ask_at_once() {
    tree_.ask_at_once();
    figures_.ask_at_once();
    queue_.ask_at_once();
    boxes_.ask_at_once();
    is_another_tree_ = true;
    guests_.ask_at_once();
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
    asked(privacy_, begin);
    is_private_ = is_any_private;
    return open;
}

Status InstanceReader::guest_may_look() const {
    return way_.empty() || !is_private_
               ? Status(Done{})
               : Error{std::errc::permission_denied, "only its owner sees what is inside this instance"};
}

Status InstanceReader::read_top(Client& client, InstanceReading& reading) {
    auto top = top_share_view(client, top_rows);
    if (!top) {
        return top.error();
    }
    has_top_ = true;
    instance_offset_s_ = top->now - steady_s();
    reading.top = std::move(*top);
    return Done{};
}

void InstanceReader::asked(Pace& pace, double begin) const {
    pace.asked(begin, steady_s(), is_large() ? Pace::large_part : Pace::small_part);
}

Status InstanceReader::read_queue(Client& client, InstanceReading& reading) {
    const double begin = steady_s();
    auto queue = queue_scene(client, "", begin + instance_offset_s_);
    asked(queue_, begin);
    if (!queue) {
        return queue.error();
    }
    reading.queue = std::move(*queue);
    return Done{};
}

Status InstanceReader::read_boxes(Client& client, InstanceReading& reading) {
    const double begin = steady_s();
    top_box_ = instance_boxes(client);
    asked(boxes_, begin);
    top_box_.name = names_.empty() ? top_box_.name : names_.back();
    reading.boxes = top_box_;
    return Done{};
}

Status InstanceReader::read_figures(Client& client, const Viewing& viewing, InstanceReading& reading) {
    const double begin = steady_s();
    auto figures = share_figures(client, viewing.rows, figures_rows_ == viewing.rows ? figures_version_ : "");
    asked(figures_, begin);
    if (!figures) {
        return figures.error();
    }
    if (figures->version != figures_version_ || figures_rows_ != viewing.rows) {
        figures_version_ = figures->version;
        figures_rows_ = viewing.rows;
        is_another_tree_ = is_another_tree_ || figures->revision != view_->revision ||
                           figures->tree_size != view_->tree_size || figures->nodes.size() < viewing.rows.size();
        reading.figures = std::move(*figures);
    }
    return Done{};
}

bool InstanceReader::has_new_guest(const Viewing& viewing) const {
    return std::any_of(viewing.guests.begin(), viewing.guests.end(),
                       [this](const auto& guest) { return met_.count(guest.first) == 0; });
}

/// In turns, as many as fit into a moment, so that no question of another kind waits long.
Status InstanceReader::read_guests(Client& client, const Viewing& viewing, InstanceReading& reading) {
    const double begin = steady_s();
    Status done = Done{};
    for (std::size_t turns = 0; done && turns < viewing.guests.size() && steady_s() - begin < guests_turn_s; ++turns) {
        auto guest = std::find_if(viewing.guests.begin(), viewing.guests.end(),
                                  [this](const auto& one) { return met_.count(one.first) == 0; });
        if (guest == viewing.guests.end()) {
            guest = viewing.guests.upper_bound(last_guest_);
            guest = guest == viewing.guests.end() ? viewing.guests.begin() : guest;
            last_guest_ = guest->first;
        }
        const auto& [userid, name] = *guest;
        auto tree = share_view(client, userid);
        auto queue = queue_scene(client, name, steady_s() + instance_offset_s_, userid);
        done = !tree ? Status(tree.error()) : !queue ? Status(queue.error()) : Status(Done{});
        if (done) {
            met_.insert(userid);
            reading.guests[userid] = {std::move(*tree), std::move(*queue)};
        }
    }
    asked(guests_, begin);
    return done;
}

Status InstanceReader::read_tree(Client& client, InstanceReading& reading) {
    const double begin = steady_s();
    auto view = share_view(client);
    tree_.asked(begin, steady_s(), Pace::small_part);
    if (!view) {
        return view.error();
    }
    instance_offset_s_ = view->now - steady_s();
    is_another_tree_ = false;
    view_ = *view;
    reading.tree = std::move(*view);
    return Done{};
}

Status InstanceReader::read_usage(Client& client, const Viewing& viewing, InstanceReading& reading) {
    const double begin = steady_s();
    auto usage = usage_facts(client, *view_);
    asked(usage_, begin);
    if (!usage) {
        return usage.error();
    }
    reading.usage = std::move(*usage);
    if (is_private_ && !viewing.has_owner) {
        view_.reset();  // nobody sees it: it is read again with the next usage
    }
    return Done{};
}

Status InstanceReader::read_due(Client& client, const Viewing& viewing, InstanceReading& reading) {
    const double now = steady_s();
    if (!has_top_) {
        return read_top(client, reading);
    }
    if (queue_.is_due(now)) {
        return read_queue(client, reading);
    }
    if (boxes_.is_due(now)) {
        return read_boxes(client, reading);
    }
    if (is_private_ && !viewing.guests.empty() && (guests_.is_due(now) || has_new_guest(viewing))) {
        return read_guests(client, viewing, reading);
    }
    if (are_figures_due(viewing, now)) {
        return read_figures(client, viewing, reading);
    }
    if (is_tree_due(viewing, now)) {
        return read_tree(client, reading);
    }
    return usage_.is_due(now) && view_ ? read_usage(client, viewing, reading) : Status(Done{});
}

bool InstanceReader::is_any_due(const Viewing& viewing, double now) const {
    const bool is_guest_due = is_private_ && !viewing.guests.empty() && (guests_.is_due(now) || has_new_guest(viewing));
    return queue_.is_due(now) || boxes_.is_due(now) || is_guest_due || are_figures_due(viewing, now) ||
           is_tree_due(viewing, now) || (usage_.is_due(now) && view_);
}

Result<InstanceReading> InstanceReader::read(const Viewing& viewing) {
    const auto open = client_of_known_privacy();
    if (!open) {
        return open.error();
    }
    InstanceReading reading;
    reading.is_private = is_private_;
    reading.names = names_;
    std::erase_if(met_, [&](uid_t guest) { return viewing.guests.count(guest) == 0; });
    if (const Status done = read_due(**open, viewing, reading); !done) {
        client_.reset();
        return done.error();
    }
    reading.now = steady_s() + instance_offset_s_;
    reading.has_more = is_any_due(viewing, steady_s());
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

Result<std::string> InstanceReader::after_job(const ThoughtJob& job, std::optional<uid_t> guest) {
    const auto open = client_of_known_privacy();
    if (!open) {
        return open.error();
    }
    if (const Status may = guest_may_look(); guest && !may) {
        return may.error();
    }
    Json question = Json::object();
    question.set("path", job.path).set("cores", job.cores).set("seconds", static_cast<double>(job.seconds));
    const auto answer = (*open)->call_for(guest, "job-priority.share-after", question);
    return answer ? Result<std::string>(answer->dump()) : answer.error();
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
