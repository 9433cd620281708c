// SPDX-License-Identifier: LGPL-3.0-only
// Owns: finding, reading and merging configuration files. Must not know TOML's grammar nor any key.
#include "broker/core/config.hpp"

#include <algorithm>
#include <filesystem>
#include <sstream>

#include "libfairshare/base/json/config_changes.hpp"
#include "libfairshare/base/json/merge.hpp"
#include "libfairshare/base/text/text_file.hpp"

namespace weir::broker {
namespace {

namespace fs = std::filesystem;

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

/// As `flux broker --config-path=FILE.json`.
Result<Json> parse_json(const std::string& text, const std::string& name) {
    auto document = Json::parse(text);
    if (!document || !json_is_object(document->get())) {
        return Error{std::errc::invalid_argument,
                     name + ": " + (document ? "must be a JSON object" : document.error().message)};
    }
    return document;
}

/// [weir] without the keys that are each instance's own, and [exec], since the jobs run in the partitions. Whether this
/// instance follows its parent says nothing of its partitions.
Json inherited(const Json& config) {
    Json part = Json::object();
    for (const char* table : {"weir", "exec"}) {
        if (const Json value = config.at(table)) {
            part.set(table, Json::own(json_copy(value.get())));
        }
    }
    for (const char* own : {"route", "state", "parent-factors"}) {
        json_object_del(part.at("weir").get(), own);
    }
    return part;
}

/// [weir] share-tree of a file behind the first: as a path of its own, since job-priority knows only the place of the
/// first, and `weir start` has its own file there.
void resolve_share_tree(const Json& config, const std::string& file) {
    const Json weir = config.at("weir");
    const auto name = weir.string_at("share-tree");
    if (name && !name->empty()) {
        std::error_code failed;
        weir.share().set("share-tree", (fs::absolute(file, failed).parent_path() / *name).string());
    }
}

std::string explained_line(std::string_view line, const LoadedConfig& config) {
    constexpr std::string_view lead = "configuration key ";
    if (line.substr(0, lead.size()) == lead) {
        line.remove_prefix(lead.size());
    }
    if (!line.empty() && line[0] == '[') {  // "[weir] half-life = 3: ...": the value is there
        const std::size_t close = line.find("] ");
        if (close == std::string_view::npos) {
            return std::string(line);
        }
        const std::string_view rest = line.substr(close + 2);
        const std::string table(line.substr(1, close - 1));
        const std::string key(rest.substr(0, std::min(rest.find(" = "), rest.find(':'))));
        return (config.places.has(table) ? config.places.of(table + "." + key) : "") + std::string(line);
    }
    const std::size_t end = std::min(line.find_first_of(" :="), line.size());
    const std::string path(line.substr(0, end));
    if (!config.places.has(path.substr(0, path.find('.')))) {
        return std::string(line);
    }
    std::string_view right = line.substr(end);
    while (!right.empty() && (right[0] == ' ' || right[0] == ':')) {
        right.remove_prefix(1);
    }
    const Json value = value_at(config.config, path);
    return config.places.of(path) + key_text(path) + (value ? " = " + value.dump() : "") + ": " + std::string(right);
}

}  // namespace

Json value_at(const Json& config, const std::string& path) {
    Json value = config.share();
    std::size_t begin = 0;
    while (value && begin <= path.size()) {
        const std::size_t dot = std::min(path.find('.', begin), path.size());
        value = value.at(path.substr(begin, dot - begin).c_str());
        begin = dot + 1;
    }
    return value;
}

Result<Json> parse_toml(std::string_view text, const std::string& name, TomlPlaces* places) {
    const auto document = toml_to_json(text, name, places);
    if (!document) {
        return document.error();
    }
    return Json::own(*document);
}

Result<LoadedConfig> load_config(const std::vector<ConfigSource>& sources) {
    LoadedConfig loaded;
    for (const ConfigSource& source : sources) {
        auto files = expand(source.path);
        if (!files) {
            return files.error();
        }
        for (const std::string& file : *files) {
            const auto text = read_text_file(file);
            if (!text) {
                return Error{text.error().code,
                             file + ": cannot read this configuration file: " + text.error().message};
            }
            const auto part =
                file.ends_with(".json") ? parse_json(*text, file) : parse_toml(*text, file, &loaded.places);
            if (!part) {
                return part.error();
            }
            if (&source != &sources.front()) {
                resolve_share_tree(*part, file);
            }
            merge_tables(loaded.config.get(), (source.is_inherited ? inherited(*part) : part->share()).get());
        }
    }
    return loaded;
}

std::string explained(const std::string& complaint, const LoadedConfig& config) {
    std::string text;
    std::istringstream lines(complaint);
    for (std::string line; std::getline(lines, line);) {
        text += (text.empty() ? "" : "\n") + explained_line(line, config);
    }
    return text;
}

}  // namespace weir::broker
