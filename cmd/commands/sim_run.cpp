// SPDX-License-Identifier: LGPL-3.0-only
// Owns: `weir sim run`: a log replayed under one scheduler, its outcome in files and its figures on the terminal.
#include <optional>

#include "cmd/commands/sim_requests.hpp"
#include "cmd/commands/sim_table.hpp"
#include "cmd/common/text.hpp"
#include "cmd/instance/signals.hpp"
#include "cmd/sim/in_order.hpp"
#include "cmd/sim/job_log.hpp"
#include "cmd/sim/never_started.hpp"
#include "cmd/sim/outcome_file.hpp"
#include "cmd/sim/output_paths.hpp"
#include "cmd/sim/partition_figures.hpp"
#include "cmd/sim/policy_file.hpp"
#include "cmd/sim/progress.hpp"
#include "cmd/sim/site_partitions.hpp"
#include "cmd/sim/totals.hpp"
#include "cmd/sim/without_jobs.hpp"
#include "cmd/sim/without_shares.hpp"
#include "libfairshare/base/json/json.hpp"
#include "libsched/sim/simulate.hpp"

namespace weir::cmd {
namespace {

constexpr std::uint64_t instants_between_signal_checks = 128;

/// All files that are written, fed in the log's order.
class Outputs {
  public:
    static Result<Outputs> create(const Args& args, const ReplayFacts& facts) {
        Outputs outputs;
        if (args.has("starts")) {
            if (auto done = outputs.add(args.text("starts"), OutcomeFormat::starts, facts); !done) {
                return done.error();
            }
        }
        if (args.has("output")) {
            if (auto done = outputs.add(args.text("output"), *outcome_format(args.text("output")), facts); !done) {
                return done.error();
            }
        }
        return outputs;
    }
    bool empty() const { return files_.empty(); }
    Status add(const Outcome& outcome) {
        for (OutcomeFile& file : files_) {
            if (auto done = file.add(outcome); !done) {
                return done;
            }
        }
        return Done{};
    }
    Status finish(bool is_complete) {
        for (OutcomeFile& file : files_) {
            if (auto done = file.finish(is_complete); !done) {
                return done;
            }
        }
        return Done{};
    }

  private:
    Status add(const std::string& path, OutcomeFormat format, const ReplayFacts& facts) {
        auto file = OutcomeFile::create(path, format, facts);
        if (!file) {
            return file.error();
        }
        files_.push_back(std::move(*file));
        return Done{};
    }
    std::vector<OutcomeFile> files_;
};

/// The result of a replay.
struct ReplayResult {
    ReplayFacts facts;
    Totals totals;
    std::optional<SimTree> tree;                       ///< none: one pool
    std::vector<PartitionFigures> partitions;          ///< of `tree`
    Skipped refused;                                   ///< jobs that no partition could hold
    std::optional<WithoutSharesCount> without_shares;  ///< none: the policy has no tree
    std::optional<WithoutJobsCheck> without_jobs;      ///< none: it orders no queue
    SimCounters counters;
    Skipped skipped;
    JobLog::Remarks remarks;
    std::string remark;
    Duration real{};
};

/// The input of a replay: the command line overrides the policy file.
struct ReplayPlan {
    Policy scheduler = Easy{};
    std::optional<PolicyFile> file;
    std::int64_t cores = 0;  ///< 0: as the log says

