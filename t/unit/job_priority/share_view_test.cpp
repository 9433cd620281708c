// SPDX-License-Identifier: LGPL-3.0-only
#include <catch2/catch.hpp>

#include "libfairshare/explain/explanation.hpp"
#include "modules/job-priority/messages/views.hpp"
#include "t/unit/job_priority/support.hpp"

using namespace weir;
using namespace weir::priority;
using namespace weir::priority::testing;

namespace {

/// alice has used an hour, bob nothing.
std::unique_ptr<PriorityService> used_service(const std::string& algorithm) {
    Settings with = settings();
    with.algorithm = algorithm;
    auto made = std::make_unique<PriorityService>(with, no_database(), owner, false);
    put_tree(*made);
    made->begin_backlog();
    made->end_backlog(at(0));
    for (const JobEvent& event :
         {submitted(1, 0, alice), eligible(1, 0), started(1, 0, 4), freed(1, 900), cleaned(1, 900)}) {
        made->apply(event);
    }
    return made;
}

std::string text_of(const Json& view, const char* key) {
    return json_string_value(json_object_get(view.get(), key));
}

long long number_of(const json_t* view, const char* key) {
    return json_integer_value(json_object_get(view, key));
}

}  // namespace

TEST_CASE("share explain: the projects of the place, the default first, or none for any") {
    auto s = ready_service();
    put_tree(
        *s, "\"bio\" = { projects = [\"dna\", \"rna\"], default_project = \"rna\" }\n\"bio/@bob\" = 1\n\"chem\" = 1\n");
    const auto bob_stands = share_explain_view(*s, "bio/@bob", at(900));
    REQUIRE(bob_stands);
    CHECK(Json::ref(json_object_get(bob_stands->get(), "projects")).dump() == R"(["rna","dna"])");
    const auto chem = share_explain_view(*s, "chem", at(900));
    REQUIRE(chem);
    CHECK(json_is_null(json_object_get(chem->get(), "projects")));
}

TEST_CASE("share explain: under every algorithm the path, the ranks and factors that jobs have") {
    for (const AlgorithmEntry& entry : algorithms()) {
        INFO(entry.name);
        auto service = used_service(std::string(entry.name));
        service->pass(at(900));
        const auto view = share_explain_view(*service, "physics/lattice/@alice", at(900));
        REQUIRE(view);
        const ShareTree& tree = service->accounting().tree();
        const NodeId leaf = *tree.find("physics/lattice/@alice");
        CHECK(number_of(view->get(), "rank") == rank_for_people(service->ranking().shares().standings(), leaf));
        CHECK(json_number_value(json_object_get(view->get(), "factor")) ==
              service->ranking().shares().standings().factor.at(leaf.value));
        CHECK(text_of(*view, "algorithm") == entry.name);
        CHECK_FALSE(text_of(*view, "reason").empty());
        const json_t* levels = json_object_get(view->get(), "levels");
        REQUIRE(json_array_size(levels) == 3);
        for (std::size_t i = 0; i < 3; ++i) {
            const json_t* level = json_array_get(levels, i);
            CHECK(std::string(json_string_value(json_object_get(level, "path"))) ==
                  std::vector<std::string>{"physics", "physics/lattice", "physics/lattice/@alice"}[i]);
            CHECK(json_number_value(json_object_get(level, "usage_core_s")) == Approx(3600).epsilon(0.01));
        }
        const auto both = share_compare_view(*service, "alice", "bio/@bob", at(900));
        REQUIRE(both);
        CHECK(text_of(*both, "common").empty());
        const auto rank = [&](const char* path) {
            return service->ranking().shares().standings().rank.at(tree.find(path)->value);
        };
        const auto a = rank("physics/lattice/@alice");
        const auto b = rank("bio/@bob");
        CHECK(text_of(*both, "first") == (a > b ? "a" : a < b ? "b" : "neither"));
    }
}

