// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see htcondor_groups_cases.hpp.
#include "t/oracle/runner/htcondor_groups_cases.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <sstream>
#include <stdexcept>

#include "libfairshare/algorithms/htcondor_groups.hpp"
#include "t/oracle/runner/slurm_text.hpp"

namespace weir::oracle {

namespace {

enum class Parameter : std::uint8_t { quota, dynamic, surplus, regroup, demand, priority };

struct Spelling {
    std::string_view name;
    Parameter parameter;
};

// The longest that fits decides. Those in capitals may have "_group" behind them.
constexpr auto spellings = std::to_array<Spelling>({
    {"GROUP_QUOTA_DYNAMIC", Parameter::dynamic},
    {"GROUP_QUOTA", Parameter::quota},
    {"GROUP_ACCEPT_SURPLUS", Parameter::surplus},
    {"GROUP_AUTOREGROUP", Parameter::regroup},
    {"quota_dynamic", Parameter::dynamic},
    {"dynamic_quota", Parameter::dynamic},
    {"dynamic_quotas", Parameter::dynamic},
    {"dynamic", Parameter::dynamic},
    {"quota", Parameter::quota},
    {"quotas", Parameter::quota},
    {"static_quota", Parameter::quota},
    {"quota_static", Parameter::quota},
    {"static", Parameter::quota},
    {"accept_surplus", Parameter::surplus},
    {"accepts_surplus", Parameter::surplus},
    {"surplus", Parameter::surplus},
    {"accept", Parameter::surplus},
    {"accepts", Parameter::surplus},
    {"autoregroup", Parameter::regroup},
    {"auto_regroup", Parameter::regroup},
    {"regroup", Parameter::regroup},
    {"demand", Parameter::demand},
    {"demands", Parameter::demand},
    {"requested", Parameter::demand},
    {"wanted", Parameter::demand},
    {"jobs", Parameter::demand},
    {"idle", Parameter::demand},
    {"usage", Parameter::demand},
    {"used", Parameter::demand},
    {"eup", Parameter::priority},
    {"priority", Parameter::priority},
});

/// What a key sets, and for which group; none for keys about something else.
std::optional<std::pair<Parameter, std::string>> meaning(const std::string& key) {
    for (const Spelling& known : spellings) {
        if (plain(key) == plain(known.name)) {
            return std::pair{known.parameter, std::string{}};
        }
        const std::string prefix = std::string{known.name} + "_";
        const bool is_knob = known.name.starts_with("GROUP_");
        if (is_knob && key.size() > prefix.size() && plain(key.substr(0, prefix.size())) == plain(prefix)) {
            return std::pair{known.parameter, key.substr(prefix.size())};
        }
    }
    return std::nullopt;
}

std::string lowered(std::string name) {
    std::transform(name.begin(), name.end(), name.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return name;
}

double value_of(const std::string& text) {
    const std::string word = plain(text);
    if (word == "true" || word == "yes" || word == "y" || word == "on") {
        return 1;
    }
    if (word == "false" || word == "no" || word == "n" || word == "off") {
        return 0;
    }
    return std::stod(text);
}

/// The place of a name among the groups': in full, or the last part of exactly one.
std::optional<std::size_t> place_of(const std::vector<std::string>& names, const std::string& said) {
    const std::string name = lowered(said);
    std::optional<std::size_t> found;
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (names[i] == name) {
            return i;
        }
        if (names[i].ends_with("." + name)) {
            found = found ? names.size() : i;
        }
    }
    return found && *found < names.size() ? found : std::nullopt;
}

double value_of(const Value* value) {
    return is_text(value) ? value_of(value->text()) : is_number(value) ? value->number() : is_true(value) ? 1 : 0;
}

/// The groups of a case, by name in small letters.
class Groups {
  public:
    explicit Groups(const Case& one) {
        for (const auto& [key, value] : entries(one.inputs)) {
            take(key, value, "");
        }
        if (groups_.empty()) {
            throw std::runtime_error{"there is no group"};
        }
    }

