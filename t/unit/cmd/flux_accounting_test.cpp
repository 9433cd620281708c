// SPDX-License-Identifier: LGPL-3.0-only
#include "cmd/accounting/flux_accounting.hpp"

#include <catch2/catch.hpp>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "cmd/accounting/csv.hpp"
#include "libfairshare/toml/share_tree_toml.hpp"
#include "t/unit/draws.hpp"

using namespace weir;
using namespace weir::cmd;

namespace {

ShareTree tree_from(const std::string& text) {
    auto parsed = parse_share_tree(text);
    REQUIRE(std::holds_alternative<ShareTree>(parsed));
    return std::get<ShareTree>(std::move(parsed));
}

std::optional<std::uint32_t> userid_5000(const std::string&) {
    return 5000;
}

FluxAccountingTables exported(const std::string& text) {
    auto tables = flux_accounting_tables(tree_from(text), userid_5000);
    REQUIRE(tables);
    return *tables;
}

std::string imported(const FluxAccountingTables& tables) {
    const auto read = read_flux_accounting(tables.banks, tables.associations);
    REQUIRE(read);
    return write_share_tree(read->tree);
}

}  // namespace

TEST_CASE("flux-accounting: banks come before what is below them, and no limit is written as none") {
    const FluxAccountingTables tables = exported(
        "\"physics\" = 3\n\"physics/lattice\" = 2\n\"physics/lattice/@al\" = { shares = 4, running_jobs_max = 6 }\n");
    CHECK(tables.banks == "bank,parent_bank,shares\nroot,,1\nphysics,root,3\nlattice,physics,2\n");
    CHECK(
        tables.associations ==
        "creation_time,username,userid,bank,default_bank,shares,max_running_jobs,max_active_jobs,max_nodes,max_cores\n"
        "0,al,5000,lattice,lattice,4,6,2147483647,2147483647,2147483647\n");
    CHECK(tables.left_out.empty());
}

// Mutant: cmd/accounting/read_flux_accounting.cpp: if (*limit < unlimited) { => if (*limit < 5) {
TEST_CASE("flux-accounting: a tree of banks and users comes back equal") {
    draw::property("any such tree", [] {
        std::vector<std::string> accounts{""};
        std::string text;
        for (int i = 0; i < draw::in_range(1, 8); ++i) {
            const std::string above = accounts[draw::in_range<std::size_t>(0, accounts.size())];
            accounts.push_back((above.empty() ? "" : above + "/") + "b" + std::to_string(i));
            text += "\"" + accounts.back() + "\" = " + std::to_string(draw::in_range(0, 1000)) + "\n";
        }
        for (int i = 0; i < draw::in_range(0, 10); ++i) {
            const std::string& account = accounts[draw::in_range<std::size_t>(1, accounts.size())];
            text += "\"" + account + "/@u" + std::to_string(i) +
                    "\" = { shares = " + std::to_string(draw::in_range(0, 1000)) +
                    (draw::arbitrary<bool>() ? ", cores_max = " + std::to_string(draw::in_range(0, 99)) : "") +
                    (draw::arbitrary<bool>() ? ", active_jobs_max = 7" : "") + " }\n";
        }
        const auto sorted = [](const ShareTree& tree) {
            std::vector<std::string> lines;
            std::string all = write_share_tree(tree);
            for (std::size_t at = 0; at < all.size();) {
                const std::size_t end = all.find('\n', at);
                lines.push_back(all.substr(at, end - at));
                at = end + 1;
            }
            std::sort(lines.begin(), lines.end());
            return lines;
        };
        auto parsed = parse_share_tree(text);
        RC_ASSERT(std::holds_alternative<ShareTree>(parsed));
        const ShareTree& tree = std::get<ShareTree>(parsed);
        const auto tables = flux_accounting_tables(tree, userid_5000);
        RC_ASSERT(static_cast<bool>(tables));
        const auto back = read_flux_accounting(tables->banks, tables->associations);
        RC_ASSERT(static_cast<bool>(back));
        RC_ASSERT(sorted(back->tree) == sorted(tree));
        RC_ASSERT(tables->left_out.empty());
    });
}

TEST_CASE("flux-accounting: the default bank comes back where it is not the first") {
    const std::string text = "\"a\" = 1\n\"b\" = 1\n\"a/@al\" = 1\n\"b/@al\" = { shares = 1, default = true }\n";
    CHECK(imported(exported(text)) == write_share_tree(tree_from(text)));
}

