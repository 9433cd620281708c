// SPDX-License-Identifier: LGPL-3.0-only
// Any bytes as what the two sides of a route say to each other (attach, report, orders, questions and their answers)
// and as a journal's entry: what is accepted is written and read back as the same, and a child's report concerns its
// own jobs and resources alone.
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "libfairshare/base/check.hpp"
#include "modules/job-route/messages_json.hpp"
#include "modules/job-route/partition_changes.hpp"
#include "modules/job-route/partition_json.hpp"
#include "modules/job-route/question_json.hpp"
#include "modules/job-route/resource_map.hpp"
#include "t/unit/job_route/written_orders.hpp"

namespace {

using namespace weir::route;

constexpr JobId host{1};
constexpr JobId other{2};  ///< a job of another child
constexpr JobId own{100};  ///< a job of this one

constexpr const char* allocation =
    R"({"version":1,"execution":{"R_lite":[{"rank":"4-5","children":{"core":"2,7"}}],"nodelist":["n[4-5]"]}})";
constexpr const char* child_R =
    R"({"version":1,"execution":{"R_lite":[{"rank":"0-1","children":{"core":"0-1"}}],"nodelist":["a,b"]}})";

void check_attach(json_t* payload) {
    const auto attach = decode_attach(payload);
    if (!attach) {
        WEIR_CHECK(!attach.error().message.empty());
        return;
    }
    const auto again = decode_attach(encode(*attach).get());
    WEIR_CHECK(again && again->child == attach->child && again->session == attach->session &&
               again->serves == attach->serves && again->known == attach->known &&
               again->resources == attach->resources && again->cores == attach->cores && again->uri == attach->uri);
}

/// What is read in place is what the tree has.
void check_heads(json_t* payload, weir::FlatValue flat) {
    const auto attach = decode_attach(payload);
    const auto attach_head = read_attach_head(flat);
    WEIR_CHECK(!attach || !flat ||
               (attach_head && attach_head->child == attach->child && attach_head->known == attach->known.size() &&
                attach_head->serves == attach->serves.size()));
    const auto report = decode_report(flat);
    const auto report_head = read_report_head(flat);
    WEIR_CHECK(!report || (report_head && report_head->child == report->child &&
                           report_head->session == report->session && report_head->events == report->events.size()));
}

void check_orders(weir::FlatValue payload) {
    if (const auto orders = decode_orders(payload)) {
        for (const Order& order : *orders) {
            const auto again = test::sent_and_read({order});
            WEIR_CHECK(again && again->size() == 1 && again->front().id == order.id &&
                       again->front().kind == order.kind);
        }
    }
}

JournalEvent an_event(JournalEvent::Kind kind, JobId child = {}) {
    JournalEvent event;
    event.kind = kind;
    event.child = child.value;
    event.priority = kind == JournalEvent::Kind::priority ? 16 : 0;  // 0 would be held back, and given to no child
    return event;
}

void check_question(json_t* payload) {
    if (const auto question = decode_question(payload)) {
        const auto again = decode_question(encode(*question).get());
        WEIR_CHECK(again && again->number == question->number && again->id == question->id &&
                   again->topic == question->topic && again->payload.dump() == question->payload.dump());
    }
    if (const auto reply = decode_reply(payload)) {
        WEIR_CHECK(reply->hops.size() <= answer_depth_max && (reply->errnum == 0) == static_cast<bool>(reply->answer));
        const auto again = decode_reply(encode(*reply).get());
        WEIR_CHECK(again && encode(*again).dump() == encode(*reply).dump());
    }
}

/// Tables [[partition]] of a configuration, and the changes that `weir partition` wrote to a file.
void check_partitions(const json_t* payload, const std::string& bytes) {
    const auto specs = decode_partitions(payload);
    WEIR_CHECK(specs || !specs.error().message.empty());
    for (std::size_t i = 0; specs && i < specs->size(); ++i) {
        WEIR_CHECK(!specs->at(i).name.empty() && !specs->at(i).queues.empty());
        WEIR_CHECK(partition_table_of(payload, specs->at(i).name) != nullptr);
    }
    for (const std::string& queue : partition_queues(payload)) {
        WEIR_CHECK(!queue.empty());
    }
    if (auto changes = PartitionChanges::parse(bytes)) {
        const auto again = PartitionChanges::parse(changes->text());
        WEIR_CHECK(again && again->text() == changes->text());
        (void)changes->applied_to(payload);
    }
}

/// A child that was given `own`, and a job that another child has.
RouteTable a_table() {
    using Kind = JournalEvent::Kind;
    RouteTable table(false);
    for (const JobId id : {host, JobId{3}}) {
        JobFacts facts;
        facts.serves = {"q"};
        table.submitted(id, an_event(Kind::submit), facts);
        table.event(id, an_event(Kind::priority));
        table.event(id, an_event(Kind::alloc));
    }
    for (const JobId id : {own, other}) {
        JobFacts facts;
        facts.queue = "q";
        table.submitted(id, an_event(Kind::submit), facts);
        table.event(id, an_event(Kind::bypass));
        table.event(id, an_event(Kind::priority));
        table.event(id, an_event(Kind::route, id == own ? host : JobId{3}));
    }
    table.synced();
    Attach attach;
    attach.child = host;
    attach.session = "s";
    WEIR_CHECK(table.attach(attach, {0, true}).has_value());
    (void)table.take();
    return table;
}

void check_report(weir::FlatValue payload) {
    auto report = decode_report(payload);
    if (!report) {
        WEIR_CHECK(!report.error().message.empty());
        return;
    }
    weir::FlatJson reader;
    const std::string text = text_of(*report);
    WEIR_CHECK(decode_report(reader.read(text)).has_value());
    static const auto map = ResourceMap::make(child_R, allocation);
    for (ChildEvent& event : report->events) {
        const auto mapped = map->map(event.R);
        event.R = mapped ? *mapped : std::string();
        if (mapped) {
            const auto R = weir::decode_r(*mapped);
            WEIR_CHECK(R && R->resources.nodes.size() <= 2 && weir::core_count(R->resources) <= 4);
        }
    }
    RouteTable table = a_table();
    report->child = host;
    report->session = "s";
    (void)table.report(*report);
    const ParentActions actions = table.take();
    WEIR_CHECK(std::all_of(actions.tap.begin(), actions.tap.end(), [](const TapOp& op) { return op.id == own; }));
    WEIR_CHECK(table.find(other)->child == JobId{3});
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto payload = weir::Json::parse({reinterpret_cast<const char*>(data), size});
    if (payload) {
        weir::FlatJson reader;
        const weir::FlatValue flat = reader.read({reinterpret_cast<const char*>(data), size});
        check_attach(payload->get());
        check_orders(flat);
        check_question(payload->get());
        check_report(flat);
        (void)decode_journal(flat);
        check_heads(payload->get(), flat);
        check_partitions(payload->get(), {reinterpret_cast<const char*>(data), size});
    }
    return 0;
}
