// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see json.hpp.
#include "t/oracle/libfairshare/json.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>

namespace weir::testing {

Json load_json(const std::filesystem::path& file) {
    json_error_t error;
    Json loaded{json_load_file(file.c_str(), 0, &error)};
    if (!loaded) {
        FAIL(file << ": " << error.text);
    }
    return loaded;
}

std::vector<std::filesystem::path> oracle_files(const std::string& part) {
    std::vector<std::filesystem::path> files;
    const char* source = std::getenv("WEIR_SOURCE_DIR");
    const char* more = std::getenv("WEIR_ORACLES");
    std::vector<std::filesystem::path> folders{std::filesystem::path{source != nullptr ? source : "."} /
                                               "t/oracle/libfairshare" / part};
    if (more != nullptr) {
        folders.push_back(std::filesystem::path{more} / part);
    }
    for (const auto& folder : folders) {
        for (const auto& entry : std::filesystem::recursive_directory_iterator{folder}) {
            if (entry.path().extension() == ".json") {
                files.push_back(entry.path());
            }
        }
    }
    std::sort(files.begin(), files.end());
    return files;
}

std::string text_at(const json_t* object, const char* key) {
    const char* text = json_string_value(json_object_get(object, key));
    return text == nullptr ? std::string{} : std::string{text};
}

}  // namespace weir::testing
