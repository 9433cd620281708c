// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see moab_order.hpp.
#include "libsched/sim/moab_order.hpp"

namespace weir {
namespace {

constexpr std::size_t qos_kind = 3;

std::uint32_t number_of(std::size_t kind, const SimJob& job) {
    const std::array<std::uint32_t, moab_credential_kinds> numbers{job.user, job.group, job.group, 0, job.queue};
    return numbers[kind];
}

}  // namespace

MoabOrder::Kind::Kind(const PolicySettings& site) : members(LogShares::of_users()), usage(site, members.tree()) {}

MoabOrder::MoabOrder(const PolicySettings& settings, std::uint32_t machine_cores,
                     std::map<std::uint32_t, std::string> names)
    : names_(std::move(names)),
      interval_(settings.update_interval),
      priorities_(settings),
      kinds_{Kind(settings), Kind(settings), Kind(settings), Kind(settings), Kind(settings)} {
    priorities_.set_machine({machine_cores, machine_cores, 0., 0.});
}

std::vector<std::string> MoabOrder::names_of(std::size_t kind, std::uint32_t number) const {
    const std::string digits = std::to_string(number);
    std::vector<std::string> names{digits, (kind == 0 ? "u" : "g") + digits};
    if (const auto name = names_.find(number); kind == 0 && name != names_.end()) {
        names.insert(names.begin(), name->second);
    }
    return names;
}

MoabPriorities::Credential MoabOrder::credential(std::size_t kind, const SimJob& job, Instant now) {
    if (kind == qos_kind) {
        return MoabPriorities::nobody;
    }
    Kind& one = kinds_[kind];
    SimJob credential;
    credential.user = number_of(kind, job);
    const std::uint64_t version = one.members.version();
    const LogShares::Party party = one.members.party(credential);
    if (one.members.version() != version) {
        one.usage.follow(one.members.tree(), now);
    }
    if (party == one.known) {
        one.known++;
        priorities_.add_credential(kind, names_of(kind, credential.user));
    }
    return party;
}

void MoabOrder::submitted(const SimJob& job, JobId id, Instant now) {
    if (id.value >= jobs_.size()) {
        jobs_.resize(id.value + 1);
    }
    MoabPriorities::Job& waiting = jobs_[id.value];
    waiting = {.place = places_++, .since = job.submit, .limit = job.limit, .cores = job.cores, .nodes = job.cores};
    for (std::size_t kind = 0; kind < moab_credential_kinds; kind++) {
        waiting.who[kind] = credential(kind, job, now);
    }
    priorities_.put(id, waiting);
}

void MoabOrder::charge(const MoabPriorities::Job& job, std::int64_t cores, Instant now) {
    for (std::size_t kind = 0; kind < moab_credential_kinds; kind++) {
        if (kind != qos_kind && priorities_.goes_by_usage(kind)) {
            kinds_[kind].usage.start(kinds_[kind].members.leaf(job.who[kind]), cores, now);
        }
    }
    priorities_.hold(job.who[0], cores > 0 ? 1 : -1, cores);
}

void MoabOrder::started(const SimJob& job, JobId id, Instant now) {
    priorities_.start(id);
    charge(jobs_[id.value], job.cores, now);
}

void MoabOrder::ended(const SimJob& job, JobId id, Instant now) {
    charge(jobs_[id.value], -static_cast<std::int64_t>(job.cores), now);
}

void MoabOrder::prioritize(Instant now, std::vector<std::pair<JobId, std::uint32_t>>& changed) {
    told_ = now;
    for (std::size_t i = 0; i < moab_credential_kinds; i++) {
        Kind& kind = kinds_[i];
        if (!priorities_.goes_by_usage(i)) {
            continue;
        }
        kind.usage.snapshot(now, kind.snapshot);
        usage_[i].all = kind.snapshot[root_node.value];
        usage_[i].by.resize(kind.known);
        for (LogShares::Party party = 0; party < kind.known; party++) {
            usage_[i].by[party] = kind.snapshot[kind.members.leaf(party).value];
        }
    }
    priorities_.prioritize(usage_, now, changed);
}

}  // namespace weir
