// SPDX-License-Identifier: LGPL-3.0-only
// Owns: `--setattr`: one attribute of a jobspec in the form of a command-line option. Must not know what attributes
// mean. RFC 14; flux-submit(1).
#pragma once
#include <jansson.h>

#include <string>

#include "libfairshare/base/result.hpp"

namespace weir::cmd {

/// Sets attributes.KEY of the jobspec: "KEY=VALUE", KEY with points for levels, below "system." unless it begins with
/// "system.", "user." or a point; VALUE is JSON if it parses as such, else text; without a value it is 1. Errors:
/// EINVAL with what is right, also if a level exists and is no table; nothing is set then.
Status set_attribute(json_t* jobspec, const std::string& word);

}  // namespace weir::cmd
