// SPDX-License-Identifier: LGPL-3.0-only
// Owns: RouteJob, the route table's record of one active job. Its types hold the combinations that can occur and no
// others. Must not know children, the plugin, JSON or Flux. Source: RFC 21 (states, order of events).
#pragma once
#include <cstdint>
#include <string>
#include <variant>

#include "modules/job-route/hand_down.hpp"
#include "modules/job-route/journal_event.hpp"
#include "modules/job-route/messages.hpp"

namespace weir::route {

/// How far the parent's own journal has taken a job. RFC 21: start follows alloc, finish follows start; a fatal
/// exception ends a job at any point before that.
enum class Progress : std::uint8_t {
    entering,            ///< DEPEND or PRIORITY
    sched,               ///< SCHED
    allocated,           ///< RUN, start not on record
    started,             ///< RUN
    failed_unallocated,  ///< ended by an exception before alloc
    failed_allocated,    ///< ended by an exception between alloc and start
    failed_started,      ///< ended by an exception after start
    finished,
};
/// Whether alloc is on record.
constexpr bool has_alloc(Progress progress) {
    return progress != Progress::entering && progress != Progress::sched && progress != Progress::failed_unallocated;
}
/// Whether start is on record.
constexpr bool has_start(Progress progress) {
    return progress == Progress::started || progress == Progress::failed_started || progress == Progress::finished;
}
constexpr bool is_in_run(Progress progress) {
    return progress == Progress::allocated || progress == Progress::started;
}
constexpr bool is_ending(Progress progress) {
    return progress >= Progress::failed_unallocated;
}
/// After the event start. A start without alloc is none.
constexpr Progress after_start(Progress progress) {
    return progress == Progress::allocated          ? Progress::started
           : progress == Progress::failed_allocated ? Progress::failed_started
                                                    : progress;
}
/// After a fatal exception. A job that is ending stays as it is.
constexpr Progress after_failure(Progress progress) {
    return is_ending(progress)   ? progress
           : has_start(progress) ? Progress::failed_started
           : is_in_run(progress) ? Progress::failed_allocated
                                 : Progress::failed_unallocated;
}

/// Nobody has the routed job: it waits for a child.
struct Unplaced {};
/// The plugin has been asked to record this.
struct GiveAsked {
    JobId child;
};
/// The child has it, on record in the journal.
struct Given {
    JobId child;
    LocalId local{};
    bool is_sent = false;         ///< the order to submit it has left
    bool is_held_back = false;    ///< by a limit of the child's own, as the child says
    bool is_outdated = false;     ///< the jobspec was changed since
    bool is_alloc_asked = false;  ///< the plugin has been asked to mirror its allocation
    /// The same, in this or an earlier session: an allocation may be on its way to the journal.
    bool may_have_alloc = false;
};
using Holder = std::variant<Unplaced, GiveAsked, Given>;

/// What the plugin is asked at most once of a routed job.
class AskedOnce {
  public:
    enum class Step : std::uint8_t {
        start,
        finish,
        failure,  ///< the coming exception is the child's own
        refusal,  ///< an exception, since the child's R is invalid
        clean,
    };
    bool has(Step step) const { return (steps_ & bit(step)) != 0; }
    void add(Step step) { steps_ |= bit(step); }
    /// Adds it. \return whether it was new.
    bool add_new(Step step) {
        const bool is_new = !has(step);
        add(step);
        return is_new;
    }

  private:
    static constexpr unsigned bit(Step step) { return 1u << static_cast<unsigned>(step); }
    unsigned steps_ = 0;
};

/// A job that only a child may run.
struct Routed {
    Holder holder;
    bool is_fetching = false;  ///< a lookup of its jobspec is on the way
    AskedOnce asked;
};
/// A job that this instance runs itself; it may turn out to be a child.
struct Own {
    std::string R;           ///< empty before alloc
    std::int64_t cores = 0;  ///< that it holds
};

struct RouteJob {
    std::uint32_t userid = 0;
    int urgency = 16;
    std::int64_t priority = 0;
    JobFacts facts;
    Instant submit{};  ///< when its user submitted it, at whatever level
    std::string uri;
    std::uint32_t updates = 0;  ///< of its jobspec, that the journal has told
    int kind = 0;               ///< of the rules that it meets (RuleBook)
    std::int64_t cores = 0;     ///< of its R; 0: unknown, or no alloc on record
    bool may_go = true;         ///< false until the instance above has this job's allocation on record
    Progress progress = Progress::entering;
    std::variant<Own, Routed> role;
    HandDown::Filed filed = nullptr;  ///< of its standing

    /// Whether a limit holds it back, not its user. (A job in PRIORITY has no priority yet.)
    bool is_held_back() const { return progress == Progress::sched && priority == 0 && urgency != 0; }

    Routed* routed() { return std::get_if<Routed>(&role); }
    const Routed* routed() const { return std::get_if<Routed>(&role); }
    /// Null unless a child has it on record.
    Given* given() { return routed() != nullptr ? std::get_if<Given>(&routed()->holder) : nullptr; }
    const Given* given() const { return routed() != nullptr ? std::get_if<Given>(&routed()->holder) : nullptr; }
    bool is_unplaced() const { return routed() != nullptr && std::holds_alternative<Unplaced>(routed()->holder); }
    /// Whether this child has it on record.
    bool is_with(JobId child) const { return given() != nullptr && given()->child == child; }
    /// The child that has it or shall have it; 0: none.
    JobId holder() const {
        if (const auto* asked = routed() != nullptr ? std::get_if<GiveAsked>(&routed()->holder) : nullptr) {
            return asked->child;
        }
        return given() != nullptr ? given()->child : JobId{};
    }
};

}  // namespace weir::route
