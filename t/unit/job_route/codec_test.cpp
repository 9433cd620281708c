// SPDX-License-Identifier: LGPL-3.0-only
// What goes over the wire: messages, journal entries, jobspecs, resources.
#include <catch2/catch.hpp>

#include "libfairshare/base/signed_jobspec.hpp"
#include "modules/common/journal_jobs.hpp"
#include "modules/job-route/jobspec_edit.hpp"
#include "modules/job-route/messages_json.hpp"
#include "modules/job-route/resource_map.hpp"
#include "modules/job-route/route_settings.hpp"
#include "t/unit/job_route/written_orders.hpp"

using weir::Json;
using namespace weir::route;

namespace {

Json parsed(const std::string& text) {
    auto json = Json::parse(text);
    REQUIRE(json);
    return std::move(json).value();
}

weir::Result<JournalEntry> journal_of(const std::string& text) {
    weir::FlatJson reader;
    return decode_journal(reader.read(text));
}

/// The ids in a response of the journal.
std::vector<std::uint64_t> ids_of(const std::string& text) {
    weir::FlatJson reader;
    std::vector<std::uint64_t> ids;
    weir::flux::for_each_job(reader.read(text), [&](weir::FlatValue job) {
        const auto entry = decode_journal(job);
        ids.push_back(entry ? entry->id : 0);
    });
    return ids;
}

weir::Result<Report> report_in(const std::string& text) {
    weir::FlatJson reader;
    return decode_report(reader.read(text));
}

weir::Result<std::vector<Order>> orders_in(const std::string& text) {
    weir::FlatJson reader;
    return decode_orders(reader.read(text));
}

JobFacts facts_of(const std::string& text) {
    weir::FlatJson reader;
    return decode_facts(reader.read(text));
}

std::string R_text(const std::string& lite, const std::string& hosts) {
    return R"({"version":1,"execution":{"R_lite":[)" + lite + R"(],"starttime":5.0,"expiration":9.0,"nodelist":[")" +
           hosts + R"("]}})";
}

std::string rank_with(const std::string& rank, const std::string& cores) {
    return R"({"rank":")" + rank + R"(","children":{"core":")" + cores + R"("}})";
}

ResourceMap a_map(const std::string& child_R, const std::string& allocation) {
    auto map = ResourceMap::make(child_R, allocation);
    REQUIRE(map);
    return std::move(map).value();
}

}  // namespace

TEST_CASE("journal: the cores that a jobspec asks for") {
    const auto cores = [](const std::string& resources) {
        const auto entry = journal_of(R"({"id":1,"events":[],"jobspec":{"resources":)" + resources +
                                      R"(,"attributes":{"system":{}}}})");
        REQUIRE(entry);
        return entry->facts.cores;
    };
    CHECK(cores(R"([{"type":"slot","count":3,"with":[{"type":"core","count":2},{"type":"gpu","count":1}]}])") == 6);
    CHECK(cores(R"([{"type":"node","count":2,"with":[{"type":"slot","count":3,
        "with":[{"type":"core","count":{"min":4,"max":9}}]}]}])") == 24);
    CHECK(cores(R"([{"type":"node","count":2,"exclusive":true}])") == 1);
    CHECK(cores(R"([{"type":"core","count":-3}])") == 1);
    CHECK(
        cores(
            R"([{"type":"slot","count":4611686018427387904,"with":[{"type":"core","count":4611686018427387904}]}])") ==
        cores_max);
    CHECK(cores("7") == 1);
    std::string deep = R"({"type":"core","count":1})";
    for (int i = 0; i < 500; i++) {
        deep = R"({"type":"slot","count":1,"with":[)" + deep + "]}";
    }
    CHECK(cores("[" + deep + "]") == 1);
}

