// SPDX-License-Identifier: LGPL-3.0-only
// Owns: short words for job events, a share tree, users and a service, for this folder's tests.
#pragma once
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "modules/job-priority/priority_service.hpp"
#include "modules/job-priority/sends/accounts_view.hpp"

namespace weir::priority::testing {

inline constexpr std::uint32_t owner = 100;
inline constexpr std::uint32_t alice = 5001;
inline constexpr std::uint32_t bob = 5002;
inline constexpr std::uint32_t carol = 5003;  ///< no line of her own

/// 2026-01-01 and some seconds.
inline Instant at(double seconds) {
    return instant_from_seconds(1767225600.0 + seconds);
}

inline JobEvent submitted(FluxJobId id, double t, std::uint32_t userid, std::string account = "", int urgency = 16) {
    JobRequest request;
    request.account = std::move(account);
    return {id, at(t), SubmitEvent{userid, urgency, request}};
}
inline JobEvent eligible(FluxJobId id, double t) {
    return {id, at(t), DependEvent{}};
}
inline JobEvent urgency(FluxJobId id, double t, int value) {
    return {id, at(t), UrgencyEvent{value}};
}
inline JobEvent started(FluxJobId id, double t, std::int64_t cores) {
    return {id, at(t), AllocEvent{cores, false}};
}
inline JobEvent freed(FluxJobId id, double t) {
    return {id, at(t), FreeEvent{}};
}
/// The broker is down from `t` on for `length` seconds, and the job holds what it has.
inline JobEvent down(FluxJobId id, double t, double length) {
    return {id, at(t), DownEvent{duration_from_seconds(length)}};
}
inline JobEvent up(FluxJobId id, double t) {
    return {id, at(t), UpEvent{}};
}
inline JobEvent cleaned(FluxJobId id, double t) {
    return {id, at(t), CleanEvent{}};
}

inline const char* tree_text =
    "\"physics\" = 2\n"
    "\"physics/lattice\" = 1\n"
    "\"physics/lattice/@alice\" = 1\n"
    "\"bio\" = 1\n"
    "\"bio/@bob\" = 1\n"
    "\"bio/@*\" = 1\n";

inline UserDatabase no_database() {
    return {[](std::uint32_t) -> Result<std::optional<std::string>> { return std::optional<std::string>(); },
            [](const std::string&) -> Result<std::optional<std::uint32_t>> { return std::optional<std::uint32_t>(); }};
}

inline Settings settings() {
    Settings s;
    s.push = config::PushRule::numbers;  // what is pushed is the priority
    s.users = {{"alice", alice}, {"bob", bob}, {"carol", carol}, {"owner", owner}};
    return s;
}

/// Puts a changeover in force, and returns its batch, which is not written yet.
inline StateBatch accept(PriorityService& service, TreeChangeover changeover) {
    StateBatch batch = changeover.batch;
    service.accept(std::move(changeover));
    return batch;
}

inline TreeProposal proposed(PriorityService& service, const std::string& text, double t = 0) {
    auto proposal = service.propose({text, "test", "", std::nullopt}, "t", at(t));
    if (!proposal) {
        throw std::runtime_error(proposal.error().message);
    }
    return std::move(*proposal);
}

inline void put_tree(PriorityService& service, const std::string& text = tree_text, double t = 0) {
    if (TreeProposal proposal = proposed(service, text, t); proposal.is_new) {
        service.log().untake(accept(service, service.prepare(std::move(proposal), at(t))));
    }
}

/// The site's own values, as when their rows were written.
inline SiteEdit set_site_values(PriorityService& service,
                                std::span<const std::pair<FluxJobId, std::optional<double>>> values) {
    SiteEdit edit = SiteValues::propose(service.book(), values);
    service.accept(edit);
    return edit;
}

inline std::unique_ptr<PriorityService> service(bool is_child = false, Settings with = settings()) {
    return std::make_unique<PriorityService>(std::move(with), no_database(), owner, is_child);
}

/// A service with a tree whose journal is caught up.
inline std::unique_ptr<PriorityService> ready_service() {
    auto made = service();
    put_tree(*made);
    made->begin_backlog();
    made->end_backlog(at(0));
    return made;
}

inline AccountsView accounts(const PriorityService& service) {
    return accounts_view(service.accounting().tree(), *service.trees().tree(), service.users());
}

/// What a child would be sent now.
inline FactorPublication::Rows changed_factors(PriorityService& service) {
    return service.sends().factors().changed(service.accounting().tree(), service.ranking().shares().standings(),
                                             service.users());
}

inline Measured measured_at(const PriorityService& service, Instant now) {
    Measured measured;
    service.ranking().measure(service.accounting(), now, measured);
    return measured;
}

/// Takes what the next push holds, as if the plugin had taken it.
inline std::vector<std::pair<std::uint64_t, std::uint32_t>> push(PriorityService& service) {
    std::vector<std::pair<std::uint64_t, std::uint32_t>> all;
    while (const auto next = service.sends().plugin().next()) {
        all.insert(all.end(), next->jobs.begin(), next->jobs.end());
        service.sends().plugin().acknowledge(1);
    }
    return all;
}

inline SignedCoreMicros charged(const PriorityService& service, const std::string& path, double t) {
    const auto node = path.empty() ? std::optional<NodeId>(unassociated) : service.accounting().tree().find(path);
    return node ? service.accounting().ledger().charged(*node, at(t)) : 0;
}

}  // namespace weir::priority::testing
