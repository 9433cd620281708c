// SPDX-License-Identifier: LGPL-3.0-only
// Owns: `weir demo`: a workload, an instance tree, half a minute of watching, a report that checks itself.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <memory>

#include "cmd/commands/commands.hpp"
#include "cmd/common/instance_clock.hpp"
#include "cmd/demo/driver.hpp"
#include "cmd/demo/folder.hpp"
#include "cmd/demo/page.hpp"
#include "cmd/demo/witness.hpp"
#include "cmd/demo/workload.hpp"
#include "cmd/instance/page_process.hpp"
#include "cmd/instance/session.hpp"

namespace weir::cmd {
namespace {

using namespace std::chrono_literals;

/// The part of the budget for the run itself; the rest is for starting, reading the results and stopping.
constexpr double run_part = 0.85;

double half_life_s(double span_s) {
    return std::round(std::max(3600.0, span_s / 4));
}

Plan demo_plan(const Workload& workload, const DemoFolder& folder, double scale) {
    Plan plan;
    plan.rundir = folder.rundir;
    plan.statedir = folder.state;
    plan.plugins = plugin_folder();
    plan.share_tree = folder.files + "/shares.toml";
    plan.users = workload.users;
    plan.nodes = workload.nodes;
    plan.cores_per_node = workload.cores_per_node;
    plan.partitions = workload.partitions;
    plan.scale = scale;
    plan.origin = std::floor(real_now());
    plan.jobs_kept = static_cast<std::int64_t>(workload.jobs.size()) + 10000;
    // At half of the run, the usage at its beginning still counts half.
    const double span = to_seconds(workload.jobs.back().submit);
    plan.weir["half-life"] = fixed(half_life_s(span), 0) + "s";
    plan.weir["update-interval"] = fixed(std::max(30.0, scale / 4), 0) + "s";  // four times a real second
    plan.weir["wait-max"] = fixed(std::max(3600.0, span), 0) + "s";
    return plan;
}

Status write_file(const std::string& path, const std::string& text) {
    std::ofstream file(path, std::ios::binary | std::ios::trunc);
    file << text;
    file.flush();
    return file ? Status(Done{}) : Status(Error{std::errc::io_error, "cannot write " + path + ": is the disk full?"});
}

Status keep(const DemoFolder& folder, const Findings& findings, const std::string& page, const Screen& plain) {
    for (const auto& [name, text] :
         {std::pair<std::string, std::string>{"report.json", report_json(findings.report).dump(JSON_INDENT(2)) + "\n"},
          {"report.txt", report_text(findings.report, plain)},
          {"jobs.csv", jobs_csv(findings.jobs, findings.first_submit)},
          {"report.html", page}}) {
        if (auto done = write_file(folder.files + "/" + name, text); !done) {
            return done;
        }
    }
    return Done{};
}

Result<Workload> workload_for(const Args& args) {
    const std::int64_t jobs = args.integer("jobs", 600);
    return args.has("trace") ? trace_workload(args.text("trace"), jobs)
                             : generated_workload(static_cast<std::uint64_t>(args.integer("seed", 1)), jobs);
}

Exit ended_by(Context& context, const Error& error, const DemoFolder& folder) {
    if (error.code == std::errc::interrupted) {
        context.note("Interrupted. All processes have ended. Files: " + folder.files);
        return Exit::interrupted;
    }
    return context.fail(Exit::failed, error.message + "\nFiles: " + folder.files);
}

/// Relative to the current folder if the file is below it, as a reader would open it.
std::string shown_path(const std::string& path) {
    std::error_code ignored;
    const std::string here = std::filesystem::current_path(ignored).string() + "/";
    return path.compare(0, here.size(), here) == 0 ? path.substr(here.size()) : path;
}

Exit show(Context& context, const Findings& findings, const std::string& page, const DemoFolder& folder) {
    if (auto kept = keep(folder, findings, page, Screen{}); !kept) {
        return context.fail(kept.error());
    }
    if (context.json) {
        context.print(report_json(findings.report).set("files", folder.files).dump(JSON_INDENT(2)) + "\n");
    } else {
        context.print("\n" + report_text(findings.report, context.out) + "\nfiles    " + folder.files +
                      "  (report.html, report.json, jobs.csv, shares.toml, *.toml, broker.log, state/)\n" +
                      "next     weir start, then from another terminal: weir submit, weir jobs, weir share show\n" +
                      "page     " + shown_path(folder.files + "/report.html") +
                      ": shares, usage, queue and partitions of this run, for a browser\n");
    }
    return findings.report.holds() ? Exit::ok : Exit::failed;
}

/// With --keep the tree stays up for inspection.
void stay_up(Context& context, Session& session, Signals& signals) {
    context.note("The instances keep running. To use them from another terminal:\n  export FLUX_URI=" + session.uri() +
                 "\nCtrl-C ends them.");
    while (!signals.is_stop_asked() && !session.broker().has_ended()) {
        (void)wait_readable({signals.fd(), session.broker().pidfd()}, 3600s);
    }
}

/// Prints a line of progress: to stdout, or to stderr if stdout is for JSON.
void print_line(const Context& context, const std::string& line) {
    if (context.json) {
        context.note(line);
    } else {
        context.print(line + "\n");
    }
    std::fflush(stdout);
}

std::string headline(const Workload& workload, Duration length, Duration budget) {
    const std::string left_out = std::to_string(workload.left_out) + " lines without a run were skipped";
    return workload.name + ": " + std::to_string(workload.jobs.size()) + " jobs of " +
           std::to_string(workload.users.size()) + " users, " + duration_text(length) + " in about " +
           duration_text(budget) + (workload.left_out > 0 ? "; " + left_out : "");
}

/// With --page. Its address has to stay in sight, so the terminal gets lines and no picture.
std::unique_ptr<PageProcess> page_for_demo(const Context& context, const Session& session, const Signals& signals) {
    if (!context.args.has("page")) {
        return nullptr;
    }
    auto page = PageProcess::start(session.uri(), signals);
    print_line(context, page ? "live page, for a browser on this machine: " + page->url() : page.error().message);
    return page ? std::make_unique<PageProcess>(std::move(*page)) : nullptr;
}

Exit run_demo_in(Context& context, const Workload& workload, const DemoFolder& folder, Duration length) {
    const Duration budget = context.args.duration("seconds").value_or(25s);
    const double scale = std::max(1.0, std::ceil(to_seconds(length) / (to_seconds(budget) * run_part)));
    Signals signals;  // before the first output: from then on the user may press Ctrl-C
    print_line(context, headline(workload, length, budget));
    const Duration begin = monotonic_now();
    const int fd = context.json ? 2 : 1;
    const Screen& screen = context.json ? context.err : context.out;
    const Plan plan = demo_plan(workload, folder, scale);
    if (auto done = write_file(plan.share_tree, workload.share_tree); !done) {
        return context.fail(done.error());
    }
    std::vector<std::string> queues;
    for (const Partition& partition : plan.partitions) {
        queues.push_back(partition.name);
    }
    auto session = Session::start({plan, queues, folder.files}, signals,
                                  [&](const std::string& line) { print_line(context, line); });
    if (!session) {
        return ended_by(context, session.error(), folder);
    }
    Driver driver(workload, *session, plan.scale, *plan.origin);
    Status done = Done{};
    auto page = page_for_demo(context, *session, signals);
    {
        LiveOutput output(screen, context.args.has("plain") || context.args.has("page"), fd);
        done = driver.run(output, signals);
    }
    const auto page_of = [&](const Findings& findings) {
        return instance_page(
            demo_facts(findings, driver.fullest(), half_life_s(to_seconds(workload.jobs.back().submit))));
    };
    auto findings = done ? findings_of(workload, *session, signals, plan.scale, 10s) : Result<Findings>(done.error());
    if (findings && context.args.has("keep")) {
        findings->report.facts.real = monotonic_now() - begin;
        findings->report.facts.scale = scale;
        const Exit code = show(context, *findings, page_of(*findings), folder);
        std::fflush(stdout);
        stay_up(context, *session, signals);
        page.reset();
        session->stop(signals);
        return code;
    }
    page.reset();
    session->stop(signals);
    if (!findings) {
        return ended_by(context, findings.error(), folder);
    }
    findings->report.facts.real = monotonic_now() - begin;
    findings->report.facts.scale = scale;
    return show(context, *findings, page_of(*findings), folder);
}

Exit run_demo(Context& context) {
    auto workload = workload_for(context.args);
    if (!workload) {
        return context.fail(workload.error());
    }
    const auto length = makespan(*workload);
    if (!length) {
        return context.fail(length.error());
    }
    auto folder = make_demo_folder(context.args.text("dir"));
    if (!folder) {
        return context.fail(folder.error());
    }
    return run_demo_in(context, *workload, *folder, *length);
}

}  // namespace

Command demo_command() {
    Command command;
    command.name = "demo";
    command.summary = "watch a parent, two partitions and 600 jobs for half a minute";
    command.examples = {
        "weir demo  # a generated workload, with a report and checks at the end",
        "weir demo --trace KTH-SP2-1996.swf.gz  # the first 600 jobs of a real log",
        "weir demo --seed 7 --seconds 15 --keep  # another workload, faster; the instances keep running"};
    command.options = {
        {"trace", 0, "LOG", "replay a workload log (SWF or gzipped SWF); its groups become accounts"},
        {"jobs", 'n', "N", "number of jobs (default 600)", Kind::integer, 1, 100000},
        {"seed", 0, "N", "seed of the generated workload (default 1)", Kind::integer, 0, INT64_MAX},
        {"seconds", 0, "S", "intended duration in real time (default 25)", Kind::seconds},
        {"dir", 0, "DIR", "folder for the files (default: build/demo)"},
        {"page", 0, "", "serve the live page while it runs, and print lines instead of a picture", Kind::flag},
        {"keep", 0, "", "leave the instances running until Ctrl-C", Kind::flag},
        {"plain", 0, "", "print a line every five seconds instead of a picture", Kind::flag}};
    command.has_uri = false;
    command.run = run_demo;
    return command;
}

}  // namespace weir::cmd
