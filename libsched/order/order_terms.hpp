// SPDX-License-Identifier: LGPL-3.0-only
// Owns: what a policy says of one job's place, in its own terms; which of them lifts one job above another.
// Must not know: the policies, users, output formats.
#pragma once
#include <string>
#include <vector>

namespace weir {

/// One term of what a policy adds up for a job.
struct OrderTerm {
    std::string name;
    double raw = 0;
    const char* unit = "";
    double weight = 0;
    double contribution = 0;  ///< to the sum; caps may make it less than weight x raw
};

/// Of one job at one instant. Jobs of one policy have the same terms, in the same order.
struct OrderTerms {
    std::vector<OrderTerm> terms;
    double sum = 0;
    std::vector<std::string> words;  ///< sentences: what the sum is, and what is compared with it
};

/// 2 or 3 digits behind the point at most: "40", "0.333".
std::string order_number(double value);

/// Why a job with `other`, which stands above one with `own`, does so: "its priority is 120 against 20: +90 from proc".
/// `what`: the sum's name. Equal sums: by submission.
std::string order_lead(const std::string& what, const OrderTerms& own, const OrderTerms& other);

}  // namespace weir
