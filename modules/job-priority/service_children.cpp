// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the parent's side of the hierarchy: whose reports are taken, each record once, which factors go down.
// See priority_service.hpp. Source: doc/adr/0061, 0184, 0185.
#include <algorithm>

#include "modules/job-priority/priority_service.hpp"

namespace weir::priority {
namespace {

/// What a user who is not in the tree yet would get by the account's `@*` line: no less than any present member.
double newcomer_factor(const ShareTree& tree, NodeId account, const Standings& standings) {
    double best = 0;
    bool has_member = false;
    for (const NodeId child : tree.children(account)) {
        if (tree.kind(child) == NodeKind::user) {
            best = std::max(best, standings.factor.at(child.value));
            has_member = true;
        }
    }
    return has_member ? best : 1.0;
}

/// What a child's job is called towards our own parent. Two instances may number their jobs alike, so the child's
/// number is mixed in (splitmix64's finaliser: one to one for each child). The same after any restart.
std::uint64_t name_above(FluxJobId child, std::uint64_t job) {
    std::uint64_t x = job + 0x9e3779b97f4a7c15ULL * child;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
    return x ^ (x >> 31);
}

}  // namespace

Status PriorityService::authorize_child(FluxJobId child, std::uint32_t userid, bool is_owner) const {
    const BookJob* job = book_.find(child);
    if (job == nullptr || !job->has_resources) {
        return Error{std::errc::no_such_file_or_directory,
                     "job " + std::to_string(child) +
                         " is not running here: only the instance inside a running job may "
                         "report"};
    }
    if (!is_owner && job->userid != userid) {
        return Error{std::errc::operation_not_permitted,
                     "job " + std::to_string(child) + " belongs to another user: only its owner may report for it"};
    }
    return Done{};
}

bool PriorityService::is_owners(const BookJob& job) const {
    return job.userid == book_.owner() && job.charged_userid() == book_.owner();
}

bool PriorityService::is_partition(const BookJob& job) const {
    return is_owners(job) && job.request.account.empty();
}

std::uint64_t PriorityService::attach_child(FluxJobId child, const std::string& instance, std::uint64_t first_seq,
                                            Instant now) {
    DownlinkRow& row = children_[child];
    if (row.instance != instance) {
        row.instance = instance;
        row.seq_acked = 0;
        row.ignored_until = row.applied_until;
        go_on_from_earlier_lives(child, row);
    }
    row.seq_acked = std::max(row.seq_acked, first_seq == 0 ? 0 : first_seq - 1);
    accounting_.batch().downlinks[child] = row;
    const BookJob* job = book_.find(child);
    if (job != nullptr && is_partition(*job) && accounting_.move_payer(child, idle, now)) {
        record({false, child, {}, {}, 0, now});
        record({true, child, {}, {}, accounting_.find(child)->cores, now});
    }
    return row.seq_acked;
}

std::uint64_t PriorityService::report(FluxJobId child, std::uint64_t first_seq, std::vector<UplinkRow> records,
                                      Instant now) {
    DownlinkRow& row = children_[child];
    std::uint64_t seq = first_seq;
    for (UplinkRow& record : records) {
        if (seq == row.seq_acked + 1) {
            record.time = std::min(record.time, now);
            // A child that lost its state begins to count anew, and tells again what the one before it told.
            if (record.time > row.ignored_until) {
                apply_record(child, record);
            }
            row.seq_acked = seq;
            row.applied_until = std::max(row.applied_until, record.time);
        }
        seq += 1;
    }
    accounting_.batch().downlinks[child] = row;
    return row.seq_acked;
}

std::optional<NodeId> PriorityService::payer_in(const BookJob& child, const UplinkRow& record) {
    const bool is_own = is_owners(child);
    Credentials inner{.user = record.user, .account = record.account, .queue = child.request.queue};
    inner.qos = child.request.qos;
    if (!is_own) {  // nobody is looked up by a guest's word
        const std::uint32_t userid = child.charged_userid();
        inner.user = users_.name(userid);
        const bool is_himself = record.user == inner.user || record.user == std::to_string(userid);
        const NodeId payer = is_himself ? resolve(inner, userid) : unassociated;
        return payer == unassociated ? std::nullopt : std::optional(payer);
    }
    if (!child.request.serves.empty()) {
        inner.queue = child.request.serves;  // the jobs in it run in its queue
    }
    const auto userid = users_.id(record.user);
    if (userid) {
        inner.user = users_.name(*userid);
    }
    const bool is_somebody =
        (userid && users_.is_known(*userid)) || !accounting_.tree().associations_of(inner.user).empty();
    return is_somebody ? resolve(inner, userid) : unassociated;
}

void PriorityService::apply_record(FluxJobId child, const UplinkRow& record) {
    counts_.events += 1;
    if (apply_to_earlier_life(child, record)) {
        return;
    }
    const ReportedKey key{child, record.job};
    UplinkRow above = record;  // our parent hears it as a job inside one of ours, as it was believed
    if (record.is_start) {
        const BookJob* job = book_.find(child);
        const bool is_nobodys = record.user.empty();
        const auto payer = job != nullptr && !is_nobodys ? payer_in(*job, record) : std::nullopt;
        const auto at = payer || is_nobodys
                            ? accounting_.report_start(key, record.inside, payer, record.cores, record.time)
                            : std::nullopt;
        if (!at) {
            counts_.not_believed += 1;
            return;
        }
        above.time = *at;
        above.cores = accounting_.reported().at(key).cores;
        queue_.mark_factor(accounting_.reported().at(key).payer.value);
    } else {
        const auto open = accounting_.reported().find(key);
        if (open == accounting_.reported().end()) {
            return;
        }
        queue_.mark_factor(open->second.payer.value);
        above.time = accounting_.report_end(key, record.time).value_or(record.time);
    }
    above.job = name_above(child, record.job);
    above.inside = record.inside == 0 ? child : name_above(child, record.inside);
    this->record(std::move(above));
}

void PriorityService::forget_child(FluxJobId child) {
    if (children_.erase(child) != 0) {
        accounting_.batch().downlinks[child] = std::nullopt;
    }
}

void PriorityService::forget_ended(Instant last_seen) {
    const auto holds_nothing = [this](FluxJobId id) {
        const BookJob* job = book_.find(id);
        return job == nullptr || !job->has_resources;
    };
    std::vector<FluxJobId> ended;
    for (const auto& [id, running] : accounting_.running()) {
        if (holds_nothing(id)) {
            ended.push_back(id);
        }
    }
    for (const FluxJobId id : ended) {
        end_vanished(id, last_seen);
    }
    for (auto child = children_.begin(); child != children_.end();) {
        const FluxJobId id = (child++)->first;
        if (holds_nothing(id)) {
            forget_child(id);
        }
    }
}

std::vector<FactorRow> PriorityService::factor_rows() {
    const ShareTree& tree = accounting_.tree();
    std::vector<FactorRow> rows;
    if (standings_.factor.size() < tree.size()) {
        return rows;  // before the first pass
    }
    for (std::uint32_t index = 1; index < tree.size(); ++index) {
        const NodeId node{index};
        const NodeKind kind = tree.kind(node);
        if (kind != NodeKind::user && kind != NodeKind::any_member && kind != NodeKind::others) {
            continue;
        }
        if (account_above(tree, tree.parent(node)) != tree.parent(node)) {
            continue;  // below a group, queue or QoS: children know accounts and users alone
        }
        FactorRow row;
        row.user = std::string(tree.name(node));
        row.account = tree.path(tree.parent(node));
        if (kind != NodeKind::user) {
            row.factor = kind == NodeKind::others ? standings_.factor.at(index)
                                                  : newcomer_factor(tree, tree.parent(node), standings_);
            row.is_default = tree.open_accounts().front() == tree.parent(node);
        } else {
            row.userid = users_.id(row.user);
            row.factor = standings_.factor.at(index);
            const Result<Association> by_default = tree.association("", row.user);
            row.is_default = by_default && by_default->account == tree.parent(node);
        }
        rows.push_back(std::move(row));
    }
    return rows;
}

std::vector<FactorRow> PriorityService::changed_factor_rows(bool& is_complete) {
    is_complete = is_publication_complete_;
    std::vector<FactorRow> changed;
    if (is_complete) {
        published_.clear();
    }
    for (FactorRow& row : factor_rows()) {
        const std::string key = row.account + "/@" + row.user;
        const auto known = published_.find(key);
        if (known == published_.end() || known->second != row.factor) {
            published_[key] = row.factor;
            changed.push_back(std::move(row));
        }
    }
    is_publication_complete_ = false;
    return changed;
}

}  // namespace weir::priority
