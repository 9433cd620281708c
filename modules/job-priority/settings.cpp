// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the checks of every key. See settings.hpp.
#include "modules/job-priority/settings.hpp"
#include "libsched/fsd.hpp"

#include <charconv>
#include <cmath>
#include <limits>

#include "libfairshare/json/json.hpp"

namespace weir::priority {
namespace {

constexpr Duration half_life_min = std::chrono::seconds(1);
constexpr Duration interval_min = std::chrono::milliseconds(10);
constexpr Duration duration_max = std::chrono::hours(24 * 36525);  // a hundred years: the ledger's limit
constexpr double weight_max = 4e9;

constexpr const char* known_keys =
    "share-tree, state, plugin, half-life, update-interval, wait-max, algorithm, size-favors, ageing, raw-factors, "
    "only-raises, enforce, parent-factors, unavail-timeout, weights, qos, queues, users, route";

std::string shown(const json_t* value) {
    return Json::ref(const_cast<json_t*>(value)).dump();  // dump() does not change it
}

/// One pass over the table: each reader takes a value or notes a complaint.
class Reader {
  public:
    void complain(const std::string& key, const json_t* value, const std::string& right) {
        complaints_ += (complaints_.empty() ? "" : "\n") + ("[weir] " + key + " = " + shown(value)) + ": " + right;
    }
    void complain(const std::string& sentence) { complaints_ += (complaints_.empty() ? "" : "\n") + sentence; }

    void text(const std::string& key, const json_t* value, std::string& into) {
        if (json_is_string(value)) {
            into = json_string_value(value);
        } else {
            complain(key, value, "must be text in quotes");
        }
    }
    void flag(const std::string& key, const json_t* value, bool& into) {
        if (json_is_boolean(value)) {
            into = json_is_true(value);
        } else {
            complain(key, value, "must be true or false");
        }
    }
    void choice(const std::string& key, const json_t* value, const char* first, const char* second, std::string& into) {
        std::string read = json_is_string(value) ? json_string_value(value) : "";
        if (read == first || read == second) {
            into = std::move(read);
        } else {
            complain(key, value, std::string("must be \"") + first + "\" or \"" + second + "\"");
        }
    }
    void duration(const std::string& key, const json_t* value, Duration lowest, Duration& into) {
        Result<Duration> read = Error{};
        if (json_is_string(value)) {
            read = parse_fsd(json_string_value(value));
        } else if (json_is_number(value)) {
            read = duration_from_number(json_number_value(value));
        }
        if (!read) {
            complain(key, value, "must be a duration such as \"30s\", \"1.5h\" or \"7d\"");
        } else if (*read < lowest || *read > duration_max) {
            complain(key, value, "must be from " + encode_fsd(lowest) + " to " + encode_fsd(duration_max));
        } else {
            into = *read;
        }
    }
    void number(const std::string& key, const json_t* value, double highest, double& into) {
        const double read = json_number_value(value);
        if (json_is_number(value) && std::isfinite(read) && read >= 0 && read <= highest) {
            into = read;
        } else {
            complain(key, value, "must be a number from 0 to " + std::to_string(static_cast<std::int64_t>(highest)));
        }
    }
    const std::string& complaints() const { return complaints_; }

