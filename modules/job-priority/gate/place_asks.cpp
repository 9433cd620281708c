// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see place_asks.hpp.
#include "modules/job-priority/gate/place_asks.hpp"

#include <utility>

namespace weir::priority {

void PlaceAsks::attached(std::uint64_t link) {
    link_ = link;
    is_complete_due_ = true;
    gone_.clear();
    for (auto& [id, ask] : asks_) {
        ask.seen = 0;
        ask.sent.reset();
        dirty_.insert(id);
    }
}

void PlaceAsks::want(Id id, std::uint64_t name, bool has_place) {
    const auto [ask, is_new] = asks_.try_emplace(id);
    if (is_new) {
        ask->second.name = name;
        ask->second.is_granted = has_place;
        ids_[name] = id;
        gone_.erase(name);
    }
    dirty_.insert(id);
}

void PlaceAsks::keep(Id id) {
    if (const auto ask = asks_.find(id); ask != asks_.end()) {
        ask->second.is_granted = true;
        dirty_.insert(id);
    }
}

void PlaceAsks::drop(Id id) {
    const auto ask = asks_.find(id);
    if (ask == asks_.end()) {
        return;
    }
    if (ask->second.sent) {
        gone_.insert(ask->second.name);
    }
    ids_.erase(ask->second.name);
    dirty_.erase(id);
    asks_.erase(ask);
}

void PlaceAsks::check(Id id) {
    if (const auto ask = asks_.find(id); ask != asks_.end()) {
        ask->second.is_new = true;
        dirty_.insert(id);
    }
}

void PlaceAsks::mark_waiting() {
    for (const auto& [id, ask] : asks_) {
        if (ask.sent && ask.sent->state == PlaceWish::State::waits && !ask.is_granted) {
            dirty_.insert(id);
        }
    }
}

bool PlaceAsks::is_granted(Id id) const {
    const auto ask = asks_.find(id);
    return ask != asks_.end() && ask->second.is_granted;
}

const std::string& PlaceAsks::text(Id id) const {
    static const std::string none;
    const auto ask = asks_.find(id);
    return ask != asks_.end() ? ask->second.text : none;
}

std::vector<PlaceAsks::Id> PlaceAsks::all() const {
    std::vector<Id> ids;
    for (const auto& [id, ask] : asks_) {
        ids.push_back(id);
    }
    return ids;
}

/// The parent waits for the number of its last answer where the job has no place. That a granted place is held it
/// knows.
bool PlaceAsks::is_news(const Ask& ask, const PlaceWish& wish) {
    if (!ask.sent) {
        return true;
    }
    const bool has_place = wish.state == PlaceWish::State::holds || wish.state == PlaceWish::State::running;
    PlaceWish as_before = *ask.sent;
    if (has_place) {
        as_before.seen = wish.seen;
    }
    if (ask.is_granted && wish.state == PlaceWish::State::holds && as_before.state == PlaceWish::State::waits) {
        as_before.state = wish.state;
        as_before.priority = wish.priority;
    }
    return as_before != wish;
}

PlaceWishes PlaceAsks::take(const WishOf& wish_of) {
    PlaceWishes wishes{link_, false, {}};
    if (link_ == 0) {
        return wishes;
    }
    while (!gone_.empty() && wishes.jobs.size() < PlaceWishes::batch_max) {
        wishes.jobs.push_back({*gone_.begin(), PlaceWish::State::gone});
        gone_.erase(gone_.begin());
    }
    while (!dirty_.empty() && wishes.jobs.size() < PlaceWishes::batch_max) {
        const Id id = *dirty_.begin();
        dirty_.erase(dirty_.begin());
        PlaceWish wish = wish_of(id);
        Ask& ask = asks_.at(id);
        wish.id = ask.name;
        wish.seen = ask.seen;
        wish.is_new = ask.is_new;
        if (is_news(ask, wish)) {
            const bool has_no_place = wish.state == PlaceWish::State::parked || wish.state == PlaceWish::State::waits;
            ask.is_granted = ask.is_granted && !has_no_place;
            ask.sent = wish;
            wishes.jobs.push_back(std::move(wish));
        }
    }
    if (dirty_.empty() && gone_.empty()) {
        wishes.is_complete = std::exchange(is_complete_due_, false);
    }
    return wishes;
}

std::optional<PlaceAsks::Told> PlaceAsks::apply(const PlaceAnswer& answer) {
    const auto id = ids_.find(answer.id);
    if (id == ids_.end()) {
        return std::nullopt;
    }
    Ask& ask = asks_.at(id->second);
    if (answer.number > ask.seen) {
        ask.is_granted = answer.what == PlaceAnswer::What::granted;
    }
    ask.seen = answer.number;
    ask.is_new = ask.is_new && !(ask.sent && ask.sent->is_new);
    ask.text = answer.text;
    dirty_.insert(id->second);
    return Told{id->second, answer.what == PlaceAnswer::What::refused, answer.text};
}

}  // namespace weir::priority
