// SPDX-License-Identifier: LGPL-3.0-only
// Owns: Agenda's heap. See agenda.hpp.
#include "modules/world/agenda.hpp"

#include <algorithm>
#include <utility>

namespace weir::world {

void Agenda::at(Instant when, Task task) {
    heap_.push_back({std::max(when, now_), ++added_, std::move(task)});
    std::push_heap(heap_.begin(), heap_.end(), is_later);
}

bool Agenda::step() {
    if (heap_.empty()) {
        return false;
    }
    std::pop_heap(heap_.begin(), heap_.end(), is_later);
    const Entry next = std::move(heap_.back());
    heap_.pop_back();
    now_ = next.when;
    steps_ += 1;
    next.task();
    return true;
}

}  // namespace weir::world
