// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the bookkeeping around the engine. See pending_queue.hpp; what a pass sends: pending_queue_pass.cpp.
#include "modules/job-priority/ranking/pending_queue.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace weir::priority {
namespace {

/// Values of a policy may fall as well as rise.
PrioritySettings settings_of_engine(const Settings& settings, const MachineSize& machine) {
    PrioritySettings made = engine_settings(settings, machine);
    made.only_raises = made.only_raises && settings.policy == PolicyKind::multifactor;
    return made;
}

constexpr std::size_t head_queues_max = 1000;
/// Jobs beyond those that the scheduler looks at, since as many may start before the next values arrive.
constexpr std::size_t depth_ahead = 8;
constexpr std::size_t depth_default = 16;

}  // namespace

PendingQueue::PendingQueue(const Settings& settings, const MachineSize& machine)
    : engine_(settings_of_engine(settings, machine)),
      alone_(settings_of_engine(settings, machine)),
      order_(settings.push_error),
      queue_index_(settings.queues, queue_classes_max),
      qos_index_(settings.qos, qos_classes_max),
      settings_(settings) {}

void PendingQueue::configure(const Settings& settings, const MachineSize& machine,
                             std::vector<double> association_priority) {
    queue_index_ = ClassIndex(settings.queues, queue_classes_max);
    qos_index_ = ClassIndex(settings.qos, qos_classes_max);
    const bool is_other_policy = settings.policy != settings_.policy;
    if (settings.push != settings_.push || settings.only_raises != settings_.only_raises) {
        expect_nothing();
    }
    order_ = PushOrder(settings.push_error);
    settings_ = settings;
    head_.set_depth(head_depth());
    for (const auto& [id, place] : places_) {
        if (is_other_policy && !place.is_from_above) {
            JobInputs inputs = engine_.inputs(place.slot);
            inputs.extras.given = given_first();
            engine_.update(place.slot, inputs);
        }
    }
    PrioritySettings engine = settings_of_engine(settings, machine);
    engine.association_priority = std::move(association_priority);
    alone_.configure(engine);
    engine_.configure(std::move(engine));
}

std::uint32_t PendingQueue::first_number(JobInputs like, const Moment& at) {
    if (const auto lowest = lowest_first()) {
        return *lowest;
    }
    like.eligible = never;
    const PriorityEngine::Slot slot = alone_.insert(like);
    const std::uint32_t number = scheduler_.takes_order ? behind_head(alone_.priority(slot, Instant{}, at.factors))
                                                        : number_of(alone_, slot, at);
    alone_.remove(slot);
    return number;
}

std::optional<std::uint32_t> PendingQueue::given_first() const {
    return settings_.policy == PolicyKind::multifactor ? std::nullopt : std::optional(priority_min);
}

JobExtras PendingQueue::extras_of(const BookJob& job, double site) const {
    JobExtras extras;
    extras.site = site;
    if (settings_.size_rule != SizeRule::cores) {
        extras.nodes = static_cast<std::uint32_t>(
            std::clamp<std::int64_t>(job.request->nodes, 1, std::numeric_limits<std::uint32_t>::max()));
        extras.limit = std::max<Duration>(job.request->wall_time, std::chrono::seconds(1));
    }
    extras.resources = resource_amounts(settings_, [&](const std::string& name) {
        const auto found = job.request->amounts.find(name);
        return name == "cores"                       ? static_cast<double>(job.request->cores)
               : name == "nodes"                     ? static_cast<double>(job.request->nodes)
               : found == job.request->amounts.end() ? 0.
                                                     : found->second;
    });
    return extras;
}

JobInputs PendingQueue::inputs_of(const BookJob& job, std::uint32_t factor, double site) const {
    JobInputs inputs;
    inputs.id = weir::JobId{job.id};
    inputs.submit = job.first_submit;
    inputs.eligible = job.ageing.eligible();
    if (inputs.eligible != never) {
        inputs.eligible += settings_.wait_after.of(job.request->wall_time);
    }
    inputs.association = factor;
    inputs.cores = static_cast<std::uint32_t>(
        std::clamp<std::int64_t>(job.request->cores, 0, std::numeric_limits<std::uint32_t>::max()));
    inputs.queue = static_cast<std::uint16_t>(queue_index_.of(job.request->queue));
    inputs.qos = static_cast<std::uint8_t>(qos_index_.of(job.request->qos));
    inputs.urgency = static_cast<std::uint8_t>(std::clamp(job.urgency, urgency_held, urgency_expedited));
    inputs.extras = extras_of(job, site);
    return inputs;
}

void PendingQueue::put(const BookJob& job, std::uint32_t factor, double site, std::optional<std::uint32_t> from_above,
                       PutCause cause) {
    JobInputs inputs = inputs_of(job, factor, site);
    const auto [known, is_new] = places_.try_emplace(job.id);
    Place& place = known->second;
    const bool was_from_above = std::exchange(place.is_from_above, from_above.has_value());
    place.head_queue = head_queue_of(job.request->queue);
    if (is_new) {
        inputs.extras.given = from_above ? from_above : given_first();
        place.slot = engine_.insert(inputs);
        join(factor, place);
    } else {
        const JobInputs known_as = engine_.inputs(place.slot);
        const std::uint32_t before = known_as.association;
        inputs.extras.given = from_above ? from_above : was_from_above ? given_first() : known_as.extras.given;
        if (cause == PutCause::job) {
            engine_.update(place.slot, inputs);
        } else {
            engine_.renew(place.slot, inputs);
        }
        if (before != factor) {
            leave(before, place);
            join(factor, place);
        }
    }
    mark(job.id, place);
}

