// SPDX-License-Identifier: LGPL-3.0-only
// Owns: from lines to jobs: the checks that need the machine and the order.
#include "cmd/sim/job_log.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "cmd/common/text.hpp"

namespace weir::cmd {
namespace {

constexpr const char* remedy = "\nMend the log, or leave such jobs out: --lenient";

LogNames names_in(const JournalJobs& journal) {
    LogNames names;
    names.accounts = journal.accounts;
    for (std::size_t i = 0; i < journal.queues.size() && i < std::numeric_limits<std::uint16_t>::max(); ++i) {
        names.queues.named.emplace(static_cast<std::uint16_t>(i + 1), journal.queues[i]);
    }
    return names;
}

}  // namespace

Result<JobLog> JobLog::open(const std::string& path, Options options) {
    auto lines = LineReader::open(path, swf_line_max);
    if (!lines) {
        return lines.error();
    }
    const auto front = lines->front();
    if (!front) {
        return front.error();
    }
    JobLog log(lines->name(), options);
    if (is_journal(*front)) {
        lines->set_line_max(journal_line_max);
        auto journal = read_journal(std::move(*lines), options.lenient);
        if (!journal) {
            return log.refusal(journal.error());
        }
        log.journal_ = std::move(*journal);
        log.names_ = names_in(log.journal_);
    } else {
        log.swf_.emplace(std::move(*lines), SwfReader::Options{options.lenient});
    }
    auto first = log.read();
    if (!first) {
        return first.error();
    }
    if (!*first) {
        const std::string remark = log.remark();
        return Error{std::errc::invalid_argument,
                     log.path() + ": no job in it" +
                         (log.skipped().total() > 0
                              ? " that can be replayed; the first problem: " + log.skipped().kinds().front().first
                          : remark.empty() ? "."
                                           : " that ran to its end: " + remark)};
    }
    log.first_ = *first;
    return log;
}

std::vector<std::string> JobLog::header() const {
    if (swf_) {
        return swf_->header();
    }
    std::vector<std::string> lines;
    const auto add = [&lines](const char* kind, const std::vector<std::string>& names) {
        for (std::size_t i = 0; i < names.size(); ++i) {
            lines.push_back(kind + std::to_string(i + 1) + " " + printable(names[i]));
        }
    };
    add("Group: ", journal_.accounts);
    add("Queue: ", journal_.queues);
    return lines;
}

std::string JobLog::remark() const {
    std::vector<std::string> parts;
    const auto add = [&parts](std::uint64_t count, const char* what) {
        if (count > 0) {
            parts.push_back(grouped(static_cast<std::int64_t>(count)) + what);
        }
    };
    add(journal_.never_ran, " never got resources");
    add(journal_.unfinished, " had not ended when the journal was read");
    add(journal_.instances, " served queues as child instances, whose jobs are replayed");
    add(remarks_.with_preceding, " name a preceding job or a think time, and were submitted when the log says");
    return listed(parts);
}

Skipped JobLog::skipped() const {
    Skipped all = swf_ ? swf_->skipped() : journal_.skipped;
    all.add(skipped_);
    return all;
}

SimJob JobLog::noted(SimJob job) {
    remarks_.overran += job.run > job.limit ? 1 : 0;
    remarks_.without_request += job.limit == Duration::max() ? 1 : 0;
    if (options_.requests_cover_runs) {
        job.limit = job.limit == Duration::max() ? job.run : std::max(job.limit, job.run);
    }
    return job;
}

double JobLog::part_read() const {
    return swf_                    ? swf_->lines().part_read()
           : journal_.jobs.empty() ? 0.
                                   : static_cast<double>(journal_next_) / static_cast<double>(journal_.jobs.size());
}

Error JobLog::at_job(const std::string& what) const {
    return swf_ ? swf_->lines().at_line(what) : Error{std::errc::invalid_argument, path_ + ": " + what};
}

/// With the remedy, where there is one.
Error JobLog::refusal(const Error& error) const {
    const bool can_be_left_out = error.code == std::errc::invalid_argument || error.code == std::errc::io_error;
    return Error{error.code, error.message + (can_be_left_out && !options_.lenient ? remedy : "")};
}

std::optional<std::pair<std::string, std::string>> JobLog::obstacle(const Result<SimJob>& job) const {
    if (!job) {
        return std::pair("without processors or times", job.error().message);
    }
    const std::string name = "job " + std::to_string(job->number);
    if (job->cores > static_cast<std::uint64_t>(options_.cores)) {
        return std::pair("larger than the machine", name + " wants " + std::to_string(job->cores) +
                                                        " cores; the machine has " + std::to_string(options_.cores));
    }
    if (job->submit < last_submit_) {
        return std::pair("not in order of submission",
                         name + " was submitted before the job above it; a log is in order of submission");
    }
    return std::nullopt;
}

Result<std::optional<Result<SimJob>>> JobLog::read_job() {
    if (!swf_) {
        return journal_next_ < journal_.jobs.size() ? std::optional(Result(journal_.jobs[journal_next_++]))
                                                    : std::optional<Result<SimJob>>();
    }
    auto line = swf_->next();
    if (!line) {
        return refusal(line.error());
    }
    if (options_.cores == 0) {
        options_.cores = swf_->max_processors();
    }
    remarks_.with_preceding += *line && ((*line)->preceding > 0 || (*line)->think_time > 0) ? 1 : 0;
    return *line ? std::optional(sim_job(**line)) : std::optional<Result<SimJob>>();
}

Result<std::optional<SimJob>> JobLog::read() {
    while (true) {
        auto job = read_job();
        if (!job) {
            return job.error();
        }
        if (!*job) {
            return std::optional<SimJob>();
        }
        if (options_.cores == 0 && swf_ && swf_->bad_size()) {
            return Error{std::errc::invalid_argument, swf_->bad_size()->message + ". Mend it, or give it: --cores=N"};
        }
        if (options_.cores == 0) {
            return Error{std::errc::invalid_argument,
                         path_ +
                             (swf_ ? ": does not state the size of the machine before its first job (\"; MaxProcs: N\")"
                                   : ": a job journal does not state the size of the machine") +
                             ". Give it: --cores=N"};
        }
        const auto why = obstacle(**job);
        if (!why) {
            last_submit_ = (**job)->submit;
            return std::optional(noted(***job));
        }
        const Error error = at_job(why->second);
        if (!options_.lenient) {
            return refusal(error);
        }
        skipped_.add(why->first, error.message);
    }
}

Result<std::optional<SimJob>> JobLog::next() {
    return first_ ? Result(std::exchange(first_, std::nullopt)) : read();
}

std::vector<std::string> skipped_lines(const Skipped& skipped) {
    std::vector<std::string> lines;
    for (const Skipped::Kind& kind : skipped.kinds()) {
        lines.push_back(grouped(static_cast<std::int64_t>(kind.count)) + " (" + kind.why + "), first: " + kind.first);
    }
    return lines;
}

std::string requests_text(const JobLog::Remarks& remarks) {
    std::vector<std::string> parts;
    const auto add = [&parts](std::uint64_t count, const char* what) {
        if (count > 0) {
            parts.push_back(grouped(static_cast<std::int64_t>(count)) + what);
        }
    };
    add(remarks.overran, " ran longer than requested");
    add(remarks.without_request, " requested no time");
    return listed(parts);
}

Json skipped_json(const Skipped& skipped) {
    Json kinds = Json::array();
    for (const Skipped::Kind& kind : skipped.kinds()) {
        Json one = Json::object();
        one.set("why", kind.why).set("count", kind.count).set("first", kind.first);
        kinds.append(std::move(one));
    }
    return kinds;
}

}  // namespace weir::cmd
