// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the job journal's file.
// Must not know: flux_t, plugins.
#include "broker/services/job-manager/journal/job_store.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <string_view>

#include "broker/services/job-manager/journal/files.hpp"

namespace weir::broker::jobs {
namespace {

constexpr std::uint64_t dead_bytes_min = 64u << 20;
/// Space for some 1,500 events of running jobs while no new jobs can be accepted.
constexpr std::uint64_t room_min = 256u << 10;

constexpr const char* owner = "job journal";

/// A file's bytes. Not a std::string, which would be filled with zeros first.
struct FileText {
    std::unique_ptr<char[]> bytes;
    std::size_t size = 0;
    std::string_view view() const { return {bytes.get(), size}; }
};

Result<FileText> read_whole(int fd, const std::string& path) {
    struct stat info {};
    if (::fstat(fd, &info) < 0) {
        return io_error(owner, "cannot read", path);
    }
    const auto size = static_cast<std::size_t>(info.st_size);
    FileText text{std::make_unique_for_overwrite<char[]>(size)};
    while (text.size < size) {
        const ssize_t n = ::pread(fd, text.bytes.get() + text.size, size - text.size, static_cast<off_t>(text.size));
        if (n < 0) {
            return io_error(owner, "cannot read", path);
        }
        if (n == 0) {
            break;
        }
        text.size += static_cast<std::size_t>(n);
    }
    return text;
}

/// Other files of an instance with jobs in the state directory; empty: none.
std::string trace_of_jobs(const std::string& directory) {
    for (const char* name : {"job-priority.sqlite", "output"}) {
        const std::string path = directory + "/" + name;
        if (::access(path.c_str(), F_OK) == 0) {
            return path;
        }
    }
    return {};
}

}  // namespace

int JobStore::sync_data(int fd) {
    int rc = 0;
    do {
        rc = ::fdatasync(fd);
    } while (rc < 0 && errno == EINTR);
    return rc < 0 ? errno : 0;
}

Result<std::unique_ptr<JobStore>> JobStore::open(const std::string& directory, EnvironmentPool& environments,
                                                 RestoredJobs& restored, Syncer::Sync sync) {
    const std::string path = directory + "/jobs.journal";
    const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0) {
        return io_error(owner, "cannot open", path);
    }
    std::unique_ptr<JobStore> store(new JobStore(path, fd, std::move(sync)));
    if (::flock(fd, LOCK_EX | LOCK_NB) < 0) {
        return Error{std::errc::device_or_resource_busy,
                     "job journal: " + path + " is in use by another instance; give this one its own statedir"};
    }
    if (store->sync_fd() < 0) {
        return io_error(owner, "cannot make an event for", path);
    }
    auto text = read_whole(fd, path);
    if (!text) {
        return text.error();
    }
    auto read = read_journal(text->view(), path, environments);
    if (!read) {
        return read.error();
    }
    store->bytes_ = store->compact_bytes_ = read->bytes;  // all of it was read back: no line is obsolete
    store->pending_.go_on(read->next_line);
    if (auto done = store->cut_to_whole_lines(); !done) {
        return done.error();
    }
    if (auto done = store->end_sync(); !done) {  // a process that was killed may have left it to the kernel
        return done.error();
    }
    if (const std::string trace = trace_of_jobs(directory); read->version == 0 && !trace.empty()) {
        read->warning = "job journal: " + path + " is missing or empty, but " + trace +
                        " shows that there were jobs: they are forgotten. If that is a mistake, stop the instance and "
                        "bring the file back";
    }
    restored = std::move(*read);
    return store;
}

JobStore::~JobStore() {
    (void)end_sync();
    if (auto last = flush(); !last) {
        std::fprintf(stderr, "%s\n", last.error().message.c_str());
    }
    if (auto synced = end_sync(); !synced) {
        std::fprintf(stderr, "%s\n", synced.error().message.c_str());
    }
    if (reserved_ != 0 || is_torn_) {
        (void)cut_to_whole_lines();  // releases what was reserved
    }
    ::close(fd_);
}

Status JobStore::cut_to_whole_lines() {
    is_torn_ = ::ftruncate(fd_, static_cast<off_t>(bytes_)) < 0;
    reserved_ = 0;
    return is_torn_ ? Status(io_error(owner, "cannot cut off a torn line of", path_)) : Status(Done{});
}

Status JobStore::flush() {
    if (pending_.size() == 0) {
        return Done{};
    }
    const std::string& text = pending_.text();
    if (is_torn_) {
        if (auto done = cut_to_whole_lines(); !done) {
            return done;
        }
    }
    if (auto done = write_all(fd_, text, owner, path_); !done) {
        (void)cut_to_whole_lines();
        return done;
    }
    bytes_ += text.size();
    pending_.clear_text();
    return Done{};
}

void JobStore::set_synced(bool is_synced) {
    is_synced_ = is_synced;
    pending_.set_synced(is_synced);
}

void JobStore::begin_sync() {
    synced_bytes_ = bytes_;
    syncer_.begin(fd_);
}

Status JobStore::end_sync() {
    int errnum = 0;
    if (syncer_.is_running()) {
        errnum = syncer_.end();
    } else if (needs_sync()) {
        synced_bytes_ = bytes_;
        errnum = syncer_.sync_now(fd_);
    }
    is_doubtful_ = is_doubtful_ || errnum != 0;
    errno = errnum;
    return errnum == 0 ? Status(Done{}) : Status(io_error(owner, "cannot sync", path_));
}

Status JobStore::reserve() {
    const std::uint64_t ahead = pending_.size() + room_min;
    if (bytes_ + ahead <= reserved_) {
        return Done{};
    }
    const auto length = static_cast<off_t>(ahead + room_min);
    int rc = 0;
    do {
        rc = ::fallocate(fd_, FALLOC_FL_KEEP_SIZE, static_cast<off_t>(bytes_), length);
    } while (rc < 0 && errno == EINTR);
    if (rc < 0 && errno != EOPNOTSUPP && errno != ENOSYS) {
        return io_error(owner, "there is no room left for", path_);
    }
    reserved_ = rc < 0 ? UINT64_MAX : bytes_ + static_cast<std::uint64_t>(length);
    return Done{};
}

Status JobStore::compact(const JobTable& table, std::uint64_t next_sequence) {
    if (auto done = flush(); !done) {
        return done;
    }
    compact_from_ = bytes_ + dead_bytes_min;
    JournalWriter fresh;
    fresh.begin(table.max_id(), next_sequence);
    for (const Job* job : table.inactive_jobs()) {
        fresh.add(*job);
    }
    for (const auto& [id, job] : table.active_jobs()) {
        fresh.add(*job);
    }
    const auto replaced = replace_file(path_, fresh.text(), owner);
    if (!replaced) {
        return replaced.error();
    }
    ::close(fd_);
    fd_ = *replaced;
    is_torn_ = false;
    reserved_ = compact_from_ = 0;
    bytes_ = compact_bytes_ = fresh.text().size();
    fresh.clear_text();
    fresh.set_synced(is_synced_);
    pending_ = std::move(fresh);
    const Status named = sync_folder_of(path_, owner);
    is_doubtful_ = !named;
    synced_bytes_ = bytes_;
    return named;
}

bool JobStore::is_mostly_dead() const {
    return bytes_ > dead_bytes_min && bytes_ > 4 * compact_bytes_ && bytes_ > compact_from_;
}

}  // namespace weir::broker::jobs
