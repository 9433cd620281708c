// SPDX-License-Identifier: LGPL-3.0-only
// Owns: a job's constraint on nodes: an expression over properties, host names and ranks, and the ranks that satisfy
// it.
// Must not know JSON (libsched/json/constraint.hpp), jobs, or what is free. RFC 31.
#pragma once
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "libfairshare/base/id_set.hpp"

namespace weir {

/// The names of a machine's nodes that a constraint can use.
struct NodeNames {
    std::unordered_map<std::string, IdSet> hosts;           ///< by host name; several ranks may be on one host
    std::vector<std::pair<std::string, IdSet>> properties;  ///< name and ranks
};

/// properties: all of `names` hold ("^x": x does not). hosts: the host name is one of `names`. ranks: the rank is one
/// of `ranks`. all_of, any_of, not_all ("not": what all_of denies): of `parts`; with no parts all_of and any_of hold.
struct Constraint {
    enum class Kind : std::uint8_t { all_of, any_of, not_all, properties, hosts, ranks };
    Kind kind = Kind::all_of;
    std::vector<std::string> names;
    IdSet ranks;
    std::vector<Constraint> parts;
    bool is_empty() const { return kind == Kind::all_of && parts.empty(); }
    friend bool operator==(const Constraint&, const Constraint&) = default;
};

/// The ranks of `all` that satisfy it. O(properties, rank sets and operators of the expression x ranges + host names in
/// it x log hosts): any user may send an expression, so its cost does not grow with names x nodes.
IdSet ranks_for(const Constraint& constraint, const NodeNames& names, const IdSet& all);

}  // namespace weir
