// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the job journal: text and file.
// Must not know: flux_t, plugins. ADR 0045.
#include "broker/services/job-manager/job_store.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <unordered_map>

#include "broker/services/job-manager/resource_set.hpp"
#include "broker/services/job-manager/transition.hpp"

namespace weir::broker::jobs {
namespace {

constexpr std::uint64_t dead_bytes_min = 64u << 20;

Error io_error(const std::string& what, const std::string& path) {
    const int errnum = errno;
    return Error{static_cast<std::errc>(errnum), "job journal: " + what + " " + path + ": " + std::strerror(errnum)};
}

Status write_all(int fd, std::string_view bytes, const std::string& path) {
    while (!bytes.empty()) {
        const ssize_t n = ::write(fd, bytes.data(), bytes.size());
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return io_error("cannot write", path);
        bytes.remove_prefix(static_cast<std::size_t>(n));
    }
    return Done{};
}

/// Folds lines into jobs.
class Reader {
  public:
    explicit Reader(EnvironmentPool& environments) : environments_(environments) {}
    Status take(const json_t* line, bool is_first);
    RestoredJobs finish();

  private:
    Status take_submit(const json_t* line, Job& job);

    EnvironmentPool& environments_;
    std::unordered_map<JobId, std::unique_ptr<Job>> jobs_;
    std::vector<JobId> order_;
    JobId max_id_ = 0;
    std::uint64_t next_sequence_ = 0;
    std::int64_t last_us_ = 0;
};

Error bad(const std::string& what) {
    return Error{std::errc::invalid_argument, what};
}

Status Reader::take_submit(const json_t* line, Job& job) {
    json_t* jobspec = json_object_get(line, "jobspec");
    const auto sequence = read_integer(line, "seq");
    if (!json_is_object(jobspec) || !sequence || *sequence < 0)
        return bad("a submit line needs \"seq\" (integer) and \"jobspec\" (object)");
    job.sequence = static_cast<std::uint64_t>(*sequence);
    job.jobspec = Json::share(jobspec);
    job.jobspec_text = redact(job.jobspec, environments_);
    if (json_t* environment = json_object_get(line, "environment"))
        job.jobspec_text.environment = environments_.intern(Json::share(environment).text());
    job.facts = jobspec_facts(job.jobspec.get());
    next_sequence_ = std::max(next_sequence_, job.sequence + 1);
    max_id_ = std::max(max_id_, job.id);
    return Done{};
}

Status Reader::take(const json_t* line, bool is_first) {
    if (is_first) {
        if (read_integer(line, "weir-jobs").value_or(0) != 1)
            return bad("the first line must be a header {\"weir-jobs\":1,...}; this is no job journal of this version");
        max_id_ = static_cast<JobId>(read_integer(line, "max_jobid").value_or(0));
        next_sequence_ = static_cast<std::uint64_t>(read_integer(line, "next_seq").value_or(0));
        return Done{};
    }
    const auto id = read_integer(line, "id");
    if (!id)
        return bad("\"id\" is missing or no integer");
    auto event = decode_event(json_object_get(line, "event"));
    if (!event)
        return event.error();
    const auto job_id = static_cast<JobId>(*id);
    auto at = jobs_.find(job_id);
    if (event->name == "submit") {
        if (at != jobs_.end())
            return bad("job " + std::to_string(job_id) + " is submitted a second time");
        at = jobs_.emplace(job_id, std::make_unique<Job>()).first;
        at->second->id = job_id;
        order_.push_back(job_id);
        if (auto ok = take_submit(line, *at->second); !ok)
            return ok;
    } else if (at == jobs_.end()) {
        return bad("event \"" + event->name + "\" of job " + std::to_string(job_id) + ", which was never submitted");
    }
    Job& job = *at->second;
    if (json_t* r = json_object_get(line, "R")) {
        job.r = allocation_of(Json::share(r));
    }
    if (auto ok = transition(job, *event); !ok)
        return ok;
    last_us_ = std::max(last_us_, event->t_us);
    if (event->name == launch_mark)
        return Done{};
    job.eventlog += encode(*event);
    job.eventlog += '\n';
    if (event->name == "invalidate")
        jobs_.erase(at);
    return Done{};
}

RestoredJobs Reader::finish() {
    RestoredJobs restored;
    for (const JobId id : order_)
        if (const auto at = jobs_.find(id); at != jobs_.end() && at->second)
            restored.jobs.push_back(std::move(at->second));
    restored.max_id = max_id_;
    restored.next_sequence = next_sequence_;
    restored.last_us = last_us_;
    return restored;
}

Result<std::string> read_whole(int fd, const std::string& path) {
    struct stat info {};
    if (::fstat(fd, &info) < 0)
        return io_error("cannot read", path);
    std::string text(static_cast<std::size_t>(info.st_size), '\0');
    std::size_t have = 0;
    while (have < text.size()) {
        const ssize_t n = ::pread(fd, text.data() + have, text.size() - have, static_cast<off_t>(have));
        if (n < 0)
            return io_error("cannot read", path);
        if (n == 0)
            break;
        have += static_cast<std::size_t>(n);
    }
    text.resize(have);
    return text;
}

}  // namespace

Result<RestoredJobs> read_journal(std::string_view text, const std::string& name, EnvironmentPool& environments) {
    Reader reader(environments);
    std::size_t number = 0;
    std::string warning;
    while (!text.empty()) {
        const std::size_t end = text.find('\n');
        ++number;
        if (end == std::string_view::npos) {
            warning = name + ":" + std::to_string(number) + ": the last line is torn (" + std::to_string(text.size()) +
                      " bytes without a newline); it was dropped";
            break;
        }
        const std::string_view line = text.substr(0, end);
        text.remove_prefix(end + 1);
        auto parsed = Json::parse(line);
        const Status taken = parsed ? reader.take(parsed->get(), number == 1) : Status(parsed.error());
        if (!taken)
            return Error{std::errc::invalid_argument, name + ":" + std::to_string(number) + ": " +
                                                          taken.error().message +
                                                          ". Move the file away, or cut it off "
                                                          "before this line, and start again"};
    }
    RestoredJobs restored = reader.finish();
    restored.warning = warning;
    return restored;
}

std::string journal_header(JobId max_id, std::uint64_t next_sequence) {
    return "{\"weir-jobs\":1,\"max_jobid\":" + std::to_string(max_id) +
           ",\"next_seq\":" + std::to_string(next_sequence) + "}\n";
}

void append_journal_line(std::string& out, const Job& job, std::string_view line) {
    out += "{\"id\":" + std::to_string(job.id) + ",\"event\":";
    out += line;
    const std::string_view name = name_of_line(line);
    if (name == "submit") {
        out += ",\"seq\":" + std::to_string(job.sequence) + ",\"jobspec\":";
        out += job.jobspec_text.original ? *job.jobspec_text.original : job.jobspec_text.redacted;
        if (job.jobspec_text.environment && !job.jobspec_text.original)
            out += ",\"environment\":" + *job.jobspec_text.environment;
    } else if (name == "alloc" && !job.r->text.empty()) {
        out += ",\"R\":" + job.r->text;
    }
    out += "}\n";
}

void append_job(std::string& out, const Job& job) {
    std::string_view lines = job.eventlog;
    while (!lines.empty()) {
        const std::size_t end = lines.find('\n');
        append_journal_line(out, job, lines.substr(0, end));
        lines.remove_prefix(end + 1);
    }
    if (job.was_launched && !job.was_started)
        append_journal_line(out, job, encode(Event{job.t_state_us[state_index(State::Run)], launch_mark, {}}));
}

Result<std::unique_ptr<JobStore>> JobStore::open(const std::string& directory, EnvironmentPool& environments,
                                                 RestoredJobs& restored) {
    const std::string path = directory + "/jobs.journal";
    const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return io_error("cannot open", path);
    std::unique_ptr<JobStore> store(new JobStore(path, fd));
    if (::flock(fd, LOCK_EX | LOCK_NB) < 0)
        return Error{std::errc::device_or_resource_busy,
                     "job journal: " + path + " is in use by another instance; give this one its own statedir"};
    auto text = read_whole(fd, path);
    if (!text)
        return text.error();
    auto read = read_journal(*text, path, environments);
    if (!read)
        return read.error();
    restored = std::move(*read);
    return store;
}

JobStore::~JobStore() {
    if (auto last = flush(); !last)
        std::fprintf(stderr, "%s\n", last.error().message.c_str());
    ::close(fd_);
}

Status JobStore::flush() {
    if (pending_.empty())
        return Done{};
    if (auto done = write_all(fd_, pending_, path_); !done)
        return done;
    bytes_ += pending_.size();
    pending_.clear();
    return Done{};
}

Status JobStore::compact(const JobTable& table, std::uint64_t next_sequence) {
    if (auto done = flush(); !done)
        return done;
    std::string text = journal_header(table.max_id(), next_sequence);
    for (const Job* job : table.inactive_jobs())
        append_job(text, *job);
    for (const auto& [id, job] : table.active_jobs())
        append_job(text, *job);
    const std::string beside = path_ + ".new";
    const int fd = ::open(beside.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0600);
    if (fd < 0)
        return io_error("cannot open", beside);
    auto done = write_all(fd, text, beside);
    if (done && (::fsync(fd) < 0 || ::flock(fd, LOCK_EX | LOCK_NB) < 0 || ::rename(beside.c_str(), path_.c_str()) < 0))
        done = io_error("cannot replace", path_);
    if (!done) {
        ::close(fd);
        return done;
    }
    ::close(fd_);
    fd_ = fd;
    bytes_ = compact_bytes_ = text.size();
    return Done{};
}

bool JobStore::is_mostly_dead() const {
    return bytes_ > dead_bytes_min && bytes_ > 4 * compact_bytes_;
}

}  // namespace weir::broker::jobs