TEST_CASE("flux-accounting: the default bank is marked where the tree, not the table, has another line first") {
    const std::string banks = "bank,parent_bank,shares\nroot,,1\nA,root,1\nC,root,10\nA1,A,1\n";
    /// The line marked default, of a user with rows in these banks.
    const auto marked = [&](const std::string& by_default, const std::vector<std::string>& in) {
        std::string rows = "username,bank,default_bank,max_running_jobs,max_active_jobs\n";
        for (const std::string& bank : in) {
            rows += "al," + bank + "," + by_default + ",2147483647,2147483647\n";
        }
        const auto read = read_flux_accounting(banks, rows);
        REQUIRE(read);
        CHECK(read->left_out.empty());
        const std::string text = write_share_tree(read->tree);
        const std::size_t end = text.find(" = { shares = 1, default = true }");
        return end == std::string::npos ? "" : text.substr(text.rfind('\n', end) + 1, end - text.rfind('\n', end) - 1);
    };
    CHECK(marked("C", {"C", "A"}) == "\"C/@al\"");  // the first row, but the second line
    CHECK(marked("C", {"A", "C"}) == "\"C/@al\"");
    CHECK(marked("A", {"C", "A"}).empty());  // the second row, but the first line
    CHECK(marked("A1", {"A", "A1"}).empty());
    CHECK(marked("A", {"A", "A1"}) == "\"A/@al\"");
}

TEST_CASE("flux-accounting: a default bank that the user has no row in is named; of several the last row's holds") {
    const std::string banks = "bank,parent_bank,shares\nroot,,1\nA,root,1\nC,root,1\n";
    const std::string columns = "active,username,bank,default_bank,max_running_jobs,max_active_jobs\n";
    const std::string none = ",2147483647,2147483647\n";
    const auto nowhere = read_flux_accounting(banks, columns + "1,al,A,C" + none + "0,al,C,C" + none);
    REQUIRE(nowhere);
    CHECK(nowhere->left_out ==
          std::vector<std::string>{"@al of bank C is not active", "the default bank of @al: he has no row in C"});
    const auto last = read_flux_accounting(
        banks, columns + "1,al,C,C" + none + "1,al,A,C" + none + "1,bo,A,C" + none + "1,bo,C,A" + none);
    REQUIRE(last);
    CHECK(last->left_out == std::vector<std::string>{"the default bank of @bo: C in one row, A in a later one, which "
                                                     "holds"});
    CHECK(write_share_tree(last->tree) ==
          "\"A\" = 1\n\"A/@al\" = 1\n\"A/@bo\" = 1\n\"C\" = 1\n\"C/@al\" = { shares = 1, default = true }\n"
          "\"C/@bo\" = 1\n");
}

// Mutant: cmd/accounting/read_flux_accounting.cpp: !is_first && => is_first &&
TEST_CASE("flux-accounting: the default bank survives import, text and export, in whatever order the rows are") {
    draw::property("any tables", [] {
        const auto shuffled = [](const std::vector<std::string>& list) {
            std::vector<std::pair<int, std::string>> keyed;
            for (const std::string& item : list) {
                keyed.emplace_back(draw::arbitrary<int>(), item);
            }
            std::sort(keyed.begin(), keyed.end());
            std::vector<std::string> made;
            for (const auto& [key, item] : keyed) {
                made.push_back(item);
            }
            return made;
        };
        const auto joined = [](const std::vector<std::string>& rows) {
            return std::accumulate(rows.begin(), rows.end(), std::string{});
        };
        std::vector<std::string> banks{"root"};
        std::vector<std::string> bank_rows{"root,,1\n"};
        for (int i = draw::in_range(1, 8); i > 0; --i) {
            const std::string above = banks[draw::in_range<std::size_t>(0, banks.size())];
            banks.push_back("b" + std::to_string(i));
            bank_rows.push_back(banks.back() + "," + above + ",1\n");
        }
        std::map<std::string, std::string> wanted;
        std::vector<std::string> user_rows;
        for (const std::string& user : {std::string("al"), std::string("bo"), std::string("cy")}) {
            std::vector<std::string> in = shuffled(banks);
            in.resize(draw::in_range<std::size_t>(1, banks.size() + 1));
            wanted[user] = in.front();
            for (const std::string& bank : in) {
                user_rows.push_back(user + "," + bank + "," + in.front() + "\n");
            }
        }
        const auto read = read_flux_accounting("bank,parent_bank,shares\n" + joined(shuffled(bank_rows)),
                                               "username,bank,default_bank\n" + joined(shuffled(user_rows)));
        RC_ASSERT(static_cast<bool>(read));
        RC_ASSERT(read->left_out.empty());
        const auto applied = parse_share_tree(write_share_tree(read->tree));
        RC_ASSERT(std::holds_alternative<ShareTree>(applied));
        for (const ShareTree* tree : {&read->tree, &std::get<ShareTree>(applied)}) {
            const auto tables = flux_accounting_tables(*tree, userid_5000);
            RC_ASSERT(static_cast<bool>(tables));
            const auto rows = read_csv(tables->associations, "associations", {"username", "default_bank"});
            RC_ASSERT(rows->size() == user_rows.size());
            for (const CsvRow& row : *rows) {
                RC_ASSERT(row.text("default_bank") == wanted.at(row.text("username")));
            }
        }
    });
}

