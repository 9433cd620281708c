// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the job journal's text. Must not know: files, flux_t, plugins.
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

/// The number of environments that are kept for reference; each shell has one.
constexpr std::size_t environments_max = 10000;
constexpr std::size_t text_kept_max = 1u << 20;
/// The text of one part, which a thread of its own decodes if there are more parts.
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
    /// Takes the next line. It has an effect when its flush is whole.
    Status take(JournalLine line);
    bool is_sealed() const { return version_ > 1; }
    /// What was taken was written by one who syncs.
    bool is_synced() const { return is_synced_; }
    /// Lines with an effect, the header included.
    std::uint64_t lines() const { return next_line_; }
    RestoredJobs finish();

  private:
    Status apply_flush();
    Status apply(JournalLine& line);
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
    bool is_synced_ = false;
    std::vector<JournalLine> flush_;                                                 // its last line was not taken yet
    std::uint64_t next_line_ = 0;                                                    // the number of the line to apply
    std::unordered_map<std::uint64_t, std::shared_ptr<const std::string>> by_line_;  // environments
};

Status Reader::take_header(std::string_view text) {
    const FlatValue line = flat_.read(text);
    const std::int64_t version = line["weir-jobs"].integer().value_or(0);
    const std::int64_t max_id = line["max_jobid"].integer().value_or(0);
    const std::int64_t next_sequence = line["next_seq"].integer().value_or(0);
    if (version < 1 || version > journal_version) {
        return bad_line(
            "the first line must be a header {\"weir-jobs\":3,...}; this is no job journal of this version");
    }
    if (max_id < 0 || next_sequence < 0) {
        return bad_line("the header's max_jobid and next_seq must not be negative");
    }
    version_ = static_cast<int>(version);
    is_synced_ = line["synced"].boolean().value_or(false);
    max_id_ = static_cast<JobId>(max_id);
    next_sequence_ = static_cast<std::uint64_t>(next_sequence);
    next_line_ = 1;
    return is_sealed() ? check_seal(text, line, 0) : Status(Done{});
}

/// The text is kept as it is; one that was stored whole for its updates contains an environment.
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
                            ", which has no environment or is not above");
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

/// A line that was written when all before it were synced shows that these are whole, too.
Status Reader::take(JournalLine line) {
    if (line.synced.value_or(false)) {
        if (auto done = apply_flush(); !done) {
            return done;
        }
    }
    is_synced_ = line.synced.value_or(is_synced_);
    const bool is_end = line.is_end || version_ < 3;
    flush_.push_back(std::move(line));
    return is_end ? apply_flush() : Status(Done{});
}

Status Reader::apply_flush() {
    for (JournalLine& line : flush_) {
        if (auto done = apply(line); !done) {
            return done;
        }
    }
    flush_.clear();
    return Done{};
}

Status Reader::apply(JournalLine& line) {
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
    if (event.name == launch_mark || event.name == launch_refused_mark) {
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
        // A journal of one part, or without threads, is decoded on demand.
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

/// Lines count from 1. O(size).
std::size_t begin_of_line(std::string_view text, std::size_t number) {
    std::size_t at = 0;
    for (; number > 1; --number) {
        at = text.find('\n', at) + 1;
    }
    return at;
}

}  // namespace

Result<RestoredJobs> read_journal(std::string_view text, const std::string& name, EnvironmentPool& environments) {
    const std::string_view whole = text.substr(0, text.rfind('\n') + 1);
    Reader reader(environments);
    std::uint64_t number = 0;
    std::optional<Error> bad;
    const auto refusal = [&](std::uint64_t at, const Error& why) {
        return Error{std::errc::invalid_argument,
                     name + ":" + std::to_string(at) + ": " + why.message +
                         ". Nothing was changed. Bring back a good copy; or keep the lines before this one: head -n " +
                         std::to_string(at - 1) + " " + name + " >" + name + ".cut && mv " + name + ".cut " + name +
                         "; or move the file away, which forgets every job"};
    };
    if (!whole.empty()) {
        number = 1;
        const std::size_t header = whole.find('\n');
        if (auto taken = reader.take_header(whole.substr(0, header)); !taken) {
            return refusal(number, taken.error());
        }
        PartsAhead parts(whole.substr(header + 1), number, reader.is_sealed());
        while (auto part = parts.next()) {
            number += part->lines.size();
            for (JournalLine& line : part->lines) {
                if (auto taken = reader.take(std::move(line)); !taken) {
                    return refusal(reader.lines() + 1, taken.error());
                }
            }
            if (part->error) {
                if (!reader.is_synced() || has_sync_mark(whole.substr(begin_of_line(whole, number + 1)))) {
                    return refusal(number + 1, *part->error);
                }
                bad = std::move(part->error);
                break;
            }
        }
    }
    RestoredJobs restored = reader.finish();
    restored.bytes = restored.next_line == number && !bad ? whole.size() : begin_of_line(whole, restored.next_line + 1);
    if (restored.bytes < text.size()) {
        const std::string why = bad ? "line " + std::to_string(number + 1) + ": " + bad->message
                                : whole.size() < text.size() ? "its last line has no newline"
                                                             : "its end is missing";
        restored.warning = name + ":" + std::to_string(restored.next_line + 1) + ": the last flush is not whole (" +
                           why + "; " + std::to_string(text.size() - restored.bytes) + " bytes); it was dropped";
    }
    return restored;
}

void JournalWriter::open_line() {
    close_line(false);
    open_ = text_.size();
}

void JournalWriter::close_line(bool is_end) {
    if (!open_) {
        return;
    }
    if (is_whole_ || (*open_ == 0 && is_synced_)) {
        text_ += ",\"synced\":true";
        is_unsynced_told_ = false;
    } else if (!is_synced_ && !std::exchange(is_unsynced_told_, true)) {
        text_ += ",\"synced\":false";
    }
    text_ += is_whole_ || is_end ? ",\"end\":true" : "";
    text_ += ",\"n\":" + std::to_string(next_line_++);
    const std::string sum = checksum(std::string_view(text_).substr(*open_));
    text_ += checksum_key;
    text_ += sum;
    text_ += "\"}\n";
    open_.reset();
}

const std::string& JournalWriter::text() {
    close_line(true);
    return text_;
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
        environments_.clear();  // written in full again
    }
}

void JournalWriter::clear_text() {
    close_line(true);
    if (text_.capacity() > text_kept_max) {
        std::string().swap(text_);
    }
    text_.clear();
    is_whole_ = false;
}

void JournalWriter::begin(JobId max_id, std::uint64_t next_sequence) {
    open_line();
    is_whole_ = true;
    next_line_ = 0;
    text_ += "{\"weir-jobs\":" + std::to_string(journal_version) + ",\"max_jobid\":" + std::to_string(max_id) +
             ",\"next_seq\":" + std::to_string(next_sequence);
}

void JournalWriter::add(const Job& job, std::string_view line) {
    open_line();
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