void PendingQueue::mark(FluxJobId id, Place& place) {
    if (std::exchange(place.marked_for, round_) != round_) {
        marked_.push_back(id);
        marked_now_ += 1;
    }
}

void PendingQueue::join(std::uint32_t factor, Place& place) {
    if (factor >= by_factor_.size()) {
        by_factor_.resize(factor + std::size_t{1});
    }
    auto& group = by_factor_[factor];
    place.index = group.size();
    group.push_back(place.slot);
}

void PendingQueue::leave(std::uint32_t factor, const Place& place) {
    auto& group = by_factor_[factor];
    const std::size_t hole = place.index;
    if (hole + 1 != group.size()) {  // the last one fills the hole
        group[hole] = group.back();
        places_.at(engine_.inputs(group[hole]).id.value).index = hole;
    }
    group.pop_back();
}

void PendingQueue::remove(FluxJobId id) {
    const auto known = places_.find(id);
    if (known == places_.end()) {
        return;
    }
    leave(engine_.inputs(known->second.slot).association, known->second);
    head_.forget(known->second.slot);
    engine_.remove(known->second.slot);
    marked_now_ -= known->second.marked_for == round_ ? 1 : 0;
    places_.erase(known);
}

void PendingQueue::set_priority(PriorityEngine::Slot slot, std::uint32_t priority) {
    JobInputs inputs = engine_.inputs(slot);
    Place& place = places_.at(inputs.id.value);
    if (inputs.extras.given != priority && !place.is_from_above) {
        inputs.extras.given = priority;
        engine_.update(slot, inputs);
        mark(inputs.id.value, place);
    }
}

void PendingQueue::clear() {
    engine_ = PriorityEngine(engine_.settings());
    order_ = PushOrder(settings_.push_error);
    head_.clear();
    places_.clear();
    by_factor_.clear();
    bases_.clear();
    forget_marks();
    admitted_.clear();
}

void PendingQueue::mark_changed(std::span<const double> before, std::span<const double> factors) {
    const std::size_t used = is_routed_ ? std::min(by_factor_.size(), factors.size()) : 0;
    for (std::uint32_t factor = 0; factor < used; ++factor) {
        if (factor >= before.size() || before[factor] != factors[factor]) {
            mark_factor(factor);
        }
    }
}

/// The values sent so far have another meaning from now on: the next full pass sends all.
void PendingQueue::expect_nothing() {
    engine_.forget_pushed();
    head_.forget_values();
    renumber();
    is_all_news_ = true;
}

bool PendingQueue::set_routed(bool is_routed) {
    if (is_routed == is_routed_) {
        return false;
    }
    is_routed_ = is_routed;
    expect_nothing();
    return settings_.push == config::PushRule::head;
}

// ---- the head ----

void PendingQueue::hold_back(FluxJobId id, bool is_held_back) {
    const auto known = places_.find(id);
    if (known != places_.end() && known->second.is_held_back != is_held_back) {
        known->second.is_held_back = is_held_back;
        if (is_held_back) {
            head_.remove(known->second.slot);
        } else if (has_head()) {  // else every job is put again before there is one
            admitted_.push_back(id);
        }
    }
}

std::uint16_t PendingQueue::head_queue_of(const std::string& queue) {
    const std::size_t next = head_queues_.size() + 1;
    if (const auto known = head_queues_.find(queue); known != head_queues_.end() || next > head_queues_max) {
        return known == head_queues_.end() ? 0 : known->second;
    }
    return head_queues_.emplace(queue, static_cast<std::uint16_t>(next)).first->second;
}

std::size_t PendingQueue::head_depth() const {
    if (settings_.head_depth > 0) {
        return settings_.head_depth;
    }
    return scheduler_.depth == 0 ? depth_default : scheduler_.depth + depth_ahead;
}

void PendingQueue::set_scheduler(const SchedulerView& scheduler) {
    if (scheduler.takes_order != scheduler_.takes_order) {
        expect_nothing();
    }
    scheduler_ = scheduler;
    head_.set_depth(head_depth());
}

const PriorityEngine::Slot* PendingQueue::find(FluxJobId id) const {
    const auto known = places_.find(id);
    return known == places_.end() ? nullptr : &known->second.slot;
}

bool PendingQueue::is_from_above(FluxJobId id) const {
    const auto known = places_.find(id);
    return known != places_.end() && known->second.is_from_above;
}

std::uint32_t PendingQueue::factor_of(FluxJobId id) const {
    const PriorityEngine::Slot* slot = find(id);
    return slot == nullptr ? 0 : engine_.inputs(*slot).association;
}

void PendingQueue::add_cores(std::span<std::uint64_t> by_factor) const {
    for (std::uint32_t index = 0; index < engine_.slots(); ++index) {
        const PriorityEngine::Slot slot{index};
        if (!engine_.is_live(slot)) {
            continue;
        }
        const JobInputs job = engine_.inputs(slot);
        if (job.association != root_node.value && job.association < by_factor.size()) {
            by_factor[job.association] += job.cores;
        }
    }
}

}  // namespace weir::priority