  private:
    std::string complaints_;
};

void read_weights(Reader& reader, const json_t* table, Weights& weights) {
    const std::map<std::string, double*> by_name{{"wait", &weights.wait}, {"fairshare", &weights.fairshare},
                                                 {"qos", &weights.qos},   {"queue", &weights.queue},
                                                 {"size", &weights.size}, {"user", &weights.user}};
    if (!json_is_object(table)) {
        reader.complain("weights", table, "must be a table: [weir.weights]");
        return;
    }
    const char* key = nullptr;
    json_t* value = nullptr;
    json_object_foreach(const_cast<json_t*>(table), key, value) {
        const auto found = by_name.find(key);
        if (found == by_name.end()) {
            reader.complain(std::string("weights.") + key, value,
                            "unknown key; the weights are wait, fairshare, qos, queue, size, user");
        } else {
            reader.number(std::string("weights.") + key, value, weight_max, *found->second);
        }
    }
}

/// [weir.qos.NAME] and [weir.queues.NAME]: each has one key, priority.
void read_priorities(Reader& reader, const std::string& name, const json_t* table,
                     std::map<std::string, double>& into) {
    if (!json_is_object(table)) {
        reader.complain(name, table, "must be a table of tables: [weir." + name + ".NAME]");
        return;
    }
    const char* entry = nullptr;
    json_t* inner = nullptr;
    json_object_foreach(const_cast<json_t*>(table), entry, inner) {
        const std::string path = name + "." + entry;
        const json_t* priority = json_object_get(inner, "priority");
        if (!json_is_object(inner) || json_object_size(inner) != 1 || priority == nullptr) {
            reader.complain(path, inner, "must hold one key, priority, such as priority = 10");
            continue;
        }
        reader.number(path + ".priority", priority, weight_max, into[entry]);
    }
}

void read_users(Reader& reader, const json_t* table, std::map<std::string, std::uint32_t>& into) {
    if (!json_is_object(table)) {
        reader.complain("users", table, "must be a table: [weir.users] with lines such as alice = 5001");
        return;
    }
    const char* name = nullptr;
    json_t* value = nullptr;
    std::map<std::uint32_t, std::string> by_id;
    json_object_foreach(const_cast<json_t*>(table), name, value) {
        const json_int_t id = json_is_integer(value) ? json_integer_value(value) : -1;
        if (id < 0 || id >= std::numeric_limits<std::uint32_t>::max()) {
            reader.complain(std::string("users.") + name, value, "must be a numeric user id");
            continue;
        }
        const auto userid = static_cast<std::uint32_t>(id);
        if (const auto [other, is_new] = by_id.emplace(userid, name); !is_new) {
            reader.complain(std::string("users.") + name, value, "is already the id of " + other->second);
            continue;
        }
        into[name] = userid;
    }
}

void read_ageing(Reader& reader, const json_t* value, AgeRule& into) {
    static const std::map<std::string, AgeRule, std::less<>> rules{
        {"while-eligible", AgeRule::while_eligible},
        {"since-eligible", AgeRule::since_eligible},
        {"since-last-eligible", AgeRule::since_last_eligible},
        {"since-submit", AgeRule::since_submit}};
    const auto found = json_is_string(value) ? rules.find(json_string_value(value)) : rules.end();
    if (found == rules.end()) {
        reader.complain("ageing", value,
                        "must be \"while-eligible\", \"since-eligible\", \"since-last-eligible\" or \"since-submit\"");
        return;
    }
    into = found->second;
}

void read_raw_factors(Reader& reader, const json_t* list, std::set<std::string>& into) {
    bool is_good = json_is_array(list);
    into.clear();
    std::size_t index = 0;
    json_t* entry = nullptr;
    json_array_foreach(const_cast<json_t*>(list), index, entry) {
        const std::string name = json_is_string(entry) ? json_string_value(entry) : "";
        is_good = is_good && (name == "qos" || name == "queue");
        into.insert(name);
    }
    if (!is_good) {
        reader.complain("raw-factors", list, "must be a list of \"qos\" and \"queue\", or of one of them");
    }
}

void read_key(Reader& reader, const std::string& key, const json_t* value, Settings& s) {
    if (key == "share-tree") {
        reader.text(key, value, s.share_tree);
        s.is_share_tree_named = true;
    } else if (key == "state") {
        reader.text(key, value, s.state);
    } else if (key == "plugin") {
        reader.text(key, value, s.plugin);
    } else if (key == "half-life") {
        reader.duration(key, value, half_life_min, s.half_life);
    } else if (key == "update-interval") {
        reader.duration(key, value, interval_min, s.update_interval);
    } else if (key == "wait-max") {
        reader.duration(key, value, half_life_min, s.wait_max);
    } else if (key == "algorithm") {
        reader.choice(key, value, "fair-tree", "classic", s.algorithm);
    } else if (key == "size-favors") {
        std::string favored = "large";
        reader.choice(key, value, "large", "small", favored);
        s.is_large_favored = favored == "large";
    } else if (key == "ageing") {
        read_ageing(reader, value, s.ageing);
    } else if (key == "raw-factors") {
        read_raw_factors(reader, value, s.raw_factors);
    } else if (key == "only-raises") {
        reader.flag(key, value, s.only_raises);
    } else if (key == "enforce") {
        reader.flag(key, value, s.is_enforced);
    } else if (key == "parent-factors") {
        reader.flag(key, value, s.takes_parent_factors);
    } else if (key == "weights") {
        read_weights(reader, value, s.weights);
    } else if (key == "qos") {
        read_priorities(reader, key, value, s.qos);
    } else if (key == "queues") {
        read_priorities(reader, key, value, s.queues);
    } else if (key == "users") {
        read_users(reader, value, s.users);
    } else if (key == "unavail-timeout") {
        Duration ignored{};  // the plugin's key: only checked here
        reader.duration(key, value, Duration{}, ignored);
    } else if (key != "route") {
        reader.complain(key, value, std::string("unknown key; the keys are ") + known_keys);
    }
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
    if (equals == std::string::npos || equals == 0) {
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

Result<Settings> read_settings(const json_t* table, const std::vector<std::string>& arguments) {
    Settings settings;
    Reader reader;
    if (table != nullptr && !json_is_object(table)) {
        return Error{std::errc::invalid_argument, "[weir] must be a table"};
    }
    const char* key = nullptr;
    json_t* value = nullptr;
    json_object_foreach(const_cast<json_t*>(table), key, value) {
        read_key(reader, key, value, settings);
    }
    for (const std::string& argument : arguments) {
        read_argument(reader, argument, settings);
    }
    if (!reader.complaints().empty()) {
        return Error{std::errc::invalid_argument, reader.complaints()};
    }
    return settings;
}

}  // namespace weir::priority
