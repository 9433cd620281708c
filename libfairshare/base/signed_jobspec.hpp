// SPDX-License-Identifier: LGPL-3.0-only
// Owns: J, the signed jobspec of job-ingest.submit, for the one mechanism that needs no key: "none".
// Must not know what a jobspec says.
// RFC 15; layout in flux-security's sign(3): base64(header) "." base64(payload) ".none".
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "libfairshare/base/result.hpp"

namespace weir {

struct SignedJobspec {
    std::uint32_t userid = 0;
    std::string jobspec;
};

/// Takes J apart. Errors: what is malformed, or which mechanism is not supported.
Result<SignedJobspec> unwrap_signed(std::string_view signed_text);
/// The inverse.
std::string sign_none(std::string_view jobspec, std::uint32_t userid);

}  // namespace weir
