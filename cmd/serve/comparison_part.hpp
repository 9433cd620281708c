// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the part of the page that shows a comparison of policies, from the JSON of `weir sim compare`.
#pragma once
#include <string>

#include "libfairshare/base/result.hpp"

namespace weir::cmd {

/// HTML with picture 6 from the text of "weir.sim-compare/1". Errors: it is no comparison, or one of an older version,
/// which has no distances.
Result<std::string> comparison_part_of(const std::string& json);
/// The same of a file of at most 64 MiB. Errors: the file cannot be read.
Result<std::string> comparison_part(const std::string& path);

}  // namespace weir::cmd
