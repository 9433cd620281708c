// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the order of the commands. A new command is a file and a line here.
#include "cmd/commands/commands.hpp"

namespace weir::cmd {

std::vector<Command> command_table() {
    std::vector<Command> table{
        demo_command(),
        start_command(),
        submit_command(),
        jobs_command(),
        cancel_command(),
        output_command(),
        nice_command(),
        why_command(),
        prio_list_command(),
        prio_explain_command(),
        prio_when_command(),
        prio_site_command(),
        prio_weights_command(),
        share_show_command(),
        share_explain_command(),
        share_after_command(),
        share_compare_command(),
        share_apply_command(),
        share_set_command(),
        share_add_command(),
        share_remove_command(),
        share_history_command(),
        share_diff_command(),
        share_undo_command(),
        share_export_command(),
        share_report_command(),
        export_flux_accounting_command(),
        import_flux_accounting_command(),
        import_slurm_command(),
        usage_command(),
        usage_report_command(),
        top_command(),
        tree_command(),
        partition_list_command(),
        partition_add_command(),
        partition_remove_command(),
        partition_resize_command(),
        partition_drain_command(),
        partition_resume_command(),
        partition_restart_command(),
        metrics_command(),
        serve_command(),
        reload_command(),
        shutdown_command(),
        log_command(),
        version_command(),
        help_command(),
    };
    const std::vector<Command> sim = sim_group();
    table.insert(table.end() - 2, sim.begin(), sim.end());  // before version and help
    return table;
}

}  // namespace weir::cmd
