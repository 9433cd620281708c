// SPDX-License-Identifier: LGPL-3.0-only
// Owns: groups of jobs of one user and name. Must not know: other schemes, requests.
#include "broker/services/job-manager/dependencies/singleton.hpp"

#include "broker/services/job-manager/codecs/jobspec.hpp"

namespace weir::broker::jobs {
namespace {

constexpr const char* description = "singleton";

bool is_waiting(const Job& job) {
    return job.dependencies->count(description) > 0;
}

Json description_context() {
    Json context = Json::object();
    context.set("description", description);
    return context;
}

}  // namespace

std::size_t SingletonDependencies::others_of(const Job& job, const Key& key) const {
    std::size_t count = 0;
    for (const auto& [id, other] : engine_.jobs().active_jobs()) {
        const bool may_match = id != job.id && other->userid == job.userid &&
                               other->facts.name_hash == job.facts.name_hash && !is_waiting(*other);
        count += may_match && explicit_name(other->jobspec_text.redacted) == key.second ? 1 : 0;
    }
    return count;
}

Status SingletonDependencies::add(Job& job) {
    const Key key{job.userid, explicit_name(job.jobspec_text.redacted)};
    if (key.second.empty()) {
        return Error{std::errc::invalid_argument, "singleton jobs require a job name"};
    }
    const auto known = groups_.find(key);
    const std::size_t others = known != groups_.end() ? known->second.others : others_of(job, key);
    const bool is_restored = is_waiting(job);
    if (!is_restored && others == 0 && known == groups_.end()) {
        return Done{};
    }
    if (!is_restored) {
        if (auto done = engine_.post(job, "dependency-add", description_context()); !done) {
            return done;
        }
    }
    Group& group = groups_[key];
    group.others = others;
    group.waiting.insert(job.id);
    settle(key);
    return Done{};
}

SingletonDependencies::Group* SingletonDependencies::group_of(const Job& job, Key& key) {
    if (groups_.empty() || job.facts.name_hash == 0) {
        return nullptr;
    }
    key = {job.userid, explicit_name(job.jobspec_text.redacted)};
    const auto at = groups_.find(key);
    return at == groups_.end() ? nullptr : &at->second;
}

void SingletonDependencies::on_new(const Job& job) {
    Key key;
    Group* group = group_of(job, key);
    if (group != nullptr && group->waiting.count(job.id) == 0) {
        ++group->others;
    }
}

void SingletonDependencies::on_inactive(const Job& job) {
    Key key;
    Group* group = group_of(job, key);
    if (group == nullptr) {
        return;
    }
    if (group->waiting.erase(job.id) == 0 && group->others > 0) {
        --group->others;
    }
    settle(key);
}

void SingletonDependencies::on_rejected(const Job& job) {
    Key key;
    if (Group* group = group_of(job, key); group != nullptr && group->waiting.erase(job.id) > 0) {
        settle(key);
    }
}

/// The group is looked up again after each event, at which a plugin may end the job that was let go, and with it the
/// group.
void SingletonDependencies::settle(const Key& key) {
    for (auto at = groups_.find(key); at != groups_.end(); at = groups_.find(key)) {
        Group& group = at->second;
        if (group.waiting.empty()) {
            groups_.erase(at);
            return;
        }
        if (group.others > 0) {
            return;
        }
        Job* next = engine_.jobs().active(*group.waiting.begin());
        group.waiting.erase(group.waiting.begin());
        if (next == nullptr) {
            continue;
        }
        ++group.others;
        if (!engine_.post(*next, "dependency-remove", description_context())) {
            const auto left = groups_.find(key);
            if (left != groups_.end() && left->second.others > 0) {
                --left->second.others;
            }
        }
    }
}

}  // namespace weir::broker::jobs
