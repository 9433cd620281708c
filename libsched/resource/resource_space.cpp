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
    return {free, long_free_cores_, horizon_ <= shadow_ ? Duration::max() : shadow_ - now};
}

std::vector<Bound> ResourceSpace::bounds() const {
    const std::uint64_t free = pool_.free_cores();
    if (reservations_.places.size() != 1) {
        return profile_.bounds(static_cast<std::int64_t>(free));
    }
    if (horizon_ <= shadow_) {  // all jobs end by then
        return {{Instant::min(), free}};
    }
    return {{Instant::min(), free}, {shadow_, long_free_cores_}};
}

bool ResourceSpace::may_start(const PendingJob& job) {
    if (is_refused(job.request, Instant::min())) {
        return false;
    }
    if (pool_.place(job.request, pool_.free_by_node(), {})) {
        return true;
    }
    refused_.insert_or_assign(job.request, Instant::min());
    return false;
}

bool ResourceSpace::may_ever_start(const PendingJob& job) {
    const auto [known, is_new] = fits_empty_.try_emplace(job.request, false);
    if (is_new) {
        known->second = pool_.feasible_now(job.request);
    }
    return known->second;
}

std::optional<ResourceSpace::Taken> ResourceSpace::start(const PendingJob& job, Instant now) {
    const Instant end = planned(believed_end(now, job.limit));
    if (cores_of(job.request) > pool_.free_cores() || is_refused(job.request, end)) {
        return std::nullopt;
    }
    auto taken = start_until(job, now, end);
    if (!taken) {
        refused_.insert_or_assign(job.request, end);
    }
    return taken;
}

std::optional<ResourceSpace::Taken> ResourceSpace::start_until(const PendingJob& job, Instant now, Instant end) {
    if (reservations_.places.size() == 1) {
        return backfill(job, now, end);
    }
    if (reservations_.places.empty()) {
        const auto picks = pool_.place(job.request, pool_.free_by_node(), {});
        return picks ? std::optional(take(job, *picks, now)) : std::nullopt;
    }
    if (!profile_.stays(static_cast<std::int64_t>(pool_.free_cores()), static_cast<std::int64_t>(cores_of(job.request)),
                        now, end)) {
        return std::nullopt;
    }
    const auto picks = plan_.fits(pool_, {job.request, job.limit, horizon_}, now, now);
    return picks ? std::optional(take(job, *picks, now)) : std::nullopt;
}

ResourceSpace::Taken ResourceSpace::take(const PendingJob& job, const std::vector<Pick>& picks, Instant now) {
    Running running{pool_.take(picks), believed_end(now, job.limit)};
    believe(running);
    Taken taken{running.resources, expected(running.end) ? running.end : planned(running.end)};
    WEIR_CHECK(running_.emplace(job.key.id, std::move(running)).second);
    return taken;
}

std::vector<Pick> ResourceSpace::picks_of(const ResourceSet& resources) const {
    std::vector<Pick> picks;
    picks.reserve(resources.nodes.size());
    for (const NodeResources& part : resources.nodes) {
        if (const auto node = pool_.index_of(part.rank)) {
            picks.push_back({static_cast<std::uint32_t>(*node), amounts_of(part)});
        }
    }
    return picks;
}

void ResourceSpace::believe(const Running& running) {
    profile_.change(planned(running.end), static_cast<std::int64_t>(core_count(running.resources)));
    plan_.add(planned(running.end), picks_of(running.resources));
}

void ResourceSpace::forget(const Running& running) {
    profile_.change(planned(running.end), -static_cast<std::int64_t>(core_count(running.resources)));
    plan_.remove(planned(running.end), picks_of(running.resources));
}

void ResourceSpace::keep(const Place& place, int sign) {
    std::int64_t cores = 0;
    for (const Pick& pick : place.picks) {
        cores += sign * std::int64_t{pick.amounts.cores};
    }
    if (sign > 0) {
        plan_.hold(place);
    } else {
        plan_.drop(place);
    }
    if (place.at < place.end) {
        profile_.change(place.at, -cores);
        profile_.change(place.end, cores);
    }
}

