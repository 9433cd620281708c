// SPDX-License-Identifier: LGPL-3.0-only
// Owns: what is changed in a jobspec on its way into a child, and the envelope that job-ingest wants around it.
// Must not know who sends it. Source: RFC 14 (jobspec), RFC 15 and FLUX-API section 3.3 (signing mechanism "none").
#pragma once
#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include "libfairshare/base/result.hpp"
#include "modules/job-route/messages.hpp"

namespace weir::route {

/// attributes.system.weir becomes {jobid, userid}; the queue goes unless the child has one of that name; dependencies
/// go: the parent has waited for them, and their ids mean nothing in the child. \return JSON text. Errors: not JSON, or
/// no attributes.system.
Result<std::string> localize(const Order& submit, const std::set<std::string>& own_queues);

bool has_environment(const std::string& jobspec);
/// The jobspec with the environment that J, the jobspec as it was signed, has. Stock Flux keeps it nowhere else.
/// Errors: either is malformed.
Result<std::string> with_environment(const std::string& jobspec, const std::string& J);

/// J of job-ingest.submit: base64 header "." base64 jobspec ".none".
std::string sign_none(std::string_view jobspec, std::uint32_t userid);

/// RFC 4648 with padding.
std::string base64(std::string_view bytes);
/// Errors: a character or a length that base64 does not have.
Result<std::string> unbase64(std::string_view text);

}  // namespace weir::route
