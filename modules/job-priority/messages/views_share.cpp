// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the views of an association's place and its reasons. See views.hpp; the reasons are libfairshare/explain's.
#include <algorithm>
#include <chrono>
#include <memory>
#include <ratio>
#include <utility>

#include "libfairshare/base/nearest_name.hpp"
#include "libfairshare/explain/explanation.hpp"
#include "libfairshare/tree/diagnostics.hpp"
#include "libfairshare/tree/nearest_path.hpp"
#include "libfairshare/tree/projects.hpp"
#include "libsched/config/usage_settings.hpp"
#include "modules/job-priority/jobs/job_cost.hpp"
#include "modules/job-priority/messages/views.hpp"

namespace weir::priority {
namespace {

constexpr std::size_t examples_max = 3;

Error no_such(std::string sentence) {
    return {std::errc::no_such_file_or_directory, std::move(sentence)};
}

/// "is no association, but a node above 5 of them, such as a/@b, a/@c".
Error not_a_leaf(const ShareTree& tree, NodeId node) {
    std::string examples;
    std::size_t count = 0;
    for (std::uint32_t index = node.value; index < tree.size(); ++index) {
        NodeId above{index};
        while (above != root_node && above != node) {
            above = tree.parent(above);
        }
        if (above == node && tree.is_association(NodeId{index})) {
            examples += count < examples_max ? (count == 0 ? "" : ", ") + tree.path(NodeId{index}) : std::string();
            count += 1;
        }
    }
    const std::string what = weir::quoted(tree.path(node)) + " is an inner node, not an association; ";
    return {std::errc::invalid_argument,
            what + (count == 0 ? "there is none below it"
                               : "below it are " + std::to_string(count) + ", such as " + examples)};
}

/// An `@*` line admits every user, but not every word is a user's name.
Error nobody(const ShareTree& tree, const Settings& settings, const std::string& user, const std::string& reference) {
    std::vector<std::string_view> names;
    for (const auto& [name, userid] : settings.users) {
        names.push_back(name);
    }
    std::string hint = did_you_mean_path(tree, reference);
    hint = hint.empty() ? did_you_mean(user, names) : hint;
    return no_such(weir::quoted(user) + " is neither in the share tree nor a known user; " +
                   (hint.empty() ? "weir share show lists the tree" : hint));
}

Error unknown(const ShareTree& tree, const std::string& reference) {
    const std::string hint = did_you_mean_path(tree, reference);
    return no_such("there is no " + weir::quoted(reference) + " in the share tree; " +
                   (hint.empty() ? "weir share show lists it" : hint));
}

/// An `@*` line has neither shares nor usage of its own.
Error no_user(const std::string& line) {
    return {std::errc::invalid_argument,
            weir::quoted(line) +
                " stands for all users who have no line of their own there, and is none of them; name "
                "one, such as " +
                line.substr(0, line.size() - 1) + "alice"};
}

/// A job that pays from this leaf, as far as the leaf says what it is: by the QoS and queue above it, and the queue of
/// the user's line.
JobRequest request_from(const ShareTree& tree, NodeId leaf) {
    JobRequest request;
    request.queue = tree.partition(leaf);
    for (NodeId at = leaf; at != root_node; at = tree.parent(at)) {
        if (tree.kind(at) == NodeKind::qos && request.qos.empty()) {
            request.qos = tree.name(at);
        } else if (tree.kind(at) == NodeKind::queue && request.queue.empty()) {
            request.queue = tree.name(at);
        }
    }
    return request;
}

/// On as few nodes as have the cores; on one where their size is not known.
AllocEvent allocated(const ThoughtJob& job, const MachineSize& machine) {
    const std::uint32_t node_cores = machine.node_cores != 0 ? machine.node_cores : job.cores;
    return {.cores = job.cores, .nodes = (job.cores + node_cores - 1) / node_cores};
}

/// The tree and its measured usage at one instant, with further leaves if a request is about a user without a leaf.
class Scene {
  public:
    Scene(const VisiblePart& part, Instant now)
        : part_(part), service_(part.service()), now_(now), tree_(service_.accounting().tree_ptr()) {
        service_.ranking().measure(service_.accounting(), now, measured_);
    }

    /// An association, one that an `@*` line would admit, or an inner node: an account. A user has none where an `@*`
    /// line would admit him before his first job there, since his place there follows from what its members used.
    /// Errors: one sentence for all that is not in the part, whether it exists or not.
    Result<NodeId> place(const std::string& reference) {
        Result<NodeId> found = place_of_all(reference);
        if (part_.is_all()) {
            return found;
        }
        const bool is_his =
            found && (is_newcomer(*found) ? tree_->name(*found) == part_.user() && part_.has(tree_->parent(*found))
                                          : part_.has(*found));
        return is_his ? found
                      : no_such(weir::quoted(reference) +
                                " is not visible to you: the instance is private, and shows you your associations and "
                                "the accounts above them; an account that admits every user is yours from your first "
                                "job in it");
    }
    Result<NodeId> place_of_user(const std::string& reference) {
        const Result<NodeId> node = place(reference);
        if (!node || tree_->is_association(*node)) {
            return node;
        }
        return part_.is_all() ? not_a_leaf(*tree_, *node)
                              : Error{std::errc::invalid_argument,
                                      weir::quoted(tree_->path(*node)) + " is an inner node, not an association"};
    }

