// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the file of what PartitionKeeper remembers beyond a restart: PartitionChanges.
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "modules/job-route/partition_keeper.hpp"

namespace weir::route {
namespace {

/// A new name in it survives a power failure. A file system that cannot do it has no say.
void sync_folder(const std::string& folder) {
    const int fd = open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) {
        (void)fsync(fd);
        close(fd);
    }
}

/// A new file beside it, renamed when it is complete.
Status write_whole(const std::string& path, const std::string& text) {
    const std::string beside = path + ".new";
    (void)unlink(beside.c_str());
    const int fd = open(beside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    const ssize_t written = fd >= 0 ? write(fd, text.data(), text.size()) : -1;
    const bool is_short = written >= 0 && static_cast<std::size_t>(written) < text.size();
    const bool is_written = written >= 0 && !is_short && fsync(fd) == 0;
    const int failed = is_short ? ENOSPC : errno;  // a short write sets no errno
    if (fd >= 0) {
        close(fd);
    }
    if (!is_written || rename(beside.c_str(), path.c_str()) < 0) {
        return Error{static_cast<std::errc>(is_written ? errno : failed),
                     path + ": " + std::strerror(is_written ? errno : failed)};
    }
    sync_folder(std::filesystem::path(path).parent_path());
    return Done{};
}

}  // namespace

void PartitionKeeper::read_changes() {
    if (place_.statedir.empty()) {
        return;
    }
    changes_file_ = place_.statedir + "/partitions.json";
    std::ifstream file(changes_file_);
    if (!file) {
        return;  // nobody has changed anything
    }
    std::ostringstream text;
    text << file.rdbuf();
    auto changes = PartitionChanges::parse(text.str());
    if (changes) {
        changes_ = std::move(*changes);
    } else {
        flux::log(h_, LOG_ERR, changes_file_ + ": " + changes.error().message + "; the configuration alone counts");
    }
}

Status PartitionKeeper::write(const PartitionChanges& changes) const {
    return changes_file_.empty() ? Status(Done{}) : write_whole(changes_file_, changes.text());
}

/// Written before they are in force: what could not be written is not done.
Status PartitionKeeper::put_changes(PartitionChanges changes) {
    if (const Status is_written = write(changes); !is_written) {
        return is_written;
    }
    changes_ = std::move(changes);
    return Done{};
}

/// Else this instance, started again, starts the partition in another folder, without the jobs that it alone knows.
void PartitionKeeper::record_folder(const std::string& name, int folder) {
    const bool is_news = changes_.set_folder(name, folder);
    if (const Status is_written = is_news ? write(changes_) : Status(Done{}); !is_written) {
        flux::log(h_, LOG_ERR,
                  is_written.error().message + ": after a restart the partition " + name +
                      " does not have the jobs that were submitted to it directly");
    }
}

}  // namespace weir::route
