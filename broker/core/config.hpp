// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the broker's configuration: TOML files read once into a JSON object. Files are merged table by table in the
// order given, later values win. Must not know what a key means, but for
// the file that [weir] share-tree names. Source: flux-config(5).
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "libfairshare/base/json/json.hpp"
#include "libfairshare/base/result.hpp"
#include "libfairshare/base/text/toml_json.hpp"

namespace weir::broker {

/// A file of the command line, or a directory that stands for its *.toml in name order.
struct ConfigSource {
    std::string path;
    bool is_inherited = false;  ///< only the tables that a partition reads from its parent's file
};

struct LoadedConfig {
    Json config = Json::object();
    TomlPlaces places;
};

/// One TOML text as a JSON object. Dates become ISO 8601 strings.
/// \return an error that names `name`:line:column and what is wrong.
Result<Json> parse_toml(std::string_view text, const std::string& name, TomlPlaces* places = nullptr);

/// A relative [weir] share-tree of a source behind the first becomes a path beside its file; that of the first stays.
/// \return an error that names the file, and line and column where it has them.
Result<LoadedConfig> load_config(const std::vector<ConfigSource>& sources);

/// The value at a path from the top, as "weir.weights.wait"; nothing where there is none.
Json value_at(const Json& config, const std::string& path);

/// A complaint of a module or the broker, with the key's position and value added. Lines that begin with a key, as
/// "access.allow-guest-user must be true or false" or "[weir] half-life = 3: must be ...", become "site.toml:3:
/// [access] allow-guest-user = 1: must be true or false"; others stay.
std::string explained(const std::string& complaint, const LoadedConfig& config);

}  // namespace weir::broker
