// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the terms of a job's place, as its policy names them; which term puts one job ahead of another.
// Must not know: the policies, users, output formats.
#pragma once
#include <string>
#include <vector>

namespace weir {

/// One term of a job's sum.
struct OrderTerm {
    std::string name;
    double raw = 0;
    const char* unit = "";
    double weight = 0;
    double contribution = 0;  ///< to the sum; caps may make it less than weight x raw
};

/// One job at one instant. Jobs of one policy have the same terms, in the same order.
struct OrderTerms {
    std::vector<OrderTerm> terms;
    double sum = 0;
    std::vector<std::string> words;  ///< sentences: what the sum is, and what is compared with it
};

/// At most three decimals: "40", "0.333".
std::string order_number(double value);

/// Why a job with terms `other` is ahead of one with `own`: "its priority is 120 against 20: +90 from proc".
/// \param what  the name of the sum. Ties: by submission.
std::string order_lead(const std::string& what, const OrderTerms& own, const OrderTerms& other);

}  // namespace weir
