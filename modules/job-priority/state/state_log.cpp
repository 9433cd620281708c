// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the collection of a batch. See state_log.hpp.
#include "modules/job-priority/state/state_log.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace weir::priority {

void MarkedHours::add(const PayerHour<std::string_view>& hour, std::int64_t core_us) {
    std::size_t& recent = recent_[recent_place(hour.payer)];
    if (recent >= sums_.size() || sums_[recent].first.key() != hour.key()) {
        if (sums_.size() >= limit_) {
            merge();
        }
        recent = sums_.size();
        sums_.push_back({{hour.hour, hour.payer, std::string(hour.queue), std::string(hour.project)}, 0});
    }
    sums_[recent].second += core_us;
}

void MarkedHours::merge() {
    std::map<HourOfPayer, std::int64_t> merged;
    for (auto& [hour, core_us] : sums_) {
        merged[hour] += core_us;
    }
    sums_.assign(merged.begin(), merged.end());
    limit_ = std::max(limit_, 2 * sums_.size());
}

void StateLog::restore(const SavedState& saved) {
    *this = StateLog();
    meta_ = saved.meta;
    events_since_checkpoint_ = saved.counted_events.size();
    payers_in_checkpoint_ = saved.ledger.payers.size();
    has_ledger_ = saved.charges.empty() && (saved.ledger.half_life != Duration{} || !saved.ledger.payers.empty());
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

void StateLog::add_counted(CountedRow row) {
    batch_.counted_events.push_back(std::move(row));
    events_since_checkpoint_ += 1;
}

void StateLog::add_uplink(std::uint64_t seq, UplinkRow row) {
    batch_.uplink.emplace_back(seq, std::move(row));
    meta_.uplink_seq = seq;
}

void StateLog::acknowledge_uplink(std::uint64_t seq) {
    batch_.uplink_acked = std::max(batch_.uplink_acked, seq);
}

UsageHours StateLog::unwritten_usage(const RowSource& source) const {
    UsageHours hours = batch_.usage;
    marks_.usage.each([&](const HourOfPayer& hour, std::int64_t core_us) { hours[source.slot_of(hour)] += core_us; });
    return hours;
}

void StateLog::name_usage(const RowSource& source) {
    batch_.usage = unwritten_usage(source);
    marks_.usage.clear();
}

void StateLog::take_ledger(const RowSource& source) {
    const bool has_many = events_since_checkpoint_ >= std::max(events_per_checkpoint, payers_in_checkpoint_);
    if (!is_checkpoint_due_ && !has_many && (has_ledger_ || marks_.payers.empty())) {
        for (const NodeId payer : marks_.payers.all()) {
            std::optional<PayerState> row = source.row_of_payer(payer);
            std::string path = row ? row->path : source.path_of(payer);
            batch_.payers.insert_or_assign(std::move(path), std::move(row));
        }
        return;
    }
    LedgerCheckpoint whole = source.checkpoint();
    payers_in_checkpoint_ = whole.ledger.payers.size();
    batch_.checkpoint = std::move(whole.ledger);
    batch_.payers.clear();
    batch_.counted = std::move(whole.counted);
    batch_.counted_events.clear();
    events_since_checkpoint_ = 0;
    has_ledger_ = true;
    is_checkpoint_due_ = false;
}

/// In the order of the keys. One that ended has a row all the same if it began anew.
void StateLog::take_reported(const RowSource& source) {
    const auto put = [this](const ReportedKey& key, std::optional<RunningRow> row) {
        batch_.reported.insert_or_assign(batch_.reported.end(), key, std::move(row));
    };
    const std::vector<ReportedKey>& ended = marks_.ended.all();
    auto next = ended.begin();
    for (const ReportedKey& key : marks_.reported.all()) {
        for (; next != ended.end() && *next < key; ++next) {
            put(*next, std::nullopt);
        }
        next += next != ended.end() && *next == key ? 1 : 0;
        put(key, source.row_of_reported(key));
    }
    for (; next != ended.end(); ++next) {
        put(*next, std::nullopt);
    }
}

StateBatch StateLog::take(const RowSource& source) {
    take_ledger(source);
    name_usage(source);
    for (const std::uint64_t id : marks_.running.all()) {
        batch_.running.insert_or_assign(batch_.running.end(), id, source.row_of_running(id));
    }
    take_reported(source);
    for (const ReportedKey& key : marks_.closed.all()) {
        batch_.closed.insert_or_assign(batch_.closed.end(), key, source.row_of_closed(key));
    }
    marks_.clear();
    if (!batch_.is_empty()) {
        batch_.meta = meta_;
    }
    return std::exchange(batch_, StateBatch{});
}

void StateLog::untake(StateBatch batch) {
    StateBatch newer = std::exchange(batch_, std::move(batch));  // only take() makes a checkpoint: there is none in it
    const auto append = [](auto& into, auto& from) { into.insert(into.end(), from.begin(), from.end()); };
    append(batch_.counted_events, newer.counted_events);
    append(batch_.revisions, newer.revisions);
    append(batch_.uplink, newer.uplink);
    const auto merge = [](auto& into, auto& from) {
        for (auto& [key, value] : from) {
            into.insert_or_assign(key, std::move(value));
        }
    };
    merge_tables(batch_, newer, merge);
    merge(batch_.payers, newer.payers);
    for (const auto& [slot, core_us] : newer.usage) {
        batch_.usage[slot] += core_us;
    }
    batch_.uplink_acked = std::max(batch_.uplink_acked, newer.uplink_acked);
    batch_.meta = meta_;
}

}  // namespace weir::priority
