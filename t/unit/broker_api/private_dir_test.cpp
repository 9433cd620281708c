// SPDX-License-Identifier: LGPL-3.0-only
// What may be trusted as a run directory or state directory, and writing into one.
#include "broker/api/private_dir.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

using namespace weir::broker;
namespace fs = std::filesystem;

namespace {

struct TempDir {
    std::string path;
    TempDir() {
        char name[] = "/tmp/weir-private-XXXXXX";
        path = ::mkdtemp(name);
    }
    ~TempDir() { fs::remove_all(path); }
    std::string operator/(const std::string& name) const { return path + "/" + name; }
};

unsigned mode_of(const std::string& path) {
    struct stat about {};
    REQUIRE(::lstat(path.c_str(), &about) == 0);
    return about.st_mode & 07777;
}

std::string text_of(const std::string& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
}

}  // namespace

TEST_CASE("private directory: made with mode 0700, taken again when it is there") {
    TempDir tmp;
    const auto made = make_private_dir(tmp / "run");
    REQUIRE(made);
    CHECK(*made);
    CHECK(mode_of(tmp / "run") == 0700);
    const auto again = make_private_dir(tmp / "run");
    REQUIRE(again);
    CHECK_FALSE(*again);
}

TEST_CASE("private directory: one that others may write to is refused with what to do") {
    TempDir tmp;
    for (const unsigned mode : {0777u, 01777u, 0770u, 0702u}) {
        fs::create_directory(tmp / "run");
        ::chmod((tmp / "run").c_str(), mode);
        const auto checked = make_private_dir(tmp / "run");
        REQUIRE_FALSE(checked);
        CHECK(checked.error().code == std::errc::operation_not_permitted);
        CHECK(checked.error().message.find(tmp / "run") == 0);
        CHECK(checked.error().message.find("chmod go-w") != std::string::npos);
    }
    ::chmod((tmp / "run").c_str(), 0755);
    CHECK(make_private_dir(tmp / "run"));
}

TEST_CASE("private directory: another user's directory and another user's link to one's own are refused") {
    if (::geteuid() != 0) {
        WARN("skipped: only root can give a directory away");
        return;
    }
    TempDir tmp;
    fs::create_directory(tmp / "theirs");
    REQUIRE(::chown((tmp / "theirs").c_str(), 65534, 65534) == 0);
    const auto theirs = make_private_dir(tmp / "theirs");
    REQUIRE_FALSE(theirs);
    CHECK(theirs.error().message.find("belongs to user 65534, not to user 0") != std::string::npos);
    fs::create_directory(tmp / "own");
    fs::create_directory_symlink(tmp / "own", tmp / "link");
    CHECK(check_private_dir(tmp / "link"));
    REQUIRE(::lchown((tmp / "link").c_str(), 65534, 65534) == 0);
    for (const char* name : {"link", "link/"}) {
        const auto linked = check_private_dir(tmp / name);
        REQUIRE_FALSE(linked);
        CHECK(linked.error().message.find("is a symbolic link that user 65534 made") != std::string::npos);
    }
}

TEST_CASE("private directory: what is missing or no directory is named") {
    TempDir tmp;
    CHECK(check_private_dir(tmp / "none").error().code == std::errc::no_such_file_or_directory);
    std::ofstream(tmp / "file") << "x";
    CHECK(check_private_dir(tmp / "file").error().code == std::errc::not_a_directory);
    CHECK(make_private_dir(tmp / "file/below").error().message.find(tmp / "file/below") != std::string::npos);
}

TEST_CASE("private file: takes the name's place and follows no link") {
    TempDir tmp;
    std::ofstream(tmp / "precious") << "mine";
    ::chmod((tmp / "precious").c_str(), 0600);
    fs::create_symlink(tmp / "precious", tmp / "settings.toml");
    fs::create_symlink(tmp / "precious", tmp / "settings.toml.new");
    REQUIRE(write_private_file(tmp / "settings.toml", "a = 1\n"));
    CHECK(text_of(tmp / "precious") == "mine");
    CHECK_FALSE(fs::is_symlink(tmp / "settings.toml"));
    CHECK(text_of(tmp / "settings.toml") == "a = 1\n");
    CHECK(mode_of(tmp / "settings.toml") == 0600);
    CHECK_FALSE(fs::exists(tmp / "settings.toml.new"));
}

TEST_CASE("private file: what cannot be written is named and leaves what was there") {
    TempDir tmp;
    REQUIRE(write_private_file(tmp / "a", "old"));
    fs::create_directory(tmp / "a.new");
    const auto failed = write_private_file(tmp / "a", "new");
    REQUIRE_FALSE(failed);
    CHECK(failed.error().message.find(tmp / "a") != std::string::npos);
    CHECK(text_of(tmp / "a") == "old");
}
