// SPDX-License-Identifier: LGPL-3.0-only
// Owns: making and removing of folders, decoding of files. Must not know processes or messages.
#include "broker/services/job_folder.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "broker/api/private_dir.hpp"
#include "libfairshare/base/base64.hpp"

namespace weir::broker {
namespace {

Error bad_file(const std::string& name, const std::string& why) {
    return {std::errc::invalid_argument, "jobspec attributes.system.files." + name + ": " + why};
}

Error cannot_write(const std::string& path) {
    const int errnum = errno;
    return {static_cast<std::errc>(errnum), "cannot write the job's file " + path + ": " + std::strerror(errnum)};
}

Result<std::string> content_of(const std::string& name, const Json& file) {
    const auto encoding = file.string_at("encoding");
    const Json data = file.at("data");
    const char* text = json_string_value(data.get());
    if (!encoding && data) {
        return data.dump();
    }
    if (text != nullptr && encoding == "utf-8") {
        return std::string(text, json_string_length(data.get()));
    }
    if (text != nullptr && encoding == "base64") {
        auto bytes = base64_decode(text);
        return bytes ? bytes : Result<std::string>(bad_file(name, bytes.error().message));
    }
    return bad_file(name, "must have data in utf-8, in base64 or as JSON" +
                              (encoding ? ", not in encoding " + *encoding : std::string()));
}

Status write_file(const std::string& path, const std::string& content, mode_t mode) {
    const int fd = ::open(path.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW | O_CLOEXEC, mode);
    if (fd < 0) {
        return cannot_write(path);
    }
    std::size_t written = 0;
    while (written < content.size()) {
        const ssize_t n = ::write(fd, content.data() + written, content.size() - written);
        if (n < 0 && errno != EINTR) {
            const Error failed = cannot_write(path);
            ::close(fd);
            return failed;
        }
        written += n > 0 ? static_cast<std::size_t>(n) : 0;
    }
    ::close(fd);
    return Done{};
}

Status write_one(const std::string& folder, const std::string& name, const Json& file) {
    if (name.empty() || name == "." || name == ".." || name.find('/') != std::string::npos) {
        return bad_file(name, "must be the name of a file, without a folder");
    }
    const auto mode = static_cast<mode_t>(file.integer_at("mode").value_or(S_IFREG | 0600));
    const auto content = content_of(name, file);
    if (!content) {
        return content.error();
    }
    const std::string path = folder + "/" + name;
    if (S_ISLNK(mode)) {
        return ::symlink(content->c_str(), path.c_str()) < 0 ? Status(cannot_write(path)) : Status(Done{});
    }
    if ((mode & S_IFMT) != 0 && !S_ISREG(mode)) {
        return bad_file(name, "must be a regular file or a symbolic link");
    }
    return write_file(path, *content, mode & 0777);
}

Status write_all(const std::string& folder, const Json& files) {
    const char* name = nullptr;
    json_t* file = nullptr;
    json_object_foreach(files.get(), name, file) {
        if (auto done = write_one(folder, name, Json::ref(file)); !done) {
            return done;
        }
    }
    return Done{};
}

void remove_tree(const std::string& path) {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
}

}  // namespace

JobFolders::JobFolders(const std::string& dir) : dir_(dir + "/jobtmp") {
    remove_tree(dir_);
}

JobFolders::~JobFolders() {
    remove_tree(dir_);
}

Result<std::string> JobFolders::make(const std::string& job, const Json& files) {
    std::string folder = dir_ + "/" + job;
    for (const std::string& path : {dir_, folder}) {
        if (const auto is_made = make_private_dir(path); !is_made) {
            return is_made.error();
        }
    }
    if (auto done = write_all(folder, files); !done) {
        remove(job);
        return done.error();
    }
    return folder;
}

void JobFolders::remove(const std::string& job) {
    remove_tree(dir_ + "/" + job);
}

}  // namespace weir::broker