void ResourceSpace::clear_reservations() {
    if (reservations_.places.size() > 1) {
        for (const Place& place : reservations_.places) {
            keep(place, -1);
        }
    }
    reservations_.clear();
    refused_.clear();
}

void ResourceSpace::remember(const Running& running) {
    if (!reservations_.wants_returned) {
        return;
    }
    Place back{planned(running.end), planned(running.end), picks_of(running.resources)};
    std::erase_if(back.picks, [&](const Pick& pick) { return !pool_.nodes()[pick.node].is_up; });
    reservations_.returned.push_back(std::move(back));
}

ResourceSpace::Place ResourceSpace::earliest(const PendingJob& job, Instant now) {
    // Cores alone tell before when it cannot be.
    const auto free = static_cast<std::int64_t>(pool_.free_cores());
    const auto need = static_cast<std::int64_t>(cores_of(job.request));
    return plan_.earliest(pool_, {job.request, job.limit, horizon_}, now, [&](Instant from) {
        return profile_.hole(free, need, job.limit, now, {from, horizon_});
    });
}

std::vector<Amounts> ResourceSpace::free_by(Instant at) const {
    std::vector<Amounts> by_node = plan_.returned(pool_, at);
    for (std::size_t n = 0; n < by_node.size(); n++) {
        by_node[n] += pool_.free_by_node()[n];
    }
    return by_node;
}

std::optional<ResourceSpace::Taken> ResourceSpace::start_at(const PendingJob& job, const Place& place, Instant now) {
    const auto free = pool_.free_by_node();
    const auto is_free = [&](const Pick& pick) { return free[pick.node].holds(pick.amounts); };
    if (place.picks.empty() || !std::all_of(place.picks.begin(), place.picks.end(), is_free)) {
        return std::nullopt;
    }
    return take(job, place.picks, now);
}

std::optional<Instant> ResourceSpace::reserve(const PendingJob& job, Instant now) {
    if (!reservations_.places.empty()) {
        if (reservations_.places.size() == 1) {
            keep(reservations_.places.front(), 1);
        }
        Place place = earliest(job, now);
        keep(place, 1);
        reservations_.add(std::move(place));
        const Instant at = reservations_.places.back().at;
        return expected(at);
    }
    // Cores alone tell when it can fit at the earliest; only from there on nodes are looked at.
    const auto soonest = profile_.earliest(static_cast<std::int64_t>(pool_.free_cores()),
                                           static_cast<std::int64_t>(cores_of(job.request)), now);
    const Instant from = soonest.found ? std::max(soonest.at, now + Duration{1}) : never;
    const auto at = plan_.returns().first_where(
        from, never, [&](Instant when) { return pool_.place(job.request, free_by(when), {}).has_value(); });
    shadow_ = at.value_or(never);
    extra_ = free_by(shadow_);
    std::vector<Pick> head;
    if (at) {
        head = *pool_.place(job.request, extra_, plan_.returned(pool_, shadow_));
        for (const Pick& pick : head) {
            extra_[pick.node] -= pick.amounts;
        }
    }  // else not even with all that runs gone (nodes are down): nothing to keep, nothing to delay
    reservations_.add({shadow_, planned(believed_end(shadow_, job.limit)), std::move(head)});
    refresh_long_free();
    return expected(shadow_);
}

void ResourceSpace::refresh_long_free() {
    const auto free = pool_.free_by_node();
    long_free_.resize(free.size());
    short_first_.resize(free.size());
    long_free_cores_ = 0;
    for (std::size_t i = 0; i < free.size(); i++) {
        long_free_[i] = least(free[i], extra_[i]);
        short_first_[i] = free[i] - long_free_[i];
        long_free_cores_ += long_free_[i].cores;
    }
}