TEST_CASE("attach: what goes in comes out, and errors name the place") {
    Attach attach;
    attach.child = JobId{7};
    attach.session = "s";
    attach.serves = {"batch", "debug"};
    attach.known = {{JobId{1}, true, 16, true}, {JobId{2}, false, 0, false}};
    attach.resources = "R";
    attach.cores = 12;
    attach.uri = "local:///x";
    const auto decoded = decode_attach(encode(attach).get());
    REQUIRE(decoded);
    CHECK(decoded->child == attach.child);
    CHECK(decoded->serves == attach.serves);
    CHECK(decoded->known == attach.known);
    CHECK(decoded->cores == 12);
    CHECK(decoded->uri == attach.uri);
    CHECK(decode_attach(parsed(R"({"jobid":1,"session":"s","serves":[3],"known":[]})").get()).error().message ==
          "attach: serves[0]: must be a name in quotes");
    CHECK_FALSE(decode_attach(parsed(R"({"jobid":1,"session":"s","serves":[],"known":[[1]]})").get()));
    CHECK_FALSE(decode_attach(parsed("[]").get()));
}

TEST_CASE("report: every kind of event survives the way") {
    Report report;
    report.child = JobId{7};
    report.session = "s";
    for (int kind = 0; kind <= static_cast<int>(ChildEvent::Kind::cleaned); kind++) {
        ChildEvent event;
        event.seq = static_cast<std::uint64_t>(kind) + 40;
        event.id = JobId{100};
        event.kind = static_cast<ChildEvent::Kind>(kind);
        event.local = LocalId{5};
        if (event.kind == ChildEvent::Kind::allocated) {
            event.R = "R";
        } else if (event.kind == ChildEvent::Kind::finished) {
            event.status = 9;
        } else if (event.kind == ChildEvent::Kind::exception) {
            event.type = "timeout";
            event.severity = 1;
            event.note = "late";
        }
        report.events.push_back(event);
    }
    const auto decoded = report_in(text_of(report));
    REQUIRE(decoded);
    CHECK(decoded->events == report.events);
}

TEST_CASE("report: what makes no sense is refused with the place") {
    const auto error = [](const std::string& event) {
        return report_in(R"({"jobid":1,"session":"s","seq":1,"events":[)" + event + "]}").error().message;
    };
    CHECK(error(R"({"id":1,"name":"dance"})") == "report: events[0]: unknown event \"dance\"");
    CHECK(error(R"({"id":1,"name":"exception","type":"x","severity":9})") ==
          "report: events[0]: an exception needs a type, and a severity from 0 to 7");
    CHECK(error(R"({"id":1,"name":"alloc"})") == "report: events[0]: alloc needs R");
    CHECK(error("3") == "report: events[0]: must be an object");
    CHECK(error(R"({"id":1,"name":"start"},{"id":"2","name":"start"})") == "report: events[1]: id must be an integer");
    CHECK(error(R"({"id":1,"name":"finish","status":4294967296})") == "report: events[0]: status must be an integer");
    CHECK(error(R"({"id":1})") == "report: events[0]: name must be a text");
    CHECK(report_in("[]").error().message == "report: must be an object");
    CHECK(report_in(R"({"jobid":1,"session":"s","seq":1})").error().message == "report: events must be an array");
}

TEST_CASE("orders: every kind survives the way") {
    Order submit;
    submit.id = JobId{1};
    submit.jobspec = "{}";
    submit.urgency = 3;
    submit.userid = 5001;
    submit.queue = "batch";
    submit.type = "cancel";
    Order cancel;
    cancel.kind = Order::Kind::cancel;
    cancel.id = JobId{2};
    cancel.type = "timeout";
    cancel.note = "late";
    Order urgency;
    urgency.kind = Order::Kind::urgency;
    urgency.id = JobId{3};
    urgency.urgency = 31;
    urgency.type = "cancel";
    Order go;
    go.kind = Order::Kind::go;
    go.id = JobId{4};
    go.type = "cancel";
    const std::vector<Order> orders{submit, cancel, urgency, go};
    const auto decoded = test::sent_and_read(orders);
    REQUIRE(decoded);
    CHECK(*decoded == orders);
    CHECK_FALSE(orders_in(R"({"orders":[{"op":"submit","id":1}]})"));
    CHECK_FALSE(orders_in(R"({"orders":[{"op":"sing","id":1}]})"));
    CHECK_FALSE(orders_in("{}"));
}

