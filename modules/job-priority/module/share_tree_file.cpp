// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see share_tree_file.hpp.
#include "modules/job-priority/module/share_tree_file.hpp"

#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <sstream>
#include <system_error>
#include <utility>

#include "libfairshare/base/text/text_file.hpp"

namespace weir::priority {
namespace {

constexpr const char* default_name = "shares.toml";
constexpr std::int64_t ns_in_s = 1'000'000'000;
/// A file that is made may be half written; a folder in its place never is the tree.
constexpr std::uint32_t watched = IN_CLOSE_WRITE | IN_MOVED_TO | IN_DELETE | IN_MOVED_FROM | IN_CREATE;

bool is_departure(std::uint32_t event) {
    return (event & (IN_DELETE | IN_MOVED_FROM)) != 0 || (event & (IN_CREATE | IN_ISDIR)) == (IN_CREATE | IN_ISDIR);
}

}  // namespace

ShareTreeFile::ShareTreeFile(flux_t* h, PriorityService& service, StateLink& state)
    : h_(h), service_(service), state_(state) {}

ShareTreeFile::~ShareTreeFile() {
    watcher_.reset();
    if (inotify_ >= 0) {
        (void)close(inotify_);
    }
}

ShareTreeFile::Stamp ShareTreeFile::stamp_of(const std::string& path) {
    struct stat found {};
    if (stat(path.c_str(), &found) != 0 || S_ISDIR(found.st_mode)) {
        return {};
    }
    return {found.st_dev, found.st_ino, found.st_size, found.st_mtim.tv_sec * ns_in_s + found.st_mtim.tv_nsec};
}

std::string ShareTreeFile::path_of_settings() const {
    const Settings& settings = service_.settings();
    const ConfigPlaces places = ConfigPlaces::of(h_);
    return (settings.is_share_tree_named ? places.resolved(settings.share_tree) : places.beside / default_name)
        .string();
}

bool ShareTreeFile::read(Instant now) {
    if (std::string path = path_of_settings(); path != path_ || inotify_ < 0) {
        path_ = std::move(path);
        stamp_.reset();
        was_there_ = false;
        watch_folder();
        warn_of_place();
    }
    const Stamp stamp = stamp_of(path_);
    const bool is_saved = stamp_ && stamp != *stamp_;
    stamp_ = stamp;
    is_due_ = is_moved_away_ = false;
    is_unkept_ = false;
    service_.trees().set_problem({});
    const Result<std::string> text = read_text_file(path_);
    bool is_taken = false;
    if (text) {
        was_there_ = true;
        unreadable_.clear();
        is_taken = take(*text, now);
    } else if (is_mistake(text.error().code)) {
        report_unreadable(text.error());
        return false;
    }
    report(is_taken, is_saved);
    return is_taken;
}

bool ShareTreeFile::is_mistake(std::errc why) const {
    return service_.settings().is_share_tree_named || was_there_ || why != std::errc::no_such_file_or_directory;
}

void ShareTreeFile::report_unreadable(const Error& why) {
    const std::string problem = "cannot read the share tree " + path_ + ": " + why.message +
                                "; make the file or name another with [weir] share-tree";
    service_.trees().set_problem(problem);
    if (std::exchange(unreadable_, problem) != problem) {
        log_problem();
    }
}

/// Does not read a file that is there again: it may be half written, and its close is noticed.
void ShareTreeFile::report_if_gone() {
    struct stat found {};
    const bool is_found = stat(path_.c_str(), &found) == 0;
    if (is_found && !S_ISDIR(found.st_mode)) {
        return;
    }
    const int why = is_found ? EISDIR : errno;
    stamp_ = Stamp{};
    if (is_mistake(static_cast<std::errc>(why))) {
        report_unreadable({static_cast<std::errc>(why), std::generic_category().message(why)});
    } else {
        service_.trees().set_problem({});
    }
}

bool ShareTreeFile::take(const std::string& text, Instant now) {
    TreeStore& trees = service_.trees();
    auto proposal = service_.propose_file(text, path_, now);
    if (!proposal) {
        trees.set_problem(proposal.error().message);
        return false;
    }
    if (!*proposal) {
        return false;
    }
    TreeChangeover changeover = service_.prepare(std::move(**proposal), now);
    if (const Status written = state_.write(changeover.batch); !written) {
        trees.set_problem(path_ + " is not in force: it cannot be kept: " + written.error().message);
        is_unkept_ = true;
        return false;
    }
    service_.accept(std::move(changeover));
    return true;
}

void ShareTreeFile::log_problem() const {
    const TreeStore& trees = service_.trees();
    std::istringstream lines(trees.problem());
    for (std::string line; std::getline(lines, line);) {
        flux::log(h_, LOG_WARNING, line);
    }
    const std::int64_t revision = trees.in_force().revision;
    flux::log(h_, LOG_ERR,
              revision == 0
                  ? std::string("there is no usable share tree: every job has fair share 0 until there is one")
                  : "the share tree stays at revision " + std::to_string(revision));
}

void ShareTreeFile::report(bool is_taken, bool is_saved) const {
    const TreeStore& trees = service_.trees();
    const auto revision = std::to_string(trees.in_force().revision);
    if (!trees.problem().empty()) {
        log_problem();
    } else if (is_taken) {
        flux::log(h_, LOG_INFO, "the share tree " + path_ + " is in force as revision " + revision);
    } else if (trees.in_force().revision == 0) {
        flux::log(h_, LOG_WARNING, "there is no share tree (" + path_ + "): every job has fair share 0");
    } else if (is_saved) {
        flux::log(h_, LOG_INFO,
                  "the share tree " + path_ + " has the same text as before; revision " + revision + " stays in force");
    }
}

void ShareTreeFile::warn_of_place() const {
    const ConfigPlaces places = ConfigPlaces::of(h_);
    const std::filesystem::path path = path_;
    if (!places.is_folder_read) {
        return;
    }
    if (path.parent_path() == places.folder && path.extension() == ".toml") {
        flux::log(h_, LOG_WARNING,
                  "Flux reads every *.toml in " + places.folder.string() + " as configuration: a mistake in " + path_ +
                      " stops the instance at its next start; move the file to " +
                      (places.beside / path.filename()).string() + " and name it so with [weir] share-tree");
    } else if (const auto former = places.folder / default_name;
               !service_.settings().is_share_tree_named && stamp_of(former.string()).size >= 0) {
        flux::log(h_, LOG_WARNING,
                  former.string() +
                      " is not read as share tree, since Flux reads every *.toml there as configuration; "
                      "move it to " +
                      path_);
    }
}

// ---- saves ----

void ShareTreeFile::watch_folder() {
    watcher_.reset();
    if (inotify_ >= 0) {
        (void)close(inotify_);
    }
    inotify_ = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    const std::string folder = std::filesystem::path(path_).parent_path().string();
    if (inotify_ < 0 || inotify_add_watch(inotify_, folder.c_str(), watched) < 0) {
        return;  // a pass notices
    }
    watcher_.reset(flux_fd_watcher_create(flux_get_reactor(h_), inotify_, FLUX_POLLIN,
                                          flux::on_watcher<&ShareTreeFile::on_folder>, this));
    flux_watcher_start(watcher_.get());
}

void ShareTreeFile::on_folder() {
    const std::string name = std::filesystem::path(path_).filename().string();
    alignas(inotify_event) std::array<char, 4096> buffer{};
    for (ssize_t size = 0; (size = ::read(inotify_, buffer.data(), buffer.size())) > 0;) {
        for (ssize_t at = 0; at < size;) {
            inotify_event event{};
            std::memcpy(&event, buffer.data() + at, sizeof(event));
            const bool is_lost = (event.mask & IN_Q_OVERFLOW) != 0;
            const bool is_ours = event.len > 0 && name == buffer.data() + at + sizeof(event);
            is_due_ |= is_lost || (is_ours && (event.mask & (IN_CLOSE_WRITE | IN_MOVED_TO)) != 0);
            is_moved_away_ |= is_ours && is_departure(event.mask);
            at += static_cast<ssize_t>(sizeof(event) + event.len);
        }
    }
}

bool ShareTreeFile::read_if_due(Instant now) {
    const bool is_due = is_due_ || (is_unkept_ && !state_.has_failed());
    if (is_due) {
        return read(now);
    }
    if (std::exchange(is_moved_away_, false)) {
        report_if_gone();
    }
    return false;
}

bool ShareTreeFile::read_if_changed(Instant now) {
    const Stamp stamp = stamp_of(path_);
    const bool is_settled = seen_ == stamp;
    seen_ = stamp;
    return stamp != stamp_ && is_settled && read(now);
}

}  // namespace weir::priority