TEST_CASE("flux-accounting: what it cannot hold is named, and two banks of one name are refused") {
    const FluxAccountingTables tables = exported(
        "\"bio\" = { shares = 1, cores_max = 9 }\n\"bio/@*\" = 1\n\"bio/@eve\" = \"parent\"\n"
        "\"bio/@al\" = { shares = 1, cores_max = [3, 5], usage_max = \"9h\" }\n");
    CHECK(tables.left_out.size() == 5);
    CHECK(exported("\"a\" = 1\n\"a/@al\" = { shares = 1, target = [\"16.5\", \"10%\", \"100^\"] }\n").left_out ==
          std::vector<std::string>{"a/@al: target, which flux-accounting does not have there"});
    const auto refused =
        flux_accounting_tables(tree_from("\"a\" = 1\n\"b\" = 1\n\"b/a\" = 1\n\"root\" = 1\n"), userid_5000);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().message.find("called a and root") != std::string::npos);
}

TEST_CASE("flux-accounting: projects are in each user's row, and come back") {
    const std::string text =
        "\"a\" = { shares = 1, projects = [\"qcd\", \"qed\"] }\n\"a/@al\" = 1\n"
        "\"a/@bo\" = { shares = 1, default_project = \"qed\" }\n\"a/@cy\" = { shares = 1, projects = [\"*\"] }\n"
        "\"b\" = 1\n\"b/@di\" = 1\n";
    const FluxAccountingTables tables = exported(text);
    const std::string none = "2147483647,2147483647,2147483647,2147483647,";
    CHECK(tables.associations.find(",max_cores,projects,default_project\n") != std::string::npos);
    CHECK(tables.associations.find(",al,5000,a,a,1," + none + "\"qcd,qed\",qcd\n") != std::string::npos);
    CHECK(tables.associations.find(",bo,5000,a,a,1," + none + "\"qcd,qed\",qed\n") != std::string::npos);
    CHECK(tables.associations.find(",cy,5000,a,a,1," + none + "*,*\n") != std::string::npos);
    CHECK(tables.associations.find(",di,5000,b,b,1," + none + "*,*\n") != std::string::npos);
    CHECK(tables.left_out ==
          std::vector<std::string>{"b/@di: any project, the row has *, which is none",
                                   "projects are known to it by `flux account add-project` alone: qcd and qed"});
    CHECK(imported(tables) ==
          "\"a\" = 1\n\"a/@al\" = { shares = 1, projects = [\"qcd\", \"qed\"] }\n"
          "\"a/@bo\" = { shares = 1, projects = [\"qcd\", \"qed\"], default_project = \"qed\" }\n"
          "\"a/@cy\" = { shares = 1, projects = [\"*\"] }\n"
          "\"b\" = 1\n\"b/@di\" = { shares = 1, projects = [\"*\"] }\n");
}

