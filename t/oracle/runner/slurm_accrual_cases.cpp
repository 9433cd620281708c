// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the logs of a slurmctld's passes over real running jobs, gone through once more with our own books.
// Must not know the formulas.
#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "libfairshare/usage/billing.hpp"
#include "libfairshare/usage/slurm_usage.hpp"
#include "t/oracle/runner/slurm_billing.hpp"
#include "t/oracle/runner/slurm_other.hpp"
#include "t/oracle/runner/slurm_text.hpp"
#include "t/oracle/runner/slurm_tree.hpp"

namespace weir::oracle {

namespace {

/// The file's tree (type, name, parent, account, shares) in the form of the other files, with the account and the user
/// that every Slurm has.
SlurmTree read_tree(const json_t* rows) {
    Json associations = Json::array();
    const auto add = [&](const char* account, const char* user, const char* parent, Json shares) {
        Json row = Json::object();
        row.set("id", json_array_size(associations.get())).set("account", account).set("raw_usage", 0);
        row.set("raw_shares", std::move(shares));
        if (user != nullptr) {
            row.set("user", user);
        }
        if (parent != nullptr) {
            row.set("parent", parent);
        }
        associations.append(std::move(row));
    };
    add("root", nullptr, nullptr, Json::own(json_null()));
    add("root", "root", nullptr, Json::own(json_integer(1)));
    const json_t* row = nullptr;
    std::size_t i = 0;
    json_array_foreach(rows, i, row) {
        const bool is_user = text_at(row, "type") == "user";
        const std::string name = text_at(row, "name");
        const std::string above = text_at(row, is_user ? "account" : "parent");
        add(is_user ? above.c_str() : name.c_str(), is_user ? name.c_str() : nullptr, is_user ? nullptr : above.c_str(),
            Json::ref(const_cast<json_t*>(member(row, "shares"))));
    }
    return slurm_tree(associations.get());
}

struct Job {
    NodeId leaf;
    double cost = 0;
    double usage_factor = 1;
};

class Replay {
  public:
    Replay(const json_t* document, Report& report)
        : report_(report),
          made_(read_tree(member(document, "tree"))),
          decay_(slurm_duration(word(all_words(text_at(document, "slurm_conf")), "PriorityDecayHalfLife", "7-0"))),
          usage_(made_.tree, decay_) {
        const json_t* row = nullptr;
        std::size_t i = 0;
        json_array_foreach(member(document, "tree"), i, row) {
            if (text_at(row, "type") == "user") {
                const NodeId leaf = made_.by_name.at(text_at(row, "account") + "/" + text_at(row, "name"));
                leaf_of_[text_at(row, "name")] = leaf;
                usage_.add(leaf, static_cast<long double>(number_at(row, "usage")));
            }
        }
        json_array_foreach(member(document, "jobs"), i, row) {
            jobs_[integer_at(row, "job_id")] = read_job(document, row);
        }
    }

    void event(const json_t* event) {
        const std::string type = text_at(event, "type");
        if (type == "decay") {
            report_.begin(text_at(event, "t") + " decay");
            const Duration elapsed = duration_from_seconds(number_at(event, "elapsed"));
            report_.number("per_second", number_at(event, "per_second"), decay_.per_second(), 5.0001e-7);
            report_.number("factor", number_at(event, "factor"), decay_.after(elapsed), 1e-12);
            usage_.decay(elapsed);
        } else if (type == "job_slice") {
            job_ = &jobs_.at(integer_at(event, "job_id"));
            slice_ = duration_from_seconds(number_at(event, "seconds"));
            usage_.charge(job_->leaf, slice_, job_->cost * job_->usage_factor);
        } else if (type == "add" && job_ != nullptr) {
            const NodeId node = node_at_name(text_at(event, "account"), text_at(event, "user"));
            report_.begin(text_at(event, "t") + " charge to " + made_.tree.path(node));
            const double added = decay_.charge(slice_, job_->cost * job_->usage_factor);
            report_.number("added", number_at(event, "added"), added, six_decimals);
            report_.number("raw_usage_now", number_at(event, "raw_usage_now"), used(node), six_decimals);
            report_.number("wall_added", number_at(event, "wall_added"), decay_.charge(slice_, job_->usage_factor),
                           six_decimals);
        } else {
            throw std::runtime_error{"an event of type \"" + type + "\""};
        }
    }

