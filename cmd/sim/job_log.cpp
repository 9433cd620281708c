// SPDX-License-Identifier: LGPL-3.0-only
// Owns: from lines to jobs: the checks that need the machine and the order.
#include "cmd/sim/job_log.hpp"

#include <utility>

namespace weir::cmd {
namespace {

constexpr const char* remedy = "\nMend the log, or leave such jobs out: --lenient";

}  // namespace

Result<JobLog> JobLog::open(const std::string& path, Options options) {
    auto swf = SwfReader::open(path, {options.lenient});
    if (!swf) {
        return swf.error();
    }
    JobLog log(path, options, std::move(*swf));
    auto first = log.read();
    if (!first) {
        return first.error();
    }
    if (!*first) {
        return Error{std::errc::invalid_argument,
                     path + ": no job in it" +
                         (log.skipped() > 0 ? " that can be replayed; the first problem: " + log.first_skip() : ".")};
    }
    log.first_ = *first;
    return log;
}

std::optional<std::string> JobLog::obstacle(const Result<SimJob>& job) const {
    if (!job) {
        return job.error().message;
    }
    const std::string name = "job " + std::to_string(job->number);
    if (job->cores > static_cast<std::uint64_t>(options_.cores)) {
        return name + " wants " + std::to_string(job->cores) + " cores; the machine has " +
               std::to_string(options_.cores);
    }
    if (job->submit < last_submit_) {
        return name + " was submitted before the job above it; a log is in order of submission";
    }
    return std::nullopt;
}

Result<std::optional<SimJob>> JobLog::read() {
    while (true) {
        auto line = swf_.next();
        if (!line) {
            const bool is_a_line = line.error().code == std::errc::invalid_argument && !options_.lenient;
            return Error{line.error().code, line.error().message + (is_a_line ? remedy : "")};
        }
        if (first_skip_.empty()) {
            first_skip_ = swf_.first_skip();
        }
        if (!line->has_value()) {
            return std::optional<SimJob>();
        }
        if (options_.cores == 0) {
            options_.cores = swf_.max_processors();
        }
        if (options_.cores == 0) {
            return Error{std::errc::invalid_argument,
                         path_ +
                             ": says nowhere before its first job how large the machine is (\"; MaxProcs: N\"). "
                             "Say it: --cores=N"};
        }
        auto job = sim_job(**line);
        const auto why = obstacle(job);
        if (!why) {
            last_submit_ = job->submit;
            return std::optional(*job);
        }
        const Error error = swf_.lines().at_line(*why);
        if (!options_.lenient) {
            return Error{error.code, error.message + remedy};
        }
        skipped_++;
        first_skip_ = first_skip_.empty() ? error.message : first_skip_;
    }
}

Result<std::optional<SimJob>> JobLog::next() {
    return first_ ? Result(std::exchange(first_, std::nullopt)) : read();
}

}  // namespace weir::cmd
