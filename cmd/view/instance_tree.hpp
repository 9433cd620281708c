// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the picture of nested instances. Pure.
#pragma once
#include <string>

#include "cmd/common/instances.hpp"
#include "cmd/common/terminal.hpp"

namespace weir::cmd {

std::string instance_tree_text(const Instance& instance, const Screen& screen);

}  // namespace weir::cmd