TEST_CASE("flux-accounting: a default project that is not listed may be used; one that is no name is refused") {
    const std::string banks = "bank,parent_bank,shares\nroot,,1\na,root,1\n";
    const std::string columns = "username,bank,projects,default_project,max_running_jobs,max_active_jobs\n";
    const auto read = read_flux_accounting(banks, columns + "al,a,\"qcd,qcd\",*,2147483647,2147483647\n");
    REQUIRE(read);
    CHECK(write_share_tree(read->tree) ==
          "\"a\" = 1\n\"a/@al\" = { shares = 1, projects = [\"qcd\", \"*\"], default_project = \"*\" }\n");
    const auto refused = read_flux_accounting(banks, columns + "al,a,\"qcd,,qed\",*,1,1\n");
    REQUIRE_FALSE(refused);
    CHECK(refused.error().message == "association_table.csv, line 2: a project has 1 to 255 bytes");
}

TEST_CASE("flux-accounting: all columns of export-db are read, inactive rows and defaults as it means them") {
    const auto read = read_flux_accounting(
        "bank_id,bank,active,parent_bank,shares,job_usage,priority,ignore_older_than\r\n"
        "1,root,1,,1,0.0,0.0,0\r\n3,D,1,C,2,0.0,0.0,0\r\n2,C,1,root,1,0.0,0.0,0\r\n4,old,0,root,1,0.0,0.0,0\r\n",
        "creation_time,mod_time,active,username,userid,bank,default_bank,shares,job_usage,fairshare,max_running_jobs,"
        "max_active_jobs,max_nodes,max_cores,queues,projects,default_project,max_sched_jobs\r\n"
        "0,0,1,u1,1,D,D,,0.0,0.5,,2147483647,2147483647,2147483647,\"a,b\",*,*,2147483647\r\n"
        "0,0,0,u2,2,D,D,1,0.0,0.5,5,7,1,1,,*,*,1\r\n");
    REQUIRE(read);
    CHECK(write_share_tree(read->tree) ==
          write_share_tree(tree_from("\"C\" = 1\n\"C/D\" = 2\n\"C/D/@u1\" = { shares = 1, running_jobs_max = 5 }\n")));
    CHECK(read->left_out == std::vector<std::string>{"bank old is not active", "which queues a user may use",
                                                     "@u2 of bank D is not active"});
}

TEST_CASE("flux-accounting: a column that a share tree has no place for is named once") {
    const auto read =
        read_flux_accounting("bank,parent_bank,shares,priority\nroot,,1,5.0\na,root,1,2.0\nb,root,1,3.0\n",
                             "username,bank,queues,max_sched_jobs\nal,a,\"x,y\",3\nbo,b,x,4\ncy,b,,2147483647\n");
    REQUIRE(read);
    CHECK(read->left_out == std::vector<std::string>{"the priorities of banks (see [weir.associations])",
                                                     "which queues a user may use",
                                                     "limits of scheduled jobs (max_sched_jobs)"});
}

TEST_CASE("flux-accounting: tables that are none are refused by table and line") {
    const std::string users = "username,bank\n";
    const auto message = [&](const std::string& banks, const std::string& associations) {
        const auto read = read_flux_accounting(banks, associations);
        return read ? std::string() : read.error().message;
    };
    const std::string root = "bank,parent_bank,shares\nroot,,1\n";
    const auto of_banks = [&](const std::string& rows) { return message(root + rows, users); };
    const auto of_users = [&](const std::string& rows) { return message(root, users + rows); };
    CHECK(message("", users) == "bank_table.csv: there is no line with the names of the columns");
    CHECK(message("bank,shares\n", users) == "bank_table.csv: there is no column \"parent_bank\"");
    CHECK(of_banks("a,root\n") == "bank_table.csv, line 3: 2 cells, not 3");
    CHECK(of_banks("\na,root,many\n").find("bank_table.csv, line 4: shares is \"many\"") == 0);
    CHECK(of_banks("a/b,root,1\n").find("bank_table.csv, line 3: \"a/b\" is no name of an account") == 0);
    CHECK(of_banks("@a,root,1\n").find("bank_table.csv, line 3: \"@a\" is no name of an account") == 0);
    CHECK(of_banks("\"a,root,1\n") == "bank_table.csv, line 3: a quote is not closed");
    // In our tree "@al:debug" is al in the partition debug, and "@*" is everybody else.
    CHECK(of_users("al:debug,root\n").find("association_table.csv, line 2: \"al:debug\" is no user's name") == 0);
    CHECK(of_users("*,root\n").find("association_table.csv, line 2: \"*\" is no user's name") == 0);
    CHECK(of_users("a b,root\n").find("association_table.csv, line 2: \"a b\" is no user's name") == 0);
    CHECK(of_users("al,nobank\n") == "association_table.csv, line 2: there is no bank \"nobank\" in bank_table.csv");
}

