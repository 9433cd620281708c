// SPDX-License-Identifier: LGPL-3.0-only
// Owns: dependencies on one other job: afterstart (and its old name after), afterok, afternotok, afterany, afterexcept.
// Must not know: other schemes, requests.
// Source: RFC 26; flux-core's .dependency-after for what is refused and for the descriptions.
#pragma once
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "broker/services/job-manager/engine/engine.hpp"

namespace weir::broker::jobs {

/// The job is not accepted.
inline Error refused_dependency(const std::string& why) {
    return {std::errc::invalid_argument, why};
}

class AfterDependencies {
  public:
    explicit AfterDependencies(Engine& engine) : engine_(engine) {}
    static bool is_scheme(std::string_view scheme);
    /// Makes `job` wait for the job that `value` names. Already fulfilled ones are removed at once. Error: no such job,
    /// another user's, or one that can no longer fulfil it.
    Status add(Job& job, std::string_view scheme, const std::string& value);
    void on_start(const Job& job);
    /// Releases those that wait for this job, or ends them if they never can start. O(those jobs).
    void on_inactive(const Job& job);

  private:
    enum class Kind { start, ok, not_ok, any, except };
    struct Waiting {
        JobId id;
        Kind kind;
        std::string description;
    };
    /// A job whose dependency can never be satisfied, and the note of its exception.
    struct Hopeless {
        JobId id;
        std::string note;
    };
    static std::string_view words_of(Kind kind);
    static bool is_fulfilled(Kind kind, const Job& target);
    Status refuse_ended(std::string_view scheme, const std::string& value, Kind kind, const Job& target) const;
    void release(const Waiting& waiting);
    void raise_hopeless();

    Engine& engine_;
    std::map<JobId, std::vector<Waiting>> waiting_;  // by the job that is waited for
    std::deque<Hopeless> hopeless_;
    bool is_raising_ = false;  // raise_hopeless() works it off
};

}  // namespace weir::broker::jobs
