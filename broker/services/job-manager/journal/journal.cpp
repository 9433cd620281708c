// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the job journal's text.
// Must not know: files, flux_t, plugins. ADR 0045.
#include "broker/services/job-manager/journal/journal.hpp"

#include <zlib.h>

#include <cstring>
#include <unordered_map>

#include "broker/services/job-manager/codecs/resource_set.hpp"
#include "broker/services/job-manager/state/transition.hpp"

namespace weir::broker::jobs {
namespace {

constexpr std::string_view checksum_key = ",\"crc\":\"";
constexpr std::size_t checksum_digits = 8;
/// So many environments are remembered; shells have one each.
constexpr std::size_t environments_max = 10000;
constexpr std::size_t text_kept_max = 1u << 20;
/// ,"crc":"12345678"}
constexpr std::size_t tail_size = checksum_key.size() + checksum_digits + 2;

std::string checksum(std::string_view bytes) {
    auto crc = ::crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size());
    std::string text(checksum_digits, '0');
    for (auto digit = text.rbegin(); digit != text.rend(); ++digit, crc >>= 4) {
        *digit = "0123456789abcdef"[crc & 0xF];
    }
    return text;
}

/// Folds lines into jobs.
class Reader {
  public:
    explicit Reader(EnvironmentPool& environments) : environments_(environments) {}
    /// Takes the next line, without its newline.
    Status take(std::string_view line);
    RestoredJobs finish();

  private:
    Status take_header(FlatValue line);
    Status take_event(FlatValue line);
    Status take_submit(FlatValue line, Job& job);
    void take_jobspec(FlatValue jobspec, Job& job);
    Status check_seal(std::string_view text, FlatValue line) const;

