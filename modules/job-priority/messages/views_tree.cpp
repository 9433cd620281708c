// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the views of the share tree, its history and its usage. See views.hpp.
#include <algorithm>
#include <limits>

#include "modules/job-priority/messages/views.hpp"

namespace weir::priority {
namespace {

/// JSON integers are 64-bit; a total beyond (300 000 core-years) is shown as the greatest of them.
long long json_integer_of(SignedCoreMicros value) {
    constexpr SignedCoreMicros highest = std::numeric_limits<long long>::max();
    return static_cast<long long>(std::clamp<SignedCoreMicros>(value, 0, highest));
}

/// `usage` as the site counts it; what was charged are core-seconds, whatever they cost.
Json usage_of(const UsageLedger& ledger, NodeId node, CoreMicros usage, Instant now) {
    Json object = Json::object();
    object.set("usage_core_s", core_seconds(usage));
    object.set("charged_core_us", json_integer_of(ledger.charged(node, now)));
    object.set("running_cores", static_cast<long long>(ledger.rate(node)));
    return object;
}

/// All charges of this instance: of associations, unassociated, and idle.
Json total_of(const UsageLedger& ledger, const UsageSnapshot& snapshot) {
    const Instant now = snapshot.at;
    Json object = Json::object();
    object.set("usage_core_s",
               core_seconds(snapshot.usage.at(root_node.value) + snapshot.unassociated + snapshot.idle));
    SignedCoreMicros charged = 0;
    std::int64_t rate = 0;
    for (const NodeId node : {root_node, unassociated, idle}) {
        charged += ledger.charged(node, now);
        rate += ledger.rate(node);
    }
    object.set("charged_core_us", json_integer_of(charged)).set("running_cores", static_cast<long long>(rate));
    return object;
}

Json node_view(const PriorityService& service, const Measured& measured, const Standings& standings, NodeId node,
               long long pending) {
    const UsageSnapshot& snapshot = measured.usage;
    const UsageLedger& ledger = service.accounting().ledger();
    const ShareTree& tree = ledger.tree();
    const double everything = core_seconds(snapshot.usage.at(root_node.value) + snapshot.unassociated);
    const double used = core_seconds(snapshot.usage.at(node.value));
    const NodeStanding standing =
        node_standing(service.ranking().shares().algorithm(), tree, measured.measures(), node);
    Json view = Json::object();
    view.set("path", tree.path(node)).set("kind", to_string(tree.kind(node)));
    view.set("shares", static_cast<long long>(tree.shares(node))).set("shares_parent", tree.shares_parent(node));
    view.set("entitled", tree.entitled_share(node));
    view.set("usage_core_s", used).set("used", everything > 0 ? used / everything : 0.);
    view.set("charged_core_us", json_integer_of(ledger.charged(node, snapshot.at)));
    view.set("level_fs", standing.level_fs ? Json::own(json_real(*standing.level_fs)) : Json::own(json_null()));
    view.set("factor", tree.is_association(node) ? Json::own(json_real(standings.factor.at(node.value)))
                                                 : Json::own(json_null()));
    view.set("running_cores", static_cast<long long>(ledger.rate(node))).set("pending_jobs", pending);
    return view;
}

/// What is told of siblings that are not shown.
Json sum_view(const PriorityService& service, const Measured& measured, const VisiblePart::Others& others,
              const std::vector<long long>& pending) {
    const UsageSnapshot& snapshot = measured.usage;
    const UsageLedger& ledger = service.accounting().ledger();
    long long shares = 0, cores = 0, jobs = 0;
    double entitled = 0;
    CoreMicros usage = 0;
    SignedCoreMicros charged = 0;
    for (const NodeId node : others.nodes) {
        shares += static_cast<long long>(ledger.tree().shares(node));
        entitled += ledger.tree().entitled_share(node);
        usage += snapshot.usage.at(node.value);
        charged += ledger.charged(node, snapshot.at);
        cores += static_cast<long long>(ledger.rate(node));
        jobs += node.value < pending.size() ? pending[node.value] : 0;
    }
    const double everything = core_seconds(snapshot.usage.at(root_node.value) + snapshot.unassociated);
    Json view = Json::object();
    view.set("path", others.path).set("kind", "sum").set("shares", shares).set("entitled", entitled);
    view.set("usage_core_s", core_seconds(usage)).set("used", everything > 0 ? core_seconds(usage) / everything : 0.);
    view.set("charged_core_us", json_integer_of(charged));
    view.set("level_fs", Json::own(json_null())).set("factor", Json::own(json_null()));
    return std::move(view.set("running_cores", cores).set("pending_jobs", jobs));
}

/// Reasons name people, so they are told to those who see all.
void set_revision(Json& view, const TreeRevision& revision, const VisiblePart& part) {
    view.set("revision", static_cast<long long>(revision.revision)).set("author", part.is_all() ? revision.author : "");
    view.set("reason", part.is_all() ? revision.reason : "").set("time", to_seconds(revision.time));
}

/// How usage decays, when it is reset, and whether the order goes by LSF's history instead. A half-life of another
/// decay is 0.
void set_decay(Json& view, const Settings& s) {
    const bool is_halved = s.decay == DecayKind::half_life;
    view.set("half_life_s", is_halved ? to_seconds(s.half_life) : 0.);
    view.set("decay", is_halved ? "half-life" : s.decay == DecayKind::window ? "window" : "none");
    if (s.decay == DecayKind::window) {
        Json window = Json::object();
        window.set("interval_s", to_seconds(s.window.interval)).set("depth", static_cast<long long>(s.window.depth));
        view.set("window", std::move(window.set("factor", s.window.factor)));
    }
    view.set("usage_reset", name_of(s.usage_reset)).set("has_history", goes_by_history(s));
}

}  // namespace

std::vector<long long> pending_by_node(const PriorityService& service) {
    const ShareTree& tree = service.accounting().tree();
    std::vector<long long> pending(tree.size(), 0);
    for (const auto& [id, job] : service.book().jobs()) {
        if (!job.is_pending()) {
            continue;
        }
        if (job.payer.value < pending.size()) {
            pending[job.payer.value] += 1;
        }
    }
    for (std::uint32_t index = tree.size() - 1; index > 0 && index < tree.size(); --index) {
        pending[tree.parent(NodeId{index}).value] += pending[index];
    }
    return pending;
}

Json tree_view(const VisiblePart& part, Instant now) {
    const PriorityService& service = part.service();
    const std::vector<long long> pending = pending_by_node(service);
    const UsageLedger& ledger = service.accounting().ledger();
    Measured measured;
    service.ranking().measure(service.accounting(), now, measured);
    const Standings standings = evaluate(service.ranking().shares().algorithm(), ledger.tree(), measured.measures());
    Json nodes = Json::array();
    for (const NodeId node : part.nodes()) {
        nodes.append(
            node_view(service, measured, standings, node, node.value < pending.size() ? pending[node.value] : 0));
    }
    for (const VisiblePart::Others& others : part.others()) {
        nodes.append(sum_view(service, measured, others, pending));
    }
    Json view = Json::object();
    set_revision(view, service.trees().in_force(), part);
    view.set("now", to_seconds(now)).set("nodes", std::move(nodes));
    view.set("parent_factors", service.ranking().shares().are_parents());
    view.set("of", static_cast<long long>(part.is_all() ? ledger.tree().size() - 1 : part.nodes().size()));
    view.set("unassociated", usage_of(ledger, unassociated, measured.usage.unassociated, now));
    view.set("idle", usage_of(ledger, idle, measured.usage.idle, now));
    view.set("total", total_of(ledger, measured.usage));
    if (part.is_all()) {
        view.set("toml", service.trees().in_force().toml);
    }
    if (part.is_all() && !service.trees().problem().empty()) {
        view.set("problem", service.trees().problem());
    }
    return view;
}

Json history_view(const VisiblePart& part) {
    const PriorityService& service = part.service();
    Json revisions = Json::array();
    for (const TreeRevision& revision : service.trees().history()) {
        Json entry = Json::object();
        set_revision(entry, revision, part);
        revisions.append(std::move(entry));
    }
    Json view = Json::object();
    view.set("in_force", static_cast<long long>(service.trees().in_force().revision));
    view.set("revisions", std::move(revisions));
    return view;
}

Json tree_diff_view(const VisiblePart& part, std::int64_t a, std::int64_t b, std::vector<TreeChange> changes) {
    Json revisions = Json::array();
    for (const TreeRevision& revision : part.service().trees().history()) {
        if (revision.revision > std::min(a, b) && revision.revision <= std::max(a, b)) {
            Json entry = Json::object();
            set_revision(entry, revision, part);
            revisions.append(std::move(entry));
        }
    }
    std::erase_if(changes, [&part](const TreeChange& change) {
        return !part.has_path(change.path) || (change.kind == ChangeKind::moved && !part.has_path(change.from_path));
    });
    Json view = Json::object();
    view.set("a", static_cast<long long>(a)).set("b", static_cast<long long>(b));
    return std::move(view.set("revisions", std::move(revisions)).set("changes", changes_view(changes)));
}

Json usage_view(const VisiblePart& part, Instant now) {
    const PriorityService& service = part.service();
    const UsageLedger& ledger = service.accounting().ledger();
    UsageSnapshot snapshot;
    service.accounting().measure(now, snapshot);
    Json nodes = Json::array();
    for (const NodeId node : part.nodes()) {
        Json entry = usage_of(ledger, node, snapshot.usage.at(node.value), now);
        nodes.append(std::move(entry.set("path", ledger.tree().path(node))));
    }
    for (const VisiblePart::Others& others : part.others()) {
        CoreMicros usage = 0;
        SignedCoreMicros charged = 0;
        long long cores = 0;
        for (const NodeId node : others.nodes) {
            usage += snapshot.usage.at(node.value);
            charged += ledger.charged(node, now);
            cores += static_cast<long long>(ledger.rate(node));
        }
        Json entry = Json::object();
        entry.set("usage_core_s", core_seconds(usage)).set("charged_core_us", json_integer_of(charged));
        nodes.append(std::move(entry.set("running_cores", cores).set("path", others.path)));
    }
    Json view = Json::object();
    view.set("now", to_seconds(now));
    set_decay(view, service.settings());
    view.set("unassociated", usage_of(ledger, unassociated, snapshot.unassociated, now));
    view.set("idle", usage_of(ledger, idle, snapshot.idle, now));
    view.set("total", total_of(ledger, snapshot));
    view.set("nodes", std::move(nodes));
    return view;
}

namespace {

Json sum_weights(const Weights& from) {
    Json weights = Json::object();
    weights.set("wait", from.wait).set("fairshare", from.fairshare).set("qos", from.qos);
    weights.set("queue", from.queue).set("size", from.size).set("user", from.user);
    weights.set("association", from.association).set("site", from.site);
    weights.set("resources", from.resources);
    return weights;
}

/// Moab's parts with a weight, and LSF's factors or parts of APS.
Json policy_weights(const Settings& s) {
    Json weights = Json::object();
    for (std::size_t c = 0; s.policy == PolicyKind::moab && c < moab_components; ++c) {
        const MoabPolicy::Component& component = s.moab.components[c];
        for (std::size_t part = 0; part < moab_parts; ++part) {
            if (const double weight = component.weight * component.parts[part].weight; weight != 0) {
                weights.set(moab_part_name(c, part).c_str(), weight);
            }
        }
    }
    for (std::size_t i = 0; s.policy == PolicyKind::lsf && s.lsf.aps && i < aps_parts; ++i) {
        if (const double weight = s.lsf.aps->parts[i].weight; weight != 0) {
            weights.set(std::string(aps_part_names[i]).c_str(), weight);
        }
    }
    if (s.policy == PolicyKind::lsf && !s.lsf.aps) {
        const LsfFactors& f = s.lsf.factors;
        weights.set("cpu-time", f.cpu_time).set("run-time", f.run_time);
        weights.set("committed-run-time", f.committed_run_time).set("slots", f.run_job);
    }
    if (s.policy == PolicyKind::load_threshold) {
        weights.set("queue", 1.).set("load", s.load_threshold.rule.per_minute);
    }
    return weights;
}

}  // namespace

Json weights_view(const VisiblePart& part) {
    const PriorityService& service = part.service();
    const Settings& s = service.settings();
    Json weights = service.ranking().order().is_sum() ? sum_weights(s.weights) : policy_weights(s);
    Json resources = Json::object();
    for (const ResourceWeight& resource : service.ranking().queue().engine().settings().resources) {
        Json one = Json::object();
        one.set("weight", resource.weight).set("total", resource.total.front());
        resources.set(resource.name.c_str(), std::move(one));
    }
    const auto classes = [](const std::map<std::string, double>& from) {
        Json object = Json::object();
        for (const auto& [name, priority] : from) {
            object.set(name.c_str(), priority);
        }
        return object;
    };
    Json view = Json::object();
    view.set("policy", std::string(name_of(s.policy)));
    view.set("weights", std::move(weights));
    set_decay(view, s);
    view.set("update_interval_s", to_seconds(s.update_interval)).set("wait_max_s", to_seconds(s.wait_max));
    view.set("wait_after_s", to_seconds(s.wait_after.time)).set("wait_after_limits", s.wait_after.limits);
    view.set("charging", s.billing.charging == Charging::at_dispatch ? "at-dispatch" : "as-it-runs");
    view.set("billed", has_billing(s));
    view.set("algorithm", s.algorithm).set("size_favors", s.is_large_favored ? "large" : "small");
    view.set("enforce", s.is_enforced).set("parent_factors", service.ranking().shares().are_parents());
    view.set("machine_cores", static_cast<long long>(service.ranking().queue().engine().settings().machine_cores));
    view.set("qos", classes(s.qos)).set("queues", classes(s.queues));
    std::map<std::string, double> associations = s.associations;
    std::erase_if(associations, [&part](const auto& one) { return !part.has_path(one.first); });
    view.set("associations", classes(associations)).set("resources", std::move(resources));
    return view;
}

Json changes_view(const std::vector<TreeChange>& list) {
    Json changes = Json::array();
    for (const TreeChange& change : list) {
        Json entry = Json::object();
        Json fields = Json::array();
        entry.set("op", to_string(change.kind)).set("path", change.path);
        if (change.kind == ChangeKind::moved) {
            entry.set("from", change.from_path).set("to", change.path);
        }
        if (change.kind == ChangeKind::reshared) {
            entry.set("from", static_cast<long long>(change.shares_from));
            entry.set("to", static_cast<long long>(change.shares_to));
        }
        entry.set("shares_from", static_cast<long long>(change.shares_from));
        entry.set("shares_to", static_cast<long long>(change.shares_to));
        entry.set("entitled_from", change.entitled_from).set("entitled_to", change.entitled_to);
        for (const FieldChange& field : change.fields) {
            Json one = Json::object();
            one.set("field", field.field).set("from", field.from).set("to", field.to);
            fields.append(std::move(one));
        }
        if (!change.fields.empty()) {
            entry.set("fields", std::move(fields));
        }
        changes.append(std::move(entry));
    }
    return changes;
}

}  // namespace weir::priority