    /// Parents before their children: by name, as a prefix sorts first.
    std::vector<CondorGroup> groups() const {
        std::vector<CondorGroup> made;
        std::map<std::string, std::uint32_t> index;
        for (const auto& [name, own_settings] : groups_) {
            const auto& set = own_settings;  // clang 14: a lambda cannot read the binding
            CondorGroup group;
            const std::size_t dot = name.rfind('.');
            if (dot != std::string::npos) {
                const auto parent = index.find(name.substr(0, dot));
                if (parent == index.end()) {
                    throw std::runtime_error{"the group " + name + " has no parent"};
                }
                group.parent = parent->second;
            }
            const auto of = [&](Parameter parameter, double otherwise) {
                const auto own = set.find(parameter);
                const auto all = for_all_.find(parameter);
                return own != set.end() ? own->second : all != for_all_.end() ? all->second : otherwise;
            };
            group.is_dynamic = !set.contains(Parameter::quota);  // a static quota goes before a dynamic one
            group.quota = of(group.is_dynamic ? Parameter::dynamic : Parameter::quota, 0);
            group.accepts_surplus = of(Parameter::surplus, 0) != 0;
            group.regroups = of(Parameter::regroup, 0) != 0;
            group.wanted = of(Parameter::demand, 0);
            group.effective_priority = of(Parameter::priority, 1);
            index[name] = static_cast<std::uint32_t>(made.size());
            made.push_back(group);
        }
        return made;
    }
    std::vector<std::string> names() const {
        std::vector<std::string> made;
        std::transform(groups_.begin(), groups_.end(), std::back_inserter(made),
                       [](const auto& entry) { return entry.first; });
        return made;
    }
    std::optional<double> slots() const { return slots_; }
    std::optional<double> oversubscription() const { return oversubscription_; }

  private:
    void set(Parameter parameter, const std::string& group, double value) {
        if (group.empty()) {
            for_all_[parameter] = value;
        } else {
            groups_[lowered(group)][parameter] = value;
        }
    }

    void take(const std::string& key, const Value* value, const std::string& group) {
        const std::string word = plain(key);
        if (word == "groupnames") {
            const auto names = is_text(value) ? split(value->text(), ',') : texts_of(value);
            for (const std::string& name : names) {
                const std::size_t from = name.find_first_not_of(' ');
                groups_[lowered(name.substr(from, name.find_last_not_of(' ') - from + 1))];
            }
        } else if (word == "config" && is_text(value)) {
            take_lines(value->text());
        } else if (word == "config" && is_object(value)) {
            for (const auto& [name, below] : entries(value)) {
                take(name, below, group);
            }
        } else if (word == "groups") {
            take_groups(value, group);
        } else if (word == "tree") {  // its root is <none>
            text_at(value, "name");
            take_groups(find_spelled(value, {"children", "groups"}), group);
        } else if (word.find("oversubscription") != std::string::npos) {
            oversubscription_ = value_of(value);
        } else if (word == "slots" || word == "cores" || word == "totalslots" || word == "pool" || word == "machines") {
            slots_ = value_of(value);
        } else if (const auto said = meaning(key)) {
            take_parameter(said->first, said->second.empty() ? group : said->second, value);
        }
    }

    /// One number or yes for all (or for the group), a value by name, or a list of the names it holds for.
    void take_parameter(Parameter parameter, const std::string& group, const Value* value) {
        if (is_object(value)) {
            for (const auto& [name, each_value] : entries(value)) {
                const bool is_default = plain(name) == "default" || name == "*" || name.empty();
                set(parameter, is_default ? "" : name, value_of(each_value));
            }
        } else if (is_list(value)) {
            for (const std::string& name : texts_of(value)) {
                set(parameter, name, 1);
            }
        } else {
            set(parameter, group, value_of(value));
        }
    }

    /// {name: {quota, accept_surplus, demand, ...}} or [{name, ...}].
    void take_groups(const Value* value, const std::string& above) {
        const auto path = [&](const std::string& name) {
            return above.empty() || lowered(name).starts_with(lowered(above) + ".") ? name : above + "." + name;
        };
        const auto fields = [&](const std::string& name, const Value* object) {
            groups_[lowered(name)];
            for (const auto& [key, field] : entries(object)) {
                if (plain(key) == "children" || plain(key) == "groups") {
                    take_groups(field, name);
                } else if (plain(key) != "name") {
                    take(key, field, name);
                }
            }
        };
        for (const auto& [name, object] : entries(value)) {
            fields(path(name), object);
        }
        for (const Value* object : each(value)) {
            const std::string name = is_text(object) ? object->text() : text_at(object, "name");
            fields(path(name), object);
        }
    }

