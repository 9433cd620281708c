// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the provenance of a comparison, so that it can be reproduced and its policies distinguished. Must not know
// figures.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "libfairshare/base/json/json.hpp"

namespace weir::cmd {

/// A file that was read. `sha256` of its bytes; nothing if they cannot be read again (a pipe).
struct SourceFile {
    std::string path;
    std::optional<std::string> sha256;
};

struct PolicySource {
    std::vector<SourceFile> files;  ///< the policy's, then its share tree's and its site values'
    std::string settings;           ///< JSON: all that is in force, defaults included (policy_file.hpp)
};

struct Provenance {
    std::string version;               ///< Weir's
    std::vector<std::string> command;  ///< words of the command line
    SourceFile log;
    std::uint64_t seed = 0;                        ///< of the sample of fair starts
    std::map<std::string, PolicySource> policies;  ///< by name
};

/// "provenance" of "weir.sim-compare/1"; the sources of a policy are in the policy's part.
Json provenance_json(const Provenance& provenance);
Json source_files_json(const std::vector<SourceFile>& files);

/// Settings as rows: a dotted key, then its value under each policy, "-" for none. The first `differing` rows are those
/// that differ.
struct SettingRows {
    std::vector<std::vector<std::string>> rows;
    std::size_t differing = 0;
};
/// `names`: the columns.
SettingRows setting_rows(const Provenance& provenance, const std::vector<std::string>& names);

}  // namespace weir::cmd