std::optional<ResourceSpace::Taken> ResourceSpace::backfill(const PendingJob& job, Instant now, Instant end) {
    const bool ends_by_shadow = end <= shadow_;
    if (!ends_by_shadow && cores_of(job.request) > long_free_cores_) {
        return std::nullopt;
    }
    const auto picks = ends_by_shadow ? pool_.place(job.request, pool_.free_by_node(), short_first_)
                                      : pool_.place(job.request, long_free_, {});
    if (!picks) {
        return std::nullopt;
    }
    if (!ends_by_shadow) {
        for (const Pick& pick : *picks) {
            extra_[pick.node] -= pick.amounts;
        }
    }
    Taken taken = take(job, *picks, now);
    refresh_long_free();
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
    believe(running_.emplace(id, Running{std::move(resources), end}).first->second);
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
        forget(running);
        remember(running);
        const Status done = pool_.release(running.resources);
        WEIR_CHECK(done.has_value());
        running_.erase(place);
        return done;
    }
    return release_part(running, part);
}

Status ResourceSpace::release_part(Running& running, const ResourceSet& part) {
    auto& nodes = running.resources.nodes;
    const auto held_on = [&nodes](std::uint32_t rank) {
        return std::lower_bound(nodes.begin(), nodes.end(), rank,
                                [](const NodeResources& node, std::uint32_t wanted) { return node.rank < wanted; });
    };
    ResourceSet given;
    for (const NodeResources& named : part.nodes) {
        if (!pool_.index_of(named.rank)) {
            continue;  // it was removed, for the job too
        }
        const auto held = held_on(named.rank);
        if (held == nodes.end() || held->rank != named.rank || held->cores.empty() ||
            !held->cores.includes(named.cores) || !held->gpus.includes(named.gpus)) {
            return Error{std::errc::invalid_argument, "the job does not hold cores " + named.cores.encode() +
                                                          " of rank " + std::to_string(named.rank)};
        }
        // With its last core on a node a job gives back all that it has there; R parts name no memory.
        const bool is_last = named.cores.includes(held->cores);
        given.nodes.push_back(is_last ? *held : NodeResources{named.rank, named.cores, named.gpus, 0});
    }
    if (auto done = pool_.release(given); !done) {
        return done;
    }
    // A node that was given back stays with nothing: to erase each of them would cost the square of their number.
    for (const NodeResources& back : given.nodes) {
        const auto held = held_on(back.rank);
        held->cores.remove(back.cores);
        held->gpus.remove(back.gpus);
        held->memory_mib -= back.memory_mib;
    }
    profile_.change(planned(running.end), -static_cast<std::int64_t>(core_count(given)));
    plan_.give_back(planned(running.end), picks_of(given));
    return Done{};
}

bool ResourceSpace::set_end(JobId id, Instant end) {
    const auto place = running_.find(id);
    if (place == running_.end()) {
        return false;
    }
    changed();
    forget(place->second);
    place->second.end = end;
    believe(place->second);
    return true;
}

void ResourceSpace::set_horizon(Instant end) {
    if (end == horizon_) {
        return;
    }
    for (const auto& [id, running] : running_) {
        forget(running);
    }
    horizon_ = end;
    for (const auto& [id, running] : running_) {
        believe(running);
    }
    for (const auto& [id, place] : reservations_.by_job) {
        plan_.drop(place);
    }
    reservations_.by_job.clear();
    changed();
}

void ResourceSpace::shrink(const IdSet& ranks) {
    pool_.shrink(ranks);
    // All of these name nodes by index.
    reservations_ = {};
    refused_.clear();
    fits_empty_.clear();
    profile_ = {};
    plan_ = NodePlan(pool_.nodes().size());
    for (auto& [id, running] : running_) {
        std::erase_if(running.resources.nodes, [&](const NodeResources& n) { return ranks.contains(n.rank); });
        believe(running);
    }
}

}  // namespace weir
