// SPDX-License-Identifier: LGPL-3.0-only
// Owns: `weir sim generate`: a workload of the Lublin-Feitelson model as a log.
#include <charconv>

#include "cmd/commands/sim_table.hpp"
#include "cmd/common/output_file.hpp"
#include "libfairshare/base/json/json.hpp"
#include "libsched/sim/lublin.hpp"

namespace weir::cmd {
namespace {

/// The shortest text without an exponent, which options do not take, that reads back as the same number.
std::string shortest(double value) {
    char text[400];
    return {text, std::to_chars(text, text + sizeof text, value, std::chars_format::fixed).ptr};
}

LublinSettings settings_of(const Args& args) {
    LublinSettings settings;
    settings.jobs = static_cast<std::uint64_t>(args.integer("jobs", 10'000));
    settings.cores = static_cast<std::uint32_t>(args.integer("cores", settings.cores));
    settings.users = static_cast<std::uint32_t>(args.integer("users", settings.users));
    settings.accounts = static_cast<std::uint32_t>(args.integer("accounts", settings.accounts));
    settings.seed = static_cast<std::uint64_t>(args.integer("seed", 1));
    settings.load = args.number("load", 0.);
    settings.two_classes = args.has("two-classes");
    if (const auto longest = args.duration("longest")) {
        settings.run_max = std::chrono::duration_cast<std::chrono::seconds>(*longest).count();
    }
    return settings;
}

/// The command line that makes the same log, for its header.
std::string recipe(const LublinSettings& settings) {
    std::string text = "weir sim generate --jobs=" + std::to_string(settings.jobs) +
                       " --cores=" + std::to_string(settings.cores) + " --users=" + std::to_string(settings.users) +
                       " --accounts=" + std::to_string(settings.accounts) + " --seed=" + std::to_string(settings.seed);
    text += settings.load > 0 ? " --load=" + shortest(settings.load) : "";
    text += settings.run_max > 0 ? " --longest=" + std::to_string(settings.run_max) + "s" : "";
    return text + (settings.two_classes ? " --two-classes" : "");
}

Status write_workload(const std::string& path, const LublinSettings& settings, const std::vector<SwfJob>& jobs) {
    auto file = OutputFile::create(path);
    if (!file) {
        return file.error();
    }
    auto done =
        file->write(swf_header({"Computer: Lublin-Feitelson model", "Note: " + recipe(settings)}, settings.cores));
    std::string line;
    for (std::size_t i = 0; done && i < jobs.size(); ++i) {
        line.clear();
        append_swf_line(line, jobs[i]);
        line += '\n';
        done = file->write(line);
    }
    return done ? file->commit() : done;
}

/// The figures of the generated log beside the requested ones.
struct Made {
    double load = 0;
    double run_mean_s = 0;
    double cores_mean = 0;
    Duration span{};
};
Made made_of(const std::vector<SwfJob>& jobs, std::uint32_t cores) {
    Made made;
    double core_s = 0;
    for (const SwfJob& job : jobs) {
        made.run_mean_s += static_cast<double>(job.run) / static_cast<double>(jobs.size());
        made.cores_mean += static_cast<double>(job.processors) / static_cast<double>(jobs.size());
        core_s += static_cast<double>(job.run) * static_cast<double>(job.processors);
    }
    made.span = std::chrono::seconds(jobs.back().submit - jobs.front().submit);
    made.load = made.span.count() > 0 ? core_s / (to_seconds(made.span) * cores) : 0;
    return made;
}

}  // namespace

Exit run_sim_generate(Context& context) {
    if (const auto longest = context.args.duration("longest"); longest && *longest < std::chrono::seconds(1)) {
        return context.fail(Exit::usage, "--longest takes one second at least: a log has whole seconds.");
    }
    const LublinSettings settings = settings_of(context.args);
    const std::string path = context.args.text("output", "-");
    if (path != "-" && format_of(path) != "swf") {
        return context.fail(Exit::usage, "--output takes a name that ends in .swf or .swf.gz, not \"" + path + "\".");
    }
    if (path == "-" && context.json) {
        return context.fail(Exit::usage, "--json and the log cannot both go to stdout. Add --output=FILE.");
    }
    const auto jobs = generate_lublin(settings);
    if (!jobs) {
        return context.fail(Exit::usage, jobs.error().message);
    }
    if (auto done = write_workload(path, settings, *jobs); !done) {
        return context.fail(done.error());
    }
    const Made made = made_of(*jobs, settings.cores);
    if (context.json) {
        context.print(
            Json::own(json_pack("{s:s s:s s:I s:I s:f s:f s:f s:f}", "schema", "weir.sim-generate/1", "output",
                                path.c_str(), "jobs", static_cast<json_int_t>(jobs->size()), "cores",
                                static_cast<json_int_t>(settings.cores), "load", made.load, "span_s",
                                to_seconds(made.span), "run_mean_s", made.run_mean_s, "cores_mean", made.cores_mean))
                .dump() +
            "\n");
    } else if (path != "-") {
        context.print(path + ": " + grouped(static_cast<std::int64_t>(jobs->size())) + " jobs in " +
                      duration_text(made.span) + ", " + percent(made.load) + " of " + grouped(settings.cores) +
                      " cores asked for\n");
    }
    return Exit::ok;
}

}  // namespace weir::cmd
