// SPDX-License-Identifier: LGPL-3.0-only
// Owns: J, the signed jobspec of job-ingest.submit, for the one mechanism that needs no key: "none".
// Must not know: jobs, flux_t.
// RFC 15; layout in flux-security's sign(3): base64(header) "." base64(payload) ".none".
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "libfairshare/base/result.hpp"

namespace weir::broker::jobs {

struct SignedJobspec {
    std::uint32_t userid = 0;
    std::string jobspec;
};

/// Takes J apart. Error: what is malformed, or which mechanism is not supported.
Result<SignedJobspec> unwrap(std::string_view signed_text);
/// The inverse, for tests and for submission on behalf of a user.
std::string wrap(std::uint32_t userid, std::string_view jobspec);

/// RFC 4648 base64 with padding. Error: a character or length that cannot be.
Result<std::string> base64_decode(std::string_view text);
std::string base64_encode(std::string_view bytes);

}  // namespace weir::broker::jobs
