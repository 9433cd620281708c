// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the files of jobs that run and are suspended: their usage from pass to pass, and their priorities where running
// jobs keep one (CALCULATE_RUNNING). Must not know the formulas.
// The files tell neither the cores of a job nor those of the machine: they are what the first snapshot's usage, ages
// and sizes go together with. All that comes later is foretold and compared.
#include <algorithm>
#include <cmath>
#include <memory>
#include <set>
#include <stdexcept>

#include "libfairshare/usage/slurm_usage.hpp"
#include "libsched/priority/engine.hpp"
#include "libsched/priority/slurm.hpp"
#include "t/oracle/runner/slurm_other.hpp"
#include "t/oracle/runner/slurm_shares.hpp"
#include "t/oracle/runner/slurm_text.hpp"

namespace weir::oracle {

namespace {

constexpr double machine_nodes = 1;

struct RunningJob {
    std::string user;
    double cores = 0;
    Duration ran{};     // until the first pass
    Duration waited{};  // since it became eligible, until then
    JobInputs inputs;
    PriorityEngine::Slot slot{};
};

/// A row of sprio without the columns of names that newer versions have (ACCOUNT, QOSNAME).
struct SprioRow {
    std::string job, user;
    std::map<std::string, std::string> column;
};

SprioRow sprio_row(const std::string& line) {
    static const std::vector<std::string> old_columns{"JOBID", "PARTITION", "USER",    "PRIORITY",  "SITE", "AGE",
                                                      "ASSOC", "FAIRSHARE", "JOBSIZE", "PARTITION", "QOS",  "NICE"};
    static const std::vector<std::string> new_columns{"JOBID",     "PARTITION", "USER",  "ACCOUNT",   "PRIORITY",
                                                      "SITE",      "AGE",       "ASSOC", "FAIRSHARE", "JOBSIZE",
                                                      "PARTITION", "QOSNAME",   "QOS",   "NICE"};
    const auto cells = split(line, ' ');
    if (cells.size() < old_columns.size()) {
        throw std::runtime_error{"a line of sprio has only " + std::to_string(cells.size()) + " cells"};
    }
    const auto& columns = std::isdigit(static_cast<unsigned char>(cells[3][0])) != 0 ? old_columns : new_columns;
    SprioRow row{cells[0], cells[2], {}};
    for (std::size_t i = 3; i < std::min(columns.size(), cells.size()); ++i) {
        row.column[columns[i]] = cells[i];
    }
    return row;
}

class Machine {
  public:
    Machine(const Value* document, Report& report)
        : report_(report), conf_(all_words(text_at(document, "slurm_conf"))), first_(first_snapshot(document)) {
        read_jobs();
        read_tree();
        decay_ = SlurmDecay{slurm_duration(word(conf_, "PriorityDecayHalfLife", "7-0"))};
        usage_ = std::make_unique<SlurmUsage>(made_->tree, decay_);
        for (auto& [id, job] : jobs_) {
            usage_->charge(leaf(job), job.ran, job.cores);
        }
        last_pass_ = pass_of(first_);
        engine_ = std::make_unique<PriorityEngine>(settings());
        for (auto& [id, job] : jobs_) {
            job.slot = engine_->insert(job.inputs);
        }
    }

    void compare(const Value* snapshot) {
        const Instant pass = pass_of(snapshot);
        if (pass != last_pass_) {
            usage_->decay(pass - last_pass_);
            for (auto& [id, job] : jobs_) {
                usage_->charge(leaf(job), pass - last_pass_, job.cores);  // suspended jobs are charged like others
            }
            last_pass_ = pass;
        }
        const ShareRows rows = share_rows(
            *made_, slurm_algorithm(text_of_conf()),
            {usage_->snapshot(0x1p44L), [this](NodeId id) { return static_cast<double>(usage_->usage(id)); }});
        for (const auto& [name, usage] : entries(member(snapshot, "usage"))) {
            report_.number("usage of " + name, number_of(usage), std::floor(row_named(rows, name).raw_usage), 0);
        }
        compare_squeue(text_at(snapshot, "squeue"), rows);
        compare_sprio(text_at(snapshot, "sprio"), rows);
    }

