// SPDX-License-Identifier: LGPL-3.0-only
// Owns: TOML to JSON, for every reader of a configuration. Must not know files or keys. Source: TOML 1.0.
#pragma once
#include <jansson.h>

#include <string>
#include <string_view>

#include "libfairshare/base/result.hpp"

namespace weir {

/// The document as an object that the caller owns. Dates and times become text; inf and nan the texts "inf", "-inf",
/// "nan". `name` is for messages. Errors: "NAME:LINE:COLUMN: what".
Result<json_t*> toml_to_json(std::string_view text, const std::string& name);

}  // namespace weir