TEST_CASE("share explain: who used, is held down by it") {
    auto service = used_service("fair-tree");
    const auto both = share_compare_view(*service, "alice", "bob", at(900));
    REQUIRE(both);
    CHECK(text_of(*both, "first") == "b");
    CHECK(text_of(*both, "reason").find("\"bio/@bob\" goes first") != std::string::npos);
}

TEST_CASE("share explain: by path, by account's last name and user, by user alone") {
    auto service = used_service("fair-tree");
    for (const char* reference : {"physics/lattice/@alice", "lattice/@alice", "alice", "@alice"}) {
        INFO(reference);
        const auto view = share_explain_view(*service, reference, at(900));
        REQUIRE(view);
        CHECK(text_of(*view, "path") == "physics/lattice/@alice");
    }
}

TEST_CASE("share explain: an account, by path or last name: its levels, what is below it, who is first") {
    auto service = used_service("fair-tree");
    for (const char* reference : {"physics/lattice", "lattice"}) {
        INFO(reference);
        const auto view = share_explain_view(*service, reference, at(900));
        REQUIRE(view);
        CHECK(text_of(*view, "path") == "physics/lattice");
        CHECK(json_array_size(json_object_get(view->get(), "levels")) == 2);
        const json_t* first = json_object_get(view->get(), "first");
        const json_t* below = json_array_get(json_object_get(view->get(), "below"), 0);
        CHECK(std::string(json_string_value(json_object_get(first, "path"))) == "physics/lattice/@alice");
        CHECK(number_of(below, "rank") == number_of(first, "rank"));
        CHECK_FALSE(text_of(*view, "reason").empty());
    }
}

TEST_CASE("share explain: a newcomer stands where the first job would, and asking admits nobody") {
    auto service = used_service("fair-tree");
    const std::uint32_t before = service->accounting().tree().size();
    const auto view = share_explain_view(*service, "bio/@carol", at(900));
    REQUIRE(view);
    CHECK(text_of(*view, "path") == "bio/@carol");
    CHECK(json_is_false(json_object_get(view->get(), "is_member")));
    CHECK(service->accounting().tree().size() == before);
    CHECK(share_compare_view(*service, "bio/@carol", "bio/@owner", at(900)));
}

TEST_CASE("share explain: a word that is neither in the tree nor a user is refused with the nearest name") {
    auto service = used_service("fair-tree");
    const auto refused = share_explain_view(*service, "bio/@carrol", at(900));
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == std::errc::no_such_file_or_directory);
    CHECK(refused.error().message ==
          "\"carrol\" is neither in the share tree nor a known user; did you mean \"carol\"?");
    CHECK(share_explain_view(*service, "bio/@4711", at(900)));  // the id of a user without a name
}

TEST_CASE("share explain: what is no association is refused with what would be right") {
    auto service = used_service("fair-tree");
    const auto error = [&](const char* reference) {
        const auto view = share_explain_view(*service, reference, at(900));
        REQUIRE_FALSE(view);
        return view.error();
    };
    CHECK(error("physcis/lattice/@alice").code == std::errc::no_such_file_or_directory);
    CHECK(error("physics/lattice/@bob").message.find("bio") != std::string::npos);
    CHECK(error("bio/@*").message.find("name one, such as bio/@alice") != std::string::npos);
    CHECK(error("").code == std::errc::no_such_file_or_directory);
    const auto both = share_compare_view(*service, "physics", "bio/@bob", at(900));
    REQUIRE_FALSE(both);
    CHECK(both.error().code == std::errc::invalid_argument);
    CHECK(both.error().message.find("physics/lattice/@alice") != std::string::npos);
}

