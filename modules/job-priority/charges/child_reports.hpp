// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the parent's side of the hierarchy: which reports are accepted, each record once, and which of their claims are
// believed.
// Must not know: the links to the children, priorities.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "modules/job-priority/charges/accounting.hpp"
#include "modules/job-priority/charges/earlier_trees.hpp"
#include "modules/job-priority/charges/payer_memo.hpp"
#include "modules/job-priority/jobs/payers.hpp"
#include "modules/job-priority/sends/uplink.hpp"

namespace weir::priority {

class ChildReports {
  public:
    /// All outlive this.
    ChildReports(StateLog& log, const JobBook& book, const Payers& payers, Accounting& accounting, Uplink& uplink)
        : log_(log), book_(book), payers_(payers), accounting_(accounting), uplink_(uplink) {}
    void restore(const SavedState& saved) { children_ = saved.downlinks; }
    /// See EarlierTrees.
    void restore_trees(Instant until, std::function<EarlierTrees::Trees()> make) {
        earlier_trees_.restore(until, std::move(make));
    }

    /// Whether `userid` may speak for the instance that runs as job `child`. Errors: EPERM, ENOENT with a sentence; of
    /// a private instance ENOENT, which does not tell that another user's job is there.
    Status authorize(FluxJobId child, std::uint32_t userid, bool is_instance_owner, bool is_private = false) const;
    /// A child has connected. Returns the number of its last applied record. A new `instance` name begins a new count.
    /// Cores that a partition holds and does not report as used are idle from `now` on.
    /// \param first_seq  the first record the child still has; earlier ones that we lack are lost with our old state
    /// \param hosts  the jobs of ours that it says it lived in
    std::uint64_t attach(FluxJobId child, const std::string& instance, std::uint64_t first_seq, Instant now,
                         const std::vector<FluxJobId>& hosts = {});
    /// Applies the records first_seq, first_seq+1, ... that were not applied yet, none dated later than `now`, as far
    /// as the child is believed; returns the last applied number. A gap ends it: the child sends again from there.
    std::uint64_t report(FluxJobId child, std::uint64_t first_seq, std::vector<UplinkRow> records, Instant now);

    /// At the end of a child's job: the jobs that are open in it end too.
    void apply(const AppliedEvent& applied);
    void forget(const std::vector<FluxJobId>& children);
    /// Removes each child whose job holds no resources.
    void forget_unheld();

    const std::map<FluxJobId, DownlinkRow>& children() const { return children_; }
    /// An edit replaces that tree. \param moved  by its nodes, who pays from then on
    void keep_tree(ShareTreePtr tree, std::vector<NodeId> moved, Instant until) {
        earlier_trees_.keep(std::move(tree), std::move(moved), until);
    }
    /// Call when the tree, the users or the settings have changed.
    void forget_payers() { memo_.clear(); }
    /// Whether the job is a partition: a child instance attached in it, or its jobspec says that it serves queues.
    bool is_partition(const BookJob& job) const {
        return (job.request->is_instance || children_.count(job.id) != 0) && book_.is_partition(job);
    }
    /// Who pays for a job of that child, by such a record of it; `unassociated` also where the child is no partition,
    /// whose jobs our limits do not count.
    NodeId payer_of_place(FluxJobId child, const UplinkRow& record);
    /// Our parent's name of a job of a child that asks for a place.
    std::uint64_t name_of_place(ReportedKey key) const { return new_name_above(key); }
    /// The payers whose charges changed by records since the last call; one may occur twice.
    std::vector<NodeId> take_touched() { return std::exchange(touched_, {}); }
    std::uint64_t records() const { return records_; }
    /// The number of starts in records that were not believed.
    std::uint64_t not_believed() const { return not_believed_; }

  private:
    /// The child whose report is applied.
    struct Reporter {
        FluxJobId child = 0;
        const BookJob* job = nullptr;  ///< null: not in the book
    };
    void apply(const Reporter& from, const UplinkRow& record);
    void apply_start(const Reporter& from, const UplinkRow& record);
    void apply_end(const Reporter& from, const UplinkRow& record, ReportedJobs::const_iterator open);
    /// The name of a child's job in records to our own parent; job 0 is the child's own job.
    std::uint64_t name_above(ReportedKey key) const;
    std::uint64_t new_name_above(ReportedKey key) const;
    /// The record as our own parent gets it. REQUIRES: the job of an end is still known.
    UplinkRow named_above(FluxJobId child, UplinkRow record) const;
    Bill bill_above(const RunningJob& job, const BookJob* child, const UplinkRow& record) const;
    /// The job that began; null if the record moved no cores.
    const RunningJob* begin(const Reporter& from, const UplinkRow& record);
    ReportedStart start_of(ReportedKey key, const BookJob* child, const UplinkRow& record,
                           std::optional<NodeId> payer) const;
    /// The payer of a job inside the child; nothing if the record is not believed. REQUIRES: the child is in the book.
    std::optional<NodeId> payer_inside(const Reporter& from, const UplinkRow& record);
    /// find_payer_inside(), remembered. REQUIRES: the child is the owner's, so that which child it is decides nothing.
    std::optional<NodeId> known_payer_inside(const BookJob& child, const UplinkRow& record);
    std::optional<NodeId> find_payer_inside(const BookJob& child, const UplinkRow& record);
    std::optional<NodeId> payer_of_then(const BookJob& child, const UplinkRow& record);
    // Earlier lives of an instance that was killed and came back as another job: child_lives.cpp.
    std::vector<FluxJobId> earlier_lives(FluxJobId child, const std::string& instance) const;
    void go_on_from_earlier_lives(FluxJobId child, DownlinkRow& row) const;
    void name_lives(FluxJobId child, const std::string& instance, const std::vector<FluxJobId>& hosts);
    std::optional<FluxJobId> life_with_closed(FluxJobId child, std::uint64_t job) const;
    std::optional<FluxJobId> earlier_life_at(FluxJobId child, Instant at) const;
    bool apply_to_past(const Reporter& from, const UplinkRow& record);

    StateLog& log_;
    const JobBook& book_;
    const Payers& payers_;
    Accounting& accounting_;
    Uplink& uplink_;
    std::map<FluxJobId, DownlinkRow> children_;
    PayerMemo memo_;
    EarlierTrees earlier_trees_;
    std::vector<NodeId> touched_;
    std::uint64_t records_ = 0;
    std::uint64_t not_believed_ = 0;
};

}  // namespace weir::priority
