// SPDX-License-Identifier: LGPL-3.0-only
#include <catch2/catch.hpp>

#include "modules/job-priority/tap/tap_accounts.hpp"

using namespace weir::priority;
using Catch::Matchers::Contains;

namespace {

TapAccounts table() {
    TapAccounts accounts;
    accounts.users[5001] = {"alice", "physics/lattice", {"physics/lattice", "lattice"}};
    accounts.users[5002] = {"bob", std::nullopt, {"bio", "physics"}};
    accounts.known_accounts = {"physics", "physics/lattice", "lattice", "bio", "maths"};
    accounts.is_enforced = true;
    return accounts;
}

TapSubmission by(std::uint32_t userid, std::optional<std::string> account = {}, std::optional<std::string> queue = {}) {
    return {userid, std::move(account), std::move(queue), false};
}

}  // namespace

TEST_CASE("accounts: members enter by path, by last name and by default") {
    CHECK_FALSE(rejection(table(), by(5001)));
    CHECK_FALSE(rejection(table(), by(5001, "physics/lattice")));
    CHECK_FALSE(rejection(table(), by(5001, "lattice")));
}

TEST_CASE("accounts: a name that two accounts have is told as such") {
    TapAccounts accounts = table();
    accounts.known_accounts = {"bio", "bio/sub", "chem", "chem/sub"};
    accounts.users[5001].accounts = {"bio/sub", "chem/sub"};
    const std::string told = "more than one account is called 'sub': write the path; may use: bio";
    CHECK_THAT(rejection(accounts, by(5001, "sub")).value(), Contains(told));
    CHECK_THAT(rejection(accounts, {0, "sub", {}, true}).value(), Contains(told));
    CHECK_THAT(rejection(accounts, by(5002, "sub")).value(), Contains("there is no account 'sub'"));
    CHECK_THAT(rejection(accounts, by(5001, "ub")).value(), Contains("there is no account 'ub'"));
}

// Mutant: modules/job-priority/tap/tap_accounts.cpp: return job.is_owner && job.serves_queues && !job.account; =>
// return job.is_owner && !job.account;
TEST_CASE("accounts: a job that names none gets its user's default one, a partition does not") {
    TapAccounts accounts;
    accounts.users[5001] = {"alice", "bio", {"bio", "chem"}};
    accounts.users[5002] = {"bob", std::nullopt, {"chem"}};
    accounts.open_default = "guests";
    CHECK_FALSE(bank_to_fill(accounts, {5001, {}, {}, false}));
    accounts.fills_bank = true;
    CHECK(bank_to_fill(accounts, {5001, {}, {}, false}) == "bio");
    CHECK_FALSE(bank_to_fill(accounts, {5001, "chem", {}, false}));
    CHECK_FALSE(bank_to_fill(accounts, {5002, {}, {}, false}));
    CHECK(bank_to_fill(accounts, {5003, {}, {}, false}) == "guests");
    TapSubmission owners{5001, {}, {}, true};
    CHECK(bank_to_fill(accounts, owners) == "bio");
    owners.serves_queues = true;
    CHECK_FALSE(bank_to_fill(accounts, owners));
    owners.serves_queues = false;
    owners.is_from_above = true;
    CHECK_FALSE(bank_to_fill(accounts, owners));
    TapSubmission guests{5001, {}, {}, false};
    guests.serves_queues = true;
    CHECK(bank_to_fill(accounts, guests) == "bio");
    accounts.users[5004] = {"dave", "", {}};  // his association is right below the root
    CHECK_FALSE(bank_to_fill(accounts, {5004, {}, {}, false}));
    accounts.open_default = "";
    CHECK_FALSE(bank_to_fill(accounts, {5003, {}, {}, false}));
}

TEST_CASE("accounts: a job that runs is told what its usage is charged to") {
    TapSubmission job = by(5001, "bio");
    CHECK_THAT(rejection_of_running("attributes.system.bank", job), Contains("charged to account 'bio'"));
    CHECK_THAT(rejection_of_running("attributes.system.project", job), Contains("under no project"));
    job = by(5001);
    job.project = "qcd";
    CHECK_THAT(rejection_of_running("attributes.system.bank", job), Contains("its user's default account"));
    CHECK_THAT(rejection_of_running("attributes.system.project", job), Contains("under project 'qcd'"));
}

