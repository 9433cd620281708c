// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the mark by which a demo knows its own folder.
#include "cmd/demo/folder.hpp"

#include <filesystem>

#include "cmd/common/client.hpp"
#include "cmd/common/folders.hpp"
#include "cmd/instance/broker_process.hpp"

namespace weir::cmd {
namespace {

namespace fs = std::filesystem;
constexpr const char* mark = ".weir-demo";

fs::path default_folder() {
    const fs::path build = fs::path(program_folder()).parent_path();
    std::error_code ignored;
    if (!fs::exists(build / "CMakeCache.txt", ignored)) {
        return fs::current_path(ignored) / "weir-demo";
    }
    return build.parent_path().filename() == "build" ? build.parent_path() / "demo" : build / "demo";
}

}  // namespace

Result<DemoFolder> make_demo_folder(const std::string& given) {
    std::error_code problem;
    const fs::path folder = given.empty() ? default_folder() : fs::absolute(given);
    if (fs::exists(folder, problem) && !fs::is_empty(folder, problem) && !fs::exists(folder / mark, problem)) {
        return Error{std::errc::file_exists,
                     folder.string() + " has files that are not a demo's. Choose another folder: --dir DIR"};
    }
    const fs::path rundir = folder / "run";
    if (const auto client = Client::open("local://" + (rundir / "local-0").string(), holder_answer_s);
        client || client.error().code == std::errc::timed_out) {
        return Error{std::errc::address_in_use,
                     "a demo is running in " + folder.string() + ". Wait for it, or choose another folder: --dir DIR"};
    }
    if (const auto is_made = make_private_tree(folder.string()); !is_made) {
        return is_made.error();
    }
    for (const fs::directory_entry& entry : fs::directory_iterator(folder, problem)) {
        if (entry.path().filename() != mark) {
            fs::remove_all(entry.path(), problem);
        }
    }
    if (problem) {
        return Error{std::errc::permission_denied, "cannot use " + folder.string() + ": " + problem.message()};
    }
    const auto is_marked = broker::write_private_file((folder / mark).string(),
                                                      "Files of the last weir demo; each run empties this folder.\n");
    if (!is_marked) {
        return is_marked.error();
    }
    return DemoFolder{folder.string(), rundir.string(), (folder / "state").string()};
}

}  // namespace weir::cmd
