// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see job_cost.hpp.
#include "modules/job-priority/jobs/job_cost.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace weir::priority {
namespace {

constexpr double mib_per_gib = 1024;

std::vector<ResourceAmount> amounts_of(const JobRequest& request, const AllocEvent& alloc) {
    std::vector<ResourceAmount> amounts{{"cpu", static_cast<double>(alloc.cores)},
                                        {"node", static_cast<double>(alloc.nodes)}};
    for (const auto& [name, amount] : request.amounts) {
        if (name == "memory") {
            amounts.push_back({"mem", amount * mib_per_gib});
        } else {
            amounts.push_back({"gres/" + (name == "gpus" ? "gpu" : name), amount});
        }
    }
    return amounts;
}

}  // namespace

Bill bill_of(const Settings& settings, const JobRequest& request, const AllocEvent& alloc) {
    Bill bill;
    bill.rate = billed_rate(settings.billing, amounts_of(request, alloc), request.qos, request.named_queue());
    if (const auto gpus = request.amounts.find("gpus"); gpus != request.amounts.end()) {
        bill.gpus = std::llround(gpus->second);
    }
    if (request.wall_time != Duration::max()) {
        bill.committed = std::min(request.wall_time, bill_time_max);
        bill.prepaid = settings.billing.charging == Charging::at_dispatch ? bill.committed : Duration{};
    }
    bill.queue = request.named_queue();
    bill.project = request.project;
    return bill;
}

}  // namespace weir::priority
