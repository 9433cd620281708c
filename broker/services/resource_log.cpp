// SPDX-License-Identifier: LGPL-3.0-only
// Owns: reading and appending the file. Must not know what events mean.
#include "broker/services/resource_log.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <utility>

#include "broker/api/private_dir.hpp"

namespace weir::broker {
namespace {

constexpr std::size_t events_max = 10000;

Error system_error(const std::string& path, const char* what) {
    const int errnum = errno;
    return {static_cast<std::errc>(errnum), std::string("cannot ") + what + " " + path + ": " + std::strerror(errnum)};
}

Json event_of(double time_s, const std::string& name, Json context) {
    Json event = Json::object();
    event.set("timestamp", time_s).set("name", name).set("context", std::move(context));
    return event;
}

}  // namespace

void ResourceLog::forget_oldest() {
    if (events_.size() > events_max) {
        events_.erase(events_.begin(), events_.end() - static_cast<std::ptrdiff_t>(events_max));
    }
}

Status ResourceLog::open(const std::string& statedir) {
    if (statedir.empty()) {
        return Done{};
    }
    path_ = statedir + "/resource.eventlog";
    std::ifstream file(path_);
    const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    std::size_t begin = 0;
    for (std::size_t number = 1; begin < text.size(); ++number) {
        const std::size_t end = text.find('\n', begin);
        if (end == std::string::npos) {
            break;  // the broker died during the write, before any answer
        }
        auto event = Json::parse(text.substr(begin, end - begin), SameKeys::last_counts);
        if (!event || !event->string_at("name")) {
            return Error{std::errc::invalid_argument,
                         path_ + ":" + std::to_string(number) +
                             ": is no event {timestamp, name, context}; remove the line or the file"};
        }
        events_.push_back(std::move(*event));
        begin = end + 1;
    }
    return begin == text.size() ? Status(Done{}) : write_whole();
}

Status ResourceLog::write_whole() {
    std::string text;
    for (const Json& event : events_) {
        text += event.dump() + "\n";
    }
    return write_private_file(path_, text);
}

void ResourceLog::note(double time_s, const std::string& name, Json context) {
    events_.push_back(event_of(time_s, name, std::move(context)));
    forget_oldest();
}

Status ResourceLog::append(double time_s, const std::string& name, Json context) {
    Json event = event_of(time_s, name, std::move(context));
    if (!path_.empty()) {
        const std::string line = event.dump() + "\n";
        const int fd = ::open(path_.c_str(), O_CREAT | O_WRONLY | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (fd < 0) {
            return system_error(path_, "open");
        }
        const off_t before = ::lseek(fd, 0, SEEK_END);
        const bool is_written =
            ::write(fd, line.data(), line.size()) == static_cast<ssize_t>(line.size()) && ::fdatasync(fd) == 0;
        const Error failed = system_error(path_, "write");
        if (!is_written && ::ftruncate(fd, before) < 0) {
            ::close(fd);
            return Error{failed.code, failed.message + "; a part of a line may stand at its end"};
        }
        ::close(fd);
        if (!is_written) {
            return failed;
        }
    }
    events_.push_back(std::move(event));
    forget_oldest();
    return Done{};
}

}  // namespace weir::broker
