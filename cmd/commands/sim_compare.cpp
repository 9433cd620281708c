// SPDX-License-Identifier: LGPL-3.0-only
// Owns: `weir sim compare`: one log under several policies, their figures side by side.
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "cmd/commands/sim_requests.hpp"
#include "cmd/commands/sim_table.hpp"
#include "cmd/common/output_file.hpp"
#include "cmd/common/sha256.hpp"
#include "cmd/common/text.hpp"
#include "cmd/instance/signals.hpp"
#include "cmd/report/svg.hpp"
#include "cmd/sim/comparison_text.hpp"
#include "cmd/sim/job_log.hpp"
#include "cmd/sim/never_started.hpp"
#include "cmd/sim/output_paths.hpp"
#include "cmd/sim/pictures.hpp"
#include "cmd/sim/policy_file.hpp"
#include "cmd/sim/progress.hpp"
#include "cmd/sim/replays.hpp"
#include "cmd/sim/without_jobs.hpp"
#include "cmd/sim/yardstick.hpp"
#include "libfairshare/limits/limit_counts.hpp"

namespace weir::cmd {
namespace {

Error bad(const std::string& sentence) {
    return Error{std::errc::invalid_argument, sentence};
}

/// All policy files, or the mistakes of all of them.
Result<std::vector<PolicyFile>> read_policies(const std::vector<std::string>& paths) {
    std::vector<PolicyFile> files;
    std::string complaints;
    std::errc code = std::errc::invalid_argument;
    for (const std::string& path : paths) {
        auto file = read_policy_file(path);
        if (!file) {
            complaints += (complaints.empty() ? "" : "\n") + file.error().message;
            code = file.error().code;
            continue;
        }
        for (const PolicyFile& other : files) {
            if (read_name(other.name) == read_name(file->name)) {
                complaints += (complaints.empty() ? "" : "\n") + path + ": its name \"" + read_name(file->name) +
                              "\" is the name of " + other.path + " too; rename one: [sim] name = \"...\".";
            }
        }
        files.push_back(std::move(*file));
    }
    return complaints.empty() ? Result<std::vector<PolicyFile>>(std::move(files)) : Error{code, complaints};
}

/// --cores, or the files' value, which must be the same in all; 0: the log's.
Result<std::int64_t> machine_cores(const Args& args, const std::vector<PolicyFile>& files) {
    if (args.has("cores")) {
        return args.integer("cores", 0);
    }
    const PolicyFile* said = nullptr;
    for (const PolicyFile& file : files) {
        if (said != nullptr && file.cores != 0 && file.cores != said->cores) {
            return bad(file.path + ": [sim] cores = " + std::to_string(file.cores) + ", but " + said->path + " says " +
                       std::to_string(said->cores) +
                       ": policies are compared on one machine. --cores=N overrides both.");
        }
        said = file.cores != 0 ? &file : said;
    }
    return said != nullptr ? said->cores : 0;
}

std::uint64_t seed_of(const Args& args) {
    return static_cast<std::uint64_t>(args.integer("seed", 1));
}

constexpr std::size_t jobs_between_checks = 4096;

Result<std::vector<SimJob>> read_jobs(JobLog& log, Signals& signals) {
    std::vector<SimJob> jobs;
    while (true) {
        auto job = log.next();
        if (!job) {
            return job.error();
        }
        if (!*job) {
            return jobs;
        }
        jobs.push_back(**job);
        if (jobs.size() % jobs_between_checks == 0 && signals.is_stop_asked()) {
            return Error{std::errc::interrupted, "interrupted while reading the log: there are no results."};
        }
    }
}

Result<PlannedReplay> planned(const PolicyFile& file, const JobLog& log) {
    const std::int64_t cores = log.cores();
    PlannedReplay plan;
    plan.name = file.name;
    plan.scheduler = file.scheduler;
    if (file.partitions) {
        auto tree = tree_of(file, file.scheduler, cores, log.names());
        if (!tree) {
            return tree.error();
        }
        plan.tree = std::move(*tree);
    }
    const bool is_ordered = file.settings && file.settings->policy != PolicyKind::fcfs;
    if (is_ordered) {
        plan.order_name = std::string(name_of(file.settings->policy));
    }
    // Without an order fair starts can be found for every job, so that one is made only where it has an effect.
    if (is_ordered || (file.tree && has_limits(*file.tree))) {
        plan.order = [&file, cores, names = log.names()]() { return queue_order(file, cores, names); };
    }
    return plan;
}

/// Who of the log's users is not in the policy's tree. Error: nobody is in it.
Result<WithoutShares> looked_up(const PolicyFile& file, const JobLog& log, const std::vector<SimJob>& jobs) {
    if (!file.tree) {
        return WithoutShares{};
    }
    WithoutSharesCount count(log_shares(file, log.names()));
    for (const SimJob& job : jobs) {
        count.add(job);
    }
    const Status some = some_have_shares(count.count(), file.tree_path);
    return some ? count.count()
                : Result<WithoutShares>(Error{some.error().code, file.path + ": " + some.error().message});
}

/// What the policy names and no job has.
void note_without_jobs(const Context& context, const PolicyFile& file, const JobLog& log,
                       const std::vector<SimJob>& jobs) {
    if (!file.settings) {
        return;
    }
    WithoutJobsCheck check(log_names(file, log.names()));
    for (const SimJob& job : jobs) {
        check.add(job);
    }
    for (const std::string& warning : check.warnings(*file.settings)) {
        context.note(file.path + ": " + warning);
    }
}

/// The shares of the first policy that has a tree, else equal ones; usage fades as under the first that says how.
void choose_yardstick(Yardstick& yardstick, const std::vector<PolicyFile>& files, const JobLog& log,
                      const std::vector<SimJob>& jobs) {
    const auto with_tree = std::find_if(files.begin(), files.end(), [](const PolicyFile& file) { return file.tree; });
    if (with_tree != files.end()) {
        measure_share_tree(yardstick, jobs, with_tree->tree_path, log_shares(*with_tree, log.names()));
    } else {
        measure_equal_shares(yardstick, jobs);
    }
    const auto fades = std::find_if(files.begin(), files.end(), [](const PolicyFile& file) {
        return file.settings && file.settings->decay == DecayKind::half_life;
    });
    yardstick.half_life = fades != files.end() ? fades->settings->half_life : yardstick.half_life;
}

/// The requested files. They are created before the replays, which may take hours.
class ReportFiles {
  public:
    /// Errors: a file or the folder of the pictures cannot be written to.
    static Result<ReportFiles> create(const Args& args) {
        ReportFiles files;
        for (auto [option, file] : {std::pair("output", &files.json_), std::pair("html", &files.html_)}) {
            if (args.has(option)) {
                auto made = OutputFile::create(args.text(option));
                if (!made) {
                    return made.error();
                }
                file->emplace(std::move(*made));
            }
        }
        files.folder_ = args.text("svg");
        if (args.has("svg") && access((files.folder_ + "/.").c_str(), W_OK | X_OK) != 0) {
            const int why = errno;
            return Error{static_cast<std::errc>(why),
                         "--svg=" + files.folder_ + ": cannot write pictures there: " + std::strerror(why)};
        }
        return files;
    }
    /// Each is complete or absent.
    Status write(const Comparison& comparison) {
        if (json_) {
            if (auto done = write(*json_, comparison_json(comparison)); !done) {
                return done;
            }
        }
        for (const Picture& picture : folder_.empty() ? std::vector<Picture>{} : pictures(comparison)) {
            auto file = OutputFile::create(folder_ + "/" + picture_id(picture.svg) + ".svg");
            if (!file) {
                return file.error();
            }
            if (auto done = write(*file, standalone(picture.svg)); !done) {
                return done;
            }
        }
        return html_ ? write(*html_, comparison_html(comparison)) : Status(Done{});
    }

