// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the list of all commands: one function a file, each returning its row of the table.
#pragma once
#include <vector>

#include "cmd/cli/command.hpp"

namespace weir::cmd {

Command demo_command();
Command start_command();
Command submit_command();
Command jobs_command();
Command cancel_command();
Command output_command();
Command nice_command();
Command why_command();
Command share_show_command();
Command share_explain_command();
Command share_after_command();
Command share_compare_command();
Command share_apply_command();
Command share_set_command();
Command share_add_command();
Command share_remove_command();
Command share_history_command();
Command share_diff_command();
Command share_undo_command();
Command share_export_command();
Command share_report_command();
Command export_flux_accounting_command();
Command import_flux_accounting_command();
Command import_slurm_command();
Command usage_command();
Command usage_report_command();
Command prio_list_command();
Command prio_explain_command();
Command prio_when_command();
Command prio_site_command();
Command prio_weights_command();
std::vector<Command> sim_group();
Command top_command();
Command tree_command();
Command partition_list_command();
Command partition_add_command();
Command partition_remove_command();
Command partition_resize_command();
Command partition_drain_command();
Command partition_resume_command();
Command partition_restart_command();
Command metrics_command();
Command serve_command();
Command reload_command();
Command shutdown_command();
Command log_command();
Command version_command();
Command help_command();

/// In the order of the help.
std::vector<Command> command_table();

}  // namespace weir::cmd
