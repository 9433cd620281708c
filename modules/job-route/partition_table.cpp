// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see partition_table.hpp.
#include "modules/job-route/partition_table.hpp"

#include <algorithm>
#include <set>

#include "libfairshare/base/fsd.hpp"
#include "libfairshare/base/nearest_name.hpp"

namespace weir::route {
namespace {

using ActionKind = PartitionAction::Kind;

constexpr int log_error = 3;  // severities of syslog(3)
constexpr int log_notice = 5;
constexpr Duration look_pause = std::chrono::seconds(1);
constexpr Duration folder_wait_max = std::chrono::seconds(60);

}  // namespace

PartitionTable::Partition* PartitionTable::find(const std::string& name) {
    const auto found = partitions_.find(name);
    return found != partitions_.end() ? &found->second : nullptr;
}

void PartitionTable::configure(std::vector<PartitionSpec> specs) {
    std::set<std::string> names;
    for (PartitionSpec& spec : specs) {
        names.insert(spec.name);
        const auto [entry, is_new] = partitions_.try_emplace(spec.name);
        Partition& partition = entry->second;
        if (is_new || !partition.is_wanted) {
            partition.is_off = spec.is_on_demand;
        }
        partition.last_folder = is_new ? spec.folder : partition.last_folder;
        partition.is_wanted = true;
        if (!is_new && partition.spec.digest != spec.digest) {  // the mistake may be mended
            partition.revival = Revival();
        }
        partition.spec = std::move(spec);
    }
    for (auto& [name, partition] : partitions_) {
        partition.is_wanted = names.count(name) > 0;
    }
}

void PartitionTable::adopt(const std::string& name, const PartitionInstance& instance) {
    const auto [entry, is_new] = partitions_.try_emplace(name);
    Partition& partition = entry->second;
    if (is_new) {
        partition.spec.name = name;
        partition.is_wanted = false;
    }
    PartitionInstance adopted = instance;
    adopted.is_adopted = true;
    const bool is_current = !partition.current && partition.is_wanted && partition.spec.digest == instance.digest;
    if (is_current) {
        partition.current = adopted;
        partition.last_folder = adopted.folder;
        partition.is_off = false;
        if (partition.is_drained) {
            act(ActionKind::drain, adopted.job);
        }
    } else {
        partition.old.push_back(adopted);
        act(ActionKind::drain, adopted.job);
    }
}

void PartitionTable::started(const std::string& name, int folder, JobId job) {
    Partition* partition = find(name);
    if (partition == nullptr) {
        return;
    }
    if (partition->current && partition->current->job.value == 0 && partition->current->folder == folder) {
        partition->current->job = job;
        if (partition->is_drained) {
            act(ActionKind::drain, job);
        }
    }
    for (PartitionInstance& instance : partition->old) {
        if (instance.job.value == 0 && instance.folder == folder) {  // replaced before it had a job
            instance.job = job;
            act(ActionKind::drain, job);
        }
    }
    if (is_closed_) {
        act(ActionKind::cancel, job);
    }
}

void PartitionTable::start_failed(const std::string& name, int folder, const std::string& why, Duration now) {
    Partition* partition = find(name);
    if (partition == nullptr) {
        return;
    }
    const auto is_it = [folder](const PartitionInstance& instance) {
        return instance.job.value == 0 && instance.folder == folder;
    };
    std::erase_if(partition->old, is_it);
    if (partition->current && is_it(*partition->current)) {
        partition->current.reset();
        note_death(*partition, "it cannot start: " + why, now);
    }
}

void PartitionTable::note_death(Partition& partition, const std::string& why, Duration now) {
    partition.revival.ended(now);
    partition.changed = partition.is_down ? partition.changed : now;
    partition.is_down = true;
    partition.why = why;
    const Duration pause = partition.revival.next() - now;
    const int deaths = partition.revival.deaths();
    const std::string when = pause > Duration::zero() ? "in " + duration_text(pause) : "now";
    const std::string nth = deaths == 1 ? "" : ", death " + std::to_string(deaths) + " in a row";
    log(log_error,
        "The partition " + partition.spec.name + " ended (" + why + ")" + nth + "; it starts again " + when + ".");
}

void PartitionTable::ended(JobId job, const std::string& why, Duration now) {
    for (auto& [name, partition] : partitions_) {
        if (std::erase_if(partition.old, [job](const PartitionInstance& old) { return old.job == job; }) > 0) {
            partition.ended.push_back(job);
            log(log_notice, "An instance of the partition " + name + " ended (" + why + ").");
            return;
        }
        if (partition.current && partition.current->job == job) {
            const PartitionInstance instance = *partition.current;
            partition.current.reset();
            partition.idle_since.reset();
            partition.ended.push_back(job);
            if (!is_closed_ && partition.is_wanted && !(instance.is_adopted && !instance.has_served)) {
                note_death(partition, why, now);
            }
            return;
        }
    }
}

void PartitionTable::cancel(PartitionInstance& instance, const std::string& why) {
    if (instance.job.value != 0 && !std::exchange(instance.is_canceled, true)) {
        actions_.push_back({ActionKind::cancel, {}, instance.job, 0, 0, why, false});
    }
}

/// Its running jobs continue; it gets no further jobs.
void PartitionTable::retire(Partition& partition) {
    if (partition.current) {
        if (partition.current->job.value != 0) {
            act(ActionKind::drain, partition.current->job);
        }
        partition.old.push_back(*partition.current);
        partition.current.reset();
        partition.idle_since.reset();
    }
}

void PartitionTable::look_at_old(Partition& partition, const World& world) {
    for (PartitionInstance& instance : partition.old) {
        const ChildLoad load = instance.job.value != 0 ? world.load(instance.job) : ChildLoad{};
        instance.has_served = instance.has_served || load.is_attached;
        const bool is_empty = load.is_attached && load.jobs == 0;
        const bool never_began = !instance.has_served && !instance.is_adopted;
        if (is_empty || never_began) {
            cancel(instance, partition.is_wanted ? "it has no jobs any more" : "the partition was removed");
        }
    }
}

/// What an instance had is given back when the next one is submitted, or when none follows: else a job that waits in
/// the parent has those cores, and the partition waits for its end.
void PartitionTable::look_at_ended(Partition& partition) {
    const bool is_followed = partition.is_wanted && !partition.is_off && (partition.current || !partition.is_drained);
    if (partition.ended.empty() || (is_followed && (!partition.current || partition.current->job.value == 0))) {
        return;
    }
    for (const JobId job : std::exchange(partition.ended, {})) {
        act(ActionKind::give_back, job);
    }
}

/// An instance that is being ended leaves its folder, and in it what it has not reported: how long its jobs ran. So the
/// next one has this folder, unless the end takes too long.
bool PartitionTable::must_await_folder(Partition& partition, Duration now) {
    const bool is_ending = std::any_of(partition.old.begin(), partition.old.end(), [&](const PartitionInstance& old) {
        return old.is_canceled && old.folder == partition.last_folder;
    });
    if (!is_ending) {
        partition.folder_awaited_since.reset();
        return false;
    }
    partition.folder_awaited_since = partition.folder_awaited_since.value_or(now);
    return now - *partition.folder_awaited_since < folder_wait_max;
}

void PartitionTable::start(Partition& partition) {
    PartitionInstance instance;
    instance.digest = partition.spec.digest;
    const auto is_used = [&](int folder) {
        return std::any_of(partition.old.begin(), partition.old.end(),
                           [folder](const PartitionInstance& old) { return old.folder == folder; });
    };
    // The same folder, with the jobs that were submitted to the instance directly, unless the former one still has it.
    instance.folder = is_used(partition.last_folder) ? 0 : partition.last_folder;
    while (is_used(instance.folder)) {
        ++instance.folder;
    }
    const bool takes_over = !partition.old.empty() || !partition.ended.empty() || partition.revival.deaths() > 0;
    partition.last_folder = instance.folder;
    partition.current = instance;
    partition.is_off = false;
    partition.idle_since.reset();
    actions_.push_back({ActionKind::start, partition.spec.name, {}, instance.folder, 0, {}, takes_over});
}

/// One that was added could hold the cores that one of the configuration waits for.
bool PartitionTable::is_configured_one_starting() const {
    return std::any_of(partitions_.begin(), partitions_.end(), [](const auto& entry) {
        const Partition& partition = entry.second;
        return partition.is_wanted && !partition.spec.is_added && partition.current &&
               !partition.current->is_attached && !partition.current->has_served && !partition.current->is_adopted;
    });
}

void PartitionTable::look_at_current(Partition& partition, const World& world) {
    const std::string& name = partition.spec.name;
    if (partition.current && (!partition.is_wanted || partition.current->digest != partition.spec.digest)) {
        log(log_notice, "The partition " + name + (partition.is_wanted ? " changes" : " is removed") +
                            ": its instance lets its jobs end.");
        retire(partition);
    }
    if (!partition.is_wanted) {
        return;
    }
    if (!partition.current) {
        const bool is_asked = !partition.is_off || world.is_wanted(partition.spec);
        const bool is_time = partition.revival.deaths() == 0 || world.now >= partition.revival.next();
        const bool is_its_turn = !partition.spec.is_added || !is_configured_one_starting();
        if (is_asked && is_time && is_its_turn && !partition.is_drained && !must_await_folder(partition, world.now)) {
            start(partition);
        }
        return;
    }
    const ChildLoad load = partition.current->job.value != 0 ? world.load(partition.current->job) : ChildLoad{};
    if (load.is_attached && !std::exchange(partition.current->is_attached, true)) {
        partition.current->has_served = true;
        partition.revival.serves(world.now);
        partition.changed = world.now;
        log(log_notice, "The partition " + name + " serves its queue" +
                            (std::exchange(partition.is_down, false) ? " again." : "."));
    }
    partition.current->is_attached = load.is_attached;
    const bool is_idle = load.is_attached && load.jobs == 0 && partition.spec.idle > Duration::zero();
    if (!is_idle) {
        partition.idle_since.reset();
    } else if (!partition.idle_since) {
        partition.idle_since = world.now;
    } else if (world.now - *partition.idle_since >= partition.spec.idle && !world.is_wanted(partition.spec)) {
        log(log_notice,
            "The partition " + name + " had no job for " + duration_text(partition.spec.idle) + ": it is given back.");
        retire(partition);
        partition.is_off = true;
    }
}

void PartitionTable::look(const World& world) {
    if (is_closed_) {
        return;
    }
    std::vector<Partition*> ordered;
    for (auto& [name, partition] : partitions_) {
        ordered.push_back(&partition);
    }
    std::stable_sort(ordered.begin(), ordered.end(),
                     [](const Partition* a, const Partition* b) { return a->spec.place < b->spec.place; });
    for (Partition* partition : ordered) {
        look_at_current(*partition, world);
        look_at_old(*partition, world);
        look_at_ended(*partition);
    }
    std::erase_if(partitions_, [](const auto& entry) {
        return !entry.second.is_wanted && !entry.second.current && entry.second.old.empty();
    });
}

// ---- operators ----

Status PartitionTable::check_wanted(const std::string& name) const {
    const auto found = partitions_.find(name);
    return found != partitions_.end() && found->second.is_wanted ? Status(Done{}) : unknown(name);
}

Error PartitionTable::unknown(const std::string& name) const {
    std::vector<std::string> names;
    for (const auto& [other, partition] : partitions_) {
        if (partition.is_wanted) {
            names.push_back(other);
        }
    }
    const std::string near = nearest_name(name, names);
    return {std::errc::no_such_file_or_directory,
            "no partition has the name " + name + (near.empty() ? "" : "; did you mean " + near + "?")};
}

std::set<std::string> PartitionTable::closed_queues() const {
    std::set<std::string> closed;
    for (const auto& [name, partition] : partitions_) {
        if (partition.is_drained) {
            closed.insert(partition.spec.queues.begin(), partition.spec.queues.end());
        }
    }
    for (const auto& [name, partition] : partitions_) {
        if (partition.is_wanted && !partition.is_drained) {
            for (const auto* queues : {&partition.spec.queues, &partition.spec.overflow}) {
                for (const std::string& queue : *queues) {
                    closed.erase(queue);
                }
            }
        }
    }
    return closed;
}

Status PartitionTable::set_drained(const std::string& name, bool is_drained) {
    Partition* partition = find(name);
    if (partition == nullptr || !partition->is_wanted) {
        return unknown(name);
    }
    if (std::exchange(partition->is_drained, is_drained) != is_drained && partition->current &&
        partition->current->job.value != 0) {
        act(is_drained ? ActionKind::drain : ActionKind::resume, partition->current->job);
    }
    return Done{};
}

Status PartitionTable::restart(const std::string& name, bool is_killed) {
    Partition* partition = find(name);
    if (partition == nullptr || !partition->is_wanted) {
        return unknown(name);
    }
    retire(*partition);
    partition->is_off = false;
    partition->revival = Revival();
    return is_killed ? kill_old(name) : Status(Done{});
}

Status PartitionTable::kill_old(const std::string& name) {
    Partition* partition = find(name);
    if (partition == nullptr) {
        return unknown(name);
    }
    for (PartitionInstance& instance : partition->old) {
        cancel(instance, "an operator ended it");
    }
    return Done{};
}

void PartitionTable::close() {
    is_closed_ = true;
    for (auto& [name, partition] : partitions_) {
        if (partition.current) {
            cancel(*partition.current, "the instance ends");
        }
        for (PartitionInstance& instance : partition.old) {
            cancel(instance, "the instance ends");
        }
    }
}

bool PartitionTable::has_job(JobId job) const {
    const auto is_it = [job](const PartitionInstance& instance) { return instance.job == job; };
    return std::any_of(partitions_.begin(), partitions_.end(), [&](const auto& entry) {
        const Partition& partition = entry.second;
        return (partition.current && is_it(*partition.current)) ||
               std::any_of(partition.old.begin(), partition.old.end(), is_it);
    });
}

Duration PartitionTable::next_look(Duration now) const {
    Duration pause = look_pause;
    for (const auto& [name, partition] : partitions_) {
        if (partition.is_wanted && !partition.current && !partition.is_off && partition.revival.deaths() > 0) {
            pause = std::min(pause, partition.revival.next() - now);
        }
    }
    return std::max(pause, Duration::zero());
}

}  // namespace weir::route