    /// Adds the charge of the job, at the rate of a real one, to the association and to all nodes above it.
    void charge(NodeId node, const ThoughtJob& job) {
        const Bill bill =
            bill_of(service_.settings(), request_from(*tree_, node), allocated(job, service_.ranking().machine()));
        const CoreMicros more =
            static_cast<CoreMicros>(bill.rate) * static_cast<CoreMicros>(job.length.count()) / billing_unit;
        add_history(node, job);
        for (NodeId at = node;; at = tree_->parent(at)) {
            CoreMicros& usage = measured_.usage.usage.at(at.value);
            usage = std::min(usage + more, usage_max);
            if (at == root_node) {
                return;
            }
        }
    }
    Json standing(NodeId node) const {
        const double all = core_seconds(measured_.usage.usage.at(root_node.value) + measured_.usage.unassociated);
        Json view = stand(node);
        view.set("used", all > 0 ? core_seconds(measured_.usage.usage.at(node.value)) / all : 0.);
        view.set("entitled", tree_->entitled_share(node));
        return std::move(view.set("associations", static_cast<long long>(tree_->association_count())));
    }

    void rank() { standings_ = evaluate(service_.ranking().shares().algorithm(), *tree_, measured_.measures()); }

    Json explanation(NodeId node) const {
        if (!tree_->is_association(node)) {
            return explanation_of_account(node);
        }
        const Explanation made = explain(
            {service_.ranking().shares().algorithm(), *tree_, measured_.measures(), standings_}, node, may_name());
        Json levels = Json::array();
        for (const ExplainedLevel& level : made.levels) {
            levels.append(level_view(level));
        }
        Json view = stand(node);
        view.set("associations", static_cast<long long>(made.associations));
        view.set("tied", static_cast<long long>(made.tied)).set("reason", made.reason);
        return std::move(view.set("levels", std::move(levels)));
    }

    Json comparison(NodeId a, NodeId b) const {
        const Comparison made =
            compare({service_.ranking().shares().algorithm(), *tree_, measured_.measures(), standings_}, a, b);
        Json view = Json::object();
        view.set("a", stand(a)).set("b", stand(b)).set("common", made.common).set("reason", made.reason);
        view.set("first", std::is_eq(made.order) ? "neither" : std::is_gt(made.order) ? "a" : "b");
        view.set("level_a", made.level_a ? level_view(*made.level_a) : Json::own(json_null()));
        view.set("level_b", made.level_b ? level_view(*made.level_b) : Json::own(json_null()));
        return view;
    }

    void finish(Json& view) const {
        view.set("algorithm", service_.settings().algorithm).set("now", to_seconds(now_));
        view.set("parent_factors", service_.ranking().shares().are_parents());
    }

    /// The projects that its jobs may name, the default first; null: any.
    void add_projects(NodeId node, Json& view) const {
        const auto access = project_access(*tree_, node);
        Json names = access ? Json::array() : Json::own(json_null());
        if (access) {
            names.append(access->by_default);
            for (const std::string& name : access->names) {
                if (name != access->by_default) {
                    names.append(name);
                }
            }
        }
        view.set("projects", std::move(names));
    }

  private:
    /// Whether an `@*` line would admit him: his leaf is in this scene's tree alone.
    bool is_newcomer(NodeId node) const { return node.value >= service_.accounting().tree().size(); }

    /// What the reasons of a part may name.
    MayName may_name() const {
        return part_.is_all() ? MayName{} : [this](NodeId node) { return is_newcomer(node) || part_.has(node); };
    }

    /// The part of the job that dynamic priorities read: LSF's history of a job that has ended, which has no decay yet.
    void add_history(NodeId node, const ThoughtJob& job) {
        if (measured_.dynamic.empty()) {
            return;
        }
        const LsfHistorySettings& settings = service_.settings().lsf.history;
        const double length_h = std::chrono::duration<double, std::ratio<3600>>(job.length).count();
        for (NodeId at = node;; at = tree_->parent(at)) {
            DynamicUse& use = measured_.dynamic.at(at.value);
            use.cpu_time_h += job.cores * length_h;
            use.hist_run_time_h +=
                settings.enable_hist_run_time ? (settings.counts_cpus ? job.cores : 1) * length_h : 0;
            if (at == root_node) {
                return;
            }
        }
    }

    Result<NodeId> place_of_all(const std::string& reference) {
        if (const auto node = tree_->find(reference); node && *node != root_node) {
            return tree_->kind(*node) == NodeKind::any_member ? Result<NodeId>(no_user(reference)) : *node;
        }
        const std::size_t at = reference.rfind("/@");
        const bool has_account = at != std::string::npos;
        std::string user = has_account ? reference.substr(at + 2) : reference;
        if (!has_account && user.starts_with('@')) {
            user.erase(0, 1);
        }
        if (user.empty() || user == "*" || user.find('/') != std::string::npos) {
            return unknown(*tree_, reference);
        }
        if (!has_account && tree_->associations_of(user).empty()) {
            if (const Result<NodeId> account = tree_->account(user)) {
                return account;
            }
        }
        const Result<Association> found = tree_->association(has_account ? reference.substr(0, at) : "", user);
        if (!found) {
            return found.error();
        }
        if (found->leaf) {
            return *found->leaf;
        }
        return service_.users().may_be_user(user)
                   ? newcomer(found->account, user)
                   : Result<NodeId>(nobody(*tree_, service_.settings(), user, reference));
    }

