// SPDX-License-Identifier: LGPL-3.0-only
// Owns: LSF's dynamic user priority, its history, and who is dispatched. Must not know the formula: libfairshare is
// asked.
#include <array>
#include <cmath>
#include <cstdio>
#include <stdexcept>

#include "libfairshare/algorithms/algorithm.hpp"
#include "libfairshare/algorithms/lsf_dispatch.hpp"
#include "libfairshare/usage/lsf_history.hpp"
#include "libsched/sim/simulate.hpp"
#include "t/oracle/runner/cases.hpp"
#include "t/oracle/runner/world.hpp"

namespace weir::oracle {

namespace {

constexpr double default_shares = 1000;
const Instant epoch = instant_from_seconds(1.7e9);

/// lsb.params: as they are called there, or in short.
LsfFactors factors_of(const Case& one) {
    LsfFactors made;
    made.cpu_time = one.number_or({"CPU_TIME_FACTOR", "cpu_f", "cpu_factor"}, made.cpu_time);
    made.run_time = one.number_or({"RUN_TIME_FACTOR", "run_f", "run_factor"}, made.run_time);
    made.run_job = one.number_or({"RUN_JOB_FACTOR", "job_f", "run_job_f", "job_factor"}, made.run_job);
    made.committed_run_time = one.number_or({"COMMITTED_RUN_TIME_FACTOR", "com_f", "committed_f", "committed_factor"},
                                            made.committed_run_time);
    made.forwarded_job = one.number_or({"FWD_JOB_FACTOR", "fwd_f", "fwd_job_f", "forwarded_f"}, made.forwarded_job);
    made.adjustment =
        one.number_or({"FAIRSHARE_ADJUSTMENT_FACTOR", "adj_f", "adjustment_f", "adjustment_factor"}, made.adjustment);
    made.gpu_run_time = one.number_or({"GPU_RUN_TIME_FACTOR", "gpu_f", "gpu_run_f", "gpu_factor"}, made.gpu_run_time);
    return made;
}

double shares_of(const Case& one) {
    return one.number_or({"shares", "number_shares", "user_shares"}, default_shares);
}

LsfHistorySettings settings_of(const Case& one) {
    LsfHistorySettings made;
    made.hist_hours = one.number_or({"HIST_HOURS"}, made.hist_hours);
    made.enable_hist_run_time = one.is_set({"ENABLE_HIST_RUN_TIME"});
    made.enable_gpu_hist_run_time = one.is_set({"ENABLE_GPU_HIST_RUN_TIME"});
    made.run_time_decay = one.is_set({"RUN_TIME_DECAY"});
    return made;
}

/// Whether finished jobs' run time counts: as the case says, else as LSF does where it is told in seconds (no), else as
/// the formula reads (yes).
bool counts_history(const Case& one, const char* parameter, const char* in_seconds) {
    return one.input({parameter}) != nullptr ? one.is_set({parameter}) : !one.has(in_seconds);
}

/// Use as the file gives it. CPU time and finished jobs' run time were recorded `elapsed` before, and decay since.
DynamicUse use_of(const Case& one) {
    LsfHistorySettings settings = settings_of(one);
    settings.enable_hist_run_time = counts_history(one, "ENABLE_HIST_RUN_TIME", "hist_run_time_s");
    LsfHistory history{1, settings};
    const auto hours = [](double count) { return seconds_of(count * 3600); };
    const Duration finished = hours(one.hours_or({"hist_run_time", "hist_run", "hist", "historical_run_time"}, 0));
    history.start(root_node, {}, epoch - finished);
    history.end(root_node, {}, epoch - finished, epoch);
    const Duration cpu = hours(one.hours_or({"cpu_time", "cpu", "cumulative_cpu_time"}, 0));
    history.cpu_used(root_node, static_cast<CoreMicros>(cpu.count()), epoch, epoch);
    DynamicUse use = history.use(root_node, epoch + hours(one.hours_or({"elapsed"}, 0)));
    use.run_time_h = one.hours_or({"run_time", "run"}, 0);
    use.committed_run_time_h =
        one.hours_or({"committed_run_time", "com_run_time", "committed_run", "committed", "com"}, 0);
    const double gpu = one.hours_or({"gpu_run_time", "gpu_run", "gpu"}, 0);
    const double gpu_finished = one.hours_or(
        {"hist_gpu_run_time", "gpu_hist_run_time", "hist_gpu_run", "gpu_hist_run", "hist_gpu", "gpu_hist"}, 0);
    const bool counts_gpu = counts_history(one, "ENABLE_GPU_HIST_RUN_TIME", "hist_gpu_run_time_s");
    use.gpu_run_time_h =
        (gpu + (counts_gpu ? gpu_finished : 0)) * one.number_or({"ngpus_physical", "ngpus", "num_gpus", "gpus"}, 1);
    use.job_slots = one.number_or({"job_slots", "slots", "started_slots", "num_slots"}, 0);
    use.adjustment = one.number_or({"fairshare_adjustment", "adjustment", "adj"}, 0);
    return use;
}

void read_formula(const Case& one, Report& report) {
    const LsfFactors factors = factors_of(one);
    const DynamicUse use = use_of(one);
    const LsfElsewhere elsewhere{
        one.number_or({"fwd_job_slots", "fwd_slots", "forwarded_job_slots", "forwarded_slots", "fwd"}, 0),
        one.number_or({"remote_fairshare_load", "remote_load", "remote"}, 0)};
    const double priority = lsf_priority(shares_of(one), use, factors, elsewhere);
    expect_any(one, report, {"denominator", "divisor"}, lsf_divisor(use, factors, elsewhere));
    expect_any(one, report, {"priority", "prio", "dynamic_priority"}, priority);
    if (find(one.expected, "decay") != nullptr) {
        LsfHistory history{1, settings_of(one)};
        history.cpu_used(root_node, 3600000000U, epoch, epoch);
        const Instant now = epoch + seconds_of(one.number_or({"elapsed_h"}, 0) * 3600);
        expect(one, report, "decay", history.use(root_node, now).cpu_time_h);
    }
    if (find(one.expected, "display3") != nullptr) {
        std::array<char, 64> shown{};
        std::snprintf(shown.data(), shown.size(), "%.3f", priority);
        report.text("display3", text_at(one.expected, "display3"), shown.data());
    }
    if (find(one.expected, "seed_printed") != nullptr) {  // its divisor was rounded to five decimals
        report.number("seed_printed", number_at(one.expected, "seed_printed"), priority, 5e-6);
    }
}

/// A job that ran for a while at an even rate and has just finished.
void read_decayed_while_running(const Case& one, Report& report) {
    LsfHistorySettings settings = settings_of(one);
    settings.enable_hist_run_time = true;
    LsfHistory history{1, settings};
    const double rate = number_at(one.inputs, "rate_cpu_h_per_h");
    const Duration ran = seconds_of(number_at(one.inputs, "duration_h") * 3600);
    history.cpu_used(root_node, static_cast<CoreMicros>(std::llround(rate * static_cast<double>(ran.count()))),
                     epoch - ran, epoch);
    DynamicUse use = history.use(root_node, epoch);
    use.hist_run_time_h = one.number_or({"hist_run_h"}, 0);
    expect(one, report, "decayed_cpu_h", use.cpu_time_h);
    expect(one, report, "priority", lsf_priority(shares_of(one), use, factors_of(one)));
}

std::string join(const std::vector<std::string>& texts) {
    std::string made;
    for (const std::string& text : texts) {
        made += (made.empty() ? "" : " ") + text;
    }
    return made;
}

/// Slots dealt out one by one among users under one root.
void read_split(const Case& one, Report& report) {
    const Value* users = member(one.inputs, "users");
    std::vector<NodeSpec> specs;
    for (const auto& [name, user] : entries(users)) {
        specs.push_back({"@" + std::string{name}, std::nullopt, integer_at(user, "shares"), {}});
    }
    const ShareTree tree = tree_of(specs);
    const LsfFactors factors = factors_of(one);
    LsfDispatch dispatch{tree, factors, {}};
    const std::string first = text_at(one.inputs, "fcfs_first");
    std::uint64_t order = std::uint64_t{1} << 32;
    for (const auto& [name, user] : entries(users)) {
        std::uint64_t place = name == first ? 0 : order;
        for (std::int64_t i = 0; i < integer_at(user, "pending"); ++i) {
            dispatch.submit({node_at(tree, "@" + std::string{name}), place++});
        }
        order += std::uint64_t{1} << 32;
    }
    std::vector<std::string> began;
    for (std::int64_t free = integer_at(one.inputs, "free_slots"); free > 0; --free) {
        if (const auto job = dispatch.next()) {
            began.emplace_back(tree.name(job->leaf));
        }
    }
    for (const auto& [name, expected] : entries(one.expected)) {
        if (is_list(expected)) {  // "first10"
            const auto names = texts_of(expected);
            const std::size_t count = std::min(names.size(), began.size());
            report.text(name, join(names), join({began.begin(), began.begin() + static_cast<std::ptrdiff_t>(count)}));
        } else if (is_object(expected)) {  // "slots"
            for (const auto& [who, slots] : entries(expected)) {
                report.integer(who, integer_of(slots), std::count(began.begin(), began.end(), who));
            }
        }
    }
}

double minute_of(const std::string& clock) {
    return std::stod(clock.substr(0, 2)) * 60 + std::stod(clock.substr(3, 2));
}

std::string clock_of(double minute) {
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%02d:%02d", static_cast<int>(minute) / 60, static_cast<int>(minute) % 60);
    return text.data();
}

double minutes_of(Instant at) {
    return to_seconds(at) / 60;
}

/// Jobs of one core that run as long, submitted together.
void add_jobs(std::vector<SimJob>& jobs, const Value* group, double run_minutes) {
    const Instant submit = instant_from_seconds(minute_of(text_at(group, "submit")) * 60);
    const Duration run = seconds_of(run_minutes * 60);
    jobs.insert(jobs.end(), static_cast<std::size_t>(integer_at(group, "jobs")),
                SimJob{.number = 1, .submit = submit, .run = run, .limit = run});
}

std::vector<Instant> fcfs_starts(const std::vector<SimJob>& jobs, std::int64_t slots) {
    auto starts = simulate(jobs, slots, Fcfs{});
    if (!starts) {
        throw std::runtime_error{starts.error().message};
    }
    return std::move(starts).value();
}

/// One queue first come, first served: how long B waits behind A.
void read_fcfs_wait(const Case& one, Report& report) {
    const double run = number_at(one.inputs, "job_min");
    std::vector<SimJob> jobs;
    add_jobs(jobs, member(one.inputs, "A"), run);
    const std::size_t first_of_b = jobs.size();
    add_jobs(jobs, member(one.inputs, "B"), run);
    const auto starts = fcfs_starts(jobs, integer_at(one.inputs, "slots"));
    const double submitted = minutes_of(jobs[first_of_b].submit);
    std::int64_t done = 0;
    for (std::size_t i = 0; i < first_of_b; ++i) {
        done += minutes_of(starts[i]) + run <= submitted ? 1 : 0;
    }
    report.integer("A_done_at_0930", integer_at(one.expected, "A_done_at_0930"), done);
    report.integer("A_left_at_0930", integer_at(one.expected, "A_left_at_0930"),
                   static_cast<std::int64_t>(first_of_b) - done);
    expect(one, report, "A_total_min", minutes_of(starts[first_of_b - 1]) + run - minutes_of(jobs[0].submit));
    report.text("B_first_start_fcfs", text_at(one.expected, "B_first_start_fcfs"),
                clock_of(minutes_of(starts[first_of_b])));
    expect(one, report, "B_wait_min_fcfs", minutes_of(starts[first_of_b]) - submitted);
}

/// Long jobs of A end at ten; who goes then, with and without history (CPU half used, run time counted).
void read_long_jobs(const Case& one, Report& report) {
    const std::int64_t slots = integer_at(one.inputs, "slots");
    const Value* first = member(one.inputs, "A1");
    const double run = number_at(first, "hours") * 60;
    std::vector<SimJob> jobs;
    add_jobs(jobs, first, run);
    const std::size_t first_of_b = jobs.size();
    add_jobs(jobs, member(one.inputs, "B"), run);
    add_jobs(jobs, member(one.inputs, "A2"), run);
    const auto starts = fcfs_starts(jobs, slots);
    expect(one, report, "B_wait_min_until_first_slot",
           minutes_of(starts[first_of_b]) - minutes_of(jobs[first_of_b].submit));

    const ShareTree tree = tree_of({{"@A", std::nullopt, static_cast<std::int64_t>(default_shares), {}},
                                    {"@B", std::nullopt, static_cast<std::int64_t>(default_shares), {}}});
    const NodeId a = node_at(tree, "@A");
    const NodeId b = node_at(tree, "@B");
    const auto dealt = [&](bool has_history, double& priority_a, double& priority_b) {
        LsfHistorySettings settings;
        settings.enable_hist_run_time = has_history;
        LsfHistory history{tree.size(), settings};
        const Instant ended = epoch;
        for (std::int64_t i = 0; has_history && i < integer_at(first, "jobs"); ++i) {
            history.start(a, {}, ended - seconds_of(run * 60));
            history.end(a, {}, ended - seconds_of(run * 60), ended);
            history.cpu_used(a, static_cast<CoreMicros>(seconds_of(run * 60 / 2).count()), ended, ended);
        }
        std::vector<DynamicUse> use;
        history.snapshot(tree, ended, use);
        const LsfFactors factors;
        LsfDispatch dispatch{tree, factors, use};
        priority_a = dispatch.priority(a);
        priority_b = dispatch.priority(b);
        for (std::int64_t i = 0; i < slots; ++i) {
            dispatch.submit({a, static_cast<std::uint64_t>(i)});
            dispatch.submit({b, static_cast<std::uint64_t>(slots + i)});
        }
        std::vector<NodeId> leaves;
        for (std::int64_t i = 0; i < slots; ++i) {
            leaves.push_back(dispatch.next()->leaf);
        }
        return leaves;
    };
    double priority_a = 0;
    double priority_b = 0;
    const auto plain = dealt(false, priority_a, priority_b);
    const auto of_a = std::count(plain.begin(), plain.end(), a);
    report.text("at_1000_without_history", text_at(one.expected, "at_1000_without_history"),
                of_a * 2 == slots ? "A and B share 1:1" : "A takes " + std::to_string(of_a));
    const auto remembered = dealt(true, priority_a, priority_b);
    std::array<char, 96> shown{};
    std::snprintf(shown.data(), shown.size(), "%s first (A prio %.3f %s B %.3f)", remembered.front() == b ? "B" : "A",
                  priority_a, priority_a < priority_b ? "<" : ">=", priority_b);
    report.text("at_1000_with_history", text_at(one.expected, "at_1000_with_history"), shown.data());
}

/// How many jobs B starts while it stands above A.
void read_crossover(const Case& one, Report& report) {
    const ShareTree tree = tree_of({{"@B", std::nullopt, integer_at(one.inputs, "shares"), {}}});
    const LsfFactors factors = factors_of(one);
    LsfDispatch dispatch{tree, factors, {}};
    const NodeId b = node_at(tree, "@B");
    const double limit = number_at(one.inputs, "A_priority");
    std::int64_t started = 0;
    while (dispatch.priority(b) > limit) {
        dispatch.submit({b, static_cast<std::uint64_t>(started)});
        dispatch.next();
        ++started;
    }
    report.integer("B_slots_at_or_below", integer_at(one.expected, "B_slots_at_or_below"), started);
}

struct Accounts {
    std::vector<NodeSpec> specs;
    std::vector<std::pair<std::string, double>> slots;  // of leaves
};

void read_children(const Value* node, const std::string& path, Accounts& into) {
    for (const Value* child : each(find(node, "children"))) {
        const bool is_leaf = find(child, "children") == nullptr;
        const std::string here = (path.empty() ? "" : path + "/") + (is_leaf ? "@" : "") + text_at(child, "name");
        into.specs.push_back({here, std::nullopt, integer_at(child, "shares"), {}});
        if (is_leaf) {
            into.slots.emplace_back(here, number_at(child, "slots"));
        }
        read_children(child, here, into);
    }
}

/// Share accounts in levels, a job waiting in each leaf: whose turn it is, and every priority.
void read_levels(const Case& one, Report& report) {
    Accounts accounts;
    report.leave(find(member(one.inputs, "tree"), "name"), "the name of the root");
    read_children(member(one.inputs, "tree"), "", accounts);
    const ShareTree tree = tree_of(accounts.specs);
    std::vector<DynamicUse> use(tree.size());
    for (const auto& [path, slots] : accounts.slots) {
        for (NodeId at = node_at(tree, path);; at = tree.parent(at)) {
            use[at.value].job_slots += slots;
            if (at == root_node) {
                break;
            }
        }
    }
    const LsfFactors factors = factors_of(one);
    LsfDispatch dispatch{tree, factors, use};
    const Value* priorities = find(one.expected, "priorities");
    for (std::uint32_t i = 1; i < tree.size(); ++i) {
        const std::string name{tree.name(NodeId{i})};
        if (const Value* priority = find(priorities, name.c_str())) {
            report.number(name, number_of(priority), dispatch.priority(NodeId{i}), one.tol);
        }
    }
    std::uint64_t order = 0;
    for (const auto& [path, slots] : accounts.slots) {
        dispatch.submit({node_at(tree, path), order++});
    }
    std::vector<std::string> path;
    const auto job = dispatch.next();
    for (NodeId at = job ? job->leaf : root_node; at != root_node; at = tree.parent(at)) {
        path.insert(path.begin(), std::string{tree.name(at)});
    }
    report.text("path", join(texts_of(member(one.expected, "path"))), join(path));
}

/// USER_SHARES alone: what part of its level each holds. "default" stands for each of so many others.
void read_assignment(const Case& one, Report& report) {
    std::vector<std::pair<std::string, std::int64_t>> assigned;
    for (const Value* pair : each(member(one.inputs, "assign"))) {
        if (!is_text(item(pair, 0)) || !is_integer(item(pair, 1))) {
            throw std::runtime_error{"an assignment is not [name, shares]"};
        }
        assigned.emplace_back(text_of(item(pair, 0)), integer_of(item(pair, 1)));
    }
    for (const auto& [name, shares] : entries(member(one.inputs, "assign"))) {
        assigned.emplace_back(name, integer_of(shares));
    }
    std::vector<NodeSpec> specs;
    const Value* users = one.input({"users", "default_users"});
    const auto count = static_cast<std::size_t>(is_list(users) ? size_of(users) : integer_of(users));
    texts_of(users);
    for (const auto& [name, shares] : assigned) {
        const std::size_t copies = name == "default" && count >= assigned.size() ? count - assigned.size() + 1 : 1;
        for (std::size_t i = 0; i < copies; ++i) {
            specs.push_back({"@" + name + (i == 0 ? "" : "-" + std::to_string(i)), std::nullopt, shares, {}});
        }
    }
    const ShareTree tree = tree_of(specs);
    const std::vector<DynamicUse> use(tree.size());
    const std::vector<CoreMicros> usage(tree.size());
    const Value* fractions = find_spelled(one.expected, {"fractions", "shares", "parts"});
    for (const auto& [name, fraction] : entries(fractions)) {
        const NodeStanding standing =
            node_standing(Algorithm{Lsf{}}, tree, Measures{usage, use}, node_at(tree, "@" + name));
        report.number(name, number_of(fraction), standing.norm_shares, one.tol);
    }
}

void read_lsf_case(const Case& one, Report& report) {
    if (one.has("assign")) {
        read_assignment(one, report);
    } else if (one.has("tree")) {
        read_levels(one, report);
    } else if (one.has("users")) {
        read_split(one, report);
    } else if (one.has("A_priority")) {
        read_crossover(one, report);
    } else if (one.has("A1")) {
        read_long_jobs(one, report);
    } else if (one.has("job_min")) {
        read_fcfs_wait(one, report);
    } else if (one.has("rate_cpu_h_per_h")) {
        read_decayed_while_running(one, report);
    } else {
        read_formula(one, report);
    }
}

}  // namespace

void read_lsf(const Value* document, Report& report) {
    for_each_case(document, report, read_lsf_case);
}

}  // namespace weir::oracle
