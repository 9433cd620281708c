// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see toml_json.hpp.
#include "libfairshare/base/text/toml_json.hpp"

#include <toml++/toml.h>
#include <cmath>
#include <sstream>

#include "libfairshare/base/json/json.hpp"

namespace weir {
namespace {

Json to_json(const toml::node& node);

template <typename T>
std::string in_words(const T& value) {
    std::ostringstream out;
    out << value;
    return out.str();
}

Json table_to_json(const toml::table& table) {
    Json object = Json::object();
    for (const auto& [key, value] : table) {
        json_object_set(object.get(), std::string(key.str()).c_str(), to_json(value).get());
    }
    return object;
}

Json array_to_json(const toml::array& array) {
    Json list = Json::own(json_array());
    for (const toml::node& value : array) {
        json_array_append(list.get(), to_json(value).get());
    }
    return list;
}

Json to_json(const toml::node& node) {
    switch (node.type()) {
        case toml::node_type::table:
            return table_to_json(*node.as_table());
        case toml::node_type::array:
            return array_to_json(*node.as_array());
        case toml::node_type::string: {
            const std::string& text = node.as_string()->get();
            return Json::own(json_stringn(text.data(), text.size()));
        }
        case toml::node_type::integer:
            return Json::own(json_integer(node.as_integer()->get()));
        case toml::node_type::boolean:
            return Json::own(json_boolean(node.as_boolean()->get()));
        case toml::node_type::floating_point: {
            const double value = node.as_floating_point()->get();
            return std::isfinite(value) ? Json::own(json_real(value))
                                        : Json::own(json_string(value != value ? "nan"
                                                                : value > 0    ? "inf"
                                                                               : "-inf"));
        }
        case toml::node_type::date:
            return Json::own(json_string(in_words(node.as_date()->get()).c_str()));
        case toml::node_type::time:
            return Json::own(json_string(in_words(node.as_time()->get()).c_str()));
        case toml::node_type::date_time:
            return Json::own(json_string(in_words(node.as_date_time()->get()).c_str()));
        default:
            return Json::own(json_null());
    }
}

void add_places(const toml::table& table, const std::string& above, TomlPlaces& places) {
    for (const auto& [key, value] : table) {
        const std::string path = above + std::string(key.str());
        places.add(path, key.source().begin.line);
        if (const toml::table* inner = value.as_table()) {
            add_places(*inner, path + ".", places);
        } else if (const toml::array* tables = value.as_array(); tables != nullptr && tables->is_array_of_tables()) {
            std::size_t number = 0;
            for (const toml::node& element : *tables) {
                const auto name = element.at_path("name").value<std::string>();
                const std::string one = path + " " + name.value_or("#" + std::to_string(++number));
                places.add(one, element.source().begin.line);
                add_places(*element.as_table(), one + ".", places);
            }
        }
    }
}

}  // namespace

std::string TomlPlaces::of(std::string path) const {
    for (;;) {
        if (const auto found = places_.find(path); found != places_.end()) {
            return found->second;
        }
        const std::size_t dot = path.rfind('.');
        if (dot == std::string::npos) {
            return name_ + ": ";
        }
        path.resize(dot);
    }
}

/// A value that begins as a number or a word and goes on otherwise is most often a text without quotes.
std::string described(std::string_view failure) {
    const auto says = [failure](std::string_view word) { return failure.find(word) != std::string_view::npos; };
    const bool is_value = says("integer") || says("floating") || says("boolean") || says("value type") || says("date");
    return std::string(failure) + (is_value ? "; a text needs quotes, as in key = \"2d\"" : "");
}

Result<json_t*> toml_to_json(std::string_view text, const std::string& name, TomlPlaces* places) {
    try {
        const toml::table table = toml::parse(text, name);
        if (places != nullptr) {
            places->begin(name);
            add_places(table, "", *places);
        }
        return table_to_json(table).release();
    } catch (const toml::parse_error& failed) {
        const auto where = failed.source().begin;
        return Error{std::errc::invalid_argument, name + ":" + std::to_string(where.line) + ":" +
                                                      std::to_string(where.column) + ": " +
                                                      described(failed.description())};
    }
}

}  // namespace weir
