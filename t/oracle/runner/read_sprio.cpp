// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the oracle slurm/sprio: a configuration, jobs, and what a real `sprio` says of each at the time of a pass.
// Every number comes out of the priority engine with Slurm's settings; here is only the way from the file into it.
#include <algorithm>
#include <stdexcept>

#include "libfairshare/base/hostlist.hpp"
#include "libsched/priority/engine.hpp"
#include "libsched/priority/slurm.hpp"
#include "t/oracle/runner/oracle.hpp"
#include "t/oracle/runner/slurm_shares.hpp"
#include "t/oracle/runner/slurm_text.hpp"
#include "t/oracle/runner/sprio_text.hpp"
#include "t/oracle/runner/world.hpp"

namespace weir::oracle {
namespace {

using SprioAmounts = std::map<std::string, double>;

/// "gpu:4", "gpu:tesla:2(S:0)": as TRES, gres/gpu and gres/gpu:tesla.
void add_gres(SprioAmounts& amounts, const std::string& text) {
    for (const std::string& entry : split(text, ',')) {
        const auto parts = split(entry.substr(0, entry.find('(')), ':');
        const double count = parts.size() > 1 ? std::stod(parts.back()) : 1.;
        amounts["gres/" + parts.at(0)] += count;
        if (parts.size() > 2) {
            amounts["gres/" + parts[0] + ":" + parts[1]] += count;
        }
    }
}

struct Cluster {
    std::map<std::string, SprioAmounts> nodes;  ///< what each node has
    SprioAmounts licences;                      ///< of the whole cluster
    std::vector<std::string> partitions;        ///< by queue index less 1
    std::vector<SprioAmounts> totals;           ///< of each partition, licences among them
    std::vector<double> partition_factor{0.};   ///< by queue index
    std::vector<std::string> qos;               ///< by QoS index less 1
    std::vector<double> qos_priority{0.};       ///< by QoS index
    std::vector<std::string> users;             ///< "account/@user" by association index
    std::vector<double> association_priority;
    std::vector<double> fairshare;
    ShareRows shares;  ///< of the tree, as sshare shows it
};

void add_nodes(Cluster& cluster, std::string_view text) {
    for (const Words& line : lines_of_words(text)) {
        if (line.count("NodeName") == 0) {
            continue;
        }
        const auto names = hostlist_decode(word(line, "NodeName"));
        if (!names) {
            throw std::runtime_error{names.error().message};
        }
        SprioAmounts has;
        const double sockets = number_word(line, "Sockets", 1.) * number_word(line, "Boards", 1.);
        const double threads = number_word(line, "CoresPerSocket", 1.) * number_word(line, "ThreadsPerCore", 1.);
        has["cpu"] = number_word(line, "CPUs", sockets * threads);
        has["mem"] = number_word(line, "RealMemory", 1.);
        has["node"] = 1.;
        add_gres(has, word(line, "Gres"));
        for (const std::string& name : *names) {
            cluster.nodes[name] = has;
        }
    }
}

void add_partitions(Cluster& cluster, std::string_view text) {
    for (const Words& line : lines_of_words(text)) {
        if (line.count("PartitionName") == 0) {
            continue;
        }
        SprioAmounts total = cluster.licences;
        std::vector<std::string> names;
        if (const std::string listed = word(line, "Nodes"); listed == "ALL") {
            std::transform(cluster.nodes.begin(), cluster.nodes.end(), std::back_inserter(names),
                           [](const auto& node) { return node.first; });
        } else if (const auto decoded = hostlist_decode(listed)) {
            names = *decoded;
        } else {
            throw std::runtime_error{decoded.error().message};
        }
        for (const std::string& name : names) {
            for (const auto& [kind, amount] : cluster.nodes.at(name)) {
                total[kind] += amount;
            }
        }
        cluster.partitions.push_back(word(line, "PartitionName"));
        cluster.totals.push_back(std::move(total));
        cluster.partition_factor.push_back(number_word(line, "PriorityJobFactor", 1.));
    }
}

/// Priorities of associations, a user's own or else the nearest account's; fair-share factors as the algorithm that the
/// configuration chooses makes them of the tree and its usage.
void add_associations(Cluster& cluster, const Value* document) {
    const Value* tree = member(document, "tree");
    std::map<std::string, std::pair<std::string, double>> accounts;  // name: parent, priority or -1
    const auto own_priority = [](const Value* node) {
        const Value* priority = find(find(node, "opts"), "Priority");
        return is_number(priority) ? number_of(priority) : -1.;
    };
    for (const Value* node : each(tree)) {
        if (text_at(node, "type") == "account") {
            accounts[text_at(node, "name")] = {text_at(node, "parent"), own_priority(node)};
        }
    }
    const auto inherited = [&](std::string account) {
        for (auto at = accounts.find(account); at != accounts.end(); at = accounts.find(account)) {
            if (at->second.second >= 0.) {
                return at->second.second;
            }
            account = at->second.first;
        }
        return 0.;
    };
    for (const auto& [name, account] : accounts) {
        cluster.users.push_back(name);  // accounts count for the greatest priority, too
        cluster.association_priority.push_back(inherited(name));
        cluster.fairshare.push_back(0.);
    }
    for (const Value* node : each(tree)) {
        if (text_at(node, "type") != "account") {
            const std::string account = text_at(node, "account");
            const double own = own_priority(node);
            cluster.users.push_back(account + "/@" + text_at(node, "name"));
            cluster.association_priority.push_back(own >= 0. ? own : inherited(account));
            cluster.fairshare.push_back(0.);
        }
    }
    for (std::size_t i = 0; i < cluster.users.size(); ++i) {
        std::string name = cluster.users[i];
        std::erase(name, '@');
        const auto row = cluster.shares.find(name);
        cluster.fairshare[i] = row != cluster.shares.end() && row->second.is_user ? row->second.factor : 0.;
    }
}

Cluster cluster_of(const Value* document, const Words& conf) {
    Cluster cluster;
    for (const std::string& licence : split(word(conf, "Licenses"), ',')) {
        const auto parts = split(licence, ':');
        cluster.licences["license/" + parts.at(0)] = parts.size() > 1 ? std::stod(parts[1]) : 1.;
    }
    add_nodes(cluster, text_at(document, "nodes"));
    add_partitions(cluster, text_at(document, "partitions"));
    for (const auto& [name, priority] : entries(member(document, "qos"))) {
        cluster.qos.emplace_back(name);
        cluster.qos_priority.push_back(number_of(priority));
    }
    cluster.shares = share_rows(slurm_tree(slurm_tree_rows(member(document, "tree"))),
                                slurm_algorithm(text_at(document, "slurm_conf")));
    add_associations(cluster, document);
    return cluster;
}

PrioritySettings settings_of(const Cluster& cluster, const Words& conf) {
    const auto weight = [&](const char* of) { return number_word(conf, std::string{"PriorityWeight"} + of, 0.); };
    const bool favors_small = word(conf, "PriorityFavorSmall", "NO") == "YES";
    PrioritySettings settings = slurm::priority_settings(
        slurm::priority_flags(word(conf, "PriorityFlags")), favors_small,
        {weight("Age"), weight("Assoc"), weight("Fairshare"), weight("JobSize"), weight("Partition"), weight("QOS")});
    settings.wait_max = slurm_duration(word(conf, "PriorityMaxAge", "7-0"));
    settings.qos_priority = cluster.qos_priority;
    settings.queue_priority = cluster.partition_factor;
    settings.association_priority = cluster.association_priority;
    settings.machine_nodes = static_cast<std::uint32_t>(cluster.nodes.size());
    double cores = 0.;
    for (const auto& [node, has] : cluster.nodes) {
        cores += has.at("cpu");
    }
    settings.machine_cores = static_cast<std::uint32_t>(cores);
    for (const auto& [kind, weight_of_kind] : tres_list(word(conf, "PriorityWeightTRES"))) {
        ResourceWeight resource{kind, weight_of_kind, {0.}};
        for (const SprioAmounts& total : cluster.totals) {
            const auto found = total.find(kind);
            resource.total.push_back(found == total.end() ? 0. : found->second);
        }
        settings.resources.push_back(std::move(resource));
    }
    return settings;
}

template <typename Index>
Index index_of_name(const std::vector<std::string>& names, const std::string& name, std::size_t first) {
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) {
        throw std::runtime_error{"nothing is called '" + name + "'"};
    }
    return static_cast<Index>(static_cast<std::size_t>(found - names.begin()) + first);
}

/// Job, partition by partition; what sprio's row tells as an input (site factor, direct priority) comes from `row`.
JobInputs inputs_of(const Cluster& cluster, const PrioritySettings& settings, const Value* job,
                    const std::string& partition, const Value* row) {
    const Value* info = member(job, "info");
    JobInputs in;
    in.id = JobId{static_cast<std::uint64_t>(integer_at(job, "job_id"))};
    in.submit = slurm_instant(text_at(info, "SubmitTime"), Instant{});
    in.eligible = slurm_instant(text_at(info, "AccrueTime"), never);
    in.association =
        index_of_name<std::uint32_t>(cluster.users, text_at(info, "Account") + "/@" + text_at(job, "user"), 0);
    in.queue = index_of_name<std::uint16_t>(cluster.partitions, partition, 1);
    in.qos = index_of_name<std::uint8_t>(cluster.qos, text_at(info, "QOS"), 1);
    in.urgency = text_at(info, "Reason").starts_with("JobHeld") ? 0 : 16;
    in.extras.limit = slurm_duration(text_at(info, "TimeLimit"));
    in.extras.nice = std::stoll(text_at(info, "Nice"));
    // Newer versions call it ReqTRES. NumNodes may be the maximum: the least number stands here alone.
    const std::string tres = text_at(info, "TRES").empty() ? text_at(info, "ReqTRES") : text_at(info, "TRES");
    in.cores = static_cast<std::uint32_t>(std::stoul(text_at(info, "NumCPUs")));
    for (const auto& [kind, amount] : tres_list(tres)) {
        if (kind == "node") {
            in.extras.nodes = static_cast<std::uint32_t>(amount);
        }
        for (std::size_t i = 0; i < settings.resources.size(); i++) {
            if (settings.resources[i].name == kind) {
                in.extras.resources.at(i) = amount;
            }
        }
    }
    if (row != nullptr && find(row, "site") != nullptr) {
        in.extras.site = number_at(row, "site");
    }
    if (row != nullptr && integer_at(row, "direct_prio") != 0) {
        in.extras.given = static_cast<std::uint32_t>(integer_at(row, "direct_prio"));
    }
    return in;
}

constexpr double share_tol = 1e-12;
constexpr double tolerance = 1e-6;  // priority units; the files have all digits of a double

void compare_terms(Report& report, const Value* row, const Breakdown& got, const std::string& where) {
    const auto term = [&](const char* key, Factor factor) {
        if (got.bypass != Bypass::none && find(row, key) == nullptr) {
            return;  // 26.11 has no factors of such a job
        }
        const double points = got.bypass == Bypass::none ? got.terms[index_of(factor)].contribution : 0.;
        report.number(where + key, number_at(row, key), points, tolerance);
    };
    term("age", Factor::wait);
    term("assoc", Factor::association);
    term("fairshare", Factor::fairshare);
    term("jobsize", Factor::size);
    term("partition_prio", Factor::queue);
    term("qos_prio", Factor::qos);
    for (const auto& [name, expected] : entries(find(row, "tres"))) {
        const std::string_view kind = name;  // clang 14: a lambda cannot read the binding
        const auto part = std::find_if(got.resources.begin(), got.resources.end(),
                                       [&](const ResourcePart& p) { return std::string_view{p.name} == kind; });
        report.number(where + name, number_at(expected, "weighted"),
                      part == got.resources.end() || got.bypass != Bypass::none ? 0. : part->contribution, tolerance);
    }
}

class SprioCase {
  public:
    SprioCase(const Value* document, Report& report)
        : document_(document),
          report_(report),
          conf_(all_words(text_at(document, "slurm_conf"))),
          cluster_(cluster_of(document, conf_)),
          engine_(settings_of(cluster_, conf_)),
          now_(Duration(std::chrono::seconds(integer_at(document, "pass_time")))) {}

