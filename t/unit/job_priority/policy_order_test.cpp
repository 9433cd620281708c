// SPDX-License-Identifier: LGPL-3.0-only
#include <algorithm>
#include <catch2/catch.hpp>

#include "modules/job-priority/messages/views.hpp"
#include "t/unit/job_priority/support.hpp"

using namespace weir;
using namespace weir::priority;
using namespace weir::priority::testing;
using Catch::Matchers::Contains;

namespace {

Settings under(PolicyKind policy) {
    Settings s = settings();
    s.policy = policy;
    s.queues = {{"debug", 40}, {"batch", 10}};
    return s;
}

std::unique_ptr<PriorityService> ready(const Settings& settings) {
    auto made = std::make_unique<PriorityService>(settings, no_database(), owner, false);
    put_tree(*made);
    made->set_machine({4, 1, 0., 0.});
    made->begin_backlog();
    made->end_backlog(at(0));
    return made;
}

void wait_in(PriorityService& s, FluxJobId id, double t, std::uint32_t user, const std::string& queue = "batch") {
    JobRequest request;
    request.queue = queue;
    request.wall_time = std::chrono::hours(1);
    s.apply({id, at(t), SubmitEvent{user, 16, request}});
    s.apply(eligible(id, t));
}

/// Jobs by what the plugin has, high to low, then by id.
class Manager {
  public:
    std::vector<FluxJobId> order(PriorityService& s, double t) {
        s.pass(at(t));
        for (const auto& [id, value] : push(s)) {
            values[id] = value;
        }
        std::vector<FluxJobId> ids;
        for (const auto& [id, value] : values) {
            ids.push_back(id);
        }
        std::stable_sort(ids.begin(), ids.end(), [&](auto a, auto b) { return values.at(a) > values.at(b); });
        return ids;
    }
    std::map<FluxJobId, std::uint32_t> values;
};

std::string words(PriorityService& s, FluxJobId id, double t) {
    const Json view = explain_view(s, id, at(t)).value();
    std::string all;
    std::size_t index = 0;
    json_t* line = nullptr;
    json_array_foreach(json_object_get(view.get(), "words"), index, line) {
        all += std::string(json_string_value(line)) + "\n";
    }
    json_array_foreach(json_object_get(view.get(), "ahead"), index, line) {
        all += "ahead: " + std::string(json_string_value(json_object_get(line, "why"))) + "\n";
    }
    return all;
}

double raw_term(PriorityService& s, FluxJobId id, const std::string& name, double t) {
    const Json view = explain_view(s, id, at(t)).value();
    std::size_t index = 0;
    json_t* term = nullptr;
    json_array_foreach(json_object_get(view.get(), "terms"), index, term) {
        if (name == json_string_value(json_object_get(term, "name"))) {
            return json_number_value(json_object_get(term, "raw"));
        }
    }
    return -1.;
}

std::vector<std::string> term_names(PriorityService& s, FluxJobId id, double t) {
    const Json view = explain_view(s, id, at(t)).value();
    std::vector<std::string> names;
    std::size_t index = 0;
    json_t* term = nullptr;
    json_array_foreach(json_object_get(view.get(), "terms"), index, term) {
        names.emplace_back(json_string_value(json_object_get(term, "name")));
        CHECK(json_object_get(term, "factor") == nullptr);
    }
    return names;
}

using Ids = std::vector<FluxJobId>;

}  // namespace

