// SPDX-License-Identifier: LGPL-3.0-only
// Owns: `--setattr`: one attribute of a jobspec as people write it. Must not know what attributes mean. RFC 14;
// flux-submit(1).
#pragma once
#include <jansson.h>

#include <string>

#include "libfairshare/base/result.hpp"

namespace weir::cmd {

/// Sets attributes.KEY of the jobspec: "KEY=VALUE", KEY with points for levels, below "system." unless it begins with
/// "system.", "user." or a point; VALUE as JSON where it is such, else text; without one 1. Errors: EINVAL with what is
/// right, also where a level is there and is no table; nothing is set then.
Status set_attribute(json_t* jobspec, const std::string& word);

}  // namespace weir::cmd
