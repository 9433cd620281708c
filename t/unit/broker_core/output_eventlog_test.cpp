// SPDX-License-Identifier: LGPL-3.0-only
#include "broker/services/output_eventlog.hpp"

#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>

#include "libfairshare/base/json/json.hpp"

using namespace weir;
using namespace weir::broker;

namespace {

struct EventlogFiles {
    EventlogFiles()
        : path(std::filesystem::temp_directory_path() / ("weir-eventlog-test-" + std::to_string(getpid()))) {
        std::filesystem::create_directories(path);
        std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    }
    ~EventlogFiles() { std::filesystem::remove_all(path); }
    void print(OutputStream stream, const std::string& text) {
        const auto fd = output.open("f1", "", stream);
        REQUIRE(fd);
        REQUIRE(write(*fd, text.data(), text.size()) == static_cast<ssize_t>(text.size()));
        close(*fd);
    }
    std::filesystem::path path;
    JobOutput output{path / "output", true};
};

/// "NAME STREAM DATA" or "NAME STREAM eof" of an entry.
std::string words(const std::string& entry) {
    REQUIRE(entry.back() == '\n');
    const auto json = Json::parse(entry);
    REQUIRE(json);
    const Json context = json->at("context");
    const std::string end = json_is_true(context.at("eof").get()) ? "eof" : context.string_at("data").value_or("");
    return json->string_at("name").value_or("") + " " + context.string_at("stream").value_or("") + " " + end;
}

std::vector<std::string> all_words(const std::vector<std::string>& entries) {
    std::vector<std::string> out;
    for (const std::string& entry : entries) {
        out.push_back(words(entry));
    }
    return out;
}

using Words = std::vector<std::string>;

}  // namespace

TEST_CASE("output eventlog: a line an entry, a part of a line when the job is over, then the ends") {
    EventlogFiles files;
    OutputEventlog log(files.output, "f1", "0", 1.5);
    files.print(OutputStream::out, "a\nb\nhalf");
    files.print(OutputStream::err, "wrong\n");
    CHECK(all_words(log.next(false, 2)) ==
          Words{"header  ", "data stdout a\n", "data stdout b\n", "data stderr wrong\n"});
    CHECK(log.next(false, 2).empty());
    files.print(OutputStream::out, " line\nlast");
    CHECK(all_words(log.next(true, 3)) ==
          Words{"data stdout half line\n", "data stdout last", "data stdout eof", "data stderr eof"});
    CHECK(log.is_at_end());
    CHECK(log.next(true, 3).empty());
}

TEST_CASE("output eventlog: a job without files has a header and ends") {
    EventlogFiles files;
    OutputEventlog log(files.output, "f9", "0-3", 1.5);
    CHECK(all_words(log.next(true, 2)) == Words{"header  ", "data stdout eof", "data stderr eof"});
}

TEST_CASE("output eventlog: bytes that are no text are base64, and a long line comes in pieces") {
    EventlogFiles files;
    files.print(OutputStream::out, std::string("\xff\0\n", 3));
    std::string long_line(100000, 'x');
    long_line += '\n';  // `+ "\n"` of a temporary is an overflow to g++ 12 with the thread sanitizer
    files.print(OutputStream::out, long_line);
    OutputEventlog log(files.output, "f1", "0", 1.5);
    const auto entries = log.next(true, 2);
    REQUIRE(entries.size() == 6);
    CHECK(Json::parse(entries[1])->at("context").string_at("encoding") == "base64");
    CHECK(words(entries[1]) == "data stdout /wAK");
    CHECK(words(entries[2]).size() + words(entries[3]).size() == 100001 + 2 * 12);
}

TEST_CASE("output eventlog: more output than one piece comes in order and whole") {
    EventlogFiles files;
    std::string text;
    for (int i = 0; text.size() < 600000; ++i) {
        text += std::to_string(i) + "\n";
    }
    files.print(OutputStream::out, text);
    OutputEventlog log(files.output, "f1", "0", 1.5);
    std::string got;
    std::size_t most = 0;
    while (!log.is_at_end()) {
        const auto entries = log.next(true, 2);
        REQUIRE(!entries.empty());
        most = std::max(most, entries.size());
        for (const std::string& entry : entries) {
            got += Json::parse(entry)->at("context").string_at("data").value_or("");
        }
    }
    CHECK(most <= 1024 + 2);
    CHECK(got == text);
}

TEST_CASE("output eventlog: what a job writes between two pieces is not lost when it has ended") {
    EventlogFiles files;
    for (int i = 0; i < 1500; ++i) {
        files.print(OutputStream::out, "x\n");
    }
    files.print(OutputStream::out, "ha");
    OutputEventlog log(files.output, "f1", "0", 1.5);
    CHECK(log.next(false, 2).size() == 1 + 1024);
    files.print(OutputStream::out, "lf\nlast");
    CHECK(log.next(true, 2).size() == 1500 - 1024);
    CHECK(all_words(log.next(true, 3)) ==
          Words{"data stdout half\n", "data stdout last", "data stdout eof", "data stderr eof"});
}

TEST_CASE("output eventlog: a file that the user named is told, not read") {
    EventlogFiles files;
    const std::string mine = (files.path / "mine").string();
    close(*files.output.open("f1", mine, OutputStream::out));
    OutputEventlog log(files.output, "f1", "0", 1.5);
    const auto entries = log.next(true, 2);
    REQUIRE(entries.size() == 4);
    CHECK(words(entries[1]) == "redirect stdout ");
    CHECK(Json::parse(entries[1])->at("context").string_at("path") == mine);
}
