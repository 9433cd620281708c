// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the two independent sources: ledgers by job-priority.usage, jobs by the journals.
#include "cmd/demo/witness.hpp"

#include <algorithm>

#include "cmd/common/instances.hpp"
#include "cmd/common/reader.hpp"
#include "cmd/common/share_view.hpp"
#include "cmd/demo/records.hpp"
#include "cmd/demo/schedule_checks.hpp"

namespace weir::cmd {
namespace {

using namespace std::chrono_literals;

struct Ledger {
    Charges charges;
    std::int64_t unassociated = 0;
};

/// The members' charges; the total is their sum, without unassociated and idle time.
Result<Ledger> ledger_of(Client& client) {
    auto answer = client.call("job-priority.usage", Json::object());
    if (!answer) {
        return answer.error();
    }
    Ledger ledger;
    std::int64_t total = 0;
    for (const json_t* node : items_at(answer->get(), "nodes")) {
        const std::string path = text_at(node, "path");
        if (!path.empty()) {
            const std::int64_t charge = integer_at(node, "charged_core_us");
            ledger.charges[path] = charge;
            total += path.find('/') == std::string::npos ? charge : 0;
        }
    }
    ledger.charges[""] = total;
    ledger.unassociated = integer_at(json_object_get(answer->get(), "unassociated"), "charged_core_us");
    return ledger;
}

/// All answers of the instances, before they are evaluated.
struct Testimony {
    ShareView view;
    Ledger ledger;
    Journal parent;
    std::map<std::string, Journal> journals;
    std::vector<ChildView> views;
    std::int64_t ended = 0;
};

Result<Testimony> heard(Session& session) {
    auto view = share_view(session.client());
    auto ledger = ledger_of(session.client());
    auto parent = read_journal(session.uri());
    if (!view || !ledger || !parent) {
        return !view ? view.error() : !ledger ? ledger.error() : parent.error();
    }
    Testimony testimony{std::move(*view), std::move(*ledger), std::move(*parent), {}, {}, 0};
    for (const SessionChild& child : session.children()) {
        auto client = Client::open(child.uri);
        if (!client) {
            return client.error();
        }
        auto own = ledger_of(*client);
        auto journal = read_journal(child.uri);
        if (!own || !journal) {
            return !own ? own.error() : journal.error();
        }
        testimony.views.push_back({child.partition.name, own->charges, own->unassociated});
        testimony.journals.emplace(child.partition.name, std::move(*journal));
    }
    testimony.ended = job_counts(session.client()).inactive;
    return testimony;
}

Window window_of(const std::vector<JobRecord>& jobs) {
    if (jobs.empty()) {
        return {};
    }
    const auto [first, last] = std::minmax_element(
        jobs.begin(), jobs.end(), [](const JobRecord& a, const JobRecord& b) { return a.submit < b.submit; });
    return {first->submit, last->submit};
}

RunFacts facts_of(const Workload& workload, const std::vector<JobRecord>& jobs, const Window& window) {
    RunFacts facts;
    facts.workload = workload.name;
    facts.jobs = static_cast<std::int64_t>(jobs.size());
    for (const Partition& partition : workload.partitions) {
        facts.cores += partition.cores();
    }
    facts.window = window.end - window.begin;
    std::int64_t busy = 0;
    for (const JobRecord& job : jobs) {
        busy += core_us(job, window);
        facts.span = std::max(facts.span, job.free - window.begin);
    }
    const double possible = static_cast<double>(facts.cores) * static_cast<double>(facts.window.count());
    facts.utilisation = possible > 0 ? static_cast<double>(busy) / possible : 0;
    return facts;
}

void check_schedule(const Workload& workload, double scale, Findings& findings) {
    std::vector<Check>& checks = findings.report.checks;
    const Slack slack = slack_of(findings.jobs, scale);
    checks.push_back(check_order(findings.jobs, slack));
    if (const auto limits = limits_of(workload.share_tree); !limits.empty()) {
        checks.push_back(check_limits(limits, findings.jobs));
    }
    if (std::any_of(workload.partitions.begin(), workload.partitions.end(),
                    [](const Partition& partition) { return !partition.overflow.empty(); })) {
        checks.push_back(check_overflow(workload.partitions, findings.jobs, slack));
    }
}

Findings findings_from(const Workload& workload, const Testimony& testimony, double scale) {
    std::map<std::uint32_t, std::string> names;
    for (const auto& [name, id] : workload.users) {
        names[id] = name;
    }
    std::vector<Entitlement> tree;
    for (const ShareNode& node : testimony.view.nodes) {
        tree.push_back({node.path, node.entitled});
    }
    Findings findings;
    findings.jobs = join(testimony.parent, testimony.journals, names);
    const Window window = window_of(findings.jobs);
    findings.first_submit = window.begin;
    findings.report.facts = facts_of(workload, findings.jobs, window);
    findings.report.rows = account_rows(findings.jobs, tree, window);
    findings.report.checks = {
        check_complete(static_cast<std::int64_t>(workload.jobs.size()), testimony.ended, findings.jobs),
        check_entitlements(tree), check_charges(testimony.ledger.charges, findings.jobs),
        check_children(testimony.ledger.charges, testimony.views)};
    check_schedule(workload, scale, findings);
    return findings;
}

}  // namespace

Result<Findings> findings_of(const Workload& workload, Session& session, Signals& signals, double scale,
                             Duration patience) {
    const Duration deadline = monotonic_now() + patience;
    Duration pause = 20ms;
    while (true) {
        auto testimony = heard(session);
        if (!testimony) {
            return testimony.error();
        }
        Findings findings = findings_from(workload, *testimony, scale);
        if (findings.report.holds() || monotonic_now() >= deadline) {
            return findings;
        }
        (void)wait_readable({signals.fd(), session.broker().pidfd()}, pause);
        if (signals.is_stop_asked()) {
            return Error{std::errc::interrupted, "interrupted"};
        }
        pause = std::min<Duration>(pause * 2, 500ms);
    }
}

}  // namespace weir::cmd
