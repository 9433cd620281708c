// SPDX-License-Identifier: LGPL-3.0-only
// Owns: `weir metrics`: the figures of an instance for a monitoring system.
#include "cmd/commands/answer.hpp"
#include "cmd/commands/commands.hpp"
#include "cmd/common/output_file.hpp"
#include "cmd/common/private_mode.hpp"
#include "cmd/metrics/instance_metrics.hpp"

namespace weir::cmd {
namespace {

Exit run_metrics(Context& context) {
    return with_instance(context, [&](Client& client) {
        const auto hides = is_private(client);
        if (!hides) {
            return context.fail(hides.error());
        }
        MetricsOptions options{context.args.integer("depth", 2), context.args.has("users")};
        if (*hides && (options.with_users || (context.args.has("depth") && options.depth > private_metrics.depth))) {
            return context.fail(Exit::usage,
                                "the instance is private ([access] private-mode): metrics are of the top level of the "
                                "share tree alone. Leave out --users and --depth; weir share show has all rows");
        }
        options = *hides ? private_metrics : options;
        const std::string text = instance_metrics(client, options);
        if (!context.args.has("output")) {
            context.print(text);
            return Exit::ok;
        }
        auto file = OutputFile::create(context.args.text("output"));
        if (!file) {
            return context.fail(file.error());
        }
        Status done = file->write(text);
        done = done ? file->commit() : done;
        return done ? Exit::ok : context.fail(done.error());
    });
}

}  // namespace

Command metrics_command() {
    Command command;
    command.name = "metrics";
    command.summary = "print shares, queues, waits and links as OpenMetrics text";
    command.examples = {"weir metrics  # accounts to the second level, queues, partitions",
                        "weir metrics --depth 1 -o weir.prom  # a file for node_exporter, replaced as a whole",
                        "weir metrics --depth 4 --users  # a series for each user: many"};
    command.options = {{"depth", 0, "N", "levels of the share tree (default 2)", Kind::integer, 1, 64},
                       {"users", 0, "", "also users, not accounts alone", Kind::flag},
                       {"output", 'o', "FILE", "write into a file"}};
    command.has_json = false;
    command.run = run_metrics;
    return command;
}

}  // namespace weir::cmd
