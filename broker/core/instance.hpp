// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the attributes of an instance, also its place in the tree of instances, from the environment in which the
// parent's job-exec starts it. Must not know messages. Source: flux-broker-attributes(7); FLUX_URI, FLUX_JOB_ID,
// FLUX_JOB_ID_PATH of flux-environment(7).
#pragma once
#include <optional>
#include <string>

#include "broker/core/attributes.hpp"
#include "broker/core/broker_config.hpp"
#include "broker/core/instance_clock.hpp"
#include "broker/core/options.hpp"
#include "libfairshare/base/result.hpp"

namespace weir::broker {

/// The parent instance, if this process is a job of one.
struct Parent {
    std::string uri;
    std::string jobid;  // F58
    std::string jobid_path;
    std::string clock;  // "SCALE ZERO" of its clock; empty: it is no weir-broker
    int level = 0;      // of this instance: 0 the root of the tree, 1 its children
};

/// Reads and then unsets FLUX_URI, FLUX_JOB_ID, FLUX_JOB_ID_PATH and WEIR_CLOCK, so that nothing here talks to the
/// parent by mistake.
Parent take_parent_from_environment();

/// All attributes that are known before anything runs. Options win over the configuration.
/// \return an error that names a bad attribute.
Result<Attributes> instance_attributes(const Options& options, const BrokerConfig& config, const Parent& parent,
                                       const std::string& rundir);

/// The clock requested by the attributes clock.scale and clock.origin, if given, and by the parent.
ClockWish clock_wish(const Attributes& attributes, const Parent& parent);
/// Sets the attributes clock.scale, .origin, .zero and .last-seen, and broker.starttime.
void announce_clock(Attributes& attributes, const ClockStart& start, const std::optional<ClockPast>& past);

}  // namespace weir::broker
