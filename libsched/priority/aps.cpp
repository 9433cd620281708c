// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the sum. See aps.hpp.
#include "libsched/priority/aps.hpp"

#include <algorithm>
#include <span>

namespace weir {
namespace {

constexpr std::size_t at(ApsPart part) {
    return static_cast<std::size_t>(part);
}

double weighted(const ApsRule::Part& part, double value, Duration waited) {
    if (part.grace > Duration::zero() && waited <= part.grace) {
        return 0.;
    }
    const double product = part.weight * value;
    return part.limit > 0 ? std::min(product, part.limit) : product;
}

}  // namespace

std::array<ApsRule::Part, aps_parts> ApsRule::defaults() {
    std::array<Part, aps_parts> parts{};
    parts[at(ApsPart::rsrc)].weight = 1;
    parts[at(ApsPart::work)].weight = 1;
    return parts;
}

double aps_value(const ApsRule& rule, const std::array<double, aps_parts>& values, Duration waited, double admin) {
    const auto part = [&](ApsPart which, double value) { return weighted(rule.parts[at(which)], value, waited); };
    const auto own = [&](ApsPart which) { return part(which, values[at(which)]); };
    const double resources = (own(ApsPart::proc) + own(ApsPart::mem)) + own(ApsPart::swap);
    const double work = own(ApsPart::jprio) + own(ApsPart::qprio);
    return ((own(ApsPart::fs) + part(ApsPart::rsrc, resources)) + part(ApsPart::work, work)) + admin;
}

}  // namespace weir
