// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the page of a demo: shares, usage, queue and partitions at the moment at which most jobs were pending.
#pragma once
#include "cmd/demo/driver.hpp"
#include "cmd/demo/witness.hpp"
#include "cmd/pictures/instance_report.hpp"

namespace weir::cmd {

InstanceFacts demo_facts(const Findings& findings, const FullestMoment& fullest, double half_life_s);

}  // namespace weir::cmd
