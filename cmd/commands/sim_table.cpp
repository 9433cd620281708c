// SPDX-License-Identifier: LGPL-3.0-only
// Owns: what the commands of `weir sim` take.
#include "cmd/commands/sim_table.hpp"

#include <cstdint>

namespace weir::cmd {
namespace {

Option requests_option() {
    return {"requests", 0, "HOW",
            "what the scheduler knows of a run time: as-written (default), or at-least-run for logs with overruns"};
}

Command sim_run_row(Exit (*run)(Context&)) {
    Command command;
    command.name = "sim run";
    command.summary = "replay a workload log under a scheduler";
    command.examples = {
        "weir sim run KTH-SP2-1996.swf.gz  # waits, slowdown and utilisation under EASY backfilling",
        "weir sim run --priority=fair.toml --output=fair.csv log.swf  # by fair share; every job's start, wait and end",
        "weir sim run --cores=64 --lenient --starts=starts.csv - <log.swf  # from stdin; skip jobs that cannot run"};
    command.words = {"LOG", 1, 1};
    command.options = {
        {"scheduler", 's', "NAME",
         "fcfs, first-fit, easy, easy-sjf, hybrid, conservative, conservative-fw (default easy)"},
        {"priority", 'p', "FILE",
         "order the queue by [weir] of a TOML file; its [sim] may set scheduler and cores, its "
         "[[partition]] tables partitions"},
        {"cores", 'c', "N", "cores of the machine (default: the log's MaxProcs)", Kind::integer, 1, INT64_MAX},
        {"starts", 0, "FILE", "write job,start lines, in the log's order"},
        {"output", 'o', "FILE", "write every job's outcome: .csv, .swf or .json, compressed with .gz"},
        requests_option(),
        {"lenient", 0, "", "skip and count broken lines and jobs that cannot run, instead of refusing the log",
         Kind::flag},
        {"quiet", 'q', "", "no figures, no progress", Kind::flag}};
    command.run = run;
    return command;
}

Command sim_generate_row(Exit (*run)(Context&)) {
    constexpr std::int64_t many = 1'000'000'000;
    Command command;
    command.name = "sim generate";
    command.summary = "make a workload log by the Lublin-Feitelson model, with users and accounts";
    command.examples = {
        "weir sim generate --jobs=10000 --cores=512 --load=0.9 --output=busy.swf.gz  # then: weir sim run busy.swf.gz",
        "weir sim generate --users=100 --accounts=7 --seed=2 > log.swf  # user 1 submits most, group = account",
        "weir sim generate --two-classes --output=day.swf  # interactive jobs (queue 1) and batch jobs (queue 2)"};
    command.options = {
        {"jobs", 'n', "N", "jobs (default 10000)", Kind::integer, 1, many},
        {"cores", 'c', "N", "cores of the machine; no job is larger (default 128)", Kind::integer, 2, many},
        {"load", 'l', "X",
         "requested cores divided by cores of the machine, set by stretching time (default: the model's)",
         Kind::number},
        {"users", 'u', "N", "number of users; by Zipf's law the first submits most (default 8)", Kind::integer, 1,
         many},
        {"accounts", 'a', "N", "number of accounts, to which users belong in turn (default 3)", Kind::integer, 1, many},
        {"seed", 0, "N", "seed; another seed gives another log (default 1)", Kind::integer, 0, INT64_MAX},
        {"longest", 0, "TIME", "the longest run time (default: the model's own bound, 45 h)", Kind::duration},
        {"two-classes", 0, "", "interactive and batch jobs, each with its own sizes, run times and daily cycle",
         Kind::flag},
        {"output", 'o', "FILE", ".swf or .swf.gz (default: stdout)"}};
    command.run = run;
    return command;
}

Command sim_compare_row(Exit (*run)(Context&)) {
    Command command;
    command.name = "sim compare";
    command.summary = "replay a workload log under several policies and compare them";
    command.examples = {
        "weir sim compare easy.toml fair.toml --trace=log.swf.gz --html=report.html  # figures, pictures",
        "weir sim compare --json a.toml b.toml --trace=log.swf.gz  # all figures, for programs",
        "weir sim compare --fair-starts=1000 a.toml b.toml --trace=log.swf  # a larger sample"};
    command.words = {"POLICY.toml...", 1, SIZE_MAX};
    command.options = {
        {"trace", 't', "LOG", "the workload log: SWF, plain or .gz; - is standard input"},
        {"cores", 'c', "N", "cores of the machine (default: from the policies or the log)", Kind::integer, 1,
         0xFFFFFFFFLL},
        {"output", 'o', "FILE", "also write the JSON to this file"},
        {"html", 0, "FILE", "write one self-contained page with pictures"},
        {"svg", 0, "DIR", "write each picture into a file of its own in DIR"},
        {"fair-starts", 0, "N", "number of jobs if fair starts need a sample (default 100; 0: none)", Kind::integer, 0,
         1'000'000},
        {"seed", 0, "N", "seed of that sample (default 1)", Kind::integer, 0, INT64_MAX},
        requests_option(),
        {"lenient", 0, "", "skip and count broken lines and jobs that cannot run, instead of refusing the log",
         Kind::flag},
        {"quiet", 'q', "", "no table, no progress", Kind::flag}};
    command.run = run;
    return command;
}

}  // namespace

std::vector<Command> sim_commands(const SimRuns& runs) {
    return {sim_run_row(runs.run), sim_generate_row(runs.generate), sim_compare_row(runs.compare)};
}

}  // namespace weir::cmd
