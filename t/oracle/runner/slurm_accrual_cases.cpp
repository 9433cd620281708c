// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the logs of a slurmctld's passes over real running jobs, gone through once more with our own books.
// Must not know the formulas.
#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "libfairshare/usage/billing.hpp"
#include "libfairshare/usage/slurm_usage.hpp"
#include "libsched/priority/slurm.hpp"
#include "t/oracle/runner/slurm_billing.hpp"
#include "t/oracle/runner/slurm_other.hpp"
#include "t/oracle/runner/slurm_shares.hpp"
#include "t/oracle/runner/slurm_text.hpp"

namespace weir::oracle {

namespace {

struct Job {
    NodeId leaf;
    double cost = 0;
    double usage_factor = 1;
    Instant start = never, end = never;
};

/// The log's time in whole seconds.
Instant logged_at(const Value* event) {
    return slurm_instant(text_at(event, "t").substr(0, 19), Instant::min());
}

class Replay {
  public:
    Replay(const Value* document, Report& report)
        : report_(report),
          conf_(all_words(text_at(document, "slurm_conf"))),
          algorithm_(slurm_algorithm(text_at(document, "slurm_conf"))),
          made_(slurm_tree(slurm_tree_rows(member(document, "tree")))),
          decay_(slurm_duration(word(conf_, "PriorityDecayHalfLife", "7-0"))),
          usage_(made_.tree, decay_) {
        for (const Value* row : each(member(document, "tree"))) {
            if (text_at(row, "type") == "user") {
                const NodeId leaf = made_.by_name.at(text_at(row, "account") + "/" + text_at(row, "name"));
                leaf_of_[text_at(row, "name")] = leaf;
                usage_.add(leaf, static_cast<long double>(number_of(find(row, "usage"))));
            }
        }
        for (const Value* row : each(member(document, "jobs"))) {
            jobs_[integer_at(row, "job_id")] = read_job(document, row);
        }
    }

    void event(const Value* event) {
        const std::string type = text_at(event, "type");
        report_.leave(find(event, "assoc_id"), "numbers of associations");
        const std::string when = text_at(event, "t");
        if (type == "decay") {
            report_.attempt(when + " decay", [&] { decay(event); });
        } else if (type == "job_end") {
            is_end_ = true;
            ended_ = integer_at(event, "job_id");
        } else if (type == "job_slice") {
            report_.attempt(when + " slice of a job", [&] { slice(event); });
        } else if (type == "add" && job_ != nullptr) {
            report_.attempt(when + " charge", [&] { add(event); });
        } else {
            report_.begin(when);
            report_.fail("type", "an event that this reader knows", type.empty() ? "none" : type);
        }
    }

    /// What sshare says after a pass.
    void compare(const Value* snapshot) {
        const ShareRows rows =
            share_rows(made_, algorithm_, {usage_.snapshot(0x1p44L), [this](NodeId id) { return used(id); }});
        const bool is_fair_tree = slurm::priority_flags(word(conf_, "PriorityFlags")).fair_tree;
        const std::string pass = "pass " + std::to_string(integer_at(snapshot, "pass_time"));
        for (const Value* row : each(member(snapshot, "shares"))) {
            report_.begin(pass + " \"" + share_name(row) + "\"");
            compare_share_data(report_, row, rows, rounding, is_fair_tree);
        }
        if (find(snapshot, "sshare") != nullptr) {
            report_.begin(pass + " sshare");
            compare_share_text(report_, split(text_at(snapshot, "sshare"), '\n'), rows);
        }
    }

  private:
    static constexpr int decimals = 6;         // of the log
    static constexpr double clock_lag = 2;     // seconds between a pass and its line in the log
    static constexpr double rounding = 1e-11;  // of usage cut to 2^-44

    /// A pass begins.
    void decay(const Value* event) {
        const Duration elapsed = duration_from_seconds(number_at(event, "elapsed"));
        report_.printed("per_second", number_at(event, "per_second"), decay_.per_second(), decimals);
        report_.number("factor", number_at(event, "factor"), decay_.after(elapsed), 1e-12);
        usage_.decay(elapsed);
        last_pass_ = this_pass_ == never ? logged_at(event) - elapsed : this_pass_;
        this_pass_ = logged_at(event);
    }

