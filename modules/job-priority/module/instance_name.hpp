// SPDX-License-Identifier: LGPL-3.0-only
// Owns: a name of this instance in reports to its parent. Another name begins another count of records.
// Must not know: when an instance takes another name.
#pragma once
#include <flux/core.h>
#include <unistd.h>

#include <ios>
#include <sstream>
#include <string>

namespace weir::priority {

inline std::string new_instance_name(flux_t* h) {
    const char* jobid = flux_attr_get(h, "jobid");
    std::ostringstream name;
    name << (jobid != nullptr ? jobid : "") << "-" << std::hex << static_cast<long long>(flux_reactor_time() * 1e6)
         << "-" << getpid();
    return name.str();
}

}  // namespace weir::priority