    void take_lines(const std::string& text) {
        for (const std::string& line : split(text, '\n')) {
            const std::size_t equals = line.find('=');
            if (line.empty() || line[0] == '#' || equals == std::string::npos) {
                continue;
            }
            std::string key = line.substr(0, equals);
            std::erase(key, ' ');
            std::string value = line.substr(equals + 1);
            if (plain(key) == "groupnames") {
                for (std::string name : split(value, ',')) {
                    std::erase(name, ' ');
                    groups_[lowered(name)];
                }
            } else if (plain(key).find("oversubscription") != std::string::npos) {
                oversubscription_ = value_of(value);
            } else if (const auto said = meaning(key)) {
                set(said->first, said->second, value_of(value));
            } else {
                throw std::runtime_error{"the parameter " + key + " is not understood"};
            }
        }
    }

    std::map<std::string, std::map<Parameter, double>> groups_;
    std::map<Parameter, double> for_all_;
    std::optional<double> slots_, oversubscription_;
};

}  // namespace

bool has_condor_groups(const Case& one) {
    return std::any_of(one.inputs->members().begin(), one.inputs->members().end(), [](const auto& entry) {
        const auto said = meaning(entry.first);
        const std::string word = plain(entry.first);
        return word == "groups" || word == "groupnames" || word == "tree" ||
               (word == "config" && !is_object(&entry.second)) ||
               (said && said->first != Parameter::priority && said->first != Parameter::demand);
    });
}

void read_condor_groups(const Case& one, Report& report) {
    const Groups said{one};
    const auto names = said.names();
    const auto groups = said.groups();
    if (!said.slots()) {
        throw std::runtime_error{"how many slots there are is missing"};
    }
    const auto slots = negotiate_groups(groups, *said.slots(), said.oversubscription().value_or(1) != 0);
    // Slots of a group are those of its own jobs and of the groups below.
    std::vector<double> allocated(groups.size(), 0);
    double left = *said.slots();
    for (std::size_t i = groups.size(); i-- > 0;) {
        allocated[i] += slots[i].allocated;
        left -= slots[i].allocated;
        if (groups[i].parent) {
            allocated[*groups[i].parent] += allocated[i];
        }
    }
    const auto compare = [&](std::initializer_list<std::string_view> keys,
                             const std::function<double(std::size_t)>& got) {
        for (const std::string_view key : keys) {
            for (const auto& [name, value] : entries(find_spelled(one.expected, {key}))) {
                const auto at = place_of(names, name);
                if (at && is_number(value)) {
                    report.number(std::string{key} + " " + name, number_of(value), got(*at), one.tol);
                }
            }
        }
    };
    const bool has_demand =
        std::any_of(groups.begin(), groups.end(), [](const CondorGroup& group) { return group.wanted > 0; });
    compare({"effective_quota", "quota", "quotas", "subtree_quota", "scaled"},
            [&](std::size_t i) { return slots[i].subtree_quota; });
    compare({"effective"}, [&](std::size_t i) { return has_demand ? allocated[i] : slots[i].subtree_quota; });
    compare({"own_quota", "own", "group_quota"}, [&](std::size_t i) { return slots[i].own_quota; });
    compare({"allocated", "allocation", "slots", "granted", "with_surplus", "after_surplus", "final"},
            [&](std::size_t i) { return allocated[i]; });
    compare({"regrouped", "autoregroup"}, [&](std::size_t i) { return slots[i].regrouped; });
    const auto by_name = [&](std::size_t i) { return has_demand ? allocated[i] : slots[i].subtree_quota; };
    for (const auto& [name, value] : entries(one.expected)) {  // numbers by group, without a word for what they are
        const auto at = place_of(names, name);
        if (at && is_number(value)) {
            report.number(name, number_of(value), by_name(*at), one.tol);
        }
    }
    expect_any(one, report, {"left", "unused", "surplus", "remaining"}, left);
}

}  // namespace weir::oracle