TEST_CASE("flux-accounting: what makes no share tree is refused with the lines that make none") {
    const std::string columns = "username,bank,shares\n";
    const auto message = [&](const std::string& banks, const std::string& associations) {
        const auto read = read_flux_accounting("bank,parent_bank,shares\nroot,,1\n" + banks, columns + associations);
        return read ? std::string() : read.error().message;
    };
    CHECK(message("a,root,1\nb,root,1\na,b,2\n", "") ==
          "bank_table.csv, line 5: the bank \"a\" is on line 3, too; rename or remove one of the two");
    CHECK(message("a,root,1\n", "al,a,1\nbo,a,1\nal,a,2\n") ==
          "association_table.csv, line 4: @al of bank \"a\" is on line 2, too; remove one of the two");
    CHECK(
        message("top,,1\n", "") ==
        "bank_table.csv, line 3: \"top\" has no parent_bank, and neither has \"root\" on line 2; one bank alone is the "
        "uppermost: give the other a parent_bank");
    CHECK(message("a,nowhere,1\n", "") ==
          "bank_table.csv, line 3: the parent_bank \"nowhere\" of \"a\" has no row; add it, or name another bank");
    CHECK(message("c,b,1\na,b,1\nb,a,1\n", "") ==
          "bank_table.csv, line 4: cycle of parent banks: a -> b -> a; give one of them a parent_bank outside it");
    CHECK(message("a,a,1\n", "").find("bank_table.csv, line 3: cycle of parent banks: a -> a;") == 0);
    CHECK(
        message("a,root,4294967296\n", "al,a,4294967297\n") ==
        "bank_table.csv, line 3: shares of \"a\" are 4294967296; give a whole number from 0 to 4294967295\n"
        "association_table.csv, line 2: shares of \"a/@al\" are 4294967297; give a whole number from 0 to 4294967295");
    std::string chain = "b1,root,1\n";
    for (int i = 2; i <= 65; ++i) {
        chain += "b" + std::to_string(i) + ",b" + std::to_string(i - 1) + ",1\n";
    }
    CHECK(message(chain, "") == "bank_table.csv, line 67: more than 64 banks stand above \"b65\"; flatten the tree");
}

TEST_CASE("flux-accounting: what is in or below an inactive bank is left out, and said") {
    const auto read = read_flux_accounting(
        "bank,parent_bank,shares,active\nroot,,1,1\nold,root,1,0\nlab,old,1,1\nroom,lab,1,1\na,root,1,1\n"
        "a,old,5,0\nlost,nowhere,1,0\n",
        "username,bank,max_running_jobs,max_active_jobs\nal,old,2147483647,2147483647\nbo,room,2147483647,2147483647\n"
        "cy,a,2147483647,2147483647\n");
    REQUIRE(read);
    CHECK(write_share_tree(read->tree) == "\"a\" = 1\n\"a/@cy\" = 1\n");
    CHECK(read->left_out == std::vector<std::string>{
                                "bank old is not active", "bank a is not active", "bank lost is not active",
                                "bank lab: the bank above it, old, is left out",
                                "bank room: the bank above it, lab, is left out",
                                "@al of bank old: that bank is left out", "@bo of bank room: that bank is left out"});
}

TEST_CASE("csv: cells with commas, quotes and newlines come back") {
    const std::vector<std::string> cells{"a,b", "say \"x\"", "two\nlines", "", "plain"};
    const auto rows = read_csv(GENERATE("", "\xEF\xBB\xBF") + ("1,2,3,4,5\n" + csv_line(cells)), "t", {"1"});
    REQUIRE(rows);
    REQUIRE(rows->size() == 1);
    for (std::size_t i = 0; i < cells.size(); ++i) {
        CHECK(rows->front().text(std::to_string(i + 1)) == cells[i]);
    }
    const auto below = read_csv("1,2\r\na,\"x\ny\"\r\n\r\nb,z\r\n", "t.csv", {"1"});
    REQUIRE(below);
    CHECK(below->front().place() == "t.csv, line 2");
    CHECK(below->back().place() == "t.csv, line 5");
}
