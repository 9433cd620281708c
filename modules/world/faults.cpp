// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the faults. See faults.hpp.
#include "modules/world/faults.hpp"

#include <algorithm>

namespace weir::world {

using namespace std::chrono_literals;

namespace {

constexpr Duration looked_within = 15s;  ///< job-priority looks at the clock

/// A fault happens to an instance; it is over after the time that it returns.
struct FaultKind {
    const char* name;
    Duration (*happen)(World& world, Place& place);
    bool is_for_stock;  ///< what a stock Flux keeps over a restart is not simulated
};

Duration kill_broker(World& world, Place& place) {
    const Duration down = world.ground().random.between(Duration(100ms), Duration(8s));
    if (world.ground().random.one_in(2)) {
        world.kill(place, down);
    } else {
        world.kill_before_flush(place, down);
    }
    return down + 10s;
}

Duration lose_power(World& world, Place&) {
    const Duration down = world.ground().random.between(Duration(1s), Duration(20s));
    world.lose_power(down);
    world.disturb(world.places().front(), down + 10s);
    return down + 10s;
}

std::vector<std::shared_ptr<Link>> links_of(const Place& place) {
    std::vector<std::shared_ptr<Link>> links;
    if (place.live) {
        links = place.live->route().links();
        const auto others = place.live->priority().links();
        links.insert(links.end(), others.begin(), others.end());
    }
    return links;
}

/// One of its connections is cut, or brings everything late.
Duration harm_link(World& world, Place& place) {
    Random& random = world.ground().random;
    const auto links = links_of(place);
    if (links.empty()) {
        return {};
    }
    const auto& link = random.of(links);
    const Duration by = random.between(Duration(10ms), Duration(6s));
    const bool is_cut = random.one_in(2);
    world.ground().note(place.name,
                        is_cut ? "a link is cut" : "a link is late by " + std::to_string(to_seconds(by)) + " s");
    world.counts().cuts += 1;
    if (is_cut) {
        link->close();
    } else {
        link->delay(by);
    }
    return by + 5s;
}

/// SIGSTOP. One that is stopped already goes on when it would have: what reached it stays in its order.
Duration stop_process(World& world, Place& place) {
    Random& random = world.ground().random;
    const Duration length = random.between(Duration(50ms), Duration(random.one_in(4) ? 45s : 5s));
    if (place.live && place.live->process().stopped_until <= world.ground().now()) {
        world.ground().note(place.name, "is stopped for " + std::to_string(to_seconds(length)) + " s");
        world.counts().stops += 1;
        place.live->process().stopped_since = world.ground().now();
        place.live->process().stopped_until = world.ground().now() + length;
    }
    return length + 5s;
}

/// Its parent takes back what it has not begun, and gives it nothing new, until somebody resumes it.
Duration drain(World& world, Place& place) {
    const Duration length = world.ground().random.between(Duration(50ms), Duration(20s));
    if (!place.parent || !place.live) {
        return {};
    }
    Place& parent = world.places()[*place.parent];
    const auto set = [&world, &parent, child = route::JobId{place.host}, name = place.name](bool is_drained) {
        if (parent.live) {
            world.ground().note(parent.name, (is_drained ? "drains " : "resumes ") + name);
            parent.live->route().set_drained(child, is_drained);
        }
    };
    set(true);
    world.counts().drains += 1;
    world.ground().agenda.after(length, [set] { set(false); });
    return length + 5s;
}

/// A child's next allocation reaches its parent as something that is no R, or that names cores which it does not have.
Duration garble_R(World& world, Place& place) {
    static const std::vector<std::string> wrong{"{", "17", R"({"version": 2})", R"({"version": 1, "execution": {}})",
                                                R"({"version": 1, "execution": {"R_lite": [{"rank": "0", "children": )"
                                                R"({"core": "0-99"}}], "nodelist": ["machine"]}})"};
    if (!place.parent || !place.live) {
        return {};
    }
    world.counts().garbles += 1;
    place.live->route().garble(world.ground().random.of(wrong));
    return 5s;
}

/// Nothing can be written for a while.
Duration fill_disk(World& world, Place& place) {
    const Duration length = world.ground().random.between(Duration(100ms), Duration(10s));
    world.ground().note(place.name, "its disk is full for " + std::to_string(to_seconds(length)) + " s");
    world.counts().fills += 1;
    place.disk.is_full = true;
    world.ground().agenda.after(length, [&world, &place] {
        world.ground().note(place.name, "its disk has room again");
        place.disk.is_full = false;
    });
    return length + 5s;
}

/// Somebody, or NTP after a boot or a suspension, sets the machine's wall clock. In a stock Flux not twice between two
/// looks of job-priority: back and forth again is no step to it, and no dates tell what was stamped in between.
Duration step_clock(World& world, Place&) {
    Random& random = world.ground().random;
    if (world.ground().machine.is_stock && world.ground().now() < world.ground().machine.stepped + looked_within) {
        return {};
    }
    world.ground().machine.stepped = world.ground().now();
    const Duration by =
        random.between(Duration(2s), Duration(random.one_in(3) ? 3h : 30s)) * (random.one_in(2) ? 1 : -1);
    world.ground().note("machine", "the wall clock is set by " + std::to_string(to_seconds(by)) + " s");
    world.counts().clock_steps += 1;
    world.ground().machine.wall_ahead += by;
    return 5s;
}

/// job-priority is removed and loaded again: its links end, and what was sent to it is lost.
Duration reload_priority(World& world, Place& place) {
    if (!place.live || place.live->process().stopped_until > world.ground().now()) {
        return {};
    }
    world.ground().note(place.name, "its job-priority is loaded again");
    world.counts().reloads += 1;
    place.live->reload_priority();
    return 5s;
}

constexpr FaultKind kinds[] = {
    {"kill", kill_broker, false},  {"link", harm_link, true},          {"stop", stop_process, false},
    {"disk", fill_disk, false},    {"clock", step_clock, true},        {"liar", tell_lies, true},
    {"drain", drain, true},        {"power", lose_power, false},       {"garble", garble_R, true},
    {"guest", attach_guest, true}, {"reload", reload_priority, false},
};

constexpr Duration first_at = 5s;
constexpr Duration last_at = 140s;
constexpr Duration settled_after = 15s;  ///< instances are back and have heard all from each other

}  // namespace

std::set<std::string> fault_kinds() {
    std::set<std::string> names;
    for (const FaultKind& kind : kinds) {
        names.insert(kind.name);
    }
    return names;
}

Instant plan_faults(World& world) {
    std::vector<const FaultKind*> chosen;
    for (const FaultKind& kind : kinds) {
        if (world.options().kinds.count(kind.name) > 0 && (kind.is_for_stock || !world.ground().machine.is_stock)) {
            chosen.push_back(&kind);
        }
    }
    Ground& ground = world.ground();
    if (chosen.empty()) {
        return ground.now();
    }
    Random random(~world.options().seed);  // one of their own: fewer jobs have the same faults
    for (std::size_t i = 0; i < world.options().faults; ++i) {
        const FaultKind& kind = *random.of(chosen);
        const std::size_t place = random.below(world.places().size());
        const Duration delay = random.between(first_at, last_at);
        if (world.options().left_out.count(i) == 0) {
            ground.agenda.after(delay, [&world, &kind, place] {
                Place& there = world.places()[place];
                world.disturb(there, kind.happen(world, there) + settled_after);
            });
        }
    }
    return ground.now() + last_at + 50s;
}

}  // namespace weir::world