    Result<NodeId> newcomer(NodeId account, const std::string& user) {
        auto grown = tree_->with_member(account, user);
        if (!grown) {
            return grown.error();
        }
        tree_ = std::make_shared<const ShareTree>(std::move(grown->first));
        measured_.grow(tree_->size());
        return grown->second;
    }

    Json explanation_of_account(NodeId node) const {
        const AccountExplanation made = explain_account(
            {service_.ranking().shares().algorithm(), *tree_, measured_.measures(), standings_}, node, may_name());
        const bool is_told = made.first && part_.has(*made.first);
        Json levels = Json::array();
        for (ExplainedLevel level : made.levels) {
            level.ahead = is_told ? level.ahead : 0;
            levels.append(level_view(level));
        }
        Json below = Json::array();
        for (const AccountExplanation::Below& one : made.below) {
            if (!part_.has(one.level.node)) {
                continue;
            }
            Json entry = level_view(one.level);
            const bool is_rank_told = one.first && part_.has(*one.first);
            entry.set("rank", Json::own(is_rank_told ? json_integer(*one.rank) : json_null()));
            below.append(std::move(entry));
        }
        Json view = Json::object();
        view.set("path", tree_->path(node)).set("kind", to_string(tree_->kind(node)));
        view.set("associations", static_cast<long long>(tree_->association_count()));
        view.set("associations_below", static_cast<long long>(made.associations));
        view.set("first", is_told ? stand(*made.first) : Json::own(json_null()));
        view.set("reason", is_told ? made.first_stands->reason : std::string());
        return std::move(view.set("levels", std::move(levels)).set("below", std::move(below)));
    }

    static Json real_or_null(const std::optional<double>& value) {
        return Json::own(value ? json_real(*value) : json_null());
    }

    Json stand(NodeId node) const {
        Json view = Json::object();
        view.set("path", tree_->path(node)).set("rank", static_cast<long long>(rank_for_people(standings_, node)));
        view.set("factor", standings_.factor.at(node.value));
        view.set("is_member", !is_newcomer(node));
        return view;
    }

    Json level_view(const ExplainedLevel& level) const {
        Json view = Json::object();
        view.set("path", level.path).set("kind", to_string(tree_->kind(level.node)));
        view.set("shares", Json::own(level.shares_parent ? json_string("parent") : json_integer(level.shares)));
        view.set("level_shares", static_cast<long long>(level.level_shares));
        view.set("norm_shares", level.standing.norm_shares).set("entitled", level.entitled);
        view.set("usage_core_s", core_seconds(level.usage)).set("norm_usage", level.standing.norm_usage);
        view.set("level_usage", level.level_usage).set("effective_usage", level.standing.effective_usage);
        view.set("level_fs", real_or_null(level.standing.level_fs));
        view.set("factor", real_or_null(level.standing.factor)).set("ahead", static_cast<long long>(level.ahead));
        return view;
    }

    const VisiblePart& part_;
    const PriorityService& service_;
    Instant now_;
    ShareTreePtr tree_;
    Measured measured_;
    Standings standings_;
};

}  // namespace

Result<Json> share_explain_view(const VisiblePart& part, const std::string& reference, Instant now) {
    Scene scene(part, now);
    const Result<NodeId> node = scene.place(reference);
    if (!node) {
        return node.error();
    }
    scene.rank();
    Json view = scene.explanation(*node);
    scene.add_projects(*node, view);
    scene.finish(view);
    return view;
}

Result<Json> share_after_view(const VisiblePart& part, const std::string& reference, const ThoughtJob& job,
                              Instant now) {
    Scene scene(part, now);
    const Result<NodeId> node = scene.place_of_user(reference);
    if (!node) {
        return node.error();
    }
    scene.rank();
    Json view = scene.standing(*node);
    scene.charge(*node, job);
    scene.rank();
    const Json after = scene.standing(*node);
    for (const auto& [key, name] :
         {std::pair{"used", "used_after"}, {"factor", "factor_after"}, {"rank", "rank_after"}}) {
        view.set(name, Json::ref(json_object_get(after.get(), key)));
    }
    scene.finish(view);
    return view;
}

Result<Json> share_compare_view(const VisiblePart& part, const std::string& a, const std::string& b, Instant now) {
    Scene scene(part, now);
    const Result<NodeId> first = scene.place_of_user(a);
    const Result<NodeId> second = first ? scene.place_of_user(b) : first;
    if (!second) {
        return second.error();
    }
    scene.rank();
    Json view = scene.comparison(*first, *second);
    scene.finish(view);
    return view;
}

}  // namespace weir::priority
