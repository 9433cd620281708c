// SPDX-License-Identifier: LGPL-3.0-only
// Owns: finding, reading and merging configuration files. Must not know TOML's grammar nor any key.
#include "broker/core/config.hpp"

#include <algorithm>
#include <filesystem>

#include "libfairshare/text/text_file.hpp"
#include "libfairshare/text/toml_json.hpp"

namespace weir::broker {
namespace {

namespace fs = std::filesystem;

void merge(json_t* into, json_t* from) {
    const char* key = nullptr;
    json_t* value = nullptr;
    json_object_foreach(from, key, value) {
        json_t* old = json_object_get(into, key);
        if (json_is_object(old) && json_is_object(value)) {
            merge(old, value);
        } else {
            json_object_set(into, key, value);
        }
    }
}

Result<std::vector<std::string>> expand(const std::string& path) {
    std::error_code failed;
    if (!fs::is_directory(path, failed)) {
        return std::vector<std::string>{path};
    }
    std::vector<std::string> files;
    for (const auto& entry : fs::directory_iterator(path, failed)) {
        if (entry.path().extension() == ".toml") {
            files.push_back(entry.path().string());
        }
    }
    if (failed) {
        return Error{std::errc::io_error, path + ": " + failed.message()};
    }
    std::sort(files.begin(), files.end());
    return files;
}

}  // namespace

Result<Json> parse_toml(std::string_view text, const std::string& name) {
    const auto document = toml_to_json(text, name);
    if (!document) {
        return document.error();
    }
    return Json::take(*document);
}

Result<Json> load_config(const std::vector<std::string>& paths) {
    Json config = Json::object();
    for (const std::string& path : paths) {
        auto files = expand(path);
        if (!files) {
            return files.error();
        }
        for (const std::string& file : *files) {
            const auto text = read_text_file(file);
            if (!text) {
                return Error{text.error().code,
                             file + ": cannot read this configuration file: " + text.error().message};
            }
            const auto part = parse_toml(*text, file);
            if (!part) {
                return part.error();
            }
            merge(config.get(), part->get());
        }
    }
    return config;
}

}  // namespace weir::broker
