// SPDX-License-Identifier: LGPL-3.0-only
// Owns: EASY's shadow and extra, node by node. At the shadow time node n has avail[n] cores, the head takes h[n] of
// them, preferring cores that come back over cores free now, so extra[n] = avail[n] - h[n] may be held past it. A job
// that ends by then may use any free core and takes the head's first; so on a machine of one-core slots the sums are
// exactly the published rule's free and extra.
#include "libsched/resource/resource_space.hpp"

#include <algorithm>

namespace weir {

Opening ResourceSpace::opening(Instant now) const {
    const std::uint64_t free = pool_.free_cores();
    if (reservations_.places.size() != 1) {
        return {free, free, Duration::max()};
    }
    const bool all_end_by_shadow = horizon_ <= shadow_ && horizon_ != never;
    return {free, long_room_sum_, all_end_by_shadow ? Duration::max() : std::min(shadow_, never - Duration{1}) - now};
}

std::optional<ResourceSpace::Taken> ResourceSpace::start(const PendingJob& job, Instant now) {
    if (reservations_.places.size() == 1) {
        return backfill(job, now);
    }
    if (cores_of(job.request) > pool_.free_cores()) {
        return std::nullopt;
    }
    const Instant end = std::min(believed_end(now, job.limit), horizon_);
    const auto picks = reservations_.places.empty() ? pool_.place(job.request, pool_.free_by_node(), {})
                                                    : plan(now).fits_now(pool_, job.request, end);
    return picks ? std::optional(take(job, *picks, end)) : std::nullopt;
}

ResourceSpace::Taken ResourceSpace::take(const PendingJob& job, const std::vector<Pick>& picks, Instant end) {
    ResourceSet resources = pool_.take(picks);
    profile_.add(job.key.id, end, static_cast<std::int64_t>(core_count(resources)));
    WEIR_CHECK(running_.emplace(job.key.id, Running{resources, end}).second);
    if (plan_) {
        plan_->hold({plan_->now(), end, picks});
    }
    return Taken{std::move(resources), end};
}

void ResourceSpace::changed() {
    reservations_.stand = false;
    plan_.reset();
}

void ResourceSpace::clear_reservations() {
    reservations_.clear();
    plan_.reset();
}

void ResourceSpace::remember(const Running& running) {
    if (!reservations_.wants_returned) {
        return;
    }
    Place back{running.end, running.end, {}};
    for (const NodeResources& part : running.resources.nodes) {
        if (const auto node = pool_.index_of(part.rank); node && pool_.nodes()[*node].is_up) {
            back.picks.push_back({static_cast<std::uint32_t>(*node), room_of(part)});
        }
    }
    reservations_.returned.push_back(std::move(back));
}

NodePlan& ResourceSpace::plan(Instant now) {
    if (plan_ && plan_->now() == now) {
        return *plan_;
    }
    plan_.emplace(pool_, now);
    // What should have come back by now comes back at the next instant.
    const Instant next = now + Duration{1};
    profile_.walk([&](const BelievedEnds::End& end) {
        for (const NodeResources& part : running_.at(end.id).resources.nodes) {
            const auto node = pool_.index_of(part.rank);
            if (node && pool_.nodes()[*node].is_up) {
                plan_->change(std::max(end.at, next), static_cast<std::uint32_t>(*node), room_of(part), 1);
            }
        }
        return true;
    });
    for (const Place& place : reservations_.places) {
        plan_->hold(place);
    }
    for (const auto& [id, place] : reservations_.by_job) {
        plan_->hold(place);
    }
    return *plan_;
}

ResourceSpace::Place ResourceSpace::earliest(const PendingJob& job, Instant now) {
    // Cores alone tell before when it cannot be.
    const Instant least = profile_.profile().hole(static_cast<std::int64_t>(pool_.free_cores()),
                                                  static_cast<std::int64_t>(cores_of(job.request)), job.limit, now);
    return plan(now).earliest(pool_, job.request, job.limit, least, horizon_);
}

std::optional<ResourceSpace::Taken> ResourceSpace::start_at(const PendingJob& job, const Place& place, Instant now) {
    const auto free = pool_.free_by_node();
    const auto is_free = [&](const Pick& pick) { return free[pick.node].holds(pick.room); };
    if (place.picks.empty() || !std::all_of(place.picks.begin(), place.picks.end(), is_free)) {
        return std::nullopt;
    }
    return take(job, place.picks, std::min(believed_end(now, job.limit), horizon_));
}

std::optional<Instant> ResourceSpace::reserve(const PendingJob& job, Instant now) {
    if (!reservations_.places.empty()) {
        Place place = earliest(job, now);
        hold(place, now);
        reservations_.add(std::move(place));
        const Instant at = reservations_.places.back().at;
        return at != never ? std::optional(at) : std::nullopt;
    }
    std::vector<Room> free_then(pool_.free_by_node().begin(), pool_.free_by_node().end());
    std::vector<Room> returned(free_then.size());
    // Cores alone tell when it can fit at the earliest; only from there on nodes are looked at.
    const auto least = profile_.earliest(static_cast<std::int64_t>(pool_.free_cores()),
                                         static_cast<std::int64_t>(cores_of(job.request)), now);
    bool placed = false;
    Instant at = now;
    profile_.walk([&](const BelievedEnds::End& end) {
        const Instant then = std::max(end.at, now);
        if (then != at && least.found && at >= least.at) {
            placed = keep(job.request, free_then, returned);
        }
        if (placed) {
            return false;
        }
        at = then;
        for (const NodeResources& part : running_.at(end.id).resources.nodes) {
            const auto i = pool_.index_of(part.rank);
            if (i && pool_.nodes()[*i].is_up) {
                const Room room = room_of(part);
                free_then[*i] += room;
                returned[*i] += room;
            }
        }
        return true;
    });
    if (!placed) {
        placed = keep(job.request, free_then, returned);
    }
    if (!placed) {
        // Not even with all that runs gone (nodes are down): nothing to keep, nothing to delay.
        extra_ = std::move(free_then);
        at = never;
    }
    shadow_ = at;
    reservations_.add({at, std::min(believed_end(at, job.limit), horizon_), std::move(head_)});
    head_.clear();
    refresh_rooms();
    return at != never ? std::optional(at) : std::nullopt;
}

bool ResourceSpace::keep(const Request& head, const std::vector<Room>& free_then, const std::vector<Room>& returned) {
    const auto picks = pool_.place(head, free_then, returned);
    if (!picks) {
        return false;
    }
    extra_ = free_then;
    for (const Pick& pick : *picks) {
        extra_[pick.node] -= pick.room;
    }
    head_ = *picks;
    return true;
}

void ResourceSpace::refresh_rooms() {
    const auto free = pool_.free_by_node();
    long_room_.resize(free.size());
    short_first_.resize(free.size());
    long_room_sum_ = 0;
    for (std::size_t i = 0; i < free.size(); i++) {
        long_room_[i] = least(free[i], extra_[i]);
        short_first_[i] = free[i] - long_room_[i];
        long_room_sum_ += long_room_[i].cores;
    }
}

std::optional<ResourceSpace::Taken> ResourceSpace::backfill(const PendingJob& job, Instant now) {
    const std::uint64_t need = cores_of(job.request);
    const Instant end = std::min(believed_end(now, job.limit), horizon_);
    const bool ends_by_shadow = end <= shadow_ && end != never;
    if (need > (ends_by_shadow ? pool_.free_cores() : long_room_sum_)) {
        return std::nullopt;
    }
    const auto picks = ends_by_shadow ? pool_.place(job.request, pool_.free_by_node(), short_first_)
                                      : pool_.place(job.request, long_room_, {});
    if (!picks) {
        return std::nullopt;
    }
    if (!ends_by_shadow) {
        for (const Pick& pick : *picks) {
            extra_[pick.node] -= pick.room;
        }
    }
    Taken taken = take(job, *picks, end);
    refresh_rooms();
    return taken;
}

Status ResourceSpace::claim(JobId id, ResourceSet resources, Instant end) {
    if (running_.contains(id)) {
        return Error{std::errc::file_exists, "the job holds resources already"};
    }
    if (auto done = pool_.claim(resources); !done) {
        return done;
    }
    changed();
    profile_.add(id, end, static_cast<std::int64_t>(core_count(resources)));
    running_.emplace(id, Running{std::move(resources), end});
    return Done{};
}

Status ResourceSpace::release(JobId id, const ResourceSet& part, bool final) {
    const auto place = running_.find(id);
    if (place == running_.end()) {
        return Error{std::errc::no_such_process, "the job holds no resources"};
    }
    changed();
    Running& running = place->second;
    if (final) {
        profile_.remove(id, running.end);
        remember(running);
        const Status done = pool_.release(running.resources);
        WEIR_CHECK(done.has_value());
        running_.erase(place);
        return done;
    }
    ResourceSet rest = running.resources;
    ResourceSet given;
    for (const NodeResources& named : part.nodes) {
        const auto held = std::find_if(rest.nodes.begin(), rest.nodes.end(),
                                       [&](const NodeResources& node) { return node.rank == named.rank; });
        if (held == rest.nodes.end() || !held->cores.includes(named.cores) || !held->gpus.includes(named.gpus)) {
            return Error{std::errc::invalid_argument, "the job does not hold cores " + named.cores.encode() +
                                                          " of rank " + std::to_string(named.rank)};
        }
        // With its last core on a node a job gives back all that it has there; R parts name no memory.
        NodeResources back{named.rank, named.cores, named.gpus, 0};
        held->cores.remove(named.cores);
        held->gpus.remove(named.gpus);
        if (held->cores.empty()) {
            back.gpus.add(held->gpus);
            back.memory_mib = held->memory_mib;
        }
        given.nodes.push_back(std::move(back));
    }
    std::erase_if(rest.nodes, [](const NodeResources& node) { return node.cores.empty(); });
    if (auto done = pool_.release(given); !done) {
        return done;
    }
    profile_.remove(id, running.end);
    running.resources = std::move(rest);
    profile_.add(id, running.end, static_cast<std::int64_t>(core_count(running.resources)));
    return Done{};
}

bool ResourceSpace::set_end(JobId id, Instant end) {
    const auto place = running_.find(id);
    if (place == running_.end()) {
        return false;
    }
    changed();
    profile_.remove(id, place->second.end);
    place->second.end = end;
    profile_.add(id, end, static_cast<std::int64_t>(core_count(place->second.resources)));
    return true;
}

void ResourceSpace::shrink(const IdSet& ranks) {
    pool_.shrink(ranks);
    reservations_ = {};  // they name nodes by place
    changed();
    for (auto& [id, running] : running_) {
        profile_.remove(id, running.end);
        std::erase_if(running.resources.nodes, [&](const NodeResources& n) { return ranks.contains(n.rank); });
        profile_.add(id, running.end, static_cast<std::int64_t>(core_count(running.resources)));
    }
}

}  // namespace weir
