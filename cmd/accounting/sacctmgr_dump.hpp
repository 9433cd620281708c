// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the syntax of the file that `sacctmgr dump` writes: lines such as "User - 'alice':FairShare=2:QOS='a,b'".
// Must not know: what keys mean, share trees. Source: Slurm 25.11, sacctmgr(1).
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "libfairshare/base/result.hpp"

namespace weir::cmd {

enum class DumpTitle { qos, cluster, parent, account, user };

struct DumpField {
    std::string key;         ///< in small letters
    std::string_view value;  ///< without its quotes; never empty
    std::string_view text;   ///< "QOS='a,b'", as written
};

struct DumpLine {
    std::size_t number = 0;  ///< the first is 1
    DumpTitle title = DumpTitle::user;
    std::string_view name;
    std::vector<DumpField> fields;  ///< in the line's order
};

/// More than a line of a real file has.
inline constexpr std::size_t dump_line_max = 65536;

/// "cluster.cfg:12".
std::string dump_place(const std::string& file, std::size_t line);
/// ASCII letters only. Slurm keeps names of accounts in small letters.
std::string in_small_letters(std::string_view text);

/// The lines that are neither empty nor comments, as views of the text. Values may be in single or double quotes; a
/// quote ends where a colon, a comment or the end of the line follows, so that 'O'Neill' is one value. The colon in
/// gres/gpu:a100=4 is part of the value. Keys without a value are skipped, as Slurm does. Lines end by LF or CRLF; a
/// byte order mark in front is skipped. O(size).
/// Errors: EINVAL with a sentence that names file and line.
Result<std::vector<DumpLine>> read_dump(std::string_view text, const std::string& file);

}  // namespace weir::cmd
