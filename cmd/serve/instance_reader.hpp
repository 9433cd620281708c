// SPDX-License-Identifier: LGPL-3.0-only
// Owns: asking an instance for what a page shows, on a thread of its own, and how often each question may be asked.
// Must not know HTTP nor who views.
#pragma once
#include <sys/types.h>

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cmd/common/instance_facts.hpp"
#include "cmd/common/share_view.hpp"
#include "cmd/serve/tree_levels.hpp"

namespace weir::cmd {

/// When a question is due again: after some time at the least, and so that answering it takes at most a part of the
/// time of whoever answers.
class Pace {
  public:
    static constexpr double most_s = 300;
    /// Of the time of whoever answers: of a small tree, and of a large one, where all questions together take a
    /// hundredth.
    static constexpr double small_part = 0.05, large_part = 0.005;
    /// Seconds from one question to the next.
    explicit Pace(double least_s = 1) : least_s_(least_s) {}
    /// `now`: seconds of a steady clock.
    bool is_due(double now) const { return now >= next_; }
    void asked(double begin, double end, double part) {
        const double pause = (end - begin) / part;
        next_ = begin + (pause < least_s_ ? least_s_ : pause > most_s ? most_s : pause);
    }
    void ask_at_once() { next_ = 0; }

  private:
    double least_s_, next_ = 0;
};

/// A hypothetical job: its user's path in the share tree, and its size.
struct ThoughtJob {
    std::string path;
    std::int64_t cores = 0, seconds = 0;
};

/// Who views.
struct Viewing {
    bool has_owner = false;
    std::vector<std::string> rows;        ///< of a large tree: those that viewers have, as they see all
    std::map<uid_t, std::string> guests;  ///< by name
};

/// What a guest of a private instance may see, as the instance told it for him.
struct GuestPart {
    ShareView tree;
    QueueScene queue;
};

/// What the instance answered at one moment. Parts that were not due are missing.
struct InstanceReading {
    double now = 0;                ///< of the instance
    bool has_more = false;         ///< another question is due at once
    std::optional<ShareView> top;  ///< the first levels, before the tree
    std::optional<ShareView> tree;
    std::optional<ShareFigures> figures;  ///< of a large tree, between two answers about all of it
    std::optional<QueueScene> queue;      ///< without boxes
    std::optional<InstanceBox> boxes;
    std::optional<InstanceFacts> usage;
    bool is_private = true;             ///< this instance, or one above it
    std::vector<std::string> names;     ///< from the top to it; empty: it is the top
    std::map<uid_t, GuestPart> guests;  ///< of a private instance: those whose turn it was
};

class InstanceReader {
  public:
    /// `way`: from the instance at `uri` on, each a job that is an instance inside the one before.
    explicit InstanceReader(std::string uri, std::vector<std::uint64_t> way = {})
        : uri_(std::move(uri)), way_(std::move(way)) {}
    const std::vector<std::uint64_t>& way() const { return way_; }
    /// Asks one question that is due: first the top of the tree, which is answered at once, then queue and instances,
    /// the parts of guests of a private instance, the tree, and usage. Connects again if the instance went away.
    /// Errors: as those of Client and job-priority.
    Result<InstanceReading> read(const Viewing& viewing);
    /// The next read() asks for all.
    void ask_at_once();
    /// Errors: those of Client::open(); an instance on the way is not there, or runs as another user, whose answers are
    /// not to be believed.
    Result<Client*> client();
    /// The figures for a monitoring system: `weir metrics`. Errors: a guest asks about what is inside a private one.
    Result<std::string> metrics(bool is_guest);
    /// Where an association would stand after a job: job-priority.share-after. `guest`: in whose name the owner asks.
    /// Errors: those of job-priority.
    Result<std::string> after_job(const ThoughtJob& job, std::optional<uid_t> guest);
    /// Two jobs as picture 3. `guest`: who asks, unless it is the owner; of a private instance he gets his own jobs,
    /// and others without a name. Errors: those of two_jobs_of().
    Result<std::string> two_jobs(std::uint64_t id, const std::optional<std::string>& guest);

  private:
    Status go_down();
    Result<Client*> client_of_known_privacy();
    Status guest_may_look() const;
    Status read_top(Client& client, InstanceReading& reading);
    Status read_queue(Client& client, InstanceReading& reading);
    Status read_boxes(Client& client, InstanceReading& reading);
    Status read_figures(Client& client, const Viewing& viewing, InstanceReading& reading);
    Status read_guests(Client& client, const Viewing& viewing, InstanceReading& reading);
    Status read_tree(Client& client, InstanceReading& reading);
    Status read_usage(Client& client, const Viewing& viewing, InstanceReading& reading);
    Status read_due(Client& client, const Viewing& viewing, InstanceReading& reading);
    /// A guest who views for the first time does not wait.
    bool has_new_guest(const Viewing& viewing) const;
    bool is_large() const { return view_ && view_->nodes.size() > TreeLevels::whole_max; }
    bool has_all_seeing(const Viewing& viewing) const { return !is_private_ || viewing.has_owner; }
    /// The tree as its owner sees it. Guests of a private instance need it for past and forecast alone; of a large one
    /// it is asked for again when another one is in force, as figures of the rows that are seen come between.
    bool is_tree_due(const Viewing& viewing, double now) const {
        return !has_all_seeing(viewing) ? usage_.is_due(now) && !view_
                                        : tree_.is_due(now) && (!is_large() || is_another_tree_);
    }
    bool are_figures_due(const Viewing& viewing, double now) const {
        return is_large() && has_all_seeing(viewing) && !viewing.rows.empty() && figures_.is_due(now);
    }
    void asked(Pace& pace, double begin) const;
    bool is_any_due(const Viewing& viewing, double now) const;

    std::string uri_;
    std::vector<std::uint64_t> way_;
    std::optional<Client> client_;
    std::vector<Client> above_;       ///< those on the way, from the top
    std::vector<std::string> names_;  ///< of those and of this one
    /// Past and forecast move slowly, and cost a list of many jobs.
    static constexpr double usage_least_s = 20;
    static constexpr double privacy_least_s = 5;
    Pace tree_, figures_, queue_, boxes_, guests_, usage_{usage_least_s}, privacy_{privacy_least_s};
    bool has_top_ = false;         ///< of this connection
    std::set<uid_t> met_;          ///< guests whose part was asked for, of this connection
    uid_t last_guest_ = 0;         ///< they have their turns in the order of their ids
    InstanceBox top_box_;          ///< as it was read last
    std::string figures_version_;  ///< as they were told last, of figures_rows_
    std::vector<std::string> figures_rows_;
    bool is_another_tree_ = false;   ///< than view_ is in force
    std::optional<ShareView> view_;  ///< of this connection, for the questions that follow
    bool is_private_ = true;         ///< as long as nothing is known
    double instance_offset_s_ = 0;   ///< the instance's clock, less the steady one
};

}  // namespace weir::cmd
