// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the broker's configuration: TOML files read once into a JSON object. Files are merged table by table in the
// order given, later values win. Must not know what any key means. Source: flux-config(5).
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "broker/services/json.hpp"
#include "libfairshare/base/result.hpp"

namespace weir::broker {

/// One TOML text as a JSON object. Dates become ISO 8601 strings.
/// @return an error that names `name`:line:column and what is wrong.
Result<Json> parse_toml(std::string_view text, const std::string& name);

/// Reads files; a directory stands for its *.toml in name order.
/// @return an error that names the file, and line and column where it has them.
Result<Json> load_config(const std::vector<std::string>& paths);

}  // namespace weir::broker
