// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the dependency "singleton": of a user's jobs with one name only one is past the state DEPEND.
// Must not know: other schemes, requests.
// Source: RFC 26; flux-core's .dependency-singleton.
#pragma once
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "broker/services/job-manager/engine/engine.hpp"

namespace weir::broker::jobs {

class SingletonDependencies {
  public:
    explicit SingletonDependencies(Engine& engine) : engine_(engine) {}
    /// Makes `job` wait while other jobs of its user and name are active without such a dependency. Error: the job has
    /// no explicit name. O(active jobs) for the first that waits of a user and name.
    Status add(Job& job);
    /// A job was accepted. O(1) where no such job waits.
    void on_new(const Job& job);
    /// A job was refused after add().
    void on_rejected(const Job& job);
    /// Releases the oldest that waits when none is left before it.
    void on_inactive(const Job& job);

  private:
    using Key = std::pair<std::uint32_t, std::string>;
    struct Group {
        std::size_t others = 0;  // active and not waiting
        std::set<JobId> waiting;
    };
    Group* group_of(const Job& job, Key& key);
    std::size_t others_of(const Job& job, const Key& key) const;
    void settle(const Key& key);

    Engine& engine_;
    std::map<Key, Group> groups_;  // those in which a job waits
};

}  // namespace weir::broker::jobs
