// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the look-up of payers. See payers.hpp.
#include "modules/job-priority/jobs/payers.hpp"

#include <exception>
#include <unordered_map>

namespace weir::priority {

void Payers::set_tree(const ShareTree& tree) {
    has_groups_ = false;
    has_plain_defaults_ = true;
    for (std::uint32_t index = 1; index < tree.size(); ++index) {
        has_groups_ = has_groups_ || tree.kind(NodeId{index}) == NodeKind::group;
        has_plain_defaults_ = has_plain_defaults_ && !is_by_job(tree, NodeId{index});
    }
}

/// `userid` for the groups, where the tree has any.
std::optional<Payer> Payers::find(const ShareTree& tree, Credentials job, std::optional<std::uint32_t> userid) const {
    if (has_groups_ && userid) {
        job.groups = users_.groups(*userid);
    }
    const Result<Association> found = payer_of(tree, job);
    return found ? std::optional(Payer{*found, std::string(job.user)}) : std::nullopt;
}

std::optional<Payer> Payers::find_asked(const ShareTree& tree, const JobRequest& request, std::uint32_t userid) const {
    const Credentials job{
        .user = users_.name(userid), .account = request.account, .queue = request.named_queue(), .qos = request.qos};
    if (has_groups_) {
        (void)users_.groups(userid);  // before is_in_doubt(), which asks nothing
    }
    return users_.is_in_doubt(userid) ? std::nullopt : find(tree, job, userid);
}

std::optional<Payer> Payers::would_pay(const ShareTree& tree, const BookJob& job) const {
    if (job.request->is_instance && book_.is_partition(job)) {
        return std::nullopt;
    }
    return find_asked(tree, *job.request, job.charged_userid());
}

std::string Payers::refusal(const ShareTree& tree, const BookJob& job) const {
    const std::string& account = job.request->account;
    const bool is_plain_owners = book_.is_owners(job) && !job.request->names_account();
    const bool is_known = account.empty() || tree.account(account).has_value();
    if (is_plain_owners || (is_known && !has_plain_defaults_) || would_pay(tree, job) ||
        users_.is_in_doubt(job.charged_userid())) {
        return {};
    }
    const std::string user = users_.name(job.charged_userid());
    std::string accounts;
    for (const NodeId line : tree.associations_of(user)) {
        accounts += (accounts.empty() ? "" : ", ") + tree.path(account_above(tree, line));
    }
    const std::string why = user + " is in no account " + (account.empty() ? "" : account + " ") + "of the share tree";
    return accounts.empty()
               ? why
               : why + "; flux update JOB bank=NAME moves the job to another account of " + user + ": " + accounts;
}

const std::string& Payers::queue_inside(const BookJob& child, const UplinkRow& record) const {
    if (book_.is_owners(child) && !record.bill.queue.empty()) {
        return record.bill.queue;
    }
    return child.request->serves.empty() ? child.request->named_queue() : child.request->serves;
}

const std::string& Payers::qos_inside(const BookJob& child, const UplinkRow& record) const {
    return book_.is_owners(child) && !record.bill.qos.empty() ? record.bill.qos : child.request->qos;
}

const std::string& Payers::project_inside(const BookJob& child, const UplinkRow& record) const {
    return book_.is_owners(child) ? record.bill.project : child.request->project;
}

std::optional<Payer> Payers::would_pay_inside(const ShareTree& tree, const BookJob& child,
                                              const UplinkRow& record) const {
    Credentials inner{
        .user = {}, .account = record.account, .queue = queue_inside(child, record), .qos = qos_inside(child, record)};
    if (!book_.is_owners(child)) {  // a guest's report causes no look-up
        const std::uint32_t userid = child.charged_userid();
        inner.user = users_.name(userid);
        const bool is_himself = record.user == inner.user || record.user == std::to_string(userid);
        return is_himself ? find(tree, inner, userid) : std::nullopt;
    }
    const auto userid = users_.id(record.user);
    inner.user = userid ? users_.name(*userid) : record.user;
    const bool is_somebody = (userid && users_.is_known(*userid)) || !tree.associations_of(inner.user).empty();
    return is_somebody ? find(tree, inner, userid) : std::nullopt;
}

std::vector<std::pair<NodeId, std::string>> Payers::newcomers(const ShareTree& tree,
                                                              std::span<const JobEvent> events) const {
    std::unordered_map<FluxJobId, const SubmitEvent*> submitted;
    std::vector<std::pair<NodeId, std::string>> members;
    const auto add = [&](const SubmitEvent& submit) {
        if (submit.request.is_instance && book_.is_partition(submit)) {
            return;  // no payer: see would_pay()
        }
        const std::uint32_t userid = book_.charged_userid(submit);
        try {
            if (const auto payer = find_asked(tree, submit.request, userid); payer && !payer->association.leaf) {
                members.emplace_back(payer->association.account, payer->user);
            }
        } catch (const std::exception&) {
            // The user database does not answer: the application of the event reports it.
        }
    };
    for (const JobEvent& event : events) {
        if (const auto* submit = std::get_if<SubmitEvent>(&event.what)) {
            submitted[event.id] = submit;
        } else if (std::holds_alternative<UpdateEvent>(event.what)) {
            submitted.erase(event.id);  // its payer is resolved when its events are applied
        } else if (const auto job = submitted.find(event.id);
                   job != submitted.end() && std::holds_alternative<DependEvent>(event.what)) {
            add(*job->second);
        }
    }
    return members;
}

}  // namespace weir::priority
