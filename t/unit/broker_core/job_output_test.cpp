// SPDX-License-Identifier: LGPL-3.0-only
#include "broker/services/job_output.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>

using namespace weir::broker;

namespace {

struct TemporaryDir {
    TemporaryDir() : path(std::filesystem::temp_directory_path() / ("weir-output-test-" + std::to_string(getpid()))) {
        std::filesystem::create_directories(path);
    }
    ~TemporaryDir() { std::filesystem::remove_all(path); }
    std::filesystem::path path;
};

void print(int fd, const std::string& text) {
    REQUIRE(write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size()));
}

}  // namespace

TEST_CASE("job output: what was written is read from an offset on") {
    TemporaryDir dir;
    JobOutput output(dir.path / "output", true);
    const auto fd = output.open("f1", "");
    REQUIRE(fd);
    print(*fd, "hello world");
    close(*fd);
    const auto part = output.read("f1", 6);
    REQUIRE(part);
    CHECK(part->text == "world");
    CHECK(part->next == 11);
    CHECK(part->is_end);
    CHECK(output.read("f2", 0).error().code == std::errc::no_such_file_or_directory);
}

TEST_CASE("job output: temporary files go, a user's own file stays") {
    TemporaryDir dir;
    const std::string mine = (dir.path / "mine.out").string();
    {
        JobOutput output(dir.path / "output", true);
        close(*output.open("f1", ""));
        close(*output.open("f2", mine));
        CHECK(output.path("f2") == mine);
        CHECK(std::filesystem::exists(output.path("f1")));
    }
    CHECK_FALSE(std::filesystem::exists(dir.path / "output"));
    CHECK(std::filesystem::exists(mine));
}

// Mutant: broker/services/job_output.cpp: O_WRONLY | O_APPEND | O_NONBLOCK | => O_WRONLY | O_APPEND |
TEST_CASE("job output: a FIFO that nobody reads is an error, and stops nobody") {
    TemporaryDir dir;
    const std::string pipe = (dir.path / "pipe").string();
    REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
    JobOutput output(dir.path / "output", true);
    const auto refused = output.open("f1", pipe);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().message.find("a FIFO or a device that nobody reads") != std::string::npos);
    const auto part = output.read("f1", 0);
    CHECK((!part || part->text.empty()));
    const int reader = open(pipe.c_str(), O_RDONLY | O_NONBLOCK);
    const auto fd = output.open("f2", pipe);
    REQUIRE(fd);
    CHECK((fcntl(*fd, F_GETFL) & O_NONBLOCK) == 0);
    print(*fd, "read");
    char text[8] = {};
    CHECK(read(reader, text, sizeof text) == 4);
    close(*fd);
    close(reader);
}

TEST_CASE("job output: a further name keeps the files when the folder is gone, also of a file that the user named") {
    TemporaryDir dir;
    const std::string mine = (dir.path / "mine.out").string();
    JobOutput above(dir.path / "above", false);
    {
        JobOutput output(dir.path / "output", true);
        const auto out = output.open("f1", "");
        const auto err = output.open("f1", mine, OutputStream::err);
        REQUIRE(output.add_name("f1", dir.path / "above/f9", OutputStream::out));
        REQUIRE(output.add_name("f1", dir.path / "above/f9", OutputStream::err));
        print(*out, "hello");
        print(*err, "oops");
        close(*out);
        close(*err);
        CHECK(output.add_name("f1", dir.path / "above/f9", OutputStream::out));  // the job is started again
        CHECK_FALSE(output.add_name("f1", dir.path / "nowhere/else/f9", OutputStream::out));
    }
    CHECK(above.read("f9", 0)->text == "hello");
    CHECK(above.named_path("f9", OutputStream::out).empty());
    CHECK(above.read("f9", 0, OutputStream::err)->text == "oops");
    CHECK(above.named_path("f9", OutputStream::err) == mine);
}

// Kills: where a user's own file is, kept in memory alone.
TEST_CASE("job output: a restart finds both kinds of files") {
    TemporaryDir dir;
    const std::string mine = (dir.path / "mine.out").string();
    {
        JobOutput output(dir.path / "output", false);
        for (const auto& [job, named] : {std::pair{"f1", ""}, std::pair{"f2", mine.c_str()}}) {
            const auto fd = output.open(job, named);
            REQUIRE(fd);
            print(*fd, std::string("of ") + job);
            close(*fd);
        }
    }
    const JobOutput again(dir.path / "output", false);
    CHECK(again.read("f1", 0)->text == "of f1");
    CHECK(again.read("f2", 0)->text == "of f2");
    CHECK(again.path("f2") == mine);
}

TEST_CASE("job output: large files come in parts that do not cut characters") {
    TemporaryDir dir;
    JobOutput output(dir.path / "output", true);
    const auto fd = output.open("f1", "");
    REQUIRE(fd);
    std::string text;
    while (text.size() < 600'000) {
        text += "\xe2\x82\xac";  // three bytes, which do not divide the size of a part
    }
    print(*fd, text);
    close(*fd);
    std::string all;
    std::uint64_t offset = 0;
    bool is_end = false;
    while (!is_end) {
        const auto part = output.read("f1", offset);
        REQUIRE(part);
        all += part->text;
        offset = part->next;
        is_end = part->is_end;
    }
    CHECK(all == text);
}

TEST_CASE("job output: bytes that are no UTF-8 are replaced") {
    CHECK(to_utf8("a\xff"
                  "b") ==
          "a\xef\xbf\xbd"
          "b");
    CHECK(to_utf8("\xe2\x82") == "\xef\xbf\xbd\xef\xbf\xbd");
    CHECK(to_utf8("\xc0\x80") == "\xef\xbf\xbd\xef\xbf\xbd");
    CHECK(to_utf8("\xed\xa0\x80").find('\xed') == std::string::npos);
    CHECK(to_utf8("gr\xc3\xbc\xc3\x9f \xf0\x9f\x8c\x8a") == "gr\xc3\xbc\xc3\x9f \xf0\x9f\x8c\x8a");
}

TEST_CASE("job output: a file that the user named is emptied at the start, unless he appends") {
    TemporaryDir dir;
    const std::string mine = (dir.path / "mine").string();
    JobOutput output(dir.path / "output", false);
    const auto run = [&](const char* job, OpenMode mode) {
        const auto out = output.open(job, mine, OutputStream::out, mode);
        const auto err = output.open(job, mine, OutputStream::err, mode);
        REQUIRE((out && err));
        print(*out, job);
        print(*err, "!");
        close(*out);
        close(*err);
        return output.read(job, 0)->text;
    };
    CHECK(run("f1", OpenMode::truncate) == "f1!");
    CHECK(run("f2", OpenMode::truncate) == "f2!");
    CHECK(run("f3", OpenMode::append) == "f2!f3!");
}
