// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see memory_store.hpp.
#include "modules/job-priority/state/memory_store.hpp"

namespace weir::priority {
namespace {

template <typename Into, typename From>
void merge_rows(Into& into, const From& from) {
    for (const auto& [key, value] : from) {
        if (value) {
            into.insert_or_assign(key, *value);
        } else {
            into.erase(key);
        }
    }
}

void put_payers(std::vector<PayerState>& into, const std::map<std::string, std::optional<PayerState>>& rows) {
    std::erase_if(into, [&rows](const PayerState& payer) { return rows.count(payer.path) != 0; });
    for (const auto& [path, payer] : rows) {
        if (payer) {
            into.push_back(*payer);
        }
    }
}

}  // namespace

void MemoryStore::apply(const StateBatch& batch) {
    if (batch.meta) {
        saved_.meta = *batch.meta;
    }
    saved_.revisions.insert(saved_.revisions.end(), batch.revisions.begin(), batch.revisions.end());
    if (batch.checkpoint) {
        saved_.ledger = *batch.checkpoint;
        saved_.charges.clear();  // of an older version
        saved_.counted = batch.counted;
        saved_.counted_events.clear();
    }
    saved_.counted_events.insert(saved_.counted_events.end(), batch.counted_events.begin(), batch.counted_events.end());
    put_payers(saved_.ledger.payers, batch.payers);
    merge_tables(saved_, batch, [](auto& into, const auto& from) { merge_rows(into, from); });
    saved_.uplink.insert(batch.uplink.begin(), batch.uplink.end());
    saved_.uplink.erase(saved_.uplink.begin(), saved_.uplink.upper_bound(batch.uplink_acked));
}

}  // namespace weir::priority