TEST_CASE("accounts: nothing is rejected before the table came or when it is not enforced") {
    CHECK_FALSE(rejection(TapAccounts{}, by(1, "nowhere", "nothing")));
    TapAccounts lax = table();
    lax.is_enforced = false;
    CHECK_FALSE(rejection(lax, by(1, "nowhere")));
}

TEST_CASE("accounts: the sentences name what is wrong and what would be right") {
    CHECK_THAT(*rejection(table(), by(5001, "chem")), Contains("no account 'chem'") && Contains("lattice"));
    CHECK(*rejection(table(), by(5001, "bio")) ==
          "there is no account 'bio' in the share tree for user alice; may use: lattice, physics/lattice");
    CHECK_THAT(*rejection(table(), by(7, "bio")), Contains("'bio' in the share tree for user id 7; may use: none"));
    CHECK_THAT(*rejection(table(), by(5002)), Contains("no default account") &&
                                                  Contains("weir submit --account or flux submit --bank") &&
                                                  Contains("bio, physics"));
    CHECK_THAT(*rejection(table(), by(7)), Contains("user id 7 is not in the share tree"));
}

// Mutant: modules/job-priority/tap/tap_accounts.cpp: no_such_account(user, job.is_owner ? table.known_accounts :
// may_use, job) => no_such_account(user, table.known_accounts, job)
TEST_CASE("accounts: another's account is refused in the words for one that is not there") {
    TapAccounts accounts = table();
    accounts.known_accounts = {"bio", "maths", "a/sub", "b/sub"};  // nobody is a member of maths itself
    const auto told = [&](std::uint32_t userid, const std::string& account) {
        std::string text = rejection(accounts, by(userid, account)).value();
        return text.replace(text.find(account), account.size(), "it");
    };
    for (const char* account : {"bio", "maths", "sub", "a/sub"}) {
        INFO(account);
        CHECK(told(5001, account) == told(5001, "nowhere"));
        CHECK(told(7, account) == told(7, "nowhere"));
    }
}

TEST_CASE("accounts: an open account admits users who are not listed") {
    TapAccounts open = table();
    open.open_accounts = {"guests"};
    CHECK_FALSE(rejection(open, by(7, "guests")));
    CHECK(rejection(open, by(7)));
    open.open_default = "guests";
    CHECK_FALSE(rejection(open, by(7)));
}

TEST_CASE("accounts: the owner of the instance needs no association, but a known account") {
    TapSubmission owner = by(0);
    owner.is_owner = true;
    CHECK_FALSE(rejection(table(), owner));
    owner.account = "bio";
    CHECK_FALSE(rejection(table(), owner));
    owner.account = "chem";
    CHECK(rejection(table(), owner));
}

namespace {

/// alice has qcd (her default) and qed in lattice, guests have none or hep in "guests"; bio takes any project.
TapAccounts projects_table() {
    TapAccounts made = table();
    made.projects = {{"qcd", {"qcd", "qed"}}, {"*", {"*", "hep"}}};
    made.users[5001].accounts.insert("bio");
    made.users[5001].projects = {{"physics/lattice", 0}, {"lattice", 0}};
    made.open_accounts = {"guests"};
    made.open_default = "guests";
    made.open_projects = {{"guests", 1}};
    return made;
}

TapSubmission with_project(TapSubmission job, const std::string& project) {
    job.project = project;
    return job;
}

}  // namespace

TEST_CASE("projects: a job names one of its association's, and gets the default where it names none") {
    const TapAccounts made = projects_table();
    CHECK_FALSE(rejection(made, with_project(by(5001), "qed")));
    CHECK_FALSE(rejection(made, with_project(by(5001, "lattice"), "qcd")));
    CHECK(rejection(made, with_project(by(5001), "hep")) ==
          "user alice has no project 'hep' in account 'physics/lattice'; may use: qcd, qed");
    CHECK_THAT(*rejection(made, with_project(by(5001), "*")), Contains("no project '*'"));
    CHECK_FALSE(rejection(made, by(5001)));
    CHECK(project_to_fill(made, by(5001)) == "qcd");
    CHECK(project_to_fill(made, by(5001, "lattice")) == "qcd");
    CHECK_FALSE(project_to_fill(made, with_project(by(5001), "qed")));
}