TEST_CASE("plugin orders: the allocation carries R and who runs it") {
    TapOp op;
    op.kind = TapOp::Kind::alloc;
    op.id = JobId{1};
    op.child = JobId{2};
    op.queue = "batch";
    op.local = LocalId{3};
    CHECK(encode(op, parsed(R"({"version":1})")).dump() ==
          R"({"id":1,"op":"alloc","R":{"version":1},"annotations":{"weir":{"child":2,"queue":"batch","id":3}}})");
}

TEST_CASE("journal: facts, events that matter, the end of the backlog") {
    const auto entry = journal_of(R"({"id":9,"jobspec":{"attributes":{"system":{"queue":"batch",
        "weir":{"jobid":4,"userid":5001}}}},"events":[
        {"timestamp":1.0,"name":"submit","context":{"userid":0,"urgency":20,"flags":0,"version":1}},
        {"timestamp":1.0,"name":"set-flags","context":{"flags":["debug"]}},
        {"timestamp":1.0,"name":"set-flags","context":{"flags":["alloc-bypass"]}},
        {"timestamp":1.0,"name":"validate"},
        {"timestamp":1.0,"name":"memo","context":{"uri":"local:///x"}},
        {"timestamp":1.0,"name":"alloc","context":{"annotations":{"weir":{"child":2}}}}],"R":{"version":1}})");
    REQUIRE(entry);
    CHECK(entry->facts.queue == "batch");
    CHECK(entry->facts.upstream == 4U);
    CHECK(entry->facts.upstream_userid == 5001U);
    REQUIRE(entry->events.size() == 4);
    CHECK(entry->events[0].urgency == 20);
    CHECK(entry->events[1].kind == JournalEvent::Kind::bypass);
    CHECK(entry->events[2].note == "local:///x");
    CHECK(entry->events[3].child == 2U);
    CHECK(entry->events[3].R == R"({"version":1})");
    CHECK(journal_of(R"({"id":-1,"events":[]})")->is_end_of_backlog);
    CHECK(journal_of(R"({"id":9,"events":[{"name":"priority","context":{}}]})").error().message ==
          "job 9: event priority: its context does not fit RFC 21");
    CHECK_FALSE(journal_of("{}"));
}

TEST_CASE("journal: a response has one job, or several, each read by itself") {
    CHECK(ids_of(R"({"id":7,"events":[]})") == std::vector<std::uint64_t>{7});
    CHECK(ids_of(R"({"jobs":[{"id":7,"events":[]},{"id":8},{"id":7,"events":[]}]})") ==
          std::vector<std::uint64_t>{7, 0, 7});
    CHECK(ids_of(R"({"jobs":[]})").empty());
    CHECK(ids_of("not JSON") == std::vector<std::uint64_t>{0});
}

TEST_CASE("journal: what the rules of partitions look at, and its updates") {
    const JobFacts facts = facts_of(R"({"resources":[{"type":"node","count":{"min":2},"with":
        [{"type":"slot","count":3,"with":[{"type":"core","count":4}]}]}],"attributes":{"system":{"duration":90.5,
        "bank":"bio/lab","qos":"high","constraints":{"and":[{"properties":["gpu","^old"]},{"or":[{"properties":
        ["fat"]}]}]},"weir":{"memory_per_slot":"2GiB"}}}})");
    CHECK(facts.cores == 24);
    CHECK(facts.nodes == 2);
    CHECK(facts.slots == 6);
    CHECK(facts.memory_per_slot_mib == 2048);
    CHECK(facts.duration == std::chrono::milliseconds(90500));
    CHECK(facts.account == "bio/lab");
    CHECK(facts.qos == "high");
    CHECK(facts.properties == std::vector<std::string>{"gpu"});
    const JobFacts none =
        facts_of(R"({"attributes":{"system":{"duration":-1,"bank":3,"weir":{"memory_per_slot":"lots"}}}})");
    CHECK(none.nodes == 1);
    CHECK(none.slots == 1);
    CHECK(none.memory_per_slot_mib == 0);
    CHECK(none.duration == weir::Duration::zero());
    CHECK(none.account.empty());
    const auto entry = journal_of(R"({"id":9,"events":[{"name":"jobspec-update","context":
        {"attributes.system.duration":60,"attributes.system.bank":"chem","attributes.system.queue":"debug"}},{"name":"jobspec-update","context":{}}]})");
    REQUIRE(entry);
    REQUIRE(entry->events.size() == 2);
    CHECK(entry->events[0].duration == std::chrono::minutes(1));
    CHECK(entry->events[0].account == "chem");
    CHECK(entry->events[0].queue == "debug");
    CHECK_FALSE(entry->events[1].duration);
}

