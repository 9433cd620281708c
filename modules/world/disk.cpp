// SPDX-License-Identifier: LGPL-3.0-only
// Owns: writing to a statedir. See disk.hpp.
#include "modules/world/disk.hpp"

#include <algorithm>
#include <iterator>

namespace weir::world {
namespace {

Error no_space() {
    return {std::errc::no_space_on_device, "the disk is full"};
}

}  // namespace

Instant StateDir::true_time_of_last(std::int64_t us) const {
    const auto behind = ahead.lower_bound(journal.size());
    return Instant{Duration{us}} - (behind != ahead.begin() ? std::prev(behind)->second : Duration{});
}

Status StateDir::append(std::string_view text) {
    if (is_full) {
        return no_space();
    }
    journal += text;
    return Done{};
}

void StateDir::sync(std::size_t end) {
    synced = end;
    std::erase_if(changes, [end](const Change& change) { return change.end <= end; });
}

void StateDir::lose_power(Random& random) {
    constexpr std::size_t sector = 512;
    const std::size_t rest = journal.size() - synced;
    switch (random.below(4)) {
        case 0:
            journal.resize(synced);
            break;
        case 1:
            journal.resize(synced + random.below(rest + 1));
            break;
        case 2:  // the file has its length, and not all that was written into it
            for (std::size_t at = synced; at < journal.size();) {
                const std::size_t end = std::min(journal.size(), (at / sector + 1) * sector);
                if (random.one_in(2)) {
                    std::fill(journal.begin() + static_cast<std::ptrdiff_t>(at),
                              journal.begin() + static_cast<std::ptrdiff_t>(end), '\0');
                }
                at = end;
            }
            break;
        default:
            break;
    }
}

void StateDir::cut(std::size_t end) {
    journal.resize(end);
    ahead.erase(ahead.lower_bound(end), ahead.end());
    for (; !changes.empty(); changes.pop_back()) {
        const Change& last = changes.back();
        if (last.end <= end) {
            continue;
        }
        if (last.before) {
            truth[last.job] = *last.before;
        } else {
            truth.erase(last.job);
        }
    }
    synced = end;
}

Status StateDir::apply(const priority::StateBatch& batch) {
    if (is_full) {
        return no_space();
    }
    state.apply(batch);
    return Done{};
}

}  // namespace weir::world
