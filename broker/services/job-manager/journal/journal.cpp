// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the job journal's text.
// Must not know: files, flux_t, plugins. ADR 0045.
#include "broker/services/job-manager/journal/journal.hpp"

#include <algorithm>
#include <deque>
#include <future>
#include <optional>
#include <unordered_map>

#include "broker/services/job-manager/codecs/resource_set.hpp"
#include "broker/services/job-manager/journal/journal_lines.hpp"
#include "broker/services/job-manager/state/transition.hpp"

namespace weir::broker::jobs {
namespace {

/// So many environments are remembered; shells have one each.
constexpr std::size_t environments_max = 10000;
constexpr std::size_t text_kept_max = 1u << 20;
/// So much text is decoded at a time, in its own thread where there is more.
constexpr std::size_t part_bytes = 512u << 10;
constexpr std::size_t parts_ahead_max = 3;

Error bad_line(const std::string& what) {
    return Error{std::errc::invalid_argument, what};
}

/// Folds lines into jobs.
class Reader {
  public:
    explicit Reader(EnvironmentPool& environments) : environments_(environments) {}
    Status take_header(std::string_view line);
    /// Takes the next line.
    Status take(JournalLine& line);
    bool is_sealed() const { return version_ > 1; }
    RestoredJobs finish();

  private:
    Result<Job*> submitted(JournalLine& line);
    Status take_submission(Submission& submission, Job& job);
    void take_jobspec(Submission& submission, Job& job);
    Job* find(JobId id);