    /// What sshare says after a pass.
    void compare(const json_t* snapshot) {
        const auto usage = usage_.snapshot(0x1p44L);
        const Standings standings = evaluate(FairTreeAsSlurm{}, made_.tree, usage);
        const json_t* row = nullptr;
        std::size_t i = 0;
        json_array_foreach(member(snapshot, "shares"), i, row) {
            const bool is_user = integer_at(row, "is_user") != 0;
            const std::string name = text_at(row, "name");
            const NodeId node = is_user ? node_at_name(text_at(row, "parent"), name) : node_at_name(name, "");
            report_.begin("pass " + std::to_string(integer_at(snapshot, "pass_time")) + " \"" + made_.tree.path(node) +
                          "\"");
            report_.number("raw_usage", number_at(row, "raw_usage"), std::floor(used(node)), 0);
            if (node == root_node) {
                continue;  // sshare has no other column of it
            }
            const NodeStanding standing = node_standing(FairTreeAsSlurm{}, made_.tree, usage, node);
            report_.number("norm_shares", number_at(row, "norm_shares"), standing.norm_shares, rounding);
            report_.number("norm_usage", number_at(row, "norm_usage"), standing.norm_usage, rounding);
            report_.number("effectv_usage", number_at(row, "effectv_usage"), standing.effective_usage, rounding);
            const bool is_infinite = text_at(row, "level_fs") == "inf";
            report_.number("level_fs", is_infinite ? INFINITY : number_at(row, "level_fs"),
                           standing.level_fs.value_or(INFINITY), rounding);
            report_.number("fs_factor", number_at(row, "fs_factor"), standings.factor[node.value], rounding);
        }
    }

  private:
    static constexpr double six_decimals = 5.0001e-7;
    static constexpr double rounding = 1e-11;  // of usage cut to 2^-44

    NodeId node_at_name(const std::string& account, const std::string& user) const {
        return made_.by_name.at(user.empty() ? account : account + "/" + user);
    }
    double used(NodeId id) const { return static_cast<double>(usage_.usage(id)); }

    Job read_job(const json_t* document, const json_t* row) const {
        const std::string flags = word(all_words(text_at(document, "slurm_conf")), "PriorityFlags");
        std::string weights;
        for (const Words& line : lines_of_words(text_at(document, "partitions"))) {
            if (word(line, "PartitionName") == text_at(row, "Partition")) {
                weights = word(line, "TRESBillingWeights");
                std::erase(weights, '"');
            }
        }
        UsageFactors factors;
        const char* qos = nullptr;
        json_t* factor = nullptr;
        json_object_foreach(const_cast<json_t*>(member(document, "qos_usage_factor")), qos, factor) {
            factors.qos[qos] = json_number_value(factor);
        }
        return {leaf_of_.at(text_at(row, "user")), slurm_cost(weights, text_at(row, "TRES"), flags),
                factors.of(text_at(row, "QOS"), text_at(row, "Partition"))};
    }

    Report& report_;
    SlurmTree made_;
    SlurmDecay decay_;
    SlurmUsage usage_;
    std::map<std::string, NodeId> leaf_of_;  // by user
    std::map<std::int64_t, Job> jobs_;
    const Job* job_ = nullptr;  // whose slice is charged
    Duration slice_{};
};

}  // namespace

void read_slurm_accrual(const json_t* document, Report& report) {
    Replay replay{document, report};
    const json_t* events = member(document, "events");
    std::size_t next = 0;
    const json_t* snapshot = nullptr;
    std::size_t i = 0;
    json_array_foreach(member(document, "snapshots"), i, snapshot) {
        const Instant pass = instant_from_seconds(number_at(snapshot, "pass_time"));
        for (; next < json_array_size(events); ++next) {
            const json_t* event = json_array_get(events, next);
            if (slurm_instant(text_at(event, "t").substr(0, 19), Instant::min()) > pass) {
                break;
            }
            replay.event(event);
        }
        replay.compare(snapshot);
    }
    for (; next < json_array_size(events); ++next) {
        replay.event(json_array_get(events, next));
    }
}

}  // namespace weir::oracle
