// SPDX-License-Identifier: LGPL-3.0-only
#include "broker/core/log_file.hpp"

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>

using weir::broker::LogFile;

namespace {

struct LogFolder {
    std::filesystem::path path = std::filesystem::temp_directory_path() / ("weir-log-test-" + std::to_string(getpid()));
    LogFolder() { std::filesystem::create_directories(path); }
    ~LogFolder() { std::filesystem::remove_all(path); }
    std::string file(const char* name) const { return (path / name).string(); }
};

std::string text_of(const std::string& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
}

/// No file may grow beyond so many bytes while this lives: a disk that is full.
class FullDisk {
  public:
    explicit FullDisk(rlim_t bytes) {
        getrlimit(RLIMIT_FSIZE, &before_);
        std::signal(SIGXFSZ, SIG_IGN);
        const rlimit now{bytes, before_.rlim_max};
        setrlimit(RLIMIT_FSIZE, &now);
    }
    ~FullDisk() { setrlimit(RLIMIT_FSIZE, &before_); }

  private:
    rlimit before_{};
};

}  // namespace

TEST_CASE("log file: lines are appended to what is there, for the owner alone") {
    const LogFolder folder;
    std::ofstream(folder.file("old")) << "before\n";
    LogFile log;
    REQUIRE(log.open(folder.file("old")));
    REQUIRE(log.write("one"));
    CHECK(text_of(folder.file("old")) == "before\none\n");
    REQUIRE(log.open(folder.file("new")));
    struct stat about {};
    REQUIRE(stat(folder.file("new").c_str(), &about) == 0);
    CHECK((about.st_mode & 0777) == 0600);
}

TEST_CASE("log file: after a rotation the file is made anew; what was open stays where that fails") {
    const LogFolder folder;
    LogFile log;
    REQUIRE(log.open(folder.file("log")));
    REQUIRE(log.write("one"));
    std::filesystem::rename(folder.file("log"), folder.file("log.1"));
    REQUIRE(log.write("two"));
    REQUIRE(log.open(folder.file("log")));
    REQUIRE(log.write("three"));
    CHECK(text_of(folder.file("log.1")) == "one\ntwo\n");
    CHECK(text_of(folder.file("log")) == "three\n");
    const auto refused = log.open(folder.file("no/such/folder"));
    REQUIRE_FALSE(refused);
    CHECK(refused.error().message.find("no/such/folder: No such file") != std::string::npos);
    REQUIRE(log.write("four"));
    CHECK(text_of(folder.file("log")) == "three\nfour\n");
}

TEST_CASE("log file: lines that a full disk took are counted, a torn one is ended") {
    const LogFolder folder;
    LogFile log;
    REQUIRE(log.open(folder.file("log")));
    REQUIRE(log.write("12345"));
    {
        const FullDisk full(8);
        CHECK_FALSE(log.write("67890"));
        CHECK_FALSE(log.write("lost"));
    }
    REQUIRE(log.write("again"));
    CHECK(text_of(folder.file("log")) == "12345\n67\n(2 lines were lost here: the file could not be written)\nagain\n");
}