TEST_CASE("policies: under each, held jobs are held, expedited ones first, and the rest comes back as it was") {
    for (const auto policy : {PolicyKind::fcfs, PolicyKind::lsf, PolicyKind::moab, PolicyKind::load_threshold}) {
        Settings settings = under(policy);
        settings.moab.credentials[0]["alice"].target = FairShareTarget{TargetKind::target, 10};
        CAPTURE(name_of(policy));
        const auto s = ready(settings);
        Manager manager;
        for (FluxJobId id = 1; id <= 3; id++) {
            wait_in(*s, id, 0, alice);
        }
        CHECK(manager.order(*s, 60) == Ids{1, 2, 3});
        s->apply(urgency(1, 61, urgency_held));
        s->apply(urgency(3, 61, urgency_expedited));
        s->pass(at(62));
        const Json list = list_view(*s, at(62), {});
        const json_t* jobs = json_object_get(list.get(), "jobs");
        CHECK(json_integer_value(json_object_get(json_array_get(jobs, 0), "id")) == 3);
        CHECK(json_integer_value(json_object_get(json_array_get(jobs, 2), "id")) == 1);
        CHECK(json_integer_value(json_object_get(json_array_get(jobs, 2), "priority")) == 0);
        CHECK_THAT(words(*s, 1, 62), Contains("held"));
        CHECK_THAT(words(*s, 3, 62), Contains("expedited"));
        CHECK_THAT(words(*s, 2, 62), Contains("expedited by the instance owner"));
        s->apply(urgency(1, 63, 16));
        s->apply(urgency(3, 63, 16));
        manager.order(*s, 64);
        CHECK(manager.values.at(2) >= manager.values.at(3));
        CHECK(s->sends().plugin().pushed(1).value() >= 1);
    }
}

TEST_CASE("policies: fcfs says so in words, with one value for all and no terms") {
    const auto s = ready(under(PolicyKind::fcfs));
    Manager manager;
    wait_in(*s, 1, 0, bob);
    wait_in(*s, 2, 1, alice, "debug");
    CHECK(manager.order(*s, 60) == Ids{1, 2});
    CHECK(manager.values.at(1) == manager.values.at(2));
    CHECK_THAT(words(*s, 2, 60), Contains("in order of submission") && Contains("ahead: it was submitted earlier"));
    CHECK(term_names(*s, 2, 60).empty());
    CHECK(when_view(*s, 1, 2, at(60)));
}

TEST_CASE("policies: LSF's queues, turns and what the place comes from") {
    const auto s = ready(under(PolicyKind::lsf));
    Manager manager;
    for (FluxJobId id = 1; id <= 3; id++) {
        wait_in(*s, id, 0, alice);
    }
    wait_in(*s, 4, 0, bob);
    wait_in(*s, 5, 0, bob, "debug");
    // debug goes first; physics has twice the shares of bio
    CHECK(manager.order(*s, 60) == Ids{5, 1, 2, 4, 3});
    CHECK(term_names(*s, 4, 60) == std::vector<std::string>{"cpu-time", "run-time", "committed-run-time", "slots"});
    CHECK_THAT(words(*s, 4, 60), Contains("queue's priority is 10") && Contains("dynamic priority is 0.333") &&
                                     Contains("queue's priority is 40 against 10") &&
                                     Contains("dynamic priority is higher: physics has 0.667, bio 0.333"));
    CHECK_THAT(words(*s, 2, 60), Contains("of the same share account and was submitted earlier"));
    const Json when = when_view(*s, 1, 4, at(60)).value();
    CHECK(json_array_size(json_object_get(when.get(), "crossings")) == 0);
    CHECK(json_is_null(json_object_get(when.get(), "until")));
    CHECK_THAT(json_string_value(json_object_get(when.get(), "while")), Contains("dynamic priorities"));
    // A job that runs lowers its account's priority at once.
    s->apply(started(1, 100, 4));
    manager.values.erase(1);
    s->pass(at(100), Pass::marked);
    CHECK(manager.order(*s, 101) == Ids{5, 4, 2, 3});
    CHECK_THAT(words(*s, 2, 101), Contains("bio has 0.333, physics 0.133"));
}

