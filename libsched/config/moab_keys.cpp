// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the keys of [weir.moab]. See policy_keys.hpp.
#include <algorithm>

#include "libfairshare/algorithms/moab.hpp"
#include "libsched/config/key_table.hpp"
#include "libsched/config/policy_tables.hpp"

namespace weir::config {
namespace {

/// A subcomponent: a weight alone, or { weight, cap }.
void read_part(Reader& reader, const std::string& path, Value value, MoabPolicy::Part& part) {
    if (!json_is_object(value)) {
        reader.number(path, value, -weight_max, weight_max, part.weight);
        return;
    }
    const std::array<NumberKey, 2> keys{{{"weight", &part.weight, -weight_max}, {"cap", &part.cap}}};
    fixed_table(reader, path, value, "weight, cap",
                [&](const std::string& inner_path, const std::string& key, Value v) {
                    return read_number(reader, keys, inner_path, key, v);
                });
}

void read_component(Reader& reader, std::size_t index, Value value, PolicySettings& s) {
    MoabPolicy::Component& component = s.moab.components[index];
    std::array<std::string_view, moab_parts> names;
    std::transform(moab_part_kinds[index].begin(), moab_part_kinds[index].end(), names.begin(),
                   [](const MoabPartKind& kind) { return kind.name; });
    const std::array<NumberKey, 2> keys{{{"weight", &component.weight, -weight_max}, {"cap", &component.cap}}};
    const std::string table = "moab." + std::string(moab_component_names[index]);
    fixed_table(reader, table, value, "weight, cap, " + listed(names),
                [&](const std::string& path, const std::string& key, Value inner) {
                    s.given.insert(path);
                    const auto part = std::find(names.begin(), names.end(), key);
                    if (part != names.end() && !key.empty()) {
                        read_part(reader, path, inner, component.parts[static_cast<std::size_t>(part - names.begin())]);
                        return true;
                    }
                    return read_number(reader, keys, path, key, inner);
                });
}

void read_credential(Reader& reader, const std::string& table, Value value, MoabPolicy::Credential& into) {
    const std::array<NumberKey, 3> keys{
        {{"priority", &into.priority, -weight_max}, {"weight", &into.weight, -weight_max}, {"xfactor", &into.xfactor}}};
    const auto target = [&](const std::string& path, Value text, auto parse, const char* right,
                            std::optional<FairShareTarget>& place) {
        const auto read = json_is_string(text)   ? parse(std::string_view(json_string_value(text)))
                          : json_is_number(text) ? parse(std::string_view(std::to_string(json_number_value(text))))
                                                 : std::nullopt;
        if (read) {
            place = *read;
        } else {
            reader.complain(path, text, right);
        }
    };
    fixed_table(reader, table, value, "priority, weight, target, cap, queue-time, xfactor",
                [&](const std::string& path, const std::string& key, Value inner) {
                    if (key == "target") {
                        target(path, inner, to_target, "must be percent, such as \"16.5+\" (+ a floor, - a ceiling)",
                               into.target);
                    } else if (key == "cap") {
                        target(path, inner, to_cap, "must be \"10%\" or, in core-seconds, \"16500^\"", into.cap);
                    } else if (key == "queue-time") {
                        reader.duration(path, inner, duration_min, into.queue_time);
                    } else {
                        return read_number(reader, keys, path, key, inner);
                    }
                    return true;
                });
}

}  // namespace

void read_moab(Reader& reader, Value value, PolicySettings& s) {
    const std::string known = listed(moab_component_names) + ", " + listed(moab_credential_names) +
                              ", ratio, negative-priorities, xfactor-shortest";
    fixed_table(reader, "moab", value, known, [&](const std::string& path, const std::string& key, Value inner) {
        const auto component = std::find(moab_component_names.begin(), moab_component_names.end(), key);
        const auto kind = std::find(moab_credential_names.begin(), moab_credential_names.end(), key);
        if (component != moab_component_names.end()) {
            read_component(reader, static_cast<std::size_t>(component - moab_component_names.begin()), inner, s);
        } else if (kind != moab_credential_names.end()) {
            auto& named = s.moab.credentials[static_cast<std::size_t>(kind - moab_credential_names.begin())];
            reader.table(path, inner, "must be a table of tables: [weir." + path + ".NAME], \"*\" for all others",
                         [&](const std::string& name, Value one) {
                             read_credential(reader, path + "." + name, one, named[name]);
                         });
        } else if (key == "ratio") {
            reader.flag(path, inner, s.moab.is_ratio);
        } else if (key == "negative-priorities") {
            reader.flag(path, inner, s.moab.allows_negative);
        } else if (key == "xfactor-shortest") {
            reader.duration(path, inner, duration_min, s.moab.xfactor_shortest);
        } else {
            return false;
        }
        return true;
    });
}

}  // namespace weir::config