  private:
    static Status write(OutputFile& file, const std::string& text) {
        auto done = file.write(text);
        return done ? file.commit() : done;
    }
    std::optional<OutputFile> json_, html_;
    std::string folder_;  ///< of the pictures; empty: none
};

/// The command line that does the same: options by name, then the policies.
std::vector<std::string> command_words(const Args& args) {
    std::vector<std::string> words{"weir", "sim", "compare"};
    for (const auto& [name, values] : args.values) {
        for (const std::string& value : values) {
            words.push_back("--" + name + (value.empty() ? "" : "=" + value));
        }
    }
    words.insert(words.end(), args.words.begin(), args.words.end());
    return words;
}

Provenance provenance_of(const Args& args, const std::vector<PolicyFile>& files) {
    Provenance provenance;
    provenance.version = WEIR_VERSION;
    provenance.command = command_words(args);
    const std::string trace = args.text("trace");
    provenance.log = {trace, trace == "-" ? std::nullopt : sha256_of_file(trace)};
    provenance.seed = seed_of(args);
    for (const PolicyFile& file : files) {
        provenance.policies[file.name] = file.source;
    }
    return provenance;
}

/// A warning for policies that are equal.
void note_equals(const Context& context, const std::vector<PolicyFile>& files) {
    const auto is_equal = [](const PolicyFile& a, const PolicyFile& b) {
        const auto content = [](const PolicyFile& file) {
            std::vector<std::optional<std::string>> sums;
            for (std::size_t i = 1; i < file.source.files.size(); ++i) {
                sums.push_back(file.source.files[i].sha256);
            }
            return sums;
        };
        return a.source.settings == b.source.settings && content(a) == content(b);
    };
    for (std::size_t i = 0; i < files.size(); ++i) {
        for (std::size_t j = 0; j < i; ++j) {
            if (is_equal(files[i], files[j])) {
                context.note(files[i].path + " and " + files[j].path + " are the same policy under two names.");
            }
        }
    }
}

struct LogFacts {
    Skipped skipped;
    JobLog::Remarks remarks;
    std::string remark;
};

/// What is known before the log is read.
struct Inputs {
    std::vector<PolicyFile> files;
    std::int64_t cores = 0;
    bool covers = false;  ///< requests are raised to the run times
};

Result<Inputs> read_inputs(const Context& context) {
    auto files = read_policies(context.args.words);
    if (!files) {
        return files.error();
    }
    const auto cores = machine_cores(context.args, *files);
    if (!cores) {
        return cores.error();
    }
    const auto covers = requests_cover_runs(context.args);
    if (!covers) {
        return covers.error();
    }
    std::vector<NamedFile> inputs{{"the log", context.args.text("trace")}};
    for (const PolicyFile& file : *files) {
        for (const SourceFile& source : file.source.files) {
            inputs.push_back({"the policy's file", source.path});
        }
    }
    if (auto good = check_outputs(context, outputs_of(context.args, {"output", "html"}), inputs); !good) {
        return good.error();
    }
    return Inputs{std::move(*files), *cores, *covers};
}

struct Work {
    std::vector<PolicyFile> files;  ///< `plan` borrows them
    std::vector<PlannedReplay> plan;
    Yardstick yardstick;
    std::vector<SimJob> jobs;
    LogFacts log;
};

Result<Work> prepare(const Context& context, Inputs inputs, Signals& signals) {
    auto log = JobLog::open(context.args.text("trace"), {context.args.has("lenient"), inputs.cores, inputs.covers});
    if (!log) {
        return log.error();
    }
    auto jobs = read_jobs(*log, signals);
    if (!jobs) {
        return jobs.error();
    }
    Work work;
    work.jobs = std::move(*jobs);
    work.log = {log->skipped(), log->remarks(), log->remark()};
    work.yardstick.log = file_name(log->path());
    work.yardstick.cores = log->cores();
    work.yardstick.jobs = work.jobs.size();
    work.files = std::move(inputs.files);
    choose_yardstick(work.yardstick, work.files, *log, work.jobs);
    note_equals(context, work.files);
    for (const PolicyFile& file : work.files) {
        for (const std::string& warning : file.warnings) {
            context.note(warning);
        }
        note_without_jobs(context, file, *log, work.jobs);
        auto plan = planned(file, *log);
        if (!plan) {
            return plan.error();
        }
        auto without = looked_up(file, *log, work.jobs);
        if (!without) {
            return without.error();
        }
        if (const std::string text = without_shares_text(*without, file.tree_path); !text.empty()) {
            context.note(text);
        }
        plan->without_shares = std::move(*without);
        work.plan.push_back(std::move(*plan));
    }
    return work;
}

/// With its progress on the terminal.
Result<ReplayResults> replayed(const Context& context, const Work& work, Signals& signals) {
    const std::string policies = std::to_string(work.plan.size()) + (work.plan.size() == 1 ? " policy" : " policies");
    Progress progress(policies, context.err, context.args.has("quiet"), monotonic_now());
    ReplayWatch watch;
    watch.fair_start_sample = static_cast<std::uint32_t>(context.args.integer("fair-starts", 100));
    watch.seed = seed_of(context.args);
    watch.progress = [&](const ReplayProgress& at) {
        if (at.fair_starts_of > 0) {
            progress.set_title(policies + ", fair starts " + grouped(static_cast<std::int64_t>(at.fair_starts)) +
                               " of " + grouped(static_cast<std::int64_t>(at.fair_starts_of)));
        }
        progress.show(at.part, at.jobs, monotonic_now());
    };
    return replay_all(work.plan, work.yardstick, work.jobs, signals, watch);
}

/// Parts of the log and policies that no figure is of.
void note_left_out(const Context& context, const LogFacts& log) {
    for (const std::string& line : skipped_lines(log.skipped)) {
        context.note("left out: " + line);
    }
    for (const std::string& line : {requests_text(log.remarks), log.remark}) {
        if (!line.empty()) {
            context.note("of the jobs " + line);
        }
    }
}

void note_without_starts(const Context& context, const std::vector<Replayed>& policies) {
    for (const Replayed& policy : policies) {
        std::vector<std::string> reasons = skipped_lines(policy.refused);
        if (const std::string held = never_started_text(policy.never_started); !held.empty()) {
            reasons.push_back(held);
        }
        if (policy.is_complete && !reasons.empty()) {
            context.note(printable(policy.name) + ": no job started, so that it has no figures: " + listed(reasons));
        }
    }
}

Exit show(Context& context, const Comparison& comparison, ReportFiles& files, bool is_interrupted) {
    if (context.json) {
        context.print(comparison_json(comparison));
    } else if (!context.args.has("quiet")) {
        context.print(comparison_table(comparison, context.out));
    }
    if (auto written = files.write(comparison); !written) {
        return context.fail(written.error());
    }
    return is_interrupted ? context.fail(Exit::interrupted, "interrupted: these are the results until then.")
                          : Exit::ok;
}

}  // namespace

Exit run_sim_compare(Context& context) {
    if (!context.args.has("trace")) {
        return context.fail(Exit::usage, "weir sim compare needs --trace=LOG.\nTry: weir sim compare --help");
    }
    Signals signals;  // before any thread is started
    auto inputs = read_inputs(context);
    if (!inputs) {
        const bool is_usage = inputs.error().code == std::errc::invalid_argument;
        return context.fail(is_usage ? Exit::usage : exit_of(inputs.error()), inputs.error().message);
    }
    auto files = ReportFiles::create(context.args);
    if (!files) {
        return context.fail(files.error());
    }
    auto work = prepare(context, std::move(*inputs), signals);
    if (!work) {
        const bool is_interrupted = work.error().code == std::errc::interrupted;
        return context.fail(is_interrupted ? Exit::interrupted : exit_of(work.error()), work.error().message);
    }
    note_left_out(context, work->log);
    auto results = replayed(context, *work, signals);
    if (!results) {
        return context.fail(results.error());
    }
    note_without_starts(context, results->without_starts);
    if (results->replays.empty()) {
        return results->is_interrupted
                   ? context.fail(Exit::interrupted, "interrupted before any job started: there are no results.")
                   : context.fail(Exit::failed, "no job started under any policy: there are no results.");
    }
    Comparison comparison = compared(std::move(work->yardstick), results->replays, std::move(results->measures));
    comparison.provenance = provenance_of(context.args, work->files);
    comparison.fair_starts_planned = results->fair_starts_planned;
    return show(context, comparison, *files, results->is_interrupted);
}

}  // namespace weir::cmd
