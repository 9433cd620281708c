// SPDX-License-Identifier: LGPL-3.0-only
#include "broker/services/job_folder.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>

using namespace weir;
using namespace weir::broker;

namespace {

struct FolderHome {
    FolderHome() : path(std::filesystem::temp_directory_path() / ("weir-folder-test-" + std::to_string(getpid()))) {
        std::filesystem::create_directories(path);
        std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    }
    ~FolderHome() { std::filesystem::remove_all(path); }
    std::filesystem::path path;
};

Json files(const std::string& text) {
    return std::move(*Json::parse(text));
}

std::string content(const std::string& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace

TEST_CASE("job folder: files come with their modes and in each encoding") {
    FolderHome dir;
    JobFolders folders(dir.path.string());
    const auto folder = folders.make("f1", files(R"({"script":{"mode":33216,"encoding":"utf-8","data":"#!/bin/sh\n"},
        "b":{"encoding":"base64","data":"AAE="},"conf.json":{"mode":33152,"data":{"a":1}},
        "link":{"mode":41471,"encoding":"utf-8","data":"script"}})"));
    REQUIRE(folder);
    CHECK(content(*folder + "/script") == "#!/bin/sh\n");
    struct stat about {};
    REQUIRE(stat((*folder + "/script").c_str(), &about) == 0);
    CHECK((about.st_mode & 0777) == 0700);
    CHECK(content(*folder + "/b") == std::string("\0\1", 2));
    CHECK(content(*folder + "/conf.json") == "{\"a\":1}");
    CHECK(std::filesystem::read_symlink(*folder + "/link") == "script");
    folders.remove("f1");
    CHECK_FALSE(std::filesystem::exists(*folder));
}

// Kills: a name that leads out of the folder.
TEST_CASE("job folder: a name with a path is refused and nothing is left") {
    FolderHome dir;
    JobFolders folders(dir.path.string());
    for (const char* name : {"../out", "/tmp/x", "a/b", "..", ".", ""}) {
        const std::string text = std::string(R"({")") + name + R"(":{"encoding":"utf-8","data":"x"}})";
        const auto folder = folders.make("f1", files(text));
        REQUIRE_FALSE(folder);
        CHECK(folder.error().message.find("must be the name of a file") != std::string::npos);
        CHECK_FALSE(std::filesystem::exists(dir.path / "jobtmp" / "f1"));
        CHECK_FALSE(std::filesystem::exists(dir.path / "jobtmp" / "out"));
    }
}

TEST_CASE("job folder: an encoding or a kind that is not known is named") {
    FolderHome dir;
    JobFolders folders(dir.path.string());
    const auto blob = folders.make("f1", files(R"({"x":{"encoding":"blobvec","data":[]}})"));
    REQUIRE_FALSE(blob);
    CHECK(blob.error().message.find(
              "files.x: must have data in utf-8, in base64 or as JSON, not in encoding blobvec") != std::string::npos);
    CHECK_FALSE(folders.make("f1", files(R"({"d":{"mode":16832,"encoding":"utf-8","data":""}})")));
}

TEST_CASE("job folder: what a killed broker left is removed") {
    FolderHome dir;
    std::filesystem::create_directories(dir.path / "jobtmp" / "f0");
    JobFolders folders(dir.path.string());
    CHECK_FALSE(std::filesystem::exists(dir.path / "jobtmp" / "f0"));
    CHECK(folders.make("f1", {}));
}
