// SPDX-License-Identifier: LGPL-3.0-only
// Owns: which names that another system gives its accounts a share tree can hold.
#pragma once
#include <string>

#include "libfairshare/tree/share_tree_builder.hpp"

namespace weir::cmd {

/// Why the name is none of an account; empty if it is one.
inline std::string account_name_error(const std::string& name) {
    const std::string why = component_error(name);
    return why.empty() && kind_of_component(name) != NodeKind::account ? "it begins as a line of another kind does"
                                                                       : why;
}

}  // namespace weir::cmd