    EnvironmentPool& environments_;
    FlatJson flat_;
    std::vector<std::unique_ptr<Job>> jobs_;  // in order of submission; invalidated ones are null
    std::unordered_map<JobId, std::size_t> place_of_;
    Job* last_ = nullptr;  // the next line is often of the same job
    JobId max_id_ = 0;
    std::uint64_t next_sequence_ = 0;
    std::int64_t last_us_ = 0;
    int version_ = 0;
    std::uint64_t next_line_ = 0;                                                    // the number of the line to take
    std::unordered_map<std::uint64_t, std::shared_ptr<const std::string>> by_line_;  // environments
};

Status Reader::take_header(std::string_view text) {
    const FlatValue line = flat_.read(text);
    const std::int64_t version = line["weir-jobs"].integer().value_or(0);
    const std::int64_t max_id = line["max_jobid"].integer().value_or(0);
    const std::int64_t next_sequence = line["next_seq"].integer().value_or(0);
    if (version != 1 && version != 2) {
        return bad_line(
            "the first line must be a header {\"weir-jobs\":2,...}; this is no job journal of this version");
    }
    if (max_id < 0 || next_sequence < 0) {
        return bad_line("the header's max_jobid and next_seq must not be negative");
    }
    version_ = static_cast<int>(version);
    max_id_ = static_cast<JobId>(max_id);
    next_sequence_ = static_cast<std::uint64_t>(next_sequence);
    next_line_ = 1;
    return is_sealed() ? check_seal(text, line, 0) : Status(Done{});
}

/// The text stays as it stands; one that was kept whole for its updates has an environment inside.
void Reader::take_jobspec(Submission& submission, Job& job) {
    if (submission.has_environment) {
        Json tree = Json::of(flat_.read(submission.jobspec));
        job.jobspec_text = redact(tree, environments_);
    } else {
        job.jobspec_text.redacted = submission.jobspec;
    }
    job.facts = std::move(submission.facts);
}

Status Reader::take_submission(Submission& submission, Job& job) {
    job.sequence = submission.sequence;
    take_jobspec(submission, job);
    if (!submission.environment.empty()) {
        job.jobspec_text.environment = environments_.intern(std::string(submission.environment));
        by_line_[next_line_] = job.jobspec_text.environment;
    } else if (submission.environment_of) {
        const auto known = by_line_.find(static_cast<std::uint64_t>(*submission.environment_of));
        if (known == by_line_.end()) {
            return bad_line("\"environment_of\" names line number " + std::to_string(*submission.environment_of) +
                            ", which has no environment or does not stand above");
        }
        job.jobspec_text.environment = known->second;
    }
    next_sequence_ = std::max(next_sequence_, job.sequence + 1);
    max_id_ = std::max(max_id_, job.id);
    return Done{};
}

Job* Reader::find(JobId id) {
    if (last_ == nullptr || last_->id != id) {
        const auto place = place_of_.find(id);
        last_ = place == place_of_.end() ? nullptr : jobs_[place->second].get();
    }
    return last_;
}

Result<Job*> Reader::submitted(JournalLine& line) {
    if (!place_of_.emplace(line.id, jobs_.size()).second) {
        return bad_line("job " + std::to_string(line.id) + " is submitted a second time");
    }
    last_ = jobs_.emplace_back(std::make_unique<Job>()).get();
    last_->id = line.id;
    const Status taken = take_submission(*line.submission, *last_);
    return taken ? Result<Job*>(last_) : taken.error();
}

Status Reader::take(JournalLine& line) {
    Result<Job*> found = line.submission ? submitted(line) : find(line.id);
    if (!found) {
        return found.error();
    }
    if (*found == nullptr) {
        return bad_line("event \"" + line.entry.name + "\" of job " + std::to_string(line.id) +
                        ", which was never submitted");
    }
    Job& job = **found;
    if (!line.r.empty()) {
        job.r = allocation_of(Json::of(flat_.read(line.r)));
    }
    const Event event = event_of(line.entry, flat_);
    if (auto done = transition(job, event); !done) {
        return done;
    }
    last_us_ = std::max(last_us_, event.t_us);
    next_line_ += 1;
    if (event.name == launch_mark) {
        return Done{};
    }
    job.eventlog += encode_again(event, line.entry);
    job.eventlog += '\n';
    if (event.name == "invalidate") {
        const auto place = place_of_.extract(line.id);
        jobs_[place.mapped()].reset();
        last_ = nullptr;
    }
    return Done{};
}

RestoredJobs Reader::finish() {
    RestoredJobs restored;
    std::erase(jobs_, nullptr);
    restored.jobs = std::move(jobs_);
    restored.max_id = max_id_;
    restored.next_sequence = next_sequence_;
    restored.last_us = last_us_;
    restored.version = version_;
    restored.next_line = next_line_;
    return restored;
}

/// The parts of a journal behind its header, some decoded ahead of the one that is applied.
class PartsAhead {
  public:
    /// `text`: whole lines; `first`: the number of the first one.
    PartsAhead(std::string_view text, std::uint64_t first, bool is_sealed)
        : rest_(text), number_(first), is_sealed_(is_sealed) {}
    /// The next part; nothing at the end.
    std::optional<JournalPart> next() {
        while (!rest_.empty() && ahead_.size() < parts_ahead_max) {
            decode_next();
        }
        if (ahead_.empty()) {
            return std::nullopt;
        }
        JournalPart part = ahead_.front().get();
        ahead_.pop_front();
        return part;
    }

  private:
    void decode_next() {
        const std::string_view text = rest_.substr(0, rest_.find('\n', std::min(part_bytes, rest_.size()) - 1) + 1);
        // A journal of one part, and one for which there are no threads, is decoded when it is asked for.
        const auto how = text.size() == rest_.size() && ahead_.empty() ? std::launch::deferred
                                                                       : std::launch::async | std::launch::deferred;
        ahead_.push_back(std::async(how, decode_lines, text, number_, is_sealed_));
        number_ += count_lines(text);
        rest_.remove_prefix(text.size());
    }