TEST_CASE("policies: jobs of another partition's queue are not ahead, and do not compete") {
    const auto s = ready(under(PolicyKind::fcfs));
    wait_in(*s, 1, 0, alice, "debug");
    for (FluxJobId id = 2; id <= 6; id++) {
        wait_in(*s, id, 1, bob);
    }
    wait_in(*s, 7, 2, alice, "debug");
    Manager manager;
    manager.order(*s, 60);
    const auto ahead_of_last = [&s] {
        const Json view = explain_view(*s, 7, at(60)).value();
        Ids ids;
        std::size_t index = 0;
        json_t* line = nullptr;
        json_array_foreach(json_object_get(view.get(), "ahead"), index, line) {
            ids.push_back(static_cast<FluxJobId>(json_integer_value(json_object_get(line, "id"))));
        }
        return ids;
    };
    const auto do_compete = [&s] {
        return json_is_true(json_object_get(when_view(*s, 2, 7, at(60)).value().get(), "do_compete"));
    };
    CHECK(ahead_of_last() == Ids{6, 5, 4, 3, 2});  // one scheduler has both queues
    CHECK(do_compete());
    s->set_partition_queues(PartitionQueues({{"debug"}, {"batch", "long"}}));
    CHECK(ahead_of_last() == Ids{1});
    CHECK_FALSE(do_compete());
    s->set_partition_queues(PartitionQueues({{"debug"}, {"batch", "debug"}}));
    CHECK(ahead_of_last() == Ids{6, 5, 4, 3, 2});
    s->set_partition_queues(PartitionQueues({{"debug"}}));  // of the other one the instance itself runs the jobs
    CHECK(ahead_of_last() == Ids{1});
}

TEST_CASE("policies: under APS live jobs have a memory and an urgency") {
    Settings settings = under(PolicyKind::lsf);
    settings.lsf.aps.emplace();
    settings.lsf.aps->parts[static_cast<std::size_t>(ApsPart::jprio)].weight = 10;
    settings.lsf.aps->parts[static_cast<std::size_t>(ApsPart::mem)].weight = 1. / 1024;
    const auto s = ready(settings);
    Manager manager;
    wait_in(*s, 1, 0, alice);
    wait_in(*s, 2, 0, alice);
    s->apply(urgency(2, 1, 20));
    JobRequest request;
    request.amounts["memory"] = 100;
    s->apply({3, at(0), SubmitEvent{alice, 16, request}});
    s->apply(eligible(3, 0));
    CHECK(set_site_values(*s, std::vector<std::pair<FluxJobId, std::optional<double>>>{{1, 50.}}).unknown.empty());
    CHECK(manager.order(*s, 60) == Ids{3, 1, 2});  // 160 + 100, 160 + 50, 200
    CHECK(term_names(*s, 1, 60) == std::vector<std::string>{"mem", "jprio", "admin"});
    CHECK_THAT(words(*s, 2, 60), Contains("absolute priority is 200") && Contains("is 260 against 200: +100 from mem"));
}

TEST_CASE("policies: Moab's sum, and a cap that keeps a job waiting until usage allows it") {
    Settings settings = under(PolicyKind::moab);
    settings.decay = DecayKind::half_life;
    settings.half_life = std::chrono::hours(1);
    settings.moab.components[static_cast<std::size_t>(MoabComponent::credential)].parts[0].weight = 2;
    settings.moab.credentials[0]["bob"].priority = 100;
    settings.moab.credentials[2]["bio"].cap = FairShareTarget{TargetKind::absolute_cap, 5000};
    const auto s = ready(settings);
    Manager manager;
    wait_in(*s, 1, 0, alice);
    wait_in(*s, 2, 0, bob);
    CHECK(manager.order(*s, 600) == Ids{2, 1});
    CHECK(manager.values == std::map<FluxJobId, std::uint32_t>{{1, 10}, {2, 210}});
    CHECK(term_names(*s, 1, 600) == std::vector<std::string>{"credential.user", "service.queue-time"});
    CHECK_THAT(words(*s, 1, 600), Contains("add up to 10;") && Contains("its sum is 210 against 10: +200 from"));
    s->apply(started(2, 600, 2));
    manager.values.erase(2);
    wait_in(*s, 3, 600, bob);
    CHECK(manager.order(*s, 1500) == Ids{1, 3});
    CHECK(manager.values.at(3) == 0);  // 1800 of 5000 core-seconds, and an hour more would be too much
    CHECK_THAT(words(*s, 3, 1500), Contains("held back by a limit: the cap of [weir.moab.accounts.bio]"));
    s->apply(freed(2, 1500));
    manager.order(*s, 1500 + 3600);
    CHECK(manager.values.at(3) > 200);
    CHECK(held_back_by(*s, 3).empty());
}