TEST_CASE("jobspec: what changes on the way into a child") {
    Order submit;
    submit.id = JobId{77};
    submit.userid = 5001;
    submit.jobspec = R"({"attributes":{"system":{"queue":"batch","dependencies":[1],"cwd":"/x","weir":{"jobid":3}}}})";
    CHECK(*localize(submit, {}) == R"({"attributes":{"system":{"cwd":"/x","weir":{"jobid":77,"userid":5001}}}})");
    CHECK(*localize(submit, {"batch"}) ==
          R"({"attributes":{"system":{"queue":"batch","cwd":"/x","weir":{"jobid":77,"userid":5001}}}})");
    submit.submit = weir::Instant{std::chrono::microseconds(1'700'000'000'250'000)};
    CHECK(*localize(submit, {}) ==
          R"({"attributes":{"system":{"cwd":"/x","weir":{"jobid":77,"userid":5001,"submit":1700000000.25}}}})");
    submit.submit = {};
    submit.queue = "top";  // what the jobspec says of weir may be a guest's word
    CHECK(*localize(submit, {}) ==
          R"({"attributes":{"system":{"cwd":"/x","weir":{"jobid":77,"userid":5001,"queue":"top"}}}})");
    submit.queue.clear();
    submit.output = "/state/output/f3";
    CHECK(*localize(submit, {}) ==
          R"({"attributes":{"system":{"cwd":"/x","weir":{"jobid":77,"userid":5001,"output":"/state/output/f3"}}}})");
    submit.output.clear();  // memory is the user's to request
    submit.jobspec = R"({"attributes":{"system":{"weir":{"memory_per_slot":"4GiB","jobid":3}}}})";
    CHECK(*localize(submit, {}) ==
          R"({"attributes":{"system":{"weir":{"memory_per_slot":"4GiB","jobid":77,"userid":5001}}}})");
    submit.jobspec = R"({"attributes":{"system":{"bank":"bio","weir":{"default_bank":"bio"}}}})";  // filled in above
    CHECK(*localize(submit, {}) ==
          R"({"attributes":{"system":{"bank":"bio","weir":{"default_bank":"bio","jobid":77,"userid":5001}}}})");
    submit.jobspec = R"({"attributes":{"system":{"cwd":"/x","alloc-bypass":1}}})";  // the owner's, who submits the copy
    CHECK(*localize(submit, {}) == R"({"attributes":{"system":{"cwd":"/x","weir":{"jobid":77,"userid":5001}}}})");
    submit.jobspec = R"({"attributes":{}})";
    CHECK(localize(submit, {}).error().message == "jobspec: attributes.system is missing");
    submit.jobspec = "{";
    CHECK_FALSE(localize(submit, {}));
}

TEST_CASE("eventlog: its updates of the jobspec are counted") {
    const std::string submit = R"({"timestamp":1.5,"name":"submit","context":{"userid":7}})";
    const std::string update = R"({"timestamp":2.5,"name":"jobspec-update","context":{"attributes.system.bank":"x"}})";
    CHECK(updates_in("") == 0);
    CHECK(updates_in(submit + "\n") == 0);
    CHECK(updates_in(submit + "\n" + update + "\n") == 1);
    CHECK(updates_in(submit + "\n" + update + "\n" + update) == 2);
    CHECK(updates_in("{\n\n" + update + "\n{\"name\":7}\n") == 1);
}

TEST_CASE("jobspec: files of the output are named by the parent's id") {
    const weir::Marks names{{"id", "f3"}, {"id.dec", "77"}};
    const auto of_path = [&](const std::string& path) {
        return R"({"attributes":{"system":{"shell":{"options":{"output":{"stdout":{"type":"file","path":")" + path +
               R"("},"stderr":{"path":")" + path + R"("}}}},"cwd":"/{{id}}"}}})";
    };
    const auto named = with_output_names(of_path("flux-{{id}}-{{id.dec}}-{{id}}-{{node.id}}-{{id.hex}}.out"), names);
    // The command and the folder are the partition's.
    const std::string other = of_path("flux-f3-77-f3-{{node.id}}-{{id.hex}}.out");
    REQUIRE(named);
    CHECK(*named == other);
    CHECK(*with_output_names(other, names) == other);
    for (const char* odd : {R"({"attributes":{"system":{"a":"{{id}}"}}})",
                            R"({"attributes":{"system":{"shell":{"options":{"output":{"stdout":7}}},"a":"{{id}}"}}})",
                            R"({"attributes":{"system":{"shell":{"options":{"output":"{{id}}"}}}}})"}) {
        CHECK(*with_output_names(odd, names) == odd);
    }
    CHECK_FALSE(with_output_names("{{", names));
}