    std::string_view rest_;
    std::uint64_t number_;
    bool is_sealed_;
    std::deque<std::future<JournalPart>> ahead_;
};

}  // namespace

Result<RestoredJobs> read_journal(std::string_view text, const std::string& name, EnvironmentPool& environments) {
    const std::string_view whole = text.substr(0, text.rfind('\n') + 1);
    Reader reader(environments);
    std::size_t number = 0;
    const auto refusal = [&](const Error& why) {
        return Error{
            std::errc::invalid_argument,
            name + ":" + std::to_string(number) + ": " + why.message +
                ". Nothing was changed. Bring back a good copy; or keep what stands before this line: head -n " +
                std::to_string(number - 1) + " " + name + " >" + name + ".cut && mv " + name + ".cut " + name +
                "; or move the file away, which forgets every job"};
    };
    if (!whole.empty()) {
        number = 1;
        const std::size_t header = whole.find('\n');
        if (auto taken = reader.take_header(whole.substr(0, header)); !taken) {
            return refusal(taken.error());
        }
        PartsAhead parts(whole.substr(header + 1), number, reader.is_sealed());
        while (auto part = parts.next()) {
            for (JournalLine& line : part->lines) {
                number += 1;
                if (auto taken = reader.take(line); !taken) {
                    return refusal(taken.error());
                }
            }
            if (part->error) {
                number += 1;
                return refusal(*part->error);
            }
        }
    }
    RestoredJobs restored = reader.finish();
    restored.bytes = whole.size();
    if (whole.size() < text.size()) {
        restored.warning = name + ":" + std::to_string(number + 1) + ": the last line is torn (" +
                           std::to_string(text.size() - whole.size()) + " bytes without a newline); it was dropped";
    }
    return restored;
}

void JournalWriter::seal(std::size_t begin) {
    text_ += ",\"n\":" + std::to_string(next_line_++);
    const std::string sum = checksum(std::string_view(text_).substr(begin));
    text_ += checksum_key;
    text_ += sum;
    text_ += "\"}\n";
}

void JournalWriter::add_environment(const std::shared_ptr<const std::string>& environment) {
    Written& written = environments_[environment.get()];
    if (written.environment.lock() == environment) {
        text_ += ",\"environment_of\":" + std::to_string(written.line);
    } else {
        text_ += ",\"environment\":" + *environment;
        written = {environment, next_line_};
    }
    if (environments_.size() > environments_max) {
        std::erase_if(environments_, [](const auto& entry) { return entry.second.environment.expired(); });
    }
    if (environments_.size() > environments_max) {
        environments_.clear();  // written in full once more
    }
}

void JournalWriter::clear_text() {
    if (text_.capacity() > text_kept_max) {
        std::string().swap(text_);
    }
    text_.clear();
}

void JournalWriter::begin(JobId max_id, std::uint64_t next_sequence) {
    const std::size_t begin = text_.size();
    next_line_ = 0;
    text_ +=
        "{\"weir-jobs\":2,\"max_jobid\":" + std::to_string(max_id) + ",\"next_seq\":" + std::to_string(next_sequence);
    seal(begin);
}

void JournalWriter::add(const Job& job, std::string_view line) {
    const std::size_t begin = text_.size();
    text_ += "{\"id\":" + std::to_string(job.id) + ",\"event\":";
    text_ += line;
    const std::string_view name = name_of_line(line);
    if (name == "submit") {
        text_ += ",\"seq\":" + std::to_string(job.sequence) + ",\"jobspec\":";
        text_ += job.jobspec_text.original ? *job.jobspec_text.original : job.jobspec_text.redacted;
        if (job.jobspec_text.environment && !job.jobspec_text.original) {
            add_environment(job.jobspec_text.environment);
        }
    } else if (name == "alloc" && !job.r->text.empty()) {
        text_ += ",\"R\":" + job.r->text;
    }
    seal(begin);
}

void JournalWriter::add(const Job& job) {
    std::string_view lines = job.eventlog;
    while (!lines.empty()) {
        const std::size_t end = lines.find('\n');
        add(job, lines.substr(0, end));
        lines.remove_prefix(end + 1);
    }
    if (job.was_launched && !job.was_started) {
        add(job, encode(Event{job.t_state_us[state_index(State::run)], launch_mark, {}}));
    }
}

}  // namespace weir::broker::jobs