    void compare(const Value* job) {
        const Value* rows = member(job, "factors");
        const std::int64_t reported = std::stoll(text_at(member(job, "info"), "Priority"));
        if (size_of(rows) == 0) {  // held, or waiting for something: sprio does not list it
            const std::string first = split(text_at(member(job, "info"), "Partition"), ',').at(0);
            const auto got = passed(inputs_of(cluster_, engine_.settings(), job, first, nullptr));
            report_.integer("Priority", reported, got);
            compare_squeue(job, {got});
        }
        std::vector<std::int64_t> priorities;
        for (const Value* row : each(rows)) {
            priorities.push_back(compare_row(job, row));
        }
        // That of the partition which the scheduler used last, so any of them.
        if (!priorities.empty()) {
            const bool is_one = std::find(priorities.begin(), priorities.end(), reported) != priorities.end();
            report_.integer("Priority", reported, is_one ? reported : priorities[0]);
            compare_squeue(job, priorities);
        }
    }

  private:
    void compare_weights(const Value* tres) {
        for (const auto& [kind, expected] : entries(tres)) {
            double weight = 0.;
            for (const ResourceWeight& resource : engine_.settings().resources) {
                weight = resource.name == kind ? resource.weight : weight;
            }
            if (find(expected, "weight") != nullptr) {
                report_.number(kind + " weight", number_at(expected, "weight"), weight, 0.);
            }
        }
    }
    /// Its lines in squeue -P: the priority, and as a part of 2^32 - 1.
    void compare_squeue(const Value* job, const std::vector<std::int64_t>& priorities) {
        for (const Value* line : each(find(job, "squeue"))) {
            const auto cells = texts_of(line);
            if (cells.size() != 7) {
                throw std::runtime_error{"a line of squeue has not 7 cells"};
            }
            const std::int64_t priority = std::stoll(cells[6]);
            const bool is_one = std::find(priorities.begin(), priorities.end(), priority) != priorities.end();
            report_.integer("squeue", priority, is_one ? priority : priorities.at(0));
            report_.printed("squeue, normalised", std::stod(cells[5]), static_cast<double>(priority) / 4294967295., 14);
        }
    }
    /// What a pass gives to the job.
    std::int64_t passed(const JobInputs& in) {
        const PriorityEngine::Slot slot = engine_.insert(in);
        std::vector<PriorityEngine::Change> changed;
        engine_.pass(now_, cluster_.fairshare, changed);
        engine_.remove(slot);
        return changed.at(0).priority;
    }
    std::int64_t compare_row(const Value* job, const Value* row) {
        const std::string partition = text_at(row, "partition");
        const JobInputs in = inputs_of(cluster_, engine_.settings(), job, partition, row);
        const PriorityEngine::Slot slot = engine_.insert(in);
        const Breakdown got = breakdown(engine_, slot, now_, cluster_.fairshare);
        engine_.remove(slot);
        report_.leave(find(row, "user_id"), "numbers of users");
        report_.integer("job_id", integer_at(row, "job_id"), integer_at(job, "job_id"));
        if (got.bypass != Bypass::none) {
            report_.leave(find(row, "nice"), "the nice value of a job with a given priority: none");
        } else if (find(row, "nice") != nullptr) {
            report_.integer("nice", integer_at(row, "nice"), in.extras.nice);
        }
        if (find(row, "qos") != nullptr) {
            report_.text("qos", text_at(row, "qos"), cluster_.qos.at(in.qos - 1U));
        }
        compare_weights(find(row, "tres"));
        compare_terms(report_, row, got, partition + " ");
        const SprioJob printed{std::to_string(in.id.value), partition, got, in.extras.nice};
        compare_sprio(report_, text_at(document_, "sprio_text"), printed);
        if (find(document_, "sprio_norm_text") != nullptr) {
            compare_sprio_normalised(report_, text_at(document_, "sprio_norm_text"), printed);
        }
        return passed(in);
    }

    const Value* document_;
    Report& report_;
    Words conf_;
    Cluster cluster_;
    PriorityEngine engine_;
    Instant now_;
};

}  // namespace

void read_sprio(const Value* document, Report& report) {
    const Words conf = all_words(text_at(document, "slurm_conf"));
    const bool is_fair_tree = slurm::priority_flags(word(conf, "PriorityFlags")).fair_tree;
    const ShareRows rows = share_rows(slurm_tree(slurm_tree_rows(member(document, "tree"))),
                                      slurm_algorithm(text_at(document, "slurm_conf")));
    if (find(document, "sprio_weights") != nullptr) {
        report.attempt("weights", [&] { compare_sprio_weights(report, text_at(document, "sprio_weights"), conf); });
    }
    report.leave(find(document, "squeue"), "lines of squeue that stand with each job too");
    report.begin("shares");
    for (const Value* row : each(member(document, "shares"))) {
        compare_share_data(report, row, rows, share_tol, is_fair_tree);
    }
    SprioCase of_file(document, report);
    for (const Value* job : each(member(document, "jobs"))) {
        report.attempt(text_at(job, "key"), [&] { of_file.compare(job); });
    }
}

}  // namespace weir::oracle
