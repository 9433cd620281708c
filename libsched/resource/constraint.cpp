// SPDX-License-Identifier: LGPL-3.0-only
// Owns: evaluating a constraint by set algebra over ranks.
#include "libsched/resource/constraint.hpp"

#include <algorithm>
#include <map>

namespace weir {
namespace {

IdSet without(IdSet set, const IdSet& removed) {
    set.remove(removed);
    return set;
}

IdSet common(const IdSet& a, const IdSet& b) {
    return without(a, without(a, b));
}

IdSet with_property(const std::string& name, const NodeNames& names, const IdSet& all) {
    const bool is_negated = name.starts_with('^');
    const std::string_view plain = std::string_view(name).substr(is_negated ? 1 : 0);
    const auto place = std::find_if(names.properties.begin(), names.properties.end(),
                                    [plain](const auto& property) { return property.first == plain; });
    const IdSet has = place == names.properties.end() ? IdSet{} : common(all, place->second);
    return is_negated ? without(all, has) : has;
}

IdSet with_host(const std::vector<std::string>& wanted, const NodeNames& names, const IdSet& all) {
    // Each host once and by its first rank: a set takes what comes behind its last rank at once.
    std::map<std::uint32_t, const IdSet*> found;
    for (const std::string& name : wanted) {
        if (const auto host = names.hosts.find(name); host != names.hosts.end()) {
            found.emplace(host->second.first(), &host->second);
        }
    }
    IdSet ranks;
    for (const auto& [first, of_host] : found) {
        ranks.add(*of_host);
    }
    return common(all, ranks);
}

}  // namespace

IdSet ranks_for(const Constraint& constraint, const NodeNames& names, const IdSet& all) {
    using Kind = Constraint::Kind;
    switch (constraint.kind) {
        case Kind::hosts:
            return with_host(constraint.names, names, all);
        case Kind::ranks:
            return common(all, constraint.ranks);
        case Kind::properties: {
            IdSet left = all;
            for (const std::string& name : constraint.names) {
                left = with_property(name, names, left);
            }
            return left;
        }
        case Kind::all_of:
        case Kind::not_all: {
            IdSet left = all;
            for (const Constraint& part : constraint.parts) {
                left = ranks_for(part, names, left);
            }
            return constraint.kind == Kind::all_of ? left : without(all, left);
        }
        case Kind::any_of: {
            IdSet any;
            for (const Constraint& part : constraint.parts) {
                any.add(ranks_for(part, names, all));
            }
            return constraint.parts.empty() ? all : any;
        }
    }
    return all;
}

}  // namespace weir