TEST_CASE("jobspec: of a job from above its queue there is read, and the name of its output") {
    const JobFacts facts =
        facts_of(R"({"attributes":{"system":{"weir":{"jobid":4,"queue":"top","output":"/state/output/f3"}}}})");
    CHECK(facts.upstream_queue == "top");
    CHECK(facts.upstream_output == "/state/output/f3");
}

TEST_CASE("jobspec: the environment comes out of J") {
    const std::string bare = R"({"attributes":{"system":{"duration":5}}})";
    const std::string full = R"({"attributes":{"system":{"environment":{"A":"b"}}}})";
    CHECK(has_environment(full));
    CHECK_FALSE(has_environment(bare));
    CHECK(*with_environment(bare, weir::sign_none(full, 0)) ==
          R"({"attributes":{"system":{"duration":5,"environment":{"A":"b"}}}})");
    CHECK_FALSE(with_environment(bare, "x"));
    CHECK_FALSE(with_environment(bare, "x.???.none"));
}

TEST_CASE("resources: the child's n-th node and core are the n-th of its allocation") {
    const std::string child = R_text(rank_with("0", "0-1") + "," + rank_with("1", "0-3"), "a,b");
    const std::string allocation = R_text(rank_with("4", "2,7") + "," + rank_with("6", "0-1,8-9"), "n4,n6");
    const auto map = a_map(child, allocation);
    const auto same = a_map("", "");
    const auto check = [&](const std::string& job, const std::string& at_parent) {
        const auto mapped = map.map(job);
        REQUIRE(mapped);
        CHECK(*mapped == *same.map(at_parent));
    };
    check(R_text(rank_with("1", "1,3"), "b"), R_text(rank_with("6", "1,9"), "n6"));
    check(R_text(rank_with("1", "1-2"), "b"), R_text(rank_with("6", "1,8"), "n6"));
    check(child, allocation);
}

TEST_CASE("resources: memory is passed on, up to what the allocation has") {
    const auto with_memory = [](const std::string& text, const std::string& host, int mib) {
        return text.substr(0, text.size() - 1) + R"(,"scheduling":{"weir":{"memory_mib":[{"hosts":")" + host +
               R"(","value":)" + std::to_string(mib) + "}]}}}";
    };
    const std::string child = R_text(rank_with("0", "0-1"), "a");
    const auto map = a_map(child, with_memory(R_text(rank_with("4", "2,7"), "n4"), "n4", 4096));
    const auto mapped_memory = [&](int mib) {
        return weir::decode_r(*map.map(with_memory(R_text(rank_with("0", "0"), "a"), "a", mib)))
            ->resources.nodes.at(0)
            .memory_mib;
    };
    CHECK(mapped_memory(1024) == 1024);
    CHECK(mapped_memory(9999) == 4096);
}

