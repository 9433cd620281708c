// SPDX-License-Identifier: LGPL-3.0-only
// Owns: TOML to JSON, for every reader of a configuration. Must not know files or keys. Source: TOML 1.0.
#pragma once
#include <jansson.h>

#include <cstddef>
#include <map>
#include <string>
#include <string_view>

#include "libfairshare/base/result.hpp"

namespace weir {

/// The positions of the keys of documents. If several documents are read, the last one that has a key counts.
class TomlPlaces {
  public:
    /// The keys that follow are of this document.
    void begin(std::string name) { name_ = std::move(name); }
    void add(std::string path, std::size_t line) {
        places_.insert_or_assign(std::move(path), name_ + ":" + std::to_string(line) + ": ");
    }
    bool has(const std::string& path) const { return places_.count(path) > 0; }
    /// A table of an array has its name in the path, or its number: "partition batch.cores", "partition #2.cores".
    /// "NAME:LINE: " of a key by its path from the top ("weir.weights.wait"), or of the nearest key above it that is
    /// written; "NAME: " of the last document if there is none.
    std::string of(std::string path) const;

  private:
    std::string name_;
    std::map<std::string, std::string> places_;
};

/// The document as an object that the caller owns. Dates and times become text; inf and nan the texts "inf", "-inf",
/// "nan". `name` is for messages; `places`, if given, receives the positions of all keys. Errors: "NAME:LINE:COLUMN:
/// what".
Result<json_t*> toml_to_json(std::string_view text, const std::string& name, TomlPlaces* places = nullptr);

}  // namespace weir
