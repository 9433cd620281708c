// SPDX-License-Identifier: LGPL-3.0-only
#include "modules/job-priority/sends/project_view.hpp"

#include <catch2/catch.hpp>

#include "libfairshare/base/json/json.hpp"
#include "modules/job-priority/tap/tap_messages.hpp"
#include "t/unit/job_priority/support.hpp"

using namespace weir;
using namespace weir::priority;
using namespace weir::priority::testing;

namespace {

/// "qcd,qed" with the default first; empty: any.
std::string projects_in(const ProjectView& view, const ProjectView::Index& index, const std::string& account) {
    const auto found = index.find(account);
    if (found == index.end()) {
        return "";
    }
    const ProjectAccess& access = view.lists.at(found->second);
    std::string text = access.by_default + ":";
    for (const std::string& name : access.names) {
        text += " " + name;
    }
    return text;
}

ProjectView view_of(const std::string& text) {
    auto s = ready_service();
    put_tree(*s, text);
    return project_view(s->accounting().tree());
}

}  // namespace

TEST_CASE("project view: each user has his own line's, in every spelling, and @*'s where he has no line") {
    const ProjectView view = view_of(
        "\"physics\" = { shares = 1, projects = [\"qcd\", \"qed\"] }\n"
        "\"physics/lattice\" = 1\n"
        "\"physics/lattice/@alice\" = { shares = 1, default_project = \"qed\" }\n"
        "\"bio\" = 1\n"
        "\"bio/@alice:debug\" = 1\n"
        "\"bio/@alice\" = { shares = 1, projects = [\"dna\"] }\n"
        "\"bio/@bob\" = 1\n"
        "\"bio/@*\" = { shares = 1, projects = [\"*\"] }\n");
    const auto& alice_has = view.users.at("alice");
    CHECK(projects_in(view, alice_has, "physics/lattice") == "qed: qcd qed");
    CHECK(projects_in(view, alice_has, "lattice") == "qed: qcd qed");
    CHECK(projects_in(view, alice_has, "bio") == "dna: dna");
    const auto& bob_has = view.users.at("bob");
    CHECK(projects_in(view, bob_has, "bio").empty());  // his line has no list: @*'s is not his
    CHECK(projects_in(view, view.open, "bio") == "*: *");
    CHECK(view.lists.size() == 3);
}

TEST_CASE("project view: a tree without projects makes an empty one") {
    const ProjectView view = view_of(tree_text);
    CHECK((view.lists.empty() && view.users.empty() && view.open.empty()));
}

TEST_CASE("accounts request: projects and their numbers are read, and what is not so is refused") {
    const auto read = [](const std::string& text) {
        const Json request = Json::parse(text).value();
        TapAccounts accounts;
        return read_accounts(request.get(), accounts) ? std::optional(accounts) : std::nullopt;
    };
    const auto good = read(R"({"users":[[7,"bio",["bio"],"alice",{"bio":0}]],"enforce":true,"any_projects":{"b":0},
                               "projects":[{"default":"qcd","names":["qcd","qed"]}]})");
    REQUIRE(good);
    CHECK(good->projects.at(0).names == std::set<std::string>{"qcd", "qed"});
    CHECK(good->users.at(7).projects == TapProjectIndex{{"bio", 0}});
    CHECK(good->open_projects == TapProjectIndex{{"b", 0}});
    CHECK_FALSE(read(R"({"users":[],"enforce":true,"projects":[{"names":[]}]})"));
    CHECK_FALSE(read(R"({"users":[],"enforce":true,"any_projects":{"b":-1}})"));
    CHECK_FALSE(read(R"({"users":[[7,"bio",["bio"],"alice",[1]]],"enforce":true})"));
    CHECK_FALSE(read(R"({"users":{},"enforce":true})"));
}
