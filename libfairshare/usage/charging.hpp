// SPDX-License-Identifier: LGPL-3.0-only
// Owns: when a job is charged: as it runs, or at dispatch for its request, corrected at its end. Must not know: which
// ledger (any with start, end, charge and add), how a rate is computed (billing, metric.hpp).
#pragma once
#include "libfairshare/base/time.hpp"
#include "libfairshare/tree/share_tree.hpp"
#include "libfairshare/usage/usage.hpp"

namespace weir {

enum class Charging {
    as_it_runs,   ///< usage grows with time and is exact at any instant
    at_dispatch,  ///< the request counts at once, so that one user cannot get all resources between two passes (LSF,
                  ///< OpenPBS)
};

/// What the charges of one job depend on; the same values go to charge_start() and charge_end().
struct ChargedJob {
    NodeId payer;
    std::int64_t rate = 0;  ///< cores billed
    Instant started{};
    Duration requested{};  ///< wall time asked for; 0: not known, so that the job is charged as it runs
    friend bool operator==(const ChargedJob&, const ChargedJob&) = default;
};

namespace charging_detail {

inline bool is_prepaid(Charging charging, const ChargedJob& job) {
    return charging == Charging::at_dispatch && job.requested > Duration{0};
}

inline SignedCoreMicros prepaid(const ChargedJob& job) {
    return static_cast<SignedCoreMicros>(job.rate) * job.requested.count();
}

}  // namespace charging_detail

/// At dispatch the whole request is dated `started` and decays from then.
template <typename Ledger>
void charge_start(Ledger& ledger, Charging charging, const ChargedJob& job) {
    if (charging_detail::is_prepaid(charging, job)) {
        ledger.add(job.payer, charging_detail::prepaid(job), job.started);
    } else {
        ledger.start(job.payer, job.rate, job.started);
    }
}

/// After the end of a job both kinds of charging give the same usage: what ran, when it ran.
template <typename Ledger>
void charge_end(Ledger& ledger, Charging charging, const ChargedJob& job, Instant ended) {
    if (charging_detail::is_prepaid(charging, job)) {
        ledger.add(job.payer, -charging_detail::prepaid(job), job.started);
        ledger.charge(job.payer, job.rate, job.started, ended);
    } else {
        ledger.end(job.payer, job.rate, ended);
    }
}

}  // namespace weir