TEST_CASE("share explain: after a job the factor falls, and nothing is changed") {
    auto s = ready_service();
    s->apply(submitted(1, 1, alice));
    s->apply(eligible(1, 2));
    s->apply(started(1, 10, 2));
    const auto number = [](const Result<Json>& view, const char* key) {
        return json_number_value(json_object_get(view->get(), key));
    };
    const Json before = tree_view(*s, at(100));
    const auto none = share_after_view(*s, "bio/@bob", {1, Duration{}}, at(100));
    REQUIRE(none);
    CHECK(number(none, "factor") == number(none, "factor_after"));
    const auto some = share_after_view(*s, "bio/@bob", {100, std::chrono::hours(1)}, at(100));
    REQUIRE(some);
    CHECK(number(some, "factor") == number(none, "factor"));
    CHECK(number(some, "factor_after") < number(some, "factor"));
    CHECK(number(some, "rank_after") > number(some, "rank"));
    CHECK(number(some, "used") == 0);
    CHECK(number(some, "used_after") == Approx(360000. / (360000. + 180.)));
    CHECK(tree_view(*s, at(100)).dump() == before.dump());
    CHECK_FALSE(share_after_view(*s, "bio", {1, Duration{}}, at(100)));
    CHECK_FALSE(share_after_view(VisiblePart(*s, alice), "bio/@bob", {1, Duration{}}, at(100)));
}

// Mutant: modules/job-priority/messages/views_share.cpp: request.qos = tree.name(at); => request.project =
// tree.name(at);
TEST_CASE("share explain: the job of `after` costs what such a job would be charged") {
    Settings with = config::read_settings_toml(
                        "[weir]\ndecay = \"none\"\nbilling-weights = \"cpu=2,node=10\"\n"
                        "[weir.qos]\nhigh = { usage-factor = 2 }\n"
                        "[weir.queues]\ndebug = { usage-factor = 3 }\n",
                        "t")
                        .value();
    with.users = settings().users;
    auto s = service(false, with);
    put_tree(*s,
             "\"bio\" = 1\n\"bio/@bob\" = 1\n\"bio/@bob:debug\" = 1\n\"bio/qos:high\" = 1\n\"bio/qos:high/@bob\" = 1\n"
             "\"queue:debug\" = 1\n\"chem\" = 1\n\"chem/@alice\" = 1\n");
    s->begin_backlog();
    s->end_backlog(at(0));
    s->apply(submitted(1, 0, alice));
    s->apply(eligible(1, 0));
    s->apply(started(1, 0, 45));  // 100 a second, with its node
    s->apply(freed(1, 3600));
    const auto used_after = [&](const std::string& path) {
        const auto view = share_after_view(*s, path, {5, std::chrono::hours(1)}, at(3600));
        REQUIRE(view);
        return json_number_value(json_object_get(view->get(), "used_after"));
    };
    CHECK(used_after("bio/@bob") == Approx(20. / 120));
    CHECK(used_after("bio/@bob:debug") == Approx(60. / 160));
    CHECK(used_after("bio/qos:high/@bob") == Approx(40. / 140));
    CHECK(used_after("queue:debug") == Approx(60. / 160));
    MachineSize machine;
    machine.cores = 64;
    machine.nodes = 16;
    machine.node_cores = 4;
    s->set_machine(machine);
    CHECK(used_after("bio/@bob") == Approx(30. / 130));  // two nodes
}

// Mutant: modules/job-priority/messages/views_tree.cpp: goes_by_history(s) => false
TEST_CASE("usage: the answer has the decay that is in force") {
    Settings with = settings();
    const auto told = [&with] {
        const PriorityService service(with, no_database(), owner, false);
        return usage_view(service, at(0));
    };
    CHECK(text_of(told(), "decay") == "half-life");
    CHECK(json_number_value(json_object_get(told().get(), "half_life_s")) == to_seconds(with.half_life));
    with.decay = DecayKind::none;
    CHECK(text_of(told(), "decay") == "none");
    CHECK(json_number_value(json_object_get(told().get(), "half_life_s")) == 0);
    with.decay = DecayKind::window;
    with.window.depth = 3;
    CHECK(text_of(told(), "decay") == "window");
    CHECK(number_of(json_object_get(told().get(), "window"), "depth") == 3);
    CHECK(json_is_false(json_object_get(told().get(), "has_history")));
    with.decay = DecayKind::half_life;
    with.policy = PolicyKind::lsf;
    CHECK(json_is_true(json_object_get(told().get(), "has_history")));
}
