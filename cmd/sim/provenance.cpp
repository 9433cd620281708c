// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the members of "provenance", and settings side by side.
#include "cmd/sim/provenance.hpp"

#include <algorithm>

namespace weir::cmd {
namespace {

Json file_json(const SourceFile& file) {
    Json out = Json::object();
    out.set("path", file.path);
    if (file.sha256) {
        out.set("sha256", *file.sha256);
    } else {
        out.set("sha256", Json::own(json_null()));
    }
    return out;
}

/// Dotted keys and their values as text.
void flatten(const json_t* value, const std::string& path, std::map<std::string, std::string>& into) {
    if (!json_is_object(value) || json_object_size(value) == 0) {
        into[path] = json_is_string(value) ? json_string_value(value) : Json::ref(const_cast<json_t*>(value)).dump();
        return;
    }
    const char* key = nullptr;
    json_t* inner = nullptr;
    json_object_foreach(const_cast<json_t*>(value), key, inner) {  // it only walks
        flatten(inner, path.empty() ? key : path + "." + key, into);
    }
}

}  // namespace

Json source_files_json(const std::vector<SourceFile>& files) {
    Json out = Json::array();
    for (const SourceFile& file : files) {
        out.append(file_json(file));
    }
    return out;
}

Json provenance_json(const Provenance& provenance) {
    Json words = Json::array();
    for (const std::string& word : provenance.command) {
        words.append(Json::string(word));
    }
    Json out = Json::object();
    out.set("weir", provenance.version)
        .set("command", std::move(words))
        .set("log", file_json(provenance.log))
        .set("seed", provenance.seed);
    return out;
}

SettingRows setting_rows(const Provenance& provenance, const std::vector<std::string>& names) {
    std::map<std::string, std::vector<std::string>> by_key;
    for (std::size_t i = 0; i < names.size(); ++i) {
        const auto policy = provenance.policies.find(names[i]);
        const auto settings =
            policy != provenance.policies.end() ? Json::parse(policy->second.settings) : Result<Json>(Json::object());
        std::map<std::string, std::string> flat;
        if (settings) {
            flatten(settings->get(), "", flat);
        }
        for (const auto& [key, value] : flat) {
            by_key.try_emplace(key, names.size(), "-").first->second[i] = value;
        }
    }
    SettingRows out;
    for (const bool is_differing : {true, false}) {
        for (const auto& [key, values] : by_key) {
            const bool differs = std::any_of(values.begin(), values.end(),
                                             [&, &first = values.front()](const auto& v) { return v != first; });
            if (differs == is_differing) {
                out.rows.push_back({key});
                out.rows.back().insert(out.rows.back().end(), values.begin(), values.end());
            }
        }
        out.differing = is_differing ? out.rows.size() : out.differing;
    }
    return out;
}

}  // namespace weir::cmd