// Mutant: libsched/order/moab.hpp: if (value(own) == value(other)) { => if (false) {
TEST_CASE("policies: of two jobs at Moab's least priority the earlier is ahead for that, whatever their sums") {
    Settings settings = under(PolicyKind::moab);
    settings.moab.components[static_cast<std::size_t>(MoabComponent::credential)].parts[0].weight = 1;
    settings.moab.credentials[0]["alice"].priority = -3000;
    settings.moab.credentials[0]["bob"].priority = -1000;
    const auto s = ready(settings);
    wait_in(*s, 1, 0, alice);
    wait_in(*s, 2, 10, bob);
    s->pass(at(60));
    CHECK_THAT(words(*s, 2, 60), Contains("ahead: the priorities are equal and it was submitted earlier"));
}

TEST_CASE(
    "policies: Moab's terms of what a job asks for, its user's active jobs, its urgency, and who went before it") {
    Settings settings = under(PolicyKind::moab);
    for (const char* part : {"nodes", "memory", "processor-equivalents", "user-processors", "user-jobs"}) {
        settings.moab.part(MoabComponent::resource, part).weight = 1;
    }
    settings.moab.part(MoabComponent::service, "queue-time").weight = 0;
    settings.moab.part(MoabComponent::service, "bypass").weight = 10;
    settings.moab.part(MoabComponent::service, "user-priority").weight = 1;
    settings.moab.allows_negative = true;
    const auto s = ready(settings);
    s->set_machine({64, 4, 8, 256});
    const auto raw = [&](FluxJobId id, const std::string& name) { return raw_term(*s, id, name, 60); };
    JobRequest request;
    request.cores = 8;
    request.nodes = 2;
    request.amounts = {{"gpus", 4}, {"memory", 16}};
    s->apply({1, at(0), SubmitEvent{alice, 20, request}});
    s->apply(eligible(1, 0));
    wait_in(*s, 2, 0, alice);
    wait_in(*s, 3, 0, bob);
    Manager manager;
    CHECK(manager.order(*s, 30) == Ids{1, 2, 3});
    CHECK(raw(1, "resource.nodes") == 2);
    CHECK(raw(1, "resource.memory") == 16 * 1024);
    CHECK(raw(1, "resource.processor-equivalents") == 32);
    CHECK(raw(1, "service.user-priority") == 4);
    CHECK(raw(1, "resource.user-jobs") == 0);
    s->apply(started(3, 40, 6));  // from behind both
    s->apply(started(2, 41, 5));  // from behind one
    manager.values.clear();
    wait_in(*s, 4, 42, bob);
    manager.order(*s, 60);
    CHECK(raw(1, "service.bypass") == 2);
    CHECK(raw(4, "service.bypass") == 0);
    CHECK(raw(1, "resource.user-processors") == 5);
    CHECK(raw(4, "resource.user-processors") == 6);
    s->apply(freed(2, 60));
    CHECK(raw(1, "resource.user-jobs") == 0);
    s->apply(urgency(1, 60, urgency_held));
    s->apply(urgency(1, 60, 10));
    s->pass(at(60));
    CHECK(raw(1, "service.bypass") == 2);  // a hold forgets nothing
    CHECK(raw(1, "service.user-priority") == -6);
    // Chosen while jobs run, it counts them.
    s->configure(under(PolicyKind::fcfs), at(61));
    s->configure(settings, at(62));
    s->pass(at(62));
    CHECK(raw(4, "resource.user-jobs") == 1);
    CHECK(raw(4, "resource.user-processors") == 6);
}

