// SPDX-License-Identifier: LGPL-3.0-only
// Owns: an instance's keys beside the policy's, and module arguments. See settings.hpp.
#include "libsched/config/settings.hpp"

#include <cmath>
#include <limits>

#include "libfairshare/base/json/json.hpp"
#include "libfairshare/base/text/toml_json.hpp"
#include "libsched/config/policy_keys.hpp"

namespace weir::config {
namespace {

void read_users(Reader& reader, const json_t* table, std::map<std::string, std::uint32_t>& into) {
    std::map<std::uint32_t, std::string> by_id;
    reader.table("users", table, "must be a table: [weir.users] with lines such as alice = 5001",
                 [&](const std::string& name, const json_t* value) {
                     const json_int_t id = json_is_integer(value) ? json_integer_value(value) : -1;
                     if (id < 0 || id >= std::numeric_limits<std::uint32_t>::max()) {
                         reader.complain("users." + name, value, "must be a numeric user id");
                         return;
                     }
                     const auto userid = static_cast<std::uint32_t>(id);
                     if (const auto [other, is_new] = by_id.emplace(userid, name); !is_new) {
                         reader.complain("users." + name, value, "is already the id of " + other->second);
                         return;
                     }
                     into[name] = userid;
                 });
}

struct InstanceKey {
    std::string_view name;
    void (*read)(Reader&, const json_t*, Settings&);
};
constexpr double head_depth_max = 100000;
constexpr auto elsewhere = [](Reader&, const json_t*, Settings&) {};  // another module reads it

const std::array<InstanceKey, 12> instance_keys{{
    {"share-tree",
     [](Reader& r, const json_t* v, Settings& s) {
         r.text("share-tree", v, s.share_tree);
         s.is_share_tree_named = true;
     }},
    {"state", [](Reader& r, const json_t* v, Settings& s) { r.text("state", v, s.state); }},
    {"plugin", [](Reader& r, const json_t* v, Settings& s) { r.text("plugin", v, s.plugin); }},
    {"enforce", [](Reader& r, const json_t* v, Settings& s) { r.flag("enforce", v, s.is_enforced); }},
    {"parent-factors",
     [](Reader& r, const json_t* v, Settings& s) { r.flag("parent-factors", v, s.takes_parent_factors); }},
    {"push",
     [](Reader& r, const json_t* v, Settings& s) {
         r.choice<PushRule>(
             "push", v, {{"head", PushRule::head}, {"numbers", PushRule::numbers}, {"order", PushRule::order}}, s.push);
     }},
    {"head-depth",
     [](Reader& r, const json_t* v, Settings& s) {
         double depth = 0;
         r.number("head-depth", v, 0, head_depth_max, depth);
         if (depth != std::floor(depth)) {
             r.complain("head-depth", v, "must be a whole number");
         }
         s.head_depth = static_cast<std::uint32_t>(depth);
     }},
    {"push-rate",
     [](Reader& r, const json_t* v, Settings& s) {
         double rate = 0;
         r.number("push-rate", v, 0.1, 1e6, rate);
         s.push_rate = rate;
     }},
    {"push-error", [](Reader& r, const json_t* v, Settings& s) { r.number("push-error", v, s.push_error); }},
    {"unavail-timeout",
     [](Reader& r, const json_t* v, Settings&) {
         Duration ignored{};  // the plugin's key: only checked here
         r.duration("unavail-timeout", v, Duration{}, ignored);
     }},
    {"users", [](Reader& r, const json_t* v, Settings& s) { read_users(r, v, s.users); }},
    {"route", elsewhere},
}};

std::string known_keys() {
    std::string names = policy_key_names();
    for (const InstanceKey& key : instance_keys) {
        names += ", " + std::string(key.name);
    }
    return names;
}

void read_key(Reader& reader, const std::string& key, const json_t* value, Settings& settings) {
    if (read_policy_key(reader, key, value, settings)) {
        return;
    }
    for (const InstanceKey& known : instance_keys) {
        if (known.name == key) {
            known.read(reader, value, settings);
            return;
        }
    }
    reader.unknown(key, value, known_keys());
}

/// A module argument's value: a JSON number, true, false, or else text.
Json argument_value(const std::string& text) {
    if (Result<Json> scalar = Json::parse(text);
        scalar && (json_is_number(scalar->get()) || json_is_boolean(scalar->get()))) {
        return std::move(*scalar);
    }
    return Json::string(text);
}

void read_argument(Reader& reader, const std::string& argument, Settings& settings) {
    const std::size_t equals = argument.find('=');
    const bool is_utf8 = Json::own(json_stringn(argument.data(), argument.size())).get() != nullptr;
    if (!is_utf8 || equals == std::string::npos || equals == 0) {
        reader.complain("module argument '" + argument + "' must be key=value, such as update-interval=1s");
        return;
    }
    std::string key = argument.substr(0, equals);
    Json value = argument_value(argument.substr(equals + 1));
    for (std::size_t dot = key.rfind('.'); dot != std::string::npos; dot = key.rfind('.')) {
        Json outer = Json::object();
        outer.set(key.substr(dot + 1).c_str(), std::move(value));
        value = std::move(outer);
        key.resize(dot);
    }
    read_key(reader, key, value.get(), settings);
}

}  // namespace

Result<Settings> read_settings(const json_t* table, const std::vector<std::string>& arguments, const KeyPlace& place) {
    Settings settings;
    Reader reader(place);
    if (table != nullptr && !json_is_object(table)) {
        return Error{std::errc::invalid_argument, (place ? place("") : "") + "[weir] must be a table"};
    }
    const char* key = nullptr;
    json_t* value = nullptr;
    json_object_foreach(const_cast<json_t*>(table), key, value) {  // it only walks
        read_key(reader, key, value, settings);
    }
    Reader argument_reader;
    for (const std::string& argument : arguments) {
        read_argument(argument_reader, argument, settings);
    }
    if (!argument_reader.complaints().empty()) {
        reader.complain(argument_reader.complaints());
    }
    if (!reader.complaints().empty()) {
        return Error{std::errc::invalid_argument, reader.complaints()};
    }
    finish_policy(settings);
    return settings;
}

Result<Settings> read_settings_toml(std::string_view text, const std::string& name,
                                    const std::vector<std::string>& arguments) {
    TomlPlaces places;
    const Result<json_t*> document = toml_to_json(text, name, &places);
    if (!document) {
        return document.error();
    }
    const Json owned = Json::own(*document);
    return read_settings(json_object_get(owned.get(), "weir"), arguments,
                         [&](const std::string& key) { return places.of("weir." + key); });
}

}  // namespace weir::config