TEST_CASE("projects: where the association has no list any project is taken, and none is filled in") {
    CHECK_FALSE(rejection(projects_table(), with_project(by(5001, "bio"), "anything")));
    CHECK_FALSE(project_to_fill(projects_table(), by(5001, "bio")));
    CHECK_FALSE(rejection(table(), with_project(by(5001), "anything")));
    CHECK_FALSE(project_to_fill(table(), by(5001)));
}

TEST_CASE("projects: who is not listed has those of the open line; * as the default fills in nothing") {
    const TapAccounts made = projects_table();
    CHECK_FALSE(rejection(made, with_project(by(7), "hep")));
    CHECK_FALSE(rejection(made, with_project(by(7, "guests"), "*")));
    CHECK(rejection(made, with_project(by(7), "qcd")) ==
          "user id 7 has no project 'qcd' in account 'guests'; may use: *, hep");
    CHECK_FALSE(project_to_fill(made, by(7)));
}

TEST_CASE("projects: partitions and jobs from a parent are left alone") {
    TapSubmission job = by(5001);
    job.is_owner = true;
    CHECK(project_to_fill(projects_table(), job) == "qcd");
    CHECK(rejection(projects_table(), with_project(job, "hep")));
    job.serves_queues = true;
    CHECK_FALSE(project_to_fill(projects_table(), job));
    CHECK_FALSE(rejection(projects_table(), with_project(job, "hep")));
    job.account = "lattice";
    CHECK(rejection(projects_table(), with_project(job, "hep")));
    CHECK(project_to_fill(projects_table(), job) == "qcd");
    job.is_from_above = true;
    CHECK_FALSE(project_to_fill(projects_table(), job));
}

TEST_CASE("projects: where associations are not enforced, no project is refused") {
    TapAccounts lax = projects_table();
    lax.is_enforced = false;
    CHECK_FALSE(rejection(lax, with_project(by(5001), "hep")));
    CHECK(project_to_fill(lax, by(5001)) == "qcd");
}

TEST_CASE("accounts: an unknown queue is refused where the module checks queues") {
    TapAccounts queued = table();
    queued.queues = std::set<std::string>{"batch", "debug"};
    CHECK_THAT(*rejection(queued, by(5001, {}, "bach")), Contains("no queue 'bach'") && Contains("batch, debug"));
    CHECK_FALSE(rejection(queued, by(5001, {}, "debug")));
    CHECK_FALSE(rejection(queued, by(5001)));
}

// Mutant: modules/job-priority/tap/tap_accounts.cpp: job.is_from_above && !table.checks_copies; => false;
// Mutant: modules/job-priority/tap/tap_accounts.cpp: job.is_from_above && !table.checks_copies; => job.is_from_above;
TEST_CASE("accounts: the account of a copy is checked where the share tree is none of the parent's") {
    TapAccounts made = table();
    TapSubmission job = by(5001, "nowhere");
    job.is_owner = job.is_from_above = true;
    CHECK_FALSE(rejection(made, job));
    made.checks_copies = true;
    CHECK(rejection(made, job));
}

TEST_CASE("accounts: an unknown QoS is refused where the settings name some, also without a share tree") {
    TapAccounts made = table();
    TapSubmission job = by(5001);
    job.qos = "hihg";
    CHECK_FALSE(rejection(made, job));
    made.qos = std::set<std::string>{"high", "low"};
    CHECK(rejection(made, job) == "there is no QoS 'hihg' here; may use: high, low");
    made.is_enforced = false;
    CHECK(rejection(made, job));
    job.is_from_above = true;
    CHECK_FALSE(rejection(made, job));
    job.is_from_above = false;
    job.qos = "high";
    CHECK_FALSE(rejection(made, job));
    CHECK_FALSE(rejection(made, by(5001)));
}