TEST_CASE("policies: when one job passes another, by time alone") {
    const auto crossings = [](const Json& view) {
        std::vector<std::pair<double, long long>> found;
        std::size_t index = 0;
        json_t* one = nullptr;
        json_array_foreach(json_object_get(view.get(), "crossings"), index, one) {
            found.emplace_back(json_number_value(json_object_get(one, "at")) - to_seconds(at(0)),
                               json_integer_value(json_object_get(one, "ahead")));
        }
        return found;
    };
    Settings settings = under(PolicyKind::moab);
    settings.moab.part(MoabComponent::service, "queue-time") = {0, 0};
    settings.moab.part(MoabComponent::service, "xfactor").weight = 1000;
    settings.moab.part(MoabComponent::credential, "user").weight = 1;
    settings.moab.credentials[0]["alice"].priority = 10000;
    auto s = ready(settings);
    Manager manager;
    JobRequest request;
    request.wall_time = std::chrono::hours(10);
    s->apply({1, at(0), SubmitEvent{alice, 16, request}});
    s->apply(eligible(1, 0));
    wait_in(*s, 2, 0, bob);
    manager.order(*s, 3600);
    // 11000 + 100 an hour against 1000 + 1000 an hour; rounded to the same they go by submission.
    const Json view = when_view(*s, 1, 2, at(3600)).value();
    CHECK(json_integer_value(json_object_get(view.get(), "ahead")) == 1);
    REQUIRE(!crossings(view).empty());
    CHECK(crossings(view).front().first == Approx(10000. / 900 * 3600).margin(6));
    CHECK(crossings(view).back().second == 2);
    CHECK_THAT(json_string_value(json_object_get(view.get(), "while")), Contains("bypasses"));
    CHECK(manager.order(*s, 10000. / 900 * 3600 - 10) == Ids{1, 2});
    CHECK(manager.order(*s, 10000. / 900 * 3600 + 10) == Ids{2, 1});
    // A held job stays where it is, whoever gains.
    s->apply(urgency(2, 3600, urgency_held));
    s->pass(at(3600));
    CHECK(crossings(when_view(*s, 2, 1, at(3600)).value()).empty());

    // The load threshold: all gain alike, so the queue's priority stays between them, whatever the threshold.
    s = ready(under(PolicyKind::load_threshold));
    wait_in(*s, 1, 0, alice);
    wait_in(*s, 2, 100, bob, "debug");
    s->pass(at(200));
    const Json load = when_view(*s, 1, 2, at(200)).value();
    CHECK(json_integer_value(json_object_get(load.get(), "ahead")) == 2);
    CHECK(crossings(load).empty());
    CHECK(json_number_value(json_object_get(load.get(), "until")) == to_seconds(at(200)) + 365 * 86400.);

    // APS: what counts after a grace period alone.
    Settings aps = under(PolicyKind::lsf);
    aps.lsf.aps.emplace();
    aps.lsf.aps->parts[static_cast<std::size_t>(ApsPart::qprio)] = {1, 0, std::chrono::minutes(10)};
    s = ready(aps);
    wait_in(*s, 1, 0, alice);
    wait_in(*s, 2, 100, bob, "debug");
    s->pass(at(200));
    const auto found = crossings(when_view(*s, 1, 2, at(200)).value());
    REQUIRE(found.size() == 1);
    CHECK(found[0].first == Approx(700.000001).margin(5e-7));
    CHECK(found[0].second == 2);
}

TEST_CASE("policies: what Moab's settings ask of the share tree is told") {
    Settings settings = under(PolicyKind::moab);
    settings.moab.credentials[4]["debug"].target = FairShareTarget{TargetKind::target, 10};
    settings.moab.credentials[2]["bio"].target = FairShareTarget{TargetKind::target, 10};
    const auto s = ready(settings);
    const auto said = policy_order_warnings(settings, s->accounting().tree());
    REQUIRE(said.size() == 1);
    CHECK_THAT(said[0], Contains("[weir.moab.classes]") && Contains("queue:NAME"));
}

namespace {

JobEvent started_in_partition(FluxJobId id, double t, std::int64_t cores) {
    return {id, at(t), AllocEvent{cores, true}};
}

}  // namespace

