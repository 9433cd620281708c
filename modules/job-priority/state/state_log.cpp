// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the collection of a batch. See state_log.hpp.
#include "modules/job-priority/state/state_log.hpp"

#include <algorithm>
#include <utility>

namespace weir::priority {

void StateLog::restore(const SavedState& saved) {
    *this = StateLog();
    meta_ = saved.meta;
    charges_since_checkpoint_ = saved.charges.size();
    payers_in_checkpoint_ = saved.ledger.payers.size();
}

void StateLog::set_position(Instant at) {
    if (at > meta_.position) {
        meta_.position = at;
        batch_.meta = meta_;
    }
}

void StateLog::set_charged_floor(Instant at) {
    meta_.charged_floor = std::max(meta_.charged_floor, at);
    batch_.meta = meta_;
}

void StateLog::set_instance(std::string instance) {
    meta_.instance = std::move(instance);
    batch_.meta = meta_;
}

void StateLog::set_names_key(const HashKey& key) {
    meta_.names_key = key;
    batch_.meta = meta_;
}

void StateLog::set_file_revision(std::int64_t revision) {
    if (revision != meta_.file_revision) {
        meta_.file_revision = revision;
        batch_.meta = meta_;
    }
}

void StateLog::begin_life(std::uint64_t host) {
    std::vector<std::uint64_t>& hosts = meta_.hosts;
    if (!hosts.empty() && hosts.back() == host) {
        return;  // the module was reloaded
    }
    if (hosts.size() == hosts_max) {
        hosts.erase(hosts.begin());
    }
    hosts.push_back(host);
    batch_.meta = meta_;
}

void StateLog::begin_usage_hours(Instant at) {
    if (meta_.usage_since == Instant{}) {
        meta_.usage_since = at;
        batch_.meta = meta_;
    }
}

void StateLog::add_charge(ChargeRow row) {
    batch_.charges.push_back(std::move(row));
    charges_since_checkpoint_ += 1;
}

void StateLog::add_uplink(std::uint64_t seq, UplinkRow row) {
    batch_.uplink[seq] = std::move(row);
    meta_.uplink_seq = seq;
}

void StateLog::acknowledge_uplink(std::uint64_t seq) {
    batch_.uplink_acked = std::max(batch_.uplink_acked, seq);
}

StateBatch StateLog::take(const std::function<LedgerCheckpoint()>& checkpoint) {
    if (is_checkpoint_due_ || charges_since_checkpoint_ >= std::max(charges_per_checkpoint, payers_in_checkpoint_)) {
        LedgerCheckpoint whole = checkpoint();
        payers_in_checkpoint_ = whole.ledger.payers.size();
        batch_.checkpoint = std::move(whole.ledger);
        batch_.charges.clear();
        batch_.counted = std::move(whole.counted);
        batch_.counted_events.clear();
        charges_since_checkpoint_ = 0;
        is_checkpoint_due_ = false;
    }
    if (!batch_.is_empty()) {
        batch_.meta = meta_;
    }
    return std::exchange(batch_, StateBatch{});
}

void StateLog::untake(StateBatch batch) {
    StateBatch newer = std::exchange(batch_, std::move(batch));  // only take() makes a checkpoint: there is none in it
    const auto append = [](auto& into, auto& from) { into.insert(into.end(), from.begin(), from.end()); };
    append(batch_.charges, newer.charges);
    append(batch_.counted_events, newer.counted_events);
    append(batch_.revisions, newer.revisions);
    const auto merge = [](auto& into, auto& from) {
        for (auto& [key, value] : from) {
            into.insert_or_assign(key, std::move(value));
        }
    };
    merge_tables(batch_, newer, merge);
    merge(batch_.uplink, newer.uplink);
    for (const auto& [slot, core_us] : newer.usage) {
        batch_.usage[slot] += core_us;
    }
    batch_.uplink_acked = std::max(batch_.uplink_acked, newer.uplink_acked);
    batch_.meta = meta_;
}

}  // namespace weir::priority