  private:
    static const Value* first_snapshot(const Value* document) {
        const Value* first = item(member(document, "snapshots"), 0);
        if (first == nullptr) {
            throw std::runtime_error{"there is no snapshot"};
        }
        return first;
    }
    static Instant pass_of(const Value* snapshot) { return instant_from_seconds(number_at(snapshot, "pass_time")); }
    std::string text_of_conf() const { return "PriorityFlags=" + word(conf_, "PriorityFlags"); }
    NodeId leaf(const RunningJob& job) const { return made_->by_name.at(account_ + "/" + job.user); }

    /// "root" is the user of that name: the root itself is not listed.
    const ShareRow& row_named(const ShareRows& rows, const std::string& name) const {
        const std::string user = name == "root" ? "root/root" : account_ + "/" + name;
        return rows.at(rows.contains(user) ? user : name);
    }

    void read_jobs() {
        for (const std::string& line : split(text_at(first_, "squeue"), '\n')) {
            RunningJob job;
            job.user = split(line, '|').at(1);  // id, user, state, elapsed, priority
            jobs_[split(line, '|').at(0)] = job;
        }
        const double size_weight = number_word(conf_, "PriorityWeightJobSize", 0);
        std::map<std::string, double>
            part;  // of the machine's cores: a size is the mean of that and of the nodes' part
        for (const std::string& line : split(text_at(first_, "sprio"), '\n')) {
            const SprioRow row = sprio_row(line);
            RunningJob& job = jobs_.at(row.job);
            const double age = std::stod(row.column.at("AGE")) / number_word(conf_, "PriorityWeightAge", 1);
            job.waited = duration_from_seconds(age * to_seconds(slurm_duration(word(conf_, "PriorityMaxAge"))));
            job.inputs.id = JobId{std::stoull(row.job)};
            job.inputs.extras.nodes = 1;
            job.inputs.eligible = pass_of(first_) - job.waited;
            job.inputs.association = static_cast<std::uint32_t>(users_.size());
            users_.push_back(job.user);
            part[row.job] = size_weight > 0 ? 2 * std::stod(row.column.at("JOBSIZE")) / size_weight - 1 : 0;
        }
        find_cores(part);
    }

    /// The machine of which each job's part is a whole number of cores, and where those used what they did in the time
    /// since they became eligible, less the few seconds until they started.
    void find_cores(const std::map<std::string, double>& part) {
        constexpr int machine_cores_max = 1024;
        constexpr double size_error = 0.002;  // sizes are printed without decimals, of a thousand points
        double nearest = 1;
        for (int cores = 1; cores <= machine_cores_max; ++cores) {
            double off = 0;
            for (const auto& [id, job] : jobs_) {
                const double own = std::round(part.at(id) * cores);
                const double used = number_at(member(first_, "usage"), job.user);
                const bool fits = own >= 1 && std::abs(own - part.at(id) * cores) <= size_error * cores;
                off = std::max(off, fits ? std::abs(1 - used / (own * to_seconds(job.waited))) : 1.0);
            }
            if (off < nearest) {
                nearest = off;
                machine_cores_ = cores;
            }
        }
        if (machine_cores_ == 0) {
            throw std::runtime_error{"the jobs' cores do not follow from their usage and size"};
        }
        for (auto& [id, job] : jobs_) {
            job.cores = std::round(part.at(id) * machine_cores_);
            job.inputs.cores = static_cast<std::uint32_t>(job.cores);
            job.ran = duration_from_seconds(std::ceil(number_at(member(first_, "usage"), job.user) / job.cores));
        }
    }