TEST_CASE("jobspec: the ranks of a constraint are those of the child, and none where it does not have the node") {
    const auto map = a_map(R_text(rank_with("0-1", "0"), "a,b"), R_text(rank_with("4,6", "2"), "n4,n6"));
    const auto spec = [](const std::string& constraint) {
        return R"({"attributes":{"system":{"constraints":)" + constraint + "}}}";
    };
    CHECK(with_ranks(spec(R"({"ranks":["4"]})"), map) == spec(R"({"ranks":["0"]})"));
    CHECK(with_ranks(spec(R"({"ranks":["0-5","6"]})"), map) == spec(R"({"ranks":["0-1"]})"));
    CHECK(with_ranks(spec(R"({"ranks":["5"]})"), map) == spec(R"({"ranks":[]})"));
    CHECK(with_ranks(spec(R"({"or":[{"hostlist":["n4"]},{"not":[{"ranks":["6"]}]}]})"), map) ==
          spec(R"({"or":[{"hostlist":["n4"]},{"not":[{"ranks":["1"]}]}]})"));
    for (const char* same :
         {R"({"ranks":["x"]})", R"({"ranks":[4]})", R"({"ranks":"4"})", R"({"properties":["ranks"]})"}) {
        CHECK(with_ranks(spec(same), map) == spec(same));
    }
    CHECK(with_ranks(spec(R"({"ranks":["4"]})"), a_map("", "")) == spec(R"({"ranks":["4"]})"));
    CHECK(with_ranks(R"({"ranks")", map) == R"({"ranks")");
}

TEST_CASE("resources: the properties are those that the allocation has") {
    const auto with_properties = [](const std::string& text, const std::string& properties) {
        weir::R r = weir::decode_r(text).value();
        r.properties = {{properties, weir::IdSet::range(0, 9)}};
        return weir::encode_r(r).dump();
    };
    const auto map =
        a_map(R_text(rank_with("0-1", "0"), "a,b"), with_properties(R_text(rank_with("4,6", "2"), "n4,n6"), "fast"));
    const auto mapped = weir::decode_r(*map.map(with_properties(R_text(rank_with("1", "0"), "b"), "a child's word")));
    CHECK(mapped->properties == weir::NodeProperties{{"fast", weir::IdSet::range(6, 6)}});
}

TEST_CASE("resources: another shape leaves the child's own numbers, no R is an error") {
    const std::string job = R_text(rank_with("0", "0"), "a");
    const std::string child = R_text(rank_with("0", "0-1"), "a");
    CHECK(*a_map(child, R_text(rank_with("4", "2"), "n4")).map(job) == job);
    CHECK(*a_map(child, R_text(rank_with("4-5", "2-3"), "n[4-5]")).map(job) == job);
    CHECK(*a_map("", "").map(job) == job);
    CHECK_FALSE(a_map(child, child).map("x"));
    CHECK_FALSE(ResourceMap::make("x", child));
}

TEST_CASE("resources: a child names what it has, and no more of it than its allocation; nothing is expanded for that") {
    const std::string two = R_text(rank_with("0", "0-1"), "a");
    const std::string all = R_text(rank_with("0", "0-1048575"), "a");
    const auto map = a_map(two, two);
    CHECK_FALSE(map.map(R_text(rank_with("0", "1-2"), "a")));
    CHECK_FALSE(map.map(R_text(rank_with("1", "0"), "a")));
    CHECK_FALSE(map.map(R_text(rank_with("0", "0-4294967293"), "a")));
    CHECK_FALSE(map.map(R_text(rank_with("0-1048575", "0"), "n[0-1048575]")));
    CHECK_FALSE(map.map(R_text(rank_with("0", "0"), "n[0-1048575]")));
    CHECK_FALSE(map.map(R_text(R"({"rank": "0", "children": {"core": "0", "gpu": "0-4294967293"}})", "a")));
    CHECK_FALSE(a_map("", two).map(all));
    CHECK_FALSE(ResourceMap::make(R_text(rank_with("0", "0-4294967293"), "a"), two));
    CHECK_FALSE(ResourceMap::make(R_text(rank_with("0-65536", "0"), "n[0-65536]"), two));
    CHECK(*a_map(all, all).map(all) == *a_map("", "").map(all));
}

