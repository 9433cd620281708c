// SPDX-License-Identifier: LGPL-3.0-only
// Owns: reading RFC 31 constraints.
#include "libsched/json/constraint.hpp"

#include <array>

#include "libfairshare/base/hostlist.hpp"
#include "libfairshare/base/json/reader.hpp"

namespace weir {
namespace {

using json::Value;
using Kind = Constraint::Kind;

constexpr int depth_max = 64;
constexpr std::size_t hosts_max = 1U << 16;  ///< of one constraint, over all its lists
constexpr std::size_t terms_max = 10'000;    ///< elements of all its lists: each is one pass over a set of nodes

struct Operator {
    std::string_view name;
    Kind kind;
};
constexpr std::array<Operator, 6> operators{{{"properties", Kind::properties},
                                             {"hostlist", Kind::hosts},
                                             {"ranks", Kind::ranks},
                                             {"and", Kind::all_of},
                                             {"or", Kind::any_of},
                                             {"not", Kind::not_all}}};

std::string read_property(const Value& value) {
    std::string name = value.string();
    const std::size_t from = name.starts_with('^') ? 1 : 0;
    if (name.size() == from) {
        value.fail("names no property");
    }
    if (name.find_first_of("!&'\"^`()|", from) != std::string::npos) {
        value.fail("\"" + name + "\" is no property: it must not contain any of !&'\"^`()|, except a ^ before it");
    }
    return name;
}

/// How much more of the constraint may be read: any user may have one evaluated.
struct ConstraintBudget {
    std::size_t hosts = hosts_max;
    std::size_t terms = terms_max;
};

Constraint read_constraint(const Value& value, int depth, ConstraintBudget& budget);

Constraint read_operator(Kind kind, const Value& values, int depth, ConstraintBudget& budget) {
    if (values.size() > budget.terms) {
        values.fail("is too long: a constraint has at most " + std::to_string(terms_max) +
                    " elements in all its lists");
    }
    budget.terms -= values.size();
    Constraint out;
    out.kind = kind;
    for (std::size_t i = 0; i < values.size(); i++) {
        const Value value = values[i];
        if (kind == Kind::properties) {
            out.names.push_back(read_property(value));
        } else if (kind == Kind::hosts) {
            auto hosts = value.take(hostlist_decode(value.string(), budget.hosts));
            budget.hosts -= hosts.size();
            std::move(hosts.begin(), hosts.end(), std::back_inserter(out.names));
        } else if (kind == Kind::ranks) {
            out.ranks.add(value.take(IdSet::parse(value.string())));
        } else {
            out.parts.push_back(read_constraint(value, depth - 1, budget));
        }
    }
    return out;
}

Constraint read_constraint(const Value& value, int depth, ConstraintBudget& budget) {
    if (depth < 0) {
        value.fail("is more than 64 levels deep");
    }
    if (!json_is_object(value.get()) || json_object_size(value.get()) > 1) {
        value.fail("must be an object with one operator: properties, hostlist, ranks, and, or, not");
    }
    for (const Operator& known : operators) {
        if (const auto values = value.find(std::string(known.name).c_str())) {
            return read_operator(known.kind, *values, depth, budget);
        }
    }
    if (json_object_size(value.get()) == 1) {
        const char* name = json_object_iter_key(json_object_iter(value.get()));
        value.fail("unknown operator \"" + std::string(name) +
                   "\" (there are properties, hostlist, ranks, and, or, not)");
    }
    return {};
}

}  // namespace

Result<Constraint> decode_constraint(json_t* document) {
    if (document == nullptr || json_is_null(document)) {
        return Constraint{};
    }
    return json::read_json(document, "constraints", [](const Value& v) {
        ConstraintBudget budget;
        return read_constraint(v, depth_max - 1, budget);
    });
}

Result<Constraint> decode_constraint(std::string_view text) {
    if (text.empty()) {
        return Constraint{};
    }
    auto document = Json::parse(text);
    if (!document) {
        return Error{document.error().code, "constraints: " + document.error().message};
    }
    return decode_constraint(document->get());
}

}  // namespace weir
