// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see lsf_order.hpp.
#include "libsched/sim/lsf_order.hpp"

#include <string>

#include "libfairshare/tree/share_tree_diff.hpp"

namespace weir {
namespace {

/// A job's CPU time is its run time on every core: a log knows no better.
LsfHistorySettings history_settings(const PolicySettings& settings) {
    LsfHistorySettings history = settings.lsf.history;
    history.measures_cpu = false;
    return history;
}

}  // namespace

LsfOrder::LsfOrder(const PolicySettings& settings, LogShares shares, SiteValuesPtr admin)
    : ranking_(settings),
      admin_(std::move(admin)),
      shares_(std::move(shares)),
      version_(shares_.version()),
      tree_(shares_.tree()),
      history_(tree_->size(), history_settings(settings)) {}

void LsfOrder::follow_tree() {
    if (shares_.version() == version_) {
        return;
    }
    version_ = shares_.version();
    history_.rebind(match_nodes(*tree_, *shares_.tree()), shares_.tree()->size());
    tree_ = shares_.tree();
    for (std::size_t i = 0; i < entries_.size(); i++) {
        if (entries_[i].waits) {
            ranking_.set_payer(JobId{i}, shares_.leaf(entries_[i].party));
        }
    }
}

std::uint32_t LsfOrder::queue_of(std::uint16_t number) {
    const auto [known, is_new] = queue_index_.try_emplace(number, 0);
    if (is_new) {
        known->second = ranking_.queue(std::to_string(number));
    }
    return known->second;
}

void LsfOrder::submitted(const SimJob& job, JobId id, Instant) {
    if (id.value >= entries_.size()) {
        entries_.resize(id.value + 1);
    }
    const Party party = shares_.party(job);
    follow_tree();
    entries_[id.value] = {party, true, {}};
    ranking_.put(id, {.place = places_++,
                      .payer = shares_.leaf(party),
                      .queue = queue_of(job.queue),
                      .slots = job.cores,
                      .limit = job.limit,
                      .since = job.submit,
                      .admin = admin_ ? admin_->of(job.number) : 0.});
}

void LsfOrder::started(const SimJob& job, JobId id, Instant now) {
    Entry& entry = entries_[id.value];
    entry.started = now;
    entry.waits = false;
    ranking_.remove(id);
    if (const NodeId leaf = shares_.leaf(entry.party); leaf != unassociated) {
        history_.start(leaf, lsf_job(job), now);
    }
}

void LsfOrder::ended(const SimJob& job, JobId id, Instant now) {
    const Entry& entry = entries_[id.value];
    if (const NodeId leaf = shares_.leaf(entry.party); leaf != unassociated) {
        history_.end(leaf, lsf_job(job), entry.started, now);
    }
}

void LsfOrder::prioritize(Instant now, std::vector<std::pair<JobId, std::uint32_t>>& changed) {
    history_.snapshot(*tree_, now, use_);
    ranking_.prioritize({*tree_, use_}, now, changed);
}

}  // namespace weir