TEST_CASE("attach: how much a child may say of itself") {
    const auto error_of = [](const Attach& attach) {
        const auto decoded = decode_attach(encode(attach).get());
        return decoded ? std::string() : decoded.error().message;
    };
    Attach attach;
    attach.session = std::string(4096, 's');
    attach.uri = std::string(4096, 'u');
    attach.serves = std::vector<std::string>(256, std::string(256, 'q'));
    CHECK(error_of(attach).empty());
    Attach wrong = attach;
    wrong.serves.emplace_back("batch");
    CHECK(error_of(wrong) == "attach: serves has 257 names; it must have at most 256");
    wrong.serves = {"batch", ""};
    CHECK(error_of(wrong) == "attach: serves[1] has 0 bytes; the name of a queue must have 1 to 256");
    wrong.serves = {std::string(257, 'q')};
    CHECK(error_of(wrong) == "attach: serves[0] has 257 bytes; the name of a queue must have 1 to 256");
    wrong = attach;
    wrong.session += "s";
    CHECK(error_of(wrong) == "attach: session has 4097 bytes; it must have at most 4096");
    wrong = attach;
    wrong.uri += "u";
    CHECK(error_of(wrong) == "attach: uri has 4097 bytes; it must have at most 4096");
}

TEST_CASE("attach and report: numbers that a sum or a product would not hold") {
    const std::string attach = R"({"jobid": 1, "session": "s", "serves": ["q"], "known": [], "cores": )";
    CHECK(decode_attach(parsed(attach + "1073741824}").get()));
    CHECK_FALSE(decode_attach(parsed(attach + "1073741825}").get()));
    CHECK_FALSE(decode_attach(parsed(attach + "-1}").get()));
    CHECK(decode_attach(parsed(attach + R"(4, "own_cores": 3})").get())->own_cores == 3);
    CHECK(decode_attach(parsed(attach + R"(4, "own": 3})").get())->own_jobs == 3);
    CHECK_FALSE(decode_attach(parsed(attach + R"(4, "own": -1})").get()));  // would hide the jobs of others in a sum
    CHECK_FALSE(decode_attach(parsed(attach + R"(4, "own": 9223372036854775807})").get()));
    CHECK_FALSE(report_in(R"({"jobid":1,"session":"s","seq":1,"events":[],"own":-1})"));
    CHECK_FALSE(decode_attach(parsed(attach + R"(4, "own_cores": -1})").get()));
    CHECK_FALSE(report_in(R"({"jobid": 1, "session": "s", "seq": 1, "events": [], "own_cores": 1073741825})"));
    const auto report = report_in(R"({"jobid": 1, "session": "s", "seq": 9223372036854775807,
        "events": [{"id": 1, "name": "start"}, {"id": 1, "name": "clean"}]})");
    REQUIRE(report);
    CHECK(report->events[1].seq == 9223372036854775808ULL);
}

TEST_CASE("[weir.route]: values, defaults, and mistakes that say what would be right") {
    const auto read = [](const char* text) { return decode_route_settings(Json::parse(text)->get()); };
    CHECK(*decode_route_settings(nullptr) == RouteSettings{});
    const auto settings = read(R"({"queues":["a"],"serves":[],"lost-after":"1500ms","hand-down":3})");
    REQUIRE(settings);
    CHECK(settings->patience_s == 2);
    CHECK(settings->depth == 3);
    const std::pair<const char*, const char*> mistakes[] = {
        {R"({"hand-down":0})", "[weir.route] hand-down = 0: must be a whole number from 1 to 100000"},
        {R"({"hand-down":"x"})", R"(hand-down = "x": must be a whole number)"},
        {R"({"lost-after":5})", "lost-after = 5: must be a duration with a unit"},
        {R"({"lost-after":"bogus"})", R"(lost-after = "bogus": must be a duration)"},
        {R"({"bogus":1})", "bogus = 1: there is no such key; the keys are queues, serves, lost-after and hand-down"},
    };
    for (const auto& [text, sentence] : mistakes) {
        const auto refused = read(text);
        REQUIRE_FALSE(refused);
        CHECK(refused.error().message.find(sentence) != std::string::npos);
    }
}