    EnvironmentPool& environments_;
    FlatJson flat_;
    std::unordered_map<JobId, std::unique_ptr<Job>> jobs_;
    std::vector<JobId> order_;
    JobId max_id_ = 0;
    std::uint64_t next_sequence_ = 0;
    std::int64_t last_us_ = 0;
    int version_ = 0;
    std::uint64_t next_line_ = 0;
    std::unordered_map<std::uint64_t, std::shared_ptr<const std::string>> by_line_;  // environments
};

Error bad_line(const std::string& what) {
    return Error{std::errc::invalid_argument, what};
}

/// The text stays as it stands; one that was kept whole for its updates has an environment inside.
void Reader::take_jobspec(FlatValue jobspec, Job& job) {
    if (jobspec["attributes"]["system"]["environment"]) {
        Json tree = Json::of(jobspec);
        job.jobspec_text = redact(tree, environments_);
    } else {
        job.jobspec_text.redacted = jobspec.text();
    }
    job.facts = jobspec_facts(jobspec);
}

Status Reader::take_submit(FlatValue line, Job& job) {
    const FlatValue jobspec = line["jobspec"];
    const auto sequence = line["seq"].integer();
    if (!jobspec.is_object() || !sequence || *sequence < 0) {
        return bad_line("a submit line needs \"seq\" (integer) and \"jobspec\" (object)");
    }
    job.sequence = static_cast<std::uint64_t>(*sequence);
    take_jobspec(jobspec, job);
    if (const FlatValue environment = line["environment"]) {
        job.jobspec_text.environment = environments_.intern(std::string(environment.text()));
        by_line_[next_line_ - 1] = job.jobspec_text.environment;
    } else if (const auto other = line["environment_of"].integer()) {
        const auto known = by_line_.find(static_cast<std::uint64_t>(*other));
        if (known == by_line_.end()) {
            return bad_line("\"environment_of\" names line number " + std::to_string(*other) +
                            ", which has no environment or does not stand above");
        }
        job.jobspec_text.environment = known->second;
    }
    next_sequence_ = std::max(next_sequence_, job.sequence + 1);
    max_id_ = std::max(max_id_, job.id);
    return Done{};
}

Status Reader::take(std::string_view text) {
    const FlatValue line = flat_.read(text);
    if (!line) {
        const auto explained = Json::parse(text, SameKeys::last_counts);
        return explained ? bad_line("invalid JSON") : explained.error();
    }
    if (next_line_ == 0) {
        if (auto done = take_header(line); !done) {
            return done;
        }
    }
    if (version_ > 1) {
        if (auto done = check_seal(text, line); !done) {
            return done;
        }
    }
    if (next_line_++ == 0) {
        return Done{};
    }
    return take_event(line);
}

Status Reader::take_header(FlatValue line) {
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
    return Done{};
}

Status Reader::check_seal(std::string_view text, FlatValue line) const {
    const std::size_t end = text.size() < tail_size ? 0 : text.size() - tail_size;
    if (text.substr(end, checksum_key.size()) != checksum_key) {
        return bad_line("the line has no checksum");
    }
    const std::string_view told = text.substr(end + checksum_key.size(), checksum_digits);
    const std::string found = checksum(text.substr(0, end));
    if (told != found) {
        return bad_line("the line was changed: its checksum says " + std::string(told) + ", its text has " + found);
    }
    const auto number = line["n"].integer();
    if (!number || *number < 0 || static_cast<std::uint64_t>(*number) != next_line_) {
        return bad_line("lines are missing or out of place: this is line number " +
                        (number ? std::to_string(*number) : "(none)") + " where " + std::to_string(next_line_) +
                        " must stand");
    }
    return Done{};
}

Status Reader::take_event(FlatValue line) {
    const auto id = line["id"].integer();
    const FlatValue entry = line["event"];
    if (!id) {
        return bad_line("\"id\" is missing or no integer");
    }
    auto event = decode_event(entry);
    if (!event) {
        return event.error();
    }
    const auto job_id = static_cast<JobId>(*id);
    auto at = jobs_.find(job_id);
    if (event->name == "submit") {
        if (at != jobs_.end()) {
            return bad_line("job " + std::to_string(job_id) + " is submitted a second time");
        }
        at = jobs_.emplace(job_id, std::make_unique<Job>()).first;
        at->second->id = job_id;
        order_.push_back(job_id);
        if (auto ok = take_submit(line, *at->second); !ok) {
            return ok;
        }
    } else if (at == jobs_.end()) {
        return bad_line("event \"" + event->name + "\" of job " + std::to_string(job_id) +
                        ", which was never submitted");
    }
    Job& job = *at->second;
    if (const FlatValue r = line["R"]) {
        job.r = allocation_of(Json::of(r));
    }
    if (auto ok = transition(job, *event); !ok) {
        return ok;
    }
    last_us_ = std::max(last_us_, event->t_us);
    if (event->name == launch_mark) {
        return Done{};
    }
    job.eventlog += encode_again(*event, entry);
    job.eventlog += '\n';
    if (event->name == "invalidate") {
        jobs_.erase(at);
    }
    return Done{};
}

RestoredJobs Reader::finish() {
    RestoredJobs restored;
    for (const JobId id : order_) {
        if (const auto at = jobs_.find(id); at != jobs_.end() && at->second) {
            restored.jobs.push_back(std::move(at->second));
        }
    }
    restored.max_id = max_id_;
    restored.next_sequence = next_sequence_;
    restored.last_us = last_us_;
    restored.version = version_;
    restored.next_line = next_line_;
    return restored;
}

}  // namespace

Result<RestoredJobs> read_journal(std::string_view text, const std::string& name, EnvironmentPool& environments) {
    Reader reader(environments);
    std::uint64_t bytes = 0;
    std::size_t number = 0;
    std::string warning;
    while (bytes < text.size()) {
        const std::string_view rest = text.substr(bytes);
        const std::size_t end = rest.find('\n');
        const std::string at = name + ":" + std::to_string(++number) + ": ";
        if (end == std::string_view::npos) {
            warning = at + "the last line is torn (" + std::to_string(rest.size()) +
                      " bytes without a newline); it was dropped";
            break;
        }
        if (auto taken = reader.take(rest.substr(0, end)); !taken) {
            return Error{
                std::errc::invalid_argument,
                at + taken.error().message +
                    ". Nothing was changed. Bring back a good copy; or keep what stands before this line: head -n " +
                    std::to_string(number - 1) + " " + name + " >" + name + ".cut && mv " + name + ".cut " + name +
                    "; or move the file away, which forgets every job"};
        }
        bytes += end + 1;
    }
    RestoredJobs restored = reader.finish();
    restored.warning = warning;
    restored.bytes = bytes;
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
