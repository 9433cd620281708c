// SPDX-License-Identifier: LGPL-3.0-only
// Any bytes as what job-priority hears from a child (records), from its parent (factors, policy, priorities), from a
// guest (a question for usage) and from the journal: what is accepted is written and read back as the same, and a
// guest's child moves nothing but what its own user pays.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "libfairshare/base/check.hpp"
#include "modules/job-priority/messages/journal_events.hpp"
#include "modules/job-priority/messages/parent_policy.hpp"
#include "modules/job-priority/messages/place_wire.hpp"
#include "modules/job-priority/messages/report_wire.hpp"
#include "modules/job-priority/messages/usage_report.hpp"
#include "modules/job-priority/messages/wire.hpp"
#include "modules/job-priority/priority_service.hpp"

namespace {

using namespace weir;
using namespace weir::priority;

constexpr std::uint32_t owner = 100;
constexpr std::uint32_t guest = 6666;
constexpr FluxJobId child = 7;
constexpr std::int64_t cores = 4;
constexpr Duration length = std::chrono::hours(2);

Instant day() {
    return instant_from_seconds(1767225600);
}

std::unique_ptr<PriorityService> an_instance() {
    Settings settings;
    settings.users = {{"owner", owner}, {"guest", guest}, {"bob", 5002}};
    UserDatabase nobody;
    nobody.name_of = [](std::uint32_t) { return Result<std::optional<std::string>>(std::optional<std::string>()); };
    nobody.id_of = [](const std::string&) {
        return Result<std::optional<std::uint32_t>>(std::optional<std::uint32_t>());
    };
    auto service = std::make_unique<PriorityService>(std::move(settings), std::move(nobody), owner, false);
    const char* tree = "\"a\" = 1\n\"a/@guest\" = 1\n\"a/@bob\" = 1\n\"b\" = 1\n\"b/@guest\" = 1\n\"b/@*\" = 1\n";
    const auto proposal = service->propose({tree, "", "", {}}, "t", day());
    WEIR_CHECK(proposal.has_value());
    service->accept(service->prepare(*proposal, day()));
    service->begin_backlog();
    service->end_backlog(day());
    service->apply({child, day(), SubmitEvent{guest, 16, {}}});
    service->apply({child, day(), DependEvent{}});
    service->apply({child, day(), AllocEvent{cores, false}});
    return service;
}

void check_report(std::string_view text) {
    FlatJson reader;
    const auto batch = read_report(reader.read(text));
    if (!batch) {
        WEIR_CHECK(!batch.error().message.empty());
        return;
    }
    const std::vector<UplinkRow>* records = &batch->records;
    FlatJson second;
    const std::string written = write_report(child, *batch);
    const auto again = read_report(second.read(written));
    WEIR_CHECK(again && again->records.size() == records->size() && again->first_seq == batch->first_seq);
    for (std::size_t i = 0; i < records->size(); ++i) {
        const UplinkRow& a = records->at(i);
        const UplinkRow& b = again->records.at(i);
        WEIR_CHECK(a.is_start == b.is_start && a.job == b.job && a.user == b.user && a.account == b.account &&
                   a.cores == b.cores && a.inside == b.inside && a.time == b.time && a.bill == b.bill);
    }
    const auto service = an_instance();
    const Instant now = day() + length;
    WEIR_CHECK(service->report(child, 1, *records, now) == records->size());
    const UsageLedger& ledger = service->accounting().ledger();
    const SignedCoreMicros all = SignedCoreMicros{cores} * length.count();
    SignedCoreMicros his = 0;
    for (const char* path : {"a/@guest", "b/@guest"}) {
        const SignedCoreMicros charged = ledger.charged(*ledger.tree().find(path), now);
        WEIR_CHECK(charged >= 0 && charged <= all);
        his += charged;
    }
    WEIR_CHECK(his == all && ledger.charged(root_node, now) == all && ledger.charged(unassociated, now) == 0);
    WEIR_CHECK(ledger.save().frame == an_instance()->accounting().ledger().save().frame);
}

void check_factors(const json_t* document) {
    const auto rows = read_factors(document);
    if (!rows) {
        return;
    }
    const auto again = read_factors(write_factors(*rows).get());
    WEIR_CHECK(again && again->size() == rows->size());
    ParentFactors factors;
    factors.take(*rows, true);
    WEIR_CHECK(std::all_of(factors.factors().begin(), factors.factors().end(),
                           [](double factor) { return factor >= 0 && factor <= 1; }));
}

void check_hosts(const json_t* document) {
    const auto hosts = read_hosts(document);
    if (!hosts) {
        WEIR_CHECK(!hosts.error().message.empty());
        return;
    }
    WEIR_CHECK(hosts->size() <= StateLog::hosts_max);
    const auto again = read_hosts(write_hosts(*hosts).get());
    WEIR_CHECK(again && *again == *hosts);
    const auto service = an_instance();
    (void)service->attach_child(child, "guest", 1, day(), *hosts);
    WEIR_CHECK(service->accounting().closed().empty());
}

void check_policy(const json_t* document) {
    const auto policy = read_policy(document);
    if (!policy) {
        WEIR_CHECK(!policy.error().message.empty());
        return;
    }
    const auto again = read_policy(write_policy(*policy, ChildKind::partition).get());
    WEIR_CHECK(again && settings_revision(*again) == settings_revision(*policy));
    WEIR_CHECK(again->tree_revision == 0 || again->tree == policy->tree);
    const auto settings = settings_below(*policy, nullptr, {});
    WEIR_CHECK(settings || !settings.error().message.empty());
}

/// A copy has at least 1 by whatever its parent says: 0 would hold it back.
void check_given(const json_t* document) {
    const auto rows = read_given_priorities(document);
    if (!rows) {
        return;
    }
    GivenPriorities given;
    (void)given.take(*rows, true);
    for (const auto& [job, priority] : *rows) {
        BookJob copy;
        copy.id = 5;
        copy.copy_of = job;
        const auto here = given.of(copy);
        WEIR_CHECK(!here || *here >= 1);
    }
}

/// What a child says about jobs under limits, and what it is told.
void check_places(const json_t* document) {
    if (const auto wishes = read_wishes(document)) {
        const auto again = read_wishes(write_wishes(1, *wishes).get());
        WEIR_CHECK(again && again->jobs == wishes->jobs && again->link == wishes->link &&
                   again->is_complete == wishes->is_complete);
    } else {
        WEIR_CHECK(!wishes.error().message.empty());
    }
    if (const auto answers = read_answers(json_object_get(document, "admissions"))) {
        const auto again = read_answers(write_answers(*answers).get());
        WEIR_CHECK(again && *again == *answers);
    }
}

void check_usage_query(const json_t* document) {
    if (const auto query = read_usage_query(document)) {
        const auto& edges = query->edges;
        WEIR_CHECK(edges.size() != 1 && edges.size() <= UsageQuery::spans_max + 1);
        WEIR_CHECK(std::adjacent_find(edges.begin(), edges.end(), std::greater_equal<>()) == edges.end());
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto document = Json::parse(std::string(reinterpret_cast<const char*>(data), size));
    if (document) {
        check_factors(document->get());
        check_places(document->get());
        check_hosts(document->get());
        check_policy(document->get());
        check_given(document->get());
        check_usage_query(document->get());
    }
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    check_report(text);
    FlatJson flat;
    (void)read_journal(flat.read(text));
    return 0;
}
