// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see moab_resources.hpp.
#include "t/oracle/runner/moab_resources.hpp"

#include <algorithm>
#include <map>
#include <stdexcept>

namespace weir::oracle {

namespace {

enum class Role : std::uint8_t { request, total, per_node, fraction, percent };

bool says(const std::string& word, std::initializer_list<std::string_view> parts) {
    return std::any_of(parts.begin(), parts.end(),
                       [&](std::string_view part) { return word.find(part) != std::string::npos; });
}

std::optional<Role> role_of(const std::string& word) {
    if (word == "node" || says(word, {"pernode", "eachnode"})) {
        return Role::per_node;
    }
    if (says(word, {"frac", "parts"})) {
        return Role::fraction;
    }
    if (says(word, {"percent", "pct"})) {
        return Role::percent;
    }
    if (says(word, {"total", "configured", "system", "cluster", "machine", "available"})) {
        return Role::total;
    }
    return says(word, {"request", "job", "req"}) ? std::optional{Role::request} : std::nullopt;
}

/// "" for words about no resource.
std::string resource_of(const std::string& word) {
    for (const auto& [name, parts] : std::map<std::string, std::vector<std::string_view>>{
             {"mem", {"mem", "ram"}}, {"disk", {"disk"}}, {"swap", {"swap"}}, {"proc", {"proc", "cpu", "core"}}}) {
        if (std::any_of(parts.begin(), parts.end(),
                        [&](std::string_view part) { return word.find(part) != std::string::npos; })) {
            return name;
        }
    }
    return {};
}

/// In MiB, where the word ends in a unit.
double unit_of(const std::string& word) {
    return word.ends_with("gb") || word.ends_with("gib")   ? 1024.
           : word.ends_with("tb") || word.ends_with("tib") ? 1024. * 1024.
           : word.ends_with("kb") || word.ends_with("kib") ? 1. / 1024.
                                                           : 1.;
}

using Amounts = std::map<std::string, std::map<Role, double>>;

void take(const Value* object, Role otherwise, Amounts& into, double& nodes) {
    for (const auto& [key, value] : entries(object)) {
        const std::string word = plain(key);
        const Role role = role_of(word).value_or(otherwise);
        const std::string resource = resource_of(word);
        if (is_object(value)) {
            take(value, role, into, nodes);
        } else if (is_list(value) && (role == Role::fraction || role == Role::percent)) {
            int parts = 0;
            for (const double part : numbers_of(value)) {  // of resources without a name
                into["part " + std::to_string(parts++)][role] = part;
            }
        } else if (is_list(value) && size_of(value) == 2 && !resource.empty()) {
            const auto pair = numbers_of(value);
            into[resource][Role::request] = pair[0] * unit_of(word);
            into[resource][Role::total] = pair[1] * unit_of(word);
        } else if (is_number(value) && (word == "total" || word == "machine" || word == "processors" || word == "n")) {
            into["proc"][Role::total] = value->number();
        } else if (is_number(value) && (word == "nodes" || word == "nodecount" || word == "totalnodes")) {
            nodes = value->number();
        } else if (is_number(value) && !resource.empty() && word != "cpuused") {
            into[resource][role] = value->number() * unit_of(word);
        }
    }
}

}  // namespace

std::optional<RequestedResources> requested_resources(const Case& one) {
    Amounts amounts;
    double nodes = 1;
    take(one.inputs, Role::request, amounts, nodes);
    RequestedResources made;
    for (auto& [resource, of] : amounts) {
        if (of.contains(Role::per_node)) {
            of[Role::total] = of[Role::per_node] * nodes;
        }
        const bool is_part = of.contains(Role::fraction) || of.contains(Role::percent);
        if (is_part) {
            made.held.push_back({of.contains(Role::fraction) ? of[Role::fraction] : of[Role::percent] / 100, 1});
        } else if (of.contains(Role::total)) {
            // a request of less than 1 of a machine of many is a part already
            const bool is_bare_part = of[Role::request] < 1 && resource == "proc" && amounts.size() > 1 &&
                                      std::all_of(amounts.begin(), amounts.end(), [](const auto& other) {
                                          return other.first == "proc" || !other.second.contains(Role::total);
                                      });
            made.held.push_back({of[Role::request], is_bare_part ? 1 : of[Role::total]});
        } else if (of.contains(Role::request) && of[Role::request] < 1) {
            made.held.push_back({of[Role::request], 1});
        }
        if (resource == "proc") {  // beside a part of them, a number of processors is the machine's
            made.processors = of.contains(Role::total) ? of[Role::total] : is_part ? of[Role::request] : 0;
        }
    }
    if (made.processors <= 0 && amounts.contains("part 0")) {  // beside parts without a name, too
        made.processors = amounts["proc"][Role::request];
    }
    if (made.held.empty() || made.processors <= 0) {
        return std::nullopt;
    }
    return made;
}

}  // namespace weir::oracle