    void read_tree() {
        std::vector<SlurmAssociation> rows{{1, "root", "", "", "", 1, nullptr},
                                           {2, "root", "root", "", "", 1, nullptr}};
        for (const auto& [name, usage] : entries(member(first_, "usage"))) {
            if (name != "root" && std::find(users_.begin(), users_.end(), name) == users_.end()) {
                if (!account_.empty()) {
                    throw std::runtime_error{"more than one account: whose a user is, the file does not tell"};
                }
                account_ = name;
                rows.push_back({3, name, "", "", "root", 1, nullptr});
            }
        }
        for (const std::string& user : users_) {
            rows.push_back({static_cast<std::int64_t>(rows.size()) + 1, account_, user, "", "", 1, nullptr});
        }
        made_ = std::make_unique<SlurmTree>(slurm_tree(rows));
    }

    PrioritySettings settings() const {
        const auto weight = [&](const char* of) { return number_word(conf_, std::string{"PriorityWeight"} + of, 0.); };
        PrioritySettings made = slurm::priority_settings(slurm::priority_flags(word(conf_, "PriorityFlags")),
                                                         word(conf_, "PriorityFavorSmall", "NO") == "YES",
                                                         {weight("Age"), weight("Assoc"), weight("Fairshare"),
                                                          weight("JobSize"), weight("Partition"), weight("QOS")});
        made.wait_max = slurm_duration(word(conf_, "PriorityMaxAge", "7-0"));
        made.machine_cores = static_cast<std::uint32_t>(machine_cores_);
        made.machine_nodes = static_cast<std::uint32_t>(machine_nodes);
        return made;
    }

    std::vector<double> factors(const ShareRows& rows) const {
        std::vector<double> made;
        std::transform(users_.begin(), users_.end(), std::back_inserter(made),
                       [&](const std::string& user) { return rows.at(account_ + "/" + user).factor; });
        return made;
    }

    /// A suspended job has no priority.
    void compare_squeue(const std::string& text, const ShareRows& rows) {
        for (const std::string& line : split(text, '\n')) {
            const auto cells = split(line, '|');
            RunningJob& job = jobs_.at(cells.at(0));
            job.inputs.urgency = cells.at(2) == "SUSPENDED" ? 0 : 16;
            engine_->update(job.slot, job.inputs);
            report_.integer("squeue priority of " + job.user, std::stoll(cells.at(4)),
                            engine_->priority(job.slot, last_pass_, factors(rows)));
        }
    }

    void compare_sprio(const std::string& text, const ShareRows& rows) {
        std::set<std::string> listed;
        const auto fairshare = factors(rows);
        for (const std::string& line : split(text, '\n')) {
            const SprioRow row = sprio_row(line);
            const RunningJob& job = jobs_.at(row.job);
            listed.insert(row.job);
            const Breakdown parts = breakdown(*engine_, job.slot, last_pass_, fairshare);
            for (const slurm::Column& column : slurm::sprio_columns(parts, job.inputs.extras.nice)) {
                if (const auto expected = row.column.find(column.name); expected != row.column.end()) {
                    report_.text("sprio " + job.user + " " + column.name, expected->second, column.value);
                }
            }
        }
        for (const auto& [id, job] : jobs_) {
            report_.integer("sprio lists " + job.user, listed.contains(id) ? 1 : 0, job.inputs.urgency == 0 ? 0 : 1);
        }
    }

    Report& report_;
    Words conf_;
    const Value* first_;
    std::map<std::string, RunningJob> jobs_;
    std::vector<std::string> users_;  // by association index
    std::string account_;
    double machine_cores_ = 0;
    std::unique_ptr<SlurmTree> made_;
    SlurmDecay decay_{Duration{0}};
    std::unique_ptr<SlurmUsage> usage_;
    std::unique_ptr<PriorityEngine> engine_;
    Instant last_pass_{};
};

}  // namespace

void read_slurm_suspend(const Value* document, Report& report) {
    Machine machine{document, report};
    for (const Value* snapshot : each(member(document, "snapshots"))) {
        report.attempt(text_at(snapshot, "label"), [&] { machine.compare(snapshot); });
    }
}

}  // namespace weir::oracle
