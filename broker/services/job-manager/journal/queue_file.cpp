// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see queue_file.hpp.
#include "broker/services/job-manager/journal/queue_file.hpp"

#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <iterator>

#include "broker/services/job-manager/journal/files.hpp"

namespace weir::broker::jobs {
namespace {

constexpr const char* file_owner = "queues";

}  // namespace

Result<Json> QueueFile::read() const {
    if (path_.empty() || (::access(path_.c_str(), F_OK) < 0 && errno == ENOENT)) {
        return Json::object();
    }
    std::ifstream in(path_, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
    if (!in.is_open() || in.bad()) {
        return io_error(file_owner, "cannot read", path_);
    }
    auto state = Json::parse(text);
    if (!state || !json_is_object(state->get())) {
        return Error{std::errc::invalid_argument,
                     path_ + ": " + (state ? "not an object" : state.error().message) +
                         "; correct the file, or remove it: then all queues are enabled and started"};
    }
    return state;
}

Status QueueFile::keep(const Json& state) const {
    if (path_.empty()) {
        return Done{};
    }
    const auto file = replace_file(path_, state.dump() + "\n", file_owner);
    if (!file) {
        return file.error();
    }
    ::close(*file);
    return sync_folder_of(path_, file_owner);
}

}  // namespace weir::broker::jobs
