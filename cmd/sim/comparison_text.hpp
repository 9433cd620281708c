// SPDX-License-Identifier: LGPL-3.0-only
// Owns: a comparison as a table for the terminal, as JSON for programs and as an HTML page for people. All show the
// figures of figures.hpp. Pure: equal comparisons give equal bytes.
#pragma once
#include <string>

#include "cmd/common/terminal.hpp"
#include "cmd/sim/comparison.hpp"

namespace weir::cmd {

/// Policies side by side, a column each; where the screen is too narrow for that, a row each with the main figures.
std::string comparison_table(const Comparison& comparison, const Screen& screen);

/// "weir.sim-compare/1" on one line with its newline; doc/simulator.md describes it. Numbers have twelve digits.
std::string comparison_json(const Comparison& comparison);

/// The page, with comparison_json() inside as the element of id "weir-data".
std::string comparison_html(const Comparison& comparison);

/// Which jobs the fair starts are of, where they are not of all; else empty.
std::string fair_starts_text(const Comparison& comparison);

/// "ran until ..." for a policy that was cut off; else empty.
std::string cut_off_text(const Measured& policy);

}  // namespace weir::cmd