// Mutant: modules/job-priority/ranking/ranked_jobs.cpp: if (!stages_.children.is_partition(job)) { => if (true) {
TEST_CASE("policies: what counts as running is what runs in partitions, and no partition") {
    const bool is_named = GENERATE(true, false);
    const auto s = ready(under(PolicyKind::load_threshold));
    JobEvent host = submitted(7, 1, owner);
    std::get<SubmitEvent>(host.what).request.is_instance = is_named;
    s->apply(host);
    s->apply(eligible(7, 1));
    s->apply(started(7, 1, 4));
    (void)s->attach_child(7, "partition", 1, at(2));
    wait_in(*s, 1, 3, alice);
    wait_in(*s, 2, 3, alice);
    s->pass(at(4));
    CHECK_THAT(words(*s, 1, 4), Contains("0 of 4 cores are in use"));
    s->apply(started_in_partition(2, 5, 3));
    s->pass(at(5));
    CHECK_THAT(words(*s, 1, 5), Contains("3 of 4 cores are in use"));
    Settings moab = under(PolicyKind::moab);
    for (const char* part : {"user-processors", "user-jobs"}) {
        moab.moab.part(MoabComponent::resource, part).weight = 1;
    }
    s->configure(moab, at(6));
    s->pass(at(6));
    CHECK(raw_term(*s, 1, "resource.user-jobs", 6) == 1);
    CHECK(raw_term(*s, 1, "resource.user-processors", 6) == 3);
    s->configure(under(PolicyKind::load_threshold), at(7));
    s->pass(at(7));
    CHECK_THAT(words(*s, 1, 7), Contains("3 of 4 cores are in use"));
    s->apply(freed(2, 8));
    s->pass(at(8));
    CHECK_THAT(words(*s, 1, 8), Contains("0 of 4 cores are in use"));
}

TEST_CASE("policies: the load threshold's gain is by the cores in use, and a hold stops it") {
    Settings settings = under(PolicyKind::load_threshold);
    const auto s = ready(settings);
    Manager manager;
    wait_in(*s, 9, 0, bob);
    s->apply(started(9, 0, 2));  // half of the machine: E is 0.5
    wait_in(*s, 1, 0, alice);
    wait_in(*s, 2, 0, alice, "debug");
    CHECK(manager.order(*s, 600) == Ids{2, 1});
    CHECK(manager.values.at(1) == 15000);
    CHECK(term_names(*s, 1, 600) == std::vector<std::string>{"queue", "load"});
    CHECK_THAT(words(*s, 1, 600), Contains("E is 0.5: 2 of 4 cores are in use") && Contains("P is 15 of at most 55") &&
                                      Contains("is 45 against 15: +30 from queue"));
    s->apply(urgency(1, 600, urgency_held));
    s->apply(urgency(1, 1200, 16));
    manager.order(*s, 1200);
    CHECK(manager.values.at(1) == 15000);
    CHECK(manager.values.at(2) == 50000);
}

TEST_CASE("policies: changed at run time, each tells every job its value, and the sum comes back") {
    Settings sum = settings();
    const auto s = ready(sum);
    Manager manager;
    wait_in(*s, 1, 0, alice);
    wait_in(*s, 2, 1, alice, "debug");
    manager.order(*s, 60);
    const auto first = manager.values;
    s->configure(under(PolicyKind::lsf), at(61));
    CHECK(manager.order(*s, 61) == Ids{2, 1});
    s->configure(under(PolicyKind::fcfs), at(62));
    CHECK(manager.order(*s, 62) == Ids{1, 2});
    CHECK(manager.values.at(1) == manager.values.at(2));
    s->configure(under(PolicyKind::load_threshold), at(63));
    CHECK(manager.order(*s, 63) == Ids{2, 1});
    CHECK(manager.values == std::map<FluxJobId, std::uint32_t>{{1, 10000}, {2, 40000}});
    Settings slower = under(PolicyKind::load_threshold);
    slower.load_threshold.rule.per_minute = 0.5;
    s->configure(slower, at(123));
    manager.order(*s, 183);
    CHECK(manager.values.at(1) == 11500);  // a minute at E = 1, and one at half of that
    s->configure(under(PolicyKind::moab), at(184));
    manager.order(*s, 240);
    CHECK(manager.values.at(1) == 4);
    s->configure(sum, at(241));
    manager.order(*s, 60);
    CHECK(manager.values == first);
}

TEST_CASE("policies: another share tree moves LSF's accounts") {
    const auto s = ready(under(PolicyKind::lsf));
    Manager manager;
    wait_in(*s, 1, 0, bob);
    wait_in(*s, 2, 0, alice);
    CHECK(manager.order(*s, 1) == Ids{2, 1});
    put_tree(
        *s,
        "\"physics\" = 1\n\"physics/lattice\" = 1\n\"physics/lattice/@alice\" = 1\n\"bio\" = 5\n\"bio/@bob\" = 1\n");
    CHECK(manager.order(*s, 2) == Ids{1, 2});
}
