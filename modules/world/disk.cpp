// SPDX-License-Identifier: LGPL-3.0-only
// Owns: writing to a statedir. See disk.hpp.
#include "modules/world/disk.hpp"

namespace weir::world {
namespace {

Error no_space() {
    return {std::errc::no_space_on_device, "the disk is full"};
}

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

}  // namespace

void StateFile::apply(const priority::StateBatch& batch) {
    if (batch.meta) {
        saved_.meta = *batch.meta;
    }
    saved_.revisions.insert(saved_.revisions.end(), batch.revisions.begin(), batch.revisions.end());
    if (batch.checkpoint) {
        saved_.ledger = *batch.checkpoint;
        saved_.charges.clear();
        saved_.counted = batch.counted;
        saved_.counted_events.clear();
    }
    saved_.counted_events.insert(saved_.counted_events.end(), batch.counted_events.begin(), batch.counted_events.end());
    saved_.charges.insert(saved_.charges.end(), batch.charges.begin(), batch.charges.end());
    merge_rows(saved_.running, batch.running);
    merge_rows(saved_.charged, batch.charged);
    merge_rows(saved_.reported, batch.reported);
    merge_rows(saved_.downlinks, batch.downlinks);
    merge_rows(saved_.closed, batch.closed);
    merge_rows(saved_.site, batch.site);
    saved_.uplink.insert(batch.uplink.begin(), batch.uplink.end());
    saved_.uplink.erase(saved_.uplink.begin(), saved_.uplink.upper_bound(batch.uplink_acked));
}

Status StateDir::append(std::string_view text) {
    if (is_full) {
        return no_space();
    }
    journal += text;
    return Done{};
}

Status StateDir::apply(const priority::StateBatch& batch) {
    if (is_full) {
        return no_space();
    }
    state.apply(batch);
    return Done{};
}

}  // namespace weir::world
