// SPDX-License-Identifier: LGPL-3.0-only
// Owns: reading the oracle files. Must not know: what is in them.
#pragma once
#include <jansson.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace weir::testing {

struct JsonFree {
    void operator()(json_t* value) const { json_decref(value); }
};
using Json = std::unique_ptr<json_t, JsonFree>;

/// Fails the test where the file is no JSON.
Json load_json(const std::filesystem::path& file);

/// The JSON files of t/oracle/libfairshare/<part> and of every folder below $WEIR_ORACLES/<part>, sorted.
std::vector<std::filesystem::path> oracle_files(const std::string& part);

/// Empty where the key is missing or no string.
std::string text_at(const json_t* object, const char* key);

}  // namespace weir::testing
