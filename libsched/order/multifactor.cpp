// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see multifactor.hpp.
#include "libsched/order/multifactor.hpp"

#include <algorithm>
#include <limits>

#include "libsched/priority/explain.hpp"

namespace weir::order {

Multifactor::Multifactor(const PolicySettings& settings, const MachineSize& machine)
    : settings_(settings),
      has_extras_(settings.size_rule != SizeRule::cores || !settings.resources.empty() || settings.weights.site != 0),
      queues_(settings.queues, queue_classes_max),
      qos_(settings.qos, qos_classes_max),
      engine_(engine_settings(settings, machine)) {}

bool Multifactor::configure(const PolicySettings& settings, Instant) {
    return settings == settings_;
}

void Multifactor::set_machine(const MachineSize& machine, Instant) {
    PrioritySettings made = engine_settings(settings_, machine);
    made.association_priority = engine_.settings().association_priority;
    engine_.configure(std::move(made));
}

void Multifactor::add_payer(double priority) {
    if (!settings_.associations.empty()) {
        PrioritySettings made = engine_.settings();
        made.association_priority.push_back(priority);
        engine_.configure(std::move(made));
    }
}

JobExtras Multifactor::extras_of(const WaitingJob& job) const {
    JobExtras extras;
    extras.nodes = job.nodes;
    extras.limit = std::max<Duration>(job.limit, std::chrono::seconds(1));
    extras.site = job.site;
    extras.resources = resource_amounts(settings_, [&](const std::string& name) {
        if (name == "cores" || name == "nodes") {
            return static_cast<double>(name == "cores" ? job.cores : job.nodes);
        }
        const bool is_known = job.amounts != nullptr && job.amounts->contains(name);
        return is_known ? job.amounts->at(name) : 0.;
    });
    return extras;
}

void Multifactor::join(JobId id, std::uint32_t payer) {
    Entry& entry = entries_[id.value];
    entry.payer = payer;
    if (payer == nobody) {
        return;
    }
    if (payer >= by_payer_.size()) {
        by_payer_.resize(payer + 1);
    }
    entry.index = static_cast<std::uint32_t>(by_payer_[payer].size());
    by_payer_[payer].push_back(id);
}

void Multifactor::leave(const Entry& entry) {
    if (entry.payer == nobody) {
        return;
    }
    std::vector<JobId>& waiting = by_payer_[entry.payer];
    entries_[waiting.back().value].index = entry.index;  // the last one fills the hole
    waiting[entry.index] = waiting.back();
    waiting.pop_back();
}

void Multifactor::mark(std::uint32_t payer) {
    if (payer != nobody) {
        marked_.push_back(payer);
    }
}

void Multifactor::put(JobId id, const WaitingJob& job, Instant) {
    JobInputs inputs;
    inputs.id = id;
    inputs.submit = job.submit;
    inputs.eligible = job.since == never ? never : job.since + settings_.wait_after.of(job.limit);
    inputs.association = job.payer;
    inputs.cores = job.cores;
    inputs.queue = static_cast<std::uint16_t>(queues_.of(job.queue));
    inputs.qos = static_cast<std::uint8_t>(qos_.of(job.qos));
    inputs.urgency = static_cast<std::uint8_t>(job.urgency);
    if (has_extras_) {
        inputs.extras = extras_of(job);
    }
    if (id.value >= entries_.size()) {
        entries_.resize(id.value + 1);
    }
    Entry& entry = entries_[id.value];
    if (entry.waits) {
        engine_.update(entry.slot, inputs);
        leave(entry);
    } else {
        entry.slot = engine_.insert(inputs);
        entry.waits = true;
    }
    join(id, job.payer);
    fresh_.push_back(id);
}

void Multifactor::remove(JobId id, Instant) {
    if (id.value >= entries_.size() || !entries_[id.value].waits) {
        return;
    }
    Entry& entry = entries_[id.value];
    leave(entry);
    engine_.remove(entry.slot);
    entry.waits = false;
    std::erase(fresh_, id);
}

void Multifactor::started(std::optional<JobId> id, const Holder& holder, Instant at) {
    if (id) {
        remove(*id, at);
    }
    mark(holder.payer);
}

void Multifactor::recompute(JobId id, Instant now, std::span<const double> factors) {
    computed_++;
    engine_.pass_one(entries_[id.value].slot, now, factors, changes_);
}

void Multifactor::evaluate_jobs_of(std::uint32_t payer, Instant now, std::span<const double> factors) {
    if (payer < by_payer_.size()) {
        for (const JobId id : by_payer_[payer]) {
            recompute(id, now, factors);
        }
    }
}

void Multifactor::prioritize(const Use& use, Instant now, Scope scope, Values& values) {
    changes_.clear();
    const bool is_full = scope == Scope::all;
    if (is_full && (settings_.weights.wait > 0 || use.moved == nullptr)) {
        computed_ += engine_.size();
        engine_.pass(now, use.factors, changes_);
    } else {
        for (const std::uint32_t payer : is_full ? *use.moved : marked_) {
            evaluate_jobs_of(payer, now, use.factors);
        }
        for (const JobId id : fresh_) {
            recompute(id, now, use.factors);
        }
    }
    marked_.clear();
    fresh_.clear();
    for (const PriorityEngine::Change& change : changes_) {
        values.emplace_back(change.id, change.priority);
    }
}

OrderTerms Multifactor::explain(JobId id, const Use& use, Instant now) const {
    const Breakdown sum = breakdown(engine_, entries_[id.value].slot, now, use.factors);
    OrderTerms out;
    for (const Term& term : sum.terms) {
        if (term.weight != 0) {
            out.terms.push_back(
                {factor_names[index_of(term.factor_id)], term.raw, term.unit, term.weight, term.contribution});
        }
    }
    out.sum = sum.sum;
    out.words.push_back("The terms add up to " + order_number(sum.sum) + "; the priority is at least 1.");
    return out;
}

std::string Multifactor::lead(JobId own, JobId other, const Use& use, Instant now) const {
    return order_lead("its priority", explain(own, use, now), explain(other, use, now));
}

std::optional<Course> Multifactor::course(JobId id, const Use& use) const {
    const PrioritySettings& settings = engine_.settings();
    const double rise = weight_of(settings, Factor::wait) / to_seconds(settings.wait_max);
    // Cut off is rounded half a unit lower.
    const double lower = settings.rounding == Rounding::down ? 0.5 - 0x1p-30 : 0.;
    Course course;
    course.number = [this, id, factors = use.factors, lower](Instant at) {
        const double sum = breakdown(engine_, entries_[id.value].slot, at, factors).sum - lower;
        return std::clamp(sum, 1., static_cast<double>(engine_.settings().ceiling));
    };
    course.slope = [rise](Instant, Instant) { return Slope{0, rise}; };
    return course;
}

}  // namespace weir::order
