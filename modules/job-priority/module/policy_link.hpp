// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the policy of this instance, as it comes from the parent and goes to the children: whether the parent's or its
// own is in force, always as a whole. Must not know: how it is sent, what the settings mean.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "modules/common/flux_cpp.hpp"
#include "modules/job-priority/messages/parent_policy.hpp"
#include "modules/job-priority/module/state_link.hpp"
#include "modules/job-priority/priority_service.hpp"

namespace weir::priority {

/// The policy in force in a child, as the child reports it.
struct ChildPolicy {
    std::string settings;   ///< settings_revision()
    std::int64_t tree = 0;  ///< the parent's revision; 0: its tree is not the parent's
    std::string from;       ///< "parent" or "own"
    std::string refused;    ///< why it refuses the newest; empty: it does not
};

Json json_of(const ChildPolicy& policy);

class PolicyLink {
  public:
    /// \param put  puts settings in force
    PolicyLink(flux_t* h, PriorityService& service, StateLink& state, std::vector<std::string> arguments,
               std::function<void(Settings)> put);

    /// Whether the parent's policy is in force: one was accepted, and `parent-factors` is not false.
    bool is_following() const { return taken_ && service_.settings().takes_parent_factors; }
    /// Whether its share tree is.
    bool has_parents_tree() const { return is_following() && taken_->tree.has_value(); }

    bool has_parents_machine() const { return is_following() && taken_->machine.has_value(); }

    /// The settings of a [weir] table of this instance together with the parent's policy.
    Result<Settings> settings_of(const json_t* own) const;
    /// This instance's configuration was read again, and its settings are in force.
    void reloaded(const json_t* own) {
        own_ = Json::own(json_deep_copy(own));
        version_ += 1;
    }
    void set_machine(const MachineSize& machine);

    /// Puts a parent's message in force, all of it or, after an error, nothing.
    Status take(const json_t* message, Instant now);

    // ---- the children ----
    Json for_child(ChildKind child) const;
    /// Whether it differs from that at the last call with `true` as result. O(1).
    bool has_changed();
    void note_child(FluxJobId child, ChildPolicy policy) { children_.insert_or_assign(child, std::move(policy)); }
    /// Forgets the children whose job holds no resources any more. O(children log jobs).
    void forget_ended();

    /// The policy in force here, for views and for the parent.
    ChildPolicy in_force() const;
    Json view() const;

  private:
    ParentPolicy current() const;
    Status take_tree(const ParentPolicy& policy, Instant now);

    flux_t* h_;
    PriorityService& service_;
    StateLink& state_;
    Json own_;  ///< [weir] of this instance's configuration; empty: none
    std::vector<std::string> arguments_;
    std::function<void(Settings)> put_;
    std::optional<ParentPolicy> taken_;
    std::string refused_;
    std::optional<MachineSize> machine_;
    std::uint64_t version_ = 1;
    mutable std::string revision_;  ///< of the settings, at the version revision_of_
    mutable std::uint64_t revision_of_ = 0;
    std::pair<std::uint64_t, std::int64_t> published_{0, 0};  ///< version, revision of the tree
    std::map<FluxJobId, ChildPolicy> children_;
};

}  // namespace weir::priority