    /// One job's use since the last pass, or since it began, up to this pass or, where limits are enforced, to its end.
    void slice(const Value* event) {
        const std::int64_t id = integer_at(event, "job_id");
        const auto found = jobs_.find(id);
        if (found == jobs_.end()) {
            throw std::runtime_error{"job " + std::to_string(id) + " is none of the file's"};
        }
        job_ = &found->second;
        const double seconds = number_at(event, "seconds");
        slice_ = duration_from_seconds(seconds);
        usage_.charge(job_->leaf, slice_, job_->cost * job_->usage_factor);
        const bool is_last = is_end_ && ended_ == id;
        const Instant since = std::max(is_last ? this_pass_ : last_pass_, job_->start);
        const Instant until = is_last ? std::min(logged_at(event), job_->end) : logged_at(event);
        if (job_->start != never && since != never) {
            report_.within("seconds", seconds, to_seconds(until - since), clock_lag);
        }
        if (is_end_) {
            report_.integer("job", ended_, id);
            is_end_ = false;
        }
        report_.text("enforced limits", is_last ? "yes" : "any",
                     !is_last                                                                      ? "any"
                     : word(conf_, "AccountingStorageEnforce").find("limits") != std::string::npos ? "yes"
                                                                                                   : "no");
    }

    void add(const Value* event) {
        const NodeId node = node_at_name(text_at(event, "account"), text_at(event, "user"));
        const double added = decay_.charge(slice_, job_->cost * job_->usage_factor);
        report_.printed("added", number_at(event, "added"), added, decimals);
        report_.printed("raw_usage_now", number_at(event, "raw_usage_now"), used(node), decimals);
        report_.printed("wall_added", number_at(event, "wall_added"), decay_.charge(slice_, job_->usage_factor),
                        decimals);
    }

    NodeId node_at_name(const std::string& account, const std::string& user) const {
        const bool is_account = user.empty() || user == "(null)";
        return made_.by_name.at(is_account ? account : account + "/" + user);
    }
    double used(NodeId id) const { return static_cast<double>(usage_.usage(id)); }

    Job read_job(const Value* document, const Value* row) const {
        const std::string flags = word(conf_, "PriorityFlags");
        std::string weights;
        for (const Words& line : lines_of_words(text_at(document, "partitions"))) {
            if (word(line, "PartitionName") == text_at(row, "Partition")) {
                weights = word(line, "TRESBillingWeights");
                std::erase(weights, '"');
            }
        }
        UsageFactors factors;
        for (const auto& [qos, factor] : entries(member(document, "qos_usage_factor"))) {
            factors.qos[qos] = number_of(factor);
        }
        std::string tres;  // scontrol of 22.05 says TRES, newer ones AllocTRES
        for (const char* key : {"ReqTRES", "AllocTRES", "TRES"}) {
            const std::string said = text_at(row, key);
            tres = said.empty() || said == "(null)" ? tres : said;
        }
        if (tres.empty()) {
            throw std::runtime_error{"job " + std::to_string(integer_at(row, "job_id")) + " has no TRES"};
        }
        return {leaf_of_.at(text_at(row, "user")), slurm_cost(weights, tres, flags),
                factors.of(text_at(row, "QOS"), text_at(row, "Partition")),
                slurm_instant(text_at(row, "StartTime"), never), slurm_instant(text_at(row, "EndTime"), never)};
    }

    Report& report_;
    Words conf_;
    Algorithm algorithm_;
    SlurmTree made_;
    SlurmDecay decay_;
    SlurmUsage usage_;
    std::map<std::string, NodeId> leaf_of_;  // by user
    std::map<std::int64_t, Job> jobs_;
    const Job* job_ = nullptr;  // whose slice is charged
    Duration slice_{};
    Instant last_pass_ = never, this_pass_ = never;
    bool is_end_ = false;  // the next slice is the last of `ended_`
    std::int64_t ended_ = 0;
};

}  // namespace

void read_slurm_accrual(const Value* document, Report& report) {
    Replay replay{document, report};
    const auto events = each(member(document, "events"));
    std::size_t next = 0;
    for (const Value* snapshot : each(member(document, "snapshots"))) {
        const Instant pass = instant_from_seconds(number_at(snapshot, "pass_time"));
        for (; next < events.size() && logged_at(events[next]) <= pass; ++next) {
            replay.event(events[next]);
        }
        replay.compare(snapshot);
    }
    for (; next < events.size(); ++next) {
        replay.event(events[next]);
    }
}

}  // namespace weir::oracle