    bool has_order() const { return file && file->settings && file->settings->policy != PolicyKind::fcfs; }
    std::string name() const { return name(name_of(scheduler)); }
    std::string name(const std::string& scheduling) const {
        return scheduling + (has_order() ? ", " + std::string(name_of(file->settings->policy)) + " order" : "");
    }
};

Result<ReplayPlan> replay_plan_of(const Context& context) {
    ReplayPlan plan;
    const Args& args = context.args;
    if (args.has("priority")) {
        auto file = read_policy_file(args.text("priority"));
        if (!file) {
            return file.error();
        }
        for (const std::string& warning : file->warnings) {
            context.note(warning);
        }
        plan.scheduler = file->scheduler;
        plan.cores = file->cores;
        plan.file = std::move(*file);
    }
    if (args.has("scheduler")) {
        const std::string name = args.text("scheduler");
        const auto policy = policy_named(name);
        if (!policy) {
            return Error{std::errc::invalid_argument, "--scheduler: " + policy.error().message};
        }
        plan.scheduler = *policy;
    }
    plan.cores = args.integer("cores", plan.cores);
    return plan;
}

std::vector<NamedFile> inputs_of(const Context& context, const ReplayPlan& plan) {
    std::vector<NamedFile> inputs{{"the log", context.args.words.front()}};
    for (const SourceFile& file : plan.file ? plan.file->source.files : std::vector<SourceFile>{}) {
        inputs.push_back({"the policy's file", file.path});
    }
    return inputs;
}

/// Prints the input, before the first job.
Result<ReplayResult> prepared(const JobLog& log, const ReplayPlan& plan) {
    ReplayResult replayed;
    replayed.facts = {file_name(log.path()), plan.name(), log.cores(), log.header()};
    if (plan.file && plan.file->partitions) {
        auto tree = tree_of(*plan.file, plan.scheduler, log.cores(), log.names());
        if (!tree) {
            return tree.error();
        }
        replayed.tree = std::move(*tree);
        replayed.partitions = no_figures(*replayed.tree);
        replayed.facts.scheduler = plan.name(scheduler_text(*replayed.tree));
    }
    if (plan.file && plan.file->tree) {
        replayed.without_shares.emplace(log_shares(*plan.file, log.names()));
    }
    if (plan.has_order()) {
        replayed.without_jobs.emplace(log_names(*plan.file, log.names()));
    }
    return replayed;
}

/// Order of submission without limits: nullptr.
Result<std::unique_ptr<QueueOrder>> order_of(const JobLog& log, const ReplayPlan& plan) {
    if (!plan.file || !plan.file->settings) {
        return std::unique_ptr<QueueOrder>{};
    }
    auto made = queue_order(*plan.file, log.cores(), log.names());
    if (!made) {
        return Error{made.error().code, plan.file->path + ": " + made.error().message};
    }
    return made;
}

/// On one pool or over the tree.
Result<SimCounters> run_replay(ReplayResult& replayed, JobLog& log, const ReplayPlan& plan, const OutcomeSink& sink,
                               const SimHooks& hooks) {
    const JobSource source = [&] {
        auto job = log.next();
        if (replayed.without_shares && job && *job) {
            replayed.without_shares->add(**job);
        }
        if (replayed.without_jobs && job && *job) {
            replayed.without_jobs->add(**job);
        }
        return job;
    };
    if (!replayed.tree) {
        return simulate(log.cores(), plan.scheduler, source, sink, hooks);
    }
    const auto refused = [&](const SimJob& job, const Refusal& why) { add_refused(replayed.refused, job, why); };
    return simulate_tree(*replayed.tree, source, sink, {hooks, refused});
}

Result<ReplayResult> replay(const Context& context, JobLog& log, const ReplayPlan& plan, Signals& signals) {
    auto ready = prepared(log, plan);
    auto order = ready ? order_of(log, plan) : Result<std::unique_ptr<QueueOrder>>(ready.error());
    if (!order) {
        return order.error();
    }
    ReplayResult replayed = std::move(*ready);
    auto outputs = Outputs::create(context.args, replayed.facts);
    if (!outputs) {
        return outputs.error();
    }
    InOrder in_order([&](const Outcome& outcome) { return outputs->add(outcome); });
    Status written = Done{};
    const auto sink = [&](const Outcome& outcome) {
        replayed.totals.add(outcome);
        if (replayed.tree) {
            add_outcome(replayed.partitions, outcome);
        }
        if (!outputs->empty() && written) {
            written = in_order.add(outcome);
        }
    };
    const Duration begin = monotonic_now();
    Progress progress(replayed.facts.log + " " + replayed.facts.scheduler, context.err, context.args.has("quiet"),
                      begin);
    SimControl control;
    control.every = instants_between_signal_checks;
    control.progress = [&](const SimCounters& counters) {
        progress.show(log.part_read(), counters.started, monotonic_now());
        return written.has_value() && !signals.is_stop_asked();
    };
    auto counters = run_replay(replayed, log, plan, sink, {.order = order->get(), .control = &control});
    if (!counters) {
        return counters.error();
    }
    if (written) {
        written = in_order.finish();
    }
    if (written) {
        written = outputs->finish(!counters->interrupted);
    }
    if (!written) {
        return written.error();
    }
    replayed.counters = *counters;
    replayed.skipped = log.skipped();
    replayed.remarks = log.remarks();
    replayed.remark = log.remark();
    replayed.real = monotonic_now() - begin;
    return replayed;
}

std::string text_of(const ReplayResult& replayed) {
    const Totals& totals = replayed.totals;
    const ReplayFacts& facts = replayed.facts;
    std::string text = facts.log + " under " + facts.scheduler + " on " + grouped(facts.cores) + " cores\n";
    text += "jobs         " + grouped(static_cast<std::int64_t>(totals.jobs())) + " in " +
            duration_text(totals.makespan()) + "\n";
    for (const std::string& line : skipped_lines(replayed.skipped)) {
        text += "left out     " + line + "\n";
    }
    for (const std::string& line : skipped_lines(replayed.refused)) {
        text += "refused      " + line + "\n";
    }
    const std::string requests = requests_text(replayed.remarks);
    text += requests.empty() ? "" : "requests     " + requests + "\n";
    text += replayed.remark.empty() ? "" : "not replayed " + replayed.remark + "\n";
    text += "wait         mean " + duration_text(duration_from_seconds(totals.wait_mean_s())) + ", longest " +
            duration_text(totals.wait_max()) + "\n";
    text += "slowdown     mean " + fixed(totals.slowdown_mean(), 2) + ", greatest " + fixed(totals.slowdown_max(), 1) +
            " (bounded at 10 s)\n";
    text += "utilisation  " + percent(totals.utilization(facts.cores)) + "\n";
    const std::string never_started = never_started_text(replayed.counters.never_started);
    text += never_started.empty() ? "" : "held back    " + never_started + "\n";
    return text + (replayed.tree ? partitions_table(replayed.partitions, totals.makespan(), {}) : "");
}

std::string json_of(const ReplayResult& replayed) {
    const Totals& totals = replayed.totals;
    Json cost = Json::object();
    cost.set("passes", replayed.counters.passes)
        .set("considered", replayed.counters.considered)
        .set("in_system_max", replayed.counters.in_system_max);
    const auto& kinds = replayed.skipped.kinds();
    Json out = Json::object();
    out.set("schema", "weir.sim-run/1")
        .set("log", replayed.facts.log)
        .set("scheduler", replayed.facts.scheduler)
        .set("cores", static_cast<long long>(replayed.facts.cores))
        .set("jobs", totals.jobs())
        .set("skipped", replayed.skipped.total())
        .set("first_skip", kinds.empty() ? std::string() : kinds.front().first)
        .set("skips", skipped_json(replayed.skipped))
        .set("not_replayed", replayed.remark)
        .set("overran", replayed.remarks.overran)
        .set("without_request", replayed.remarks.without_request)
        .set("with_preceding", replayed.remarks.with_preceding)
        .set("complete", !replayed.counters.interrupted)
        .set("wait_s", mean_and_max(totals.wait_mean_s(), to_seconds(totals.wait_max())))
        .set("bounded_slowdown", mean_and_max(totals.slowdown_mean(), totals.slowdown_max()))
        .set("utilization", totals.utilization(replayed.facts.cores))
        .set("makespan_s", to_seconds(totals.makespan()))
        .set("cost", std::move(cost));
    add_never_started(out, replayed.counters.never_started);
    add_without_shares(out, replayed.without_shares ? replayed.without_shares->count() : WithoutShares{});
    if (replayed.tree) {
        out.set("partitions", partitions_json(replayed.partitions, totals.makespan()))
            .set("refused", skipped_json(replayed.refused));
    }
    return out.dump() + "\n";
}

/// Error: no job of a whole log has shares.
Status note_without_shares(const Context& context, const ReplayPlan& plan, const ReplayResult& replayed) {
    if (!replayed.without_shares) {
        return Done{};
    }
    const WithoutShares& found = replayed.without_shares->count();
    const std::string& tree = plan.file->tree_path;
    if (const Status some = some_have_shares(found, tree); !some && !replayed.counters.interrupted) {
        return some.error();
    }
    if (const std::string text = without_shares_text(found, tree); !text.empty()) {
        context.note(text);
    }
    return Done{};
}

/// What the policy names and no job of a whole log has.
void note_without_jobs(const Context& context, const ReplayPlan& plan, const ReplayResult& replayed) {
    if (!replayed.without_jobs || replayed.counters.interrupted) {
        return;
    }
    for (const std::string& warning : replayed.without_jobs->warnings(*plan.file->settings)) {
        context.note(plan.file->path + ": " + warning);
    }
}

}  // namespace

Exit run_sim_run(Context& context) {
    const auto plan = replay_plan_of(context);
    if (!plan) {
        const bool is_usage = plan.error().code == std::errc::invalid_argument;
        return context.fail(is_usage ? Exit::usage : exit_of(plan.error()), plan.error().message);
    }
    if (context.args.has("output") && !outcome_format(context.args.text("output"))) {
        return context.fail(Exit::usage,
                            "--output takes a name that ends in .swf, .csv or .json, each also with .gz, "
                            "not \"" +
                                context.args.text("output") + "\".");
    }
    if (auto good = check_outputs(context, outputs_of(context.args, {"starts", "output"}), inputs_of(context, *plan));
        !good) {
        return context.fail(Exit::usage, good.error().message);
    }
    const auto covers = requests_cover_runs(context.args);
    if (!covers) {
        return context.fail(Exit::usage, covers.error().message);
    }
    Signals signals;  // before the log's thread is there
    auto log = JobLog::open(context.args.words.front(), {context.args.has("lenient"), plan->cores, *covers});
    if (!log) {
        return context.fail(log.error());
    }
    const auto replayed = replay(context, *log, *plan, signals);
    if (!replayed) {
        return context.fail(replayed.error());
    }
    if (auto some = note_without_shares(context, *plan, *replayed); !some) {
        return context.fail(Exit::failed, some.error().message);
    }
    note_without_jobs(context, *plan, *replayed);
    if (replayed->counters.interrupted && replayed->totals.jobs() == 0) {
        return context.fail(Exit::interrupted, "interrupted before any job started: there are no results.");
    }
    if (context.json) {
        context.print(json_of(*replayed));
    } else if (!context.args.has("quiet")) {
        context.print(text_of(*replayed));
        const double seconds = std::max(to_seconds(replayed->real), 1e-6);
        context.note("replayed in " + fixed(seconds, 2) + " s, " +
                     grouped(static_cast<std::int64_t>(static_cast<double>(replayed->totals.jobs()) / seconds)) +
                     " jobs a second");
    }
    if (replayed->counters.interrupted) {
        return context.fail(Exit::interrupted, "interrupted: these are the " +
                                                   grouped(static_cast<std::int64_t>(replayed->totals.jobs())) +
                                                   " jobs that had started before.");
    }
    if (replayed->totals.jobs() == 0 && replayed->refused.total() > 0) {
        return context.fail(Exit::failed,
                            "no partition took a job of this log, so that there are no figures. Name the "
                            "log's queues in [sim.queues], or all others' in [sim] default-queue.");
    }
    return Exit::ok;
}

}  // namespace weir::cmd
