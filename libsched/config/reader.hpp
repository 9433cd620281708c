// SPDX-License-Identifier: LGPL-3.0-only
// Owns: reading checked values from the [weir] table, and collecting every complaint. Must not know which keys there
// are.
#pragma once
#include <jansson.h>

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "libfairshare/base/result.hpp"
#include "libfairshare/base/time.hpp"

namespace weir::config {

inline constexpr double weight_max = 4e9;
inline constexpr Duration duration_min = std::chrono::seconds(1);
inline constexpr Duration duration_max = std::chrono::hours(24 * 36525);  // a hundred years: the ledger's limit

/// The position of a key, as the beginning of a complaint: "site.toml:5: ". By the key's path from [weir].
using KeyPlace = std::function<std::string(const std::string& key)>;

/// Each function reads a value, or adds a complaint that names the key, the value and what would be right, and leaves
/// `into` unchanged. Keys are paths from [weir]: "weights.wait".
class Reader {
  public:
    explicit Reader(KeyPlace place = {}) : place_(std::move(place)) {}

    void complain(const std::string& key, const json_t* value, const std::string& right);
    void complain(const std::string& sentence);

    void text(const std::string& key, const json_t* value, std::string& into);
    void flag(const std::string& key, const json_t* value, bool& into);
    void duration(const std::string& key, const json_t* value, Duration lowest, Duration& into);
    /// From `lowest` to `highest`, both included.
    void number(const std::string& key, const json_t* value, double lowest, double highest, double& into);
    void number(const std::string& key, const json_t* value, double& into) { number(key, value, 0, weight_max, into); }
    /// One of the names in `names`.
    template <typename T>
    void choice(const std::string& key, const json_t* value, const std::map<std::string, T, std::less<>>& names,
                T& into) {
        const auto found = json_is_string(value) ? names.find(json_string_value(value)) : names.end();
        if (found != names.end()) {
            into = found->second;
            return;
        }
        std::string list;
        for (const auto& [name, meaning] : names) {
            list += (list.empty() ? "\"" : ", \"") + name + "\"";
        }
        complain(key, value, "must be one of " + list);
    }
    /// Calls visit(name, value) for each entry of a table; any other value is a complaint with `right`.
    template <typename Visit>
    void table(const std::string& key, const json_t* value, const std::string& right, Visit visit) {
        if (!json_is_object(value)) {
            complain(key, value, right);
            return;
        }
        const char* name = nullptr;
        json_t* inner = nullptr;
        json_object_foreach(const_cast<json_t*>(value), name, inner) {  // it only walks
            visit(std::string(name), static_cast<const json_t*>(inner));
        }
    }
    /// \param known the valid names, as "a, b, c"; `what` is their kind: "keys".
    void unknown(const std::string& key, const json_t* value, const std::string& known,
                 const std::string& what = "keys");

    /// One line each, in the order of the keys; empty if everything was valid.
    const std::string& complaints() const { return complaints_; }

  private:
    KeyPlace place_;
    std::string complaints_;
};

}  // namespace weir::config
