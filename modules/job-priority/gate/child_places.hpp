// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the jobs of child instances that are counted against the limits here: what each child says of them, who pays,
// and what must still be answered. Which of them have places is the Admission's.
// Must not know: links, JSON, when a job is admitted.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "libfairshare/limits/admission.hpp"
#include "modules/job-priority/charges/child_reports.hpp"
#include "modules/job-priority/gate/place_wish.hpp"
#include "modules/job-priority/state/state_log.hpp"

namespace weir::priority {

class ChildPlaces {
  public:
    using Id = Admission::Id;
    using State = PlaceWish::State;
    struct Job {
        ReportedKey key;  ///< the child, and its name of the job
        State state = State::holds;
        PlaceRow row{};
        NodeId payer = unassociated;
        std::uint64_t priority = 0;
        bool is_new = false;       ///< the child waits for the check of its submission
        bool is_confirmed = true;  ///< the child has said on this link what it is
        bool is_refused = false;
        bool is_granted = false;  ///< by the last answer, or by what the child says
        std::uint64_t number = 0;
        std::string text{};
    };

    /// Both outlive this.
    ChildPlaces(StateLog& log, ChildReports& children) : log_(log), children_(children) {}
    void restore(const SavedState& saved);

    /// Whether the number is one of a child's job. Job ids of Flux have no such numbers for 17 years of an instance.
    static bool is_childs(Id id) { return id >= first_id; }
    const Job& job(Id id) const { return jobs_.at(id); }
    bool has(Id id) const { return jobs_.count(id) != 0; }
    std::size_t size() const { return jobs_.size(); }
    std::vector<Id> all() const;
    std::vector<Id> of(FluxJobId child) const;
    std::set<FluxJobId> children() const;

    /// A new link to the child: the number that it must give with what it says. What it has said does not count until
    /// it says it again, and no answer is left to be sent.
    std::uint64_t attach(FluxJobId child);
    void detach(FluxJobId child) { links_.erase(child); }
    bool is_attached(FluxJobId child, std::uint64_t link) const;
    /// Whether the child has said on the present link what the job is: it can be answered.
    bool is_reached(Id id) const {
        const Job& job = jobs_.at(id);
        return job.is_confirmed && links_.count(job.key.first) != 0;
    }

    struct Change {
        Id id = 0;
        bool is_gone = false;     ///< it is not known any more
        bool gives_back = false;  ///< it cannot start any more: a place that it has is free
    };
    /// What the child says of one job. \param has_place  whether a job has one here   Nothing: nothing changed.
    std::optional<Change> apply(FluxJobId child, const PlaceWish& wish, const std::function<bool(Id)>& has_place);
    /// The jobs that the child has not named on this link.
    std::vector<Id> unconfirmed(FluxJobId child) const;
    void remove(Id id);

    /// Resolves who pays. A running job keeps its payer as long as the tree has it.
    void resolve(Id id);
    /// After another tree is in force. \param moved  by old node, who pays now
    void follow_tree(std::span<const NodeId> moved);

    /// What is so now, for the answer and for the state file. \param is_granted  it may start
    /// \param text  why it does not
    void settle(Id id, bool is_granted, bool is_counted, const std::string& text);
    void refuse(Id id, const std::string& text);
    /// The state file has all that was said to it.
    void written() { unwritten_.clear(); }
    bool has_unwritten() const { return !unwritten_.empty(); }
    /// Children to whom an answer can be sent.
    std::vector<FluxJobId> to_answer() const;
    /// These answers. A place that the state file does not have is not granted yet.
    std::vector<PlaceAnswer> take_answers(FluxJobId child);

  private:
    static constexpr Id first_id = Id{1} << 63;
    Id id_of(ReportedKey key);
    bool can_be_sent(Id id) const { return !jobs_.at(id).is_granted || unwritten_.count(id) == 0; }

    StateLog& log_;
    ChildReports& children_;
    std::map<Id, Job> jobs_;
    std::map<ReportedKey, Id> ids_;
    std::map<FluxJobId, std::uint64_t> links_;      ///< of the attached children
    std::map<FluxJobId, std::set<Id>> unanswered_;  ///< by child
    std::map<Id, PlaceRow> stored_;                 ///< the rows of the state file, with those that are to be written
    std::set<Id> unwritten_;
    std::uint64_t last_link_ = 0;
    Id next_id_ = first_id;
};

}  // namespace weir::priority
