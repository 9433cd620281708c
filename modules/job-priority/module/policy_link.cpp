// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see policy_link.hpp.
#include "modules/job-priority/module/policy_link.hpp"

namespace weir::priority {

PolicyLink::PolicyLink(flux_t* h, PriorityService& service, StateLink& state, std::vector<std::string> arguments,
                       std::function<void(Settings)> put)
    : h_(h),
      service_(service),
      state_(state),
      own_(Json::own(json_deep_copy(flux::conf_table(h, "weir")))),
      arguments_(std::move(arguments)),
      put_(std::move(put)) {}

Result<Settings> PolicyLink::settings_of(const json_t* own) const {
    Result<Settings> alone = read_settings(own, arguments_);
    return alone && alone->takes_parent_factors && taken_ ? settings_below(*taken_, own, arguments_) : alone;
}

void PolicyLink::set_machine(const MachineSize& machine) {
    if (machine_ != machine) {
        machine_ = machine;
        version_ += 1;
    }
}

Status PolicyLink::take(const json_t* message, Instant now) {
    if (!service_.settings().takes_parent_factors) {
        return Done{};
    }
    const auto refuse = [this](const Error& error) -> Status {
        if (error.message != refused_) {
            refused_ = error.message;
            flux::log(h_, LOG_ERR, "the parent's policy is refused, the present one stays in force: " + refused_);
        }
        return error;
    };
    auto policy = read_policy(message);
    if (!policy) {
        return refuse(policy.error());
    }
    auto settings = settings_below(*policy, own_.get(), arguments_);
    if (!settings) {
        return refuse(settings.error());
    }
    if (const Status done = take_tree(*policy, now); !done) {
        return refuse(done.error());
    }
    refused_.clear();
    taken_ = std::move(*policy);
    version_ += 1;
    if (*settings != service_.settings()) {
        put_(std::move(*settings));
    }
    if (taken_->machine) {
        service_.set_machine(*taken_->machine);
    }
    return Done{};
}

/// Checked and written before anything else of the policy takes effect.
Status PolicyLink::take_tree(const ParentPolicy& policy, Instant now) {
    if (!policy.tree) {
        return Done{};
    }
    TreeEdit edit{*policy.tree, "parent", "revision " + std::to_string(policy.tree_revision) + " of the parent",
                  std::nullopt, true};
    auto proposal = service_.propose(edit, "the parent's share tree", now);
    if (!proposal) {
        return proposal.error();
    }
    if (!proposal->is_new) {
        return Done{};
    }
    TreeChangeover changeover = service_.prepare(std::move(*proposal), now);
    if (Status written = state_.write(changeover.batch); !written) {
        return written;
    }
    service_.accept(std::move(changeover));
    service_.trees().set_problem({});
    return Done{};
}

// ---- the children ----

ParentPolicy PolicyLink::current() const {
    ParentPolicy policy;
    const TreeRevision& tree = service_.trees().in_force();
    if (is_following()) {
        policy.table = taken_->table.share();
        policy.arguments = taken_->arguments;
        policy.machine = taken_->machine;
    } else {
        policy.table = shared_table(own_.get());
        policy.arguments = shared_arguments(arguments_);
        policy.machine = machine_;
    }
    policy.tree_revision = has_parents_tree() ? taken_->tree_revision : tree.revision;
    policy.tree = tree.toml;
    return policy;
}

Json PolicyLink::for_child(ChildKind child) const {
    return write_policy(current(), child);
}

void PolicyLink::forget_ended() {
    std::erase_if(children_, [this](const auto& one) {
        const BookJob* job = service_.book().find(one.first);
        return job == nullptr || !job->has_resources;
    });
}

bool PolicyLink::has_changed() {
    const std::pair now{version_, service_.trees().in_force().revision};
    return std::exchange(published_, now) != now;
}

ChildPolicy PolicyLink::in_force() const {
    if (revision_of_ != version_) {  // hashing a configuration with a line for each user takes tens of milliseconds
        revision_ = settings_revision(current());
        revision_of_ = version_;
    }
    const std::int64_t tree = has_parents_tree() ? taken_->tree_revision : service_.trees().in_force().revision;
    return {revision_, tree, is_following() ? "parent" : "own", refused_};
}

Json json_of(const ChildPolicy& policy) {
    Json json = Json::object();
    json.set("settings", policy.settings).set("tree", policy.tree).set("from", policy.from);
    return std::move(json.set("refused", policy.refused));
}

Json PolicyLink::view() const {
    Json children = Json::array();
    for (const auto& [child, policy] : children_) {
        children.append(std::move(json_of(policy).set("jobid", child)));
    }
    Json json = json_of(in_force());
    return std::move(json.set("children", std::move(children)));
}

}  // namespace weir::priority
