// SPDX-License-Identifier: LGPL-3.0-only
// Owns: queries about one job. Must not know: flux_t, handlers, files. RFC 21.
#include "broker/services/job-manager/state/job.hpp"

#include <bit>

namespace weir::broker::jobs {

int state_index(State state) {
    return std::countr_zero(static_cast<unsigned>(bit(state)));
}

const char* state_name(int index) {
    static constexpr const char* names[] = {"new", "depend", "priority", "sched", "run", "cleanup", "inactive"};
    return names[index];
}

bool Job::is_queued_event(std::string_view name) const {
    for (const Posted& p : posted) {
        if (p.event.name == name) {
            return true;
        }
    }
    return false;
}

JobResult Job::result() const {
    if (success) {
        return JobResult::completed;
    }
    if (had_exception && exception->type == "cancel") {
        return JobResult::canceled;
    }
    if (had_exception && exception->type == "timeout") {
        return JobResult::timeout;
    }
    return JobResult::failed;
}

Json jobspec_tree(const Job& job) {
    if (job.jobspec) {
        return job.jobspec.share();
    }
    auto tree = Json::parse(job.jobspec_text.redacted, SameKeys::last_counts);
    return tree ? std::move(*tree) : Json();
}

std::string full_jobspec(const JobspecText& text) {
    if (!text.environment) {
        return text.redacted;
    }
    auto spec = Json::parse(text.redacted, SameKeys::last_counts);
    auto environment = Json::parse(*text.environment, SameKeys::last_counts);
    if (!spec || !environment || !write_path(spec->get(), "attributes.system.environment", std::move(*environment))) {
        return text.redacted;
    }
    return spec->dump();
}

}  // namespace weir::broker::jobs
