// SPDX-License-Identifier: LGPL-3.0-only
// Owns: writing to a statedir. See disk.hpp.
#include "modules/world/disk.hpp"

namespace weir::world {
namespace {

Error no_space() {
    return {std::errc::no_space_on_device, "the disk is full"};
}

}  // namespace

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
