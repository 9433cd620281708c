// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see order_terms.hpp.
#include "libsched/order/order_terms.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace weir {

std::string order_number(double value) {
    const double rounded = std::round(value * 1000) / 1000 + 0.;  // no "-0"
    char text[32];
    const auto end = std::to_chars(std::begin(text), std::end(text), rounded).ptr;
    return std::string(std::begin(text), end);
}

std::string order_lead(const std::string& what, const OrderTerms& own, const OrderTerms& other) {
    if (own.sum == other.sum) {
        return what + " is equal and it was submitted earlier";
    }
    std::string why = what + " is " + order_number(other.sum) + " against " + order_number(own.sum);
    double lead = 0;
    const OrderTerm* greatest = nullptr;
    for (std::size_t i = 0; i < std::min(own.terms.size(), other.terms.size()); i++) {
        const double difference = other.terms[i].contribution - own.terms[i].contribution;
        if (difference > lead) {
            lead = difference;
            greatest = &other.terms[i];
        }
    }
    return greatest == nullptr ? why : why + ": +" + order_number(lead) + " from " + greatest->name;
}

}  // namespace weir
