// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see output_paths.hpp.
#include "cmd/sim/output_paths.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

namespace weir::cmd {
namespace {

bool is_same(const struct stat& a, const struct stat& b) {
    return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/// "-", /dev/stdout and alike, or the file into which the shell directs stdout. /dev/null holds nothing to be lost.
bool is_stdout(const std::string& path) {
    struct stat own {
    }, out{};
    if (path == "-") {
        return true;
    }
    const bool is_null = fstat(STDOUT_FILENO, &out) != 0 || (S_ISCHR(out.st_mode) && isatty(STDOUT_FILENO) == 0);
    return !is_null && stat(path.c_str(), &own) == 0 && is_same(own, out);
}

std::string canonical(const std::string& path) {
    std::error_code error;
    const auto whole = std::filesystem::weakly_canonical(std::filesystem::absolute(path, error), error);
    return error ? path : whole.string();
}

/// Streams are never the same: what is written to them replaces nothing.
bool are_one(const std::string& a, const std::string& b) {
    struct stat of_a {
    }, of_b{};
    const bool is_a = stat(a.c_str(), &of_a) == 0;
    const bool is_b = stat(b.c_str(), &of_b) == 0;
    if (is_a && is_b) {
        return S_ISREG(of_a.st_mode) && is_same(of_a, of_b);
    }
    return !is_a && !is_b && canonical(a) == canonical(b);
}

std::string text_of(const NamedFile& output) {
    return output.what + "=" + output.path;
}

Error conflict(const std::string& sentence) {
    return Error{std::errc::invalid_argument, sentence};
}

}  // namespace

std::vector<NamedFile> outputs_of(const Args& args, const std::vector<std::string>& options) {
    std::vector<NamedFile> outputs;
    for (const std::string& option : options) {
        if (args.has(option)) {
            outputs.push_back({"--" + option, args.text(option)});
        }
    }
    return outputs;
}

Status check_outputs(const Context& context, const std::vector<NamedFile>& outputs,
                     const std::vector<NamedFile>& inputs) {
    const NamedFile* on_stdout = nullptr;
    for (const NamedFile& output : outputs) {
        for (const NamedFile& input : inputs) {
            if (are_one(output.path, input.path == "-" ? "/dev/stdin" : input.path)) {
                return conflict(text_of(output) + " is the same file as " + input.what + " " + input.path +
                                ", which would be lost. Name another file.");
            }
        }
        for (const NamedFile& other : outputs) {
            if (&other == &output) {
                break;
            }
            if (are_one(output.path, other.path)) {
                return conflict(text_of(other) + " and " + text_of(output) + " are the same file. Name two files.");
            }
        }
        if (!is_stdout(output.path)) {
            continue;
        }
        if (on_stdout != nullptr || context.json || !context.args.has("quiet")) {
            const std::string other = on_stdout != nullptr ? text_of(*on_stdout)
                                      : context.json       ? "--json"
                                                           : "the figures";
            return conflict(text_of(output) + " and " + other + " cannot both go to stdout. Name a file" +
                            (on_stdout != nullptr || context.json ? "." : ", or leave the figures out: --quiet"));
        }
        on_stdout = &output;
    }
    return Done{};
}

}  // namespace weir::cmd
