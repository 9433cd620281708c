// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the inotify descriptor and its watches. Must not know what is read.
#include "broker/services/output_notices.hpp"

#include <sys/inotify.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace weir::broker {

bool OutputNotices::open() {
    if (fd_ >= 0) {
        return true;
    }
    fd_ = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    if (fd_ < 0) {
        if (!std::exchange(has_failed_, true)) {
            flux_log(h_, LOG_WARNING,
                     "the output of running jobs cannot be watched (fs.inotify.max_user_instances): %s; who follows it "
                     "gets it when the job ends",
                     std::strerror(errno));
        }
        return false;
    }
    has_failed_ = false;
    watcher_ = Watcher(flux_fd_watcher_create(flux_get_reactor(h_), fd_, FLUX_POLLIN, on_readable, this));
    flux_watcher_start(watcher_.get());
    return true;
}

OutputNotices::~OutputNotices() {
    watcher_.reset();
    if (fd_ >= 0) {
        ::close(fd_);
    }
}

void OutputNotices::watch(std::uint64_t job, const std::vector<std::string>& paths) {
    if (!open()) {
        return;
    }
    for (const std::string& path : paths) {
        const int watch = inotify_add_watch(fd_, path.c_str(), IN_MODIFY);
        if (watch >= 0) {
            jobs_[watch] = job;
            watches_[job].insert(watch);
        }
    }
}

void OutputNotices::forget(std::uint64_t job) {
    const auto at = watches_.find(job);
    if (at == watches_.end()) {
        return;
    }
    for (const int watch : at->second) {
        inotify_rm_watch(fd_, watch);
        jobs_.erase(watch);
    }
    watches_.erase(at);
}

void OutputNotices::on_readable(flux_reactor_t*, flux_watcher_t*, int, void* arg) noexcept {
    OutputNotices& self = *static_cast<OutputNotices*>(arg);
    guarded(self.h_, [&self] { self.read_notices(); });
}

void OutputNotices::read_notices() {
    alignas(inotify_event) char bytes[4096];
    const ssize_t n = ::read(fd_, bytes, sizeof bytes);
    std::set<std::uint64_t> grown;
    for (ssize_t at = 0; at + static_cast<ssize_t>(sizeof(inotify_event)) <= n;) {
        inotify_event event;
        std::memcpy(&event, bytes + at, sizeof event);
        if (const auto job = jobs_.find(event.wd); job != jobs_.end()) {
            grown.insert(job->second);
        }
        at += static_cast<ssize_t>(sizeof event + event.len);
    }
    for (const std::uint64_t job : grown) {
        grew_(job);
    }
}

}  // namespace weir::broker
