// SPDX-License-Identifier: LGPL-3.0-only
// Owns: asking an instance for what a page shows, on a thread of its own, and how often each question may be asked.
// Must not know HTTP nor who views.
#pragma once
#include <sys/types.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cmd/common/instance_facts.hpp"
#include "cmd/common/share_view.hpp"

namespace weir::cmd {

/// When a question is due again: after some time at the least, and so that answering it takes at most a twentieth of
/// the time of whoever answers.
class Pace {
  public:
    static constexpr double most_s = 60, part = 0.05;
    /// Seconds from one question to the next.
    explicit Pace(double least_s = 1) : least_s_(least_s) {}
    /// `now`: seconds of a steady clock.
    bool is_due(double now) const { return now >= next_; }
    void asked(double begin, double end) {
        const double pause = (end - begin) / part;
        next_ = begin + (pause < least_s_ ? least_s_ : pause > most_s ? most_s : pause);
    }
    void ask_at_once() { next_ = 0; }

  private:
    double least_s_, next_ = 0;
};

/// What the instance answered at one moment. Parts that were not due are missing.
struct InstanceReading {
    bool has_more = false;         ///< another question is due at once
    std::optional<ShareView> top;  ///< the first levels, before the tree
    std::optional<ShareView> tree;
    std::optional<QueueScene> scene;
    std::optional<InstanceFacts> usage;
    bool is_private = true;           ///< this instance, or one above it
    std::vector<std::string> names;   ///< from the top to it; empty: it is the top
    std::map<uid_t, QueueScene> own;  ///< of a private instance: with the scene, the jobs of each user asked for
};

class InstanceReader {
  public:
    /// `way`: from the instance at `uri` on, each a job that is an instance inside the one before.
    explicit InstanceReader(std::string uri, std::vector<std::uint64_t> way = {})
        : uri_(std::move(uri)), way_(std::move(way)) {}
    const std::vector<std::uint64_t>& way() const { return way_; }
    /// Asks one question that is due: first the top of the tree, which is answered at once, then queue and instances,
    /// the tree, and usage. Connects again if the instance went away. `users`: who are guests and view, by name.
    /// Errors: as those of Client and job-priority.
    Result<InstanceReading> read(const std::map<uid_t, std::string>& users);
    /// The next read() asks for all.
    void ask_at_once();
    /// Errors: those of Client::open(); an instance on the way is not there, or runs as another user, whose answers are
    /// not to be believed.
    Result<Client*> client();
    /// The figures for a monitoring system: `weir metrics`. Errors: a guest asks about what is inside a private one.
    Result<std::string> metrics(bool is_guest);
    /// Two jobs as picture 3. `guest`: who asks, unless it is the owner; of a private instance he gets his own jobs,
    /// and others without a name. Errors: those of two_jobs_of().
    Result<std::string> two_jobs(std::uint64_t id, const std::optional<std::string>& guest);

  private:
    Status go_down();
    Result<Client*> client_of_known_privacy();
    Status guest_may_look() const;
    Status read_scene(Client& client, const std::map<uid_t, std::string>& users, InstanceReading& reading);
    Status read_due(Client& client, const std::map<uid_t, std::string>& users, InstanceReading& reading);
    bool is_any_due(double now) const { return scene_.is_due(now) || tree_.is_due(now) || usage_.is_due(now); }

    std::string uri_;
    std::vector<std::uint64_t> way_;
    std::optional<Client> client_;
    std::vector<Client> above_;       ///< those on the way, from the top
    std::vector<std::string> names_;  ///< of those and of this one
    /// Past and forecast move slowly, and cost a list of many jobs.
    static constexpr double usage_least_s = 20;
    /// The configuration may have a line for each user.
    static constexpr double privacy_least_s = 5;
    Pace tree_, scene_, usage_{usage_least_s}, privacy_{privacy_least_s};
    bool has_top_ = false;           ///< of this connection
    std::optional<ShareView> view_;  ///< of this connection, for the questions that follow
    bool is_private_ = true;         ///< as long as nothing is known
    double instance_offset_s_ = 0;   ///< the instance's clock, less the steady one
};

}  // namespace weir::cmd
