// SPDX-License-Identifier: LGPL-3.0-only
#include "cmd/accounting/slurm_accounts.hpp"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "cmd/accounting/sacctmgr_dump.hpp"
#include "libfairshare/toml/share_tree_toml.hpp"
#include "t/unit/draws.hpp"

using namespace weir;
using namespace weir::cmd;

namespace {

ImportedTree read_below_cluster(const std::string& lines) {
    auto read = read_slurm_accounts("Cluster - 'tux':Fairshare=1\n" + lines, "tux.cfg");
    INFO((read ? "" : read.error().message));
    REQUIRE(read);
    return *std::move(read);
}

std::string toml_below_cluster(const std::string& lines) {
    return write_share_tree(read_below_cluster(lines).tree);
}

/// Of a text that is refused.
std::string message_of(const std::string& text) {
    const auto read = read_slurm_accounts(text, "tux.cfg");
    return read ? "it is accepted" : read.error().message;
}

std::string message_below_cluster(const std::string& lines) {
    return message_of("Cluster - 'tux'\n" + lines);
}

}  // namespace

TEST_CASE("slurm: accounts are nodes, associations users' lines, and the user root is beside the uppermost accounts") {
    const ImportedTree read = read_below_cluster(
        "Parent - 'root'\n"
        "User - 'root':DefaultAccount='root':Fairshare=1\n"
        "Account - 'science':Description='all : of = it':Organization='uni':Fairshare=70\n"
        "Parent - 'science'\n"
        "Account - 'physics':Description='physics':FAIRSHARE=3\n"
        "Account - 'pool':FairShare=parent\n"
        "Parent - 'physics'\n"
        "User - 'alice':DefaultAccount='physics':Fairshare=10\n"
        "User - 'bob':DefaultAccount='physics':Fairshare=2147483647\n"
        "User - 'carol':Partition='debug':DefaultAccount='physics'\n"
        "User - 'carol':Partition='batch':DefaultAccount='physics'\n");
    CHECK(write_share_tree(read.tree) ==
          "\"@root\" = 1\n\"science\" = 70\n\"science/physics\" = 3\n\"science/physics/@alice\" = 10\n"
          "\"science/physics/@bob\" = \"parent\"\n\"science/physics/@carol:debug\" = 1\n"
          "\"science/physics/@carol:batch\" = 1\n\"science/pool\" = \"parent\"\n");
    CHECK(read.left_out.empty());
    CHECK(read.tree.norm_shares(*read.tree.find("@root")) == 1.0 / 71);
}

TEST_CASE("slurm: a user in several accounts is charged to his default account, in whatever order they are") {
    const std::string accounts = "Account - 'a':Fairshare=1\nAccount - 'B':Fairshare=1\n";
    const auto users = [&](const std::string& in_b, const std::string& in_a) {
        return toml_below_cluster(accounts + "Parent - 'b'\nUser - 'al'" + in_b + "\nParent - 'A'\nUser - 'al'" + in_a +
                                  "\n");
    };
    const std::string is_a = "\"a\" = 1\n\"a/@al\" = { shares = 1, default = true }\n\"b\" = 1\n\"b/@al\" = 1\n";
    const std::string is_b = "\"a\" = 1\n\"a/@al\" = 1\n\"b\" = 1\n\"b/@al\" = { shares = 1, default = true }\n";
    CHECK(users(":DefaultAccount='a'", ":DefaultAccount='a'") == is_a);
    CHECK(users("", ":DefaultAccount='A'") == is_a);
    CHECK(users(":DefaultAccount='b'", "") == is_b);
    CHECK(users("", "") == is_b);  // the first line of the file, as for sacctmgr load
    CHECK(users(":DefaultAccount='b'", ":DefaultAccount='a'") == is_a);
    const ImportedTree read =
        read_below_cluster(accounts +
                           "Parent - 'a'\nUser - 'al':DefaultAccount='b'\nUser - 'bo':DefaultAccount='a'\nUser - 'cy':"
                           "DefaultAccount='b'\nParent - 'b'\nUser - 'bo':DefaultAccount='b'\n");
    CHECK(read.left_out ==
          std::vector<std::string>{"tux.cfg:5: DefaultAccount='b' of user al: he has no line in that account",
                                   "tux.cfg:6: DefaultAccount='a' of user bo: line 9 has another one, which holds",
                                   "tux.cfg:7: DefaultAccount='b' of user cy: he has no line in that account"});
}

TEST_CASE("slurm: limits of groups are limits of nodes, and the smaller of a user's limits holds") {
    const ImportedTree read = read_below_cluster(
        "Account - 'a':Fairshare=1:GrpTRES=cpu=64,node=4,gres/gpu:a100=8:GrpJobs=10:GrpSubmitJobs=-1:MaxJobs=\n"
        "Parent - 'a'\nUser - 'al':GrpJobs=3:MaxJobs=5:GrpSubmitJobs=20:MaxSubmitJobs=7:GrpCPUs=9\n");
    CHECK(write_share_tree(read.tree) ==
          "\"a\" = { shares = 1, running_jobs_max = 10, cores_max = 64 }\n"
          "\"a/@al\" = { shares = 1, running_jobs_max = 3, active_jobs_max = 7, cores_max = 9 }\n");
    CHECK(read.left_out == std::vector<std::string>{
                               "tux.cfg:2: GrpTRES=node=4 of account a: nodes_max is near, but counts a node once for "
                               "each job on it",
                               "tux.cfg:2: GrpTRES=gres/gpu:a100=8 of account a"});
}

// Mutant: cmd/accounting/slurm_accounts.cpp: const auto own = read->own.values[kind] ? => const auto own = true ?
TEST_CASE("slurm: a limit of each association is on each user's line, from the nearest account that has one") {
    const auto read = read_slurm_accounts(
        "Cluster - 'tux':MaxSubmitJobs=50:MaxWallDurationPerJob=120:GrpJobs=900:GrpTRES=cpu=4000\n"
        "Account - 'a':MaxJobs=4\nAccount - 'idle':MaxWall=5\n"
        "Parent - 'a'\nAccount - 'b':MaxJobs=-1:MaxSubmitJobs=9\nUser - 'al':MaxJobs=6\n"
        "Parent - 'b'\nUser - 'bo':MaxWall=2880\n",
        "tux.cfg");
    REQUIRE(read);
    CHECK(write_share_tree(read->tree) ==
          "\"a\" = 1\n\"a/b\" = 1\n"
          "\"a/b/@bo\" = { shares = 1, running_jobs_max = 4, active_jobs_max = 9, wall_time_max = \"2d\" }\n"
          "\"a/@al\" = { shares = 1, running_jobs_max = 6, active_jobs_max = 50, wall_time_max = \"2h\" }\n"
          "\"idle\" = 1\n");
    CHECK(read->left_out ==
          std::vector<std::string>{"tux.cfg:1: GrpJobs=900 of cluster tux: the root of a share tree has no limits",
                                   "tux.cfg:1: GrpTRES=cpu=4000 of cluster tux: the root of a share tree has no limits",
                                   "tux.cfg:3: MaxWall=5 of account idle: no user there inherits it"});
}

TEST_CASE("slurm: what a share tree has no place for is named by file and line, equal settings once") {
    const auto read = read_slurm_accounts(
        "QOS - 'normal':Priority=10\nCluster - 'tux':QOS='normal'\nParent - 'root':FairShare=2\n"
        "Account - 'a':Description='x':Organization='y':Partition='p':GrpTRESMins=cpu=600:MaxTRESPerJob=node=2\n"
        "Parent - 'a'\nUser - 'al':Coordinator='a,b':QOS='+fast,-slow':NewKey=3\n"
        "User - 'bo':QOS='+fast,-slow'\nUser - 'cy':QOS='+fast,-slow':AdminLevel='Operator'\n",
        "tux.cfg");
    REQUIRE(read);
    CHECK(read->left_out ==
          std::vector<std::string>{
              "tux.cfg:1: the QOS normal", "tux.cfg:2: QOS='normal' of cluster tux",
              "tux.cfg:3: FairShare=2 of parent root: a Parent line has no settings",
              "tux.cfg:4: Partition='p' of account a",
              "tux.cfg:4: GrpTRESMins=cpu=600 of account a: usage_max is near, but ends no running job",
              "tux.cfg:4: MaxTRESPerJob=node=2 of account a: a share tree has no limit on the size of one job",
              "tux.cfg:6: Coordinator='a,b' of user al in a",
              "tux.cfg:6: QOS='+fast,-slow' of user al in a, and 2 "
              "times more",
              "tux.cfg:6: NewKey=3 of user al in a", "tux.cfg:8: AdminLevel='Operator' of user cy in a"});
}

TEST_CASE("slurm: line ends, quotes, comments, titles and names are read as Slurm writes them, of any age") {
    CHECK(toml_below_cluster("# a comment: with 'one quote\r\n\r\n \t\r\n  account - \"A-1.x\" : Fairshare = 2\r\n") ==
          "\"a-1.x\" = 1\n");
    CHECK(toml_below_cluster("Account - a:Fairshare=2 # two\nParent - a # here\nUser - Al:Fairshare=3:") ==
          "\"a\" = 2\n\"a/@Al\" = 3\n");
    CHECK(toml_below_cluster("Account - 'a':Description='O'Neill's #1: 'best':Fairshare='4'::Organization='' # x\n") ==
          "\"a\" = 4\n");
    CHECK(toml_below_cluster("Account - 'a':GrpTRES=gres/gpu:a100=2,cpu=3:FairShare=5") ==
          "\"a\" = { shares = 5, cores_max = 3 }\n");
    const auto marked = read_slurm_accounts(
        "\xEF\xBB\xBF"
        "CLUSTER - x",
        "tux.cfg");
    REQUIRE(marked);
    CHECK(marked->tree.size() == 1);
}

TEST_CASE("slurm: a file that is no dump is refused by file, line and value") {
    const std::string form = "; a line is: Title - 'name':Key=Value:...";
    CHECK(message_of("") == "tux.cfg: there is no Cluster line; write the file with: sacctmgr dump CLUSTER file=FILE");
    CHECK(message_of("\nUser='al'\n") == "tux.cfg:2: there is no \" - \" in \"User='al'\"" + form);
    CHECK(message_of("Cluster - \n") == "tux.cfg:1: the line has no name" + form);
    CHECK(message_of("Cluster - '':FairShare=1\n") == "tux.cfg:1: the line has no name" + form);
    CHECK(message_of("Machine - 'x'\n") ==
          "tux.cfg:1: the title \"Machine\" is unknown; a line begins with QOS, Cluster, Parent, Account or User");
    CHECK(message_of(" - 'x'\n").find("the title \"\" is unknown") != std::string::npos);
    CHECK(message_of("Cluster - 'tux\n") ==
          "tux.cfg:1: the quote before \"tux\" is not closed; write ' behind the value");
    CHECK(message_below_cluster("Account - 'a':Description=\"x':FairShare=1\n") ==
          "tux.cfg:2: the quote before \"x':FairShare=1\" is not closed; write \" behind the value");
    CHECK(message_below_cluster("Account - 'a':FairShare\n") ==
          "tux.cfg:2: \"FairShare\" has no value; write Key=Value");
    CHECK(message_below_cluster("Account - 'a':Description='" + std::string(dump_line_max, 'x') + "'\n") ==
          "tux.cfg:2: the line has 65564 bytes; a line has at most 65536");
    CHECK(message_of("Cluster - 'a'\n#\nCluster - 'b'\n") ==
          "tux.cfg:3: a second Cluster line, after line 1; a dump is of one cluster: import each alone");
}

TEST_CASE("slurm: values that are none are refused with what would be right") {
    const std::string shares = " is wrong: give a whole number from 0 to 2147483647, or parent";
    for (const std::string value : {"-3", "-1", "2147483648", "1.5", "'x'", "0x3"}) {
        CHECK(message_below_cluster("Account - 'a':Fairshare=" + value + "\n") ==
              "tux.cfg:2: \"Fairshare=" + value + "\"" + shares);
    }
    const std::string number = " is wrong: give a whole number from 0 to 4294967295, or -1 for no limit";
    CHECK(message_below_cluster("Account - 'a':MaxJobs=4294967296\n") == "tux.cfg:2: \"MaxJobs=4294967296\"" + number);
    CHECK(message_below_cluster("Account - 'a':GrpTRES=mem=5,cpu=-2\n") == "tux.cfg:2: \"GrpTRES=cpu=-2\"" + number);
    CHECK(message_below_cluster("Account - 'a':MaxWall='1:00:00'\n") ==
          "tux.cfg:2: \"MaxWall='1:00:00'\" is wrong: give whole minutes, as sacctmgr dump does");
    CHECK(message_below_cluster("Account - 'a':GrpTRES=50\n") ==
          "tux.cfg:2: \"GrpTRES=50\" is wrong: write resources as cpu=64,mem=100G");
    CHECK(message_of("Cluster - 'tux':FairShare=much\n") == "tux.cfg:1: \"FairShare=much\"" + shares);
}

TEST_CASE("slurm: what makes no share tree is refused by file and line") {
    CHECK(message_of("Account - 'early'\nCluster - 'tux'\n") ==
          "tux.cfg:1: there is no Cluster line above \"early\"; begin with: Cluster - 'name'");
    CHECK(message_of("Parent - 'root'\n").find("tux.cfg:1: there is no Cluster line above \"root\"") == 0);
    CHECK(message_of("User - 'al'\n").find("tux.cfg:1: there is no Cluster line above \"al\"") == 0);
    CHECK(message_below_cluster("Parent - 'ghost'\n") ==
          "tux.cfg:2: there is no account \"ghost\" above this line; an Account line comes before its Parent line");
    CHECK(message_below_cluster("Account - 'a'\nParent - 'a'\nAccount - 'b'\nParent - 'b'\nAccount - 'a'\n") ==
          "tux.cfg:6: the account \"a\" would be below itself; correct the Parent line above");
    CHECK(message_below_cluster("Account - 'a'\nAccount - 'b'\nParent - 'b'\nAccount - 'A'\n") ==
          "tux.cfg:5: the account \"a\" is on line 2, too; a cluster has a name once: rename or remove one of the two");
    CHECK(message_below_cluster("Account - 'root'\n").find("tux.cfg:2: the account \"root\" is on line 1, too") == 0);
    CHECK(message_below_cluster("Account - 'a'\nParent - 'a'\nUser - 'al'\nUser - 'al':Partition='p'\nUser - 'al'\n") ==
          "tux.cfg:6:1: duplicate \"a/@al\"; first on line 4; keep one of the two");
    CHECK(message_below_cluster("Account - 'a b'\n") ==
          "tux.cfg:2: \"a b\" is no name of an account here: component \"a b\" contains a character that names cannot "
          "have: space");
    CHECK(message_below_cluster("Account - 'qos:x'\n") ==
          "tux.cfg:2: \"qos:x\" is no name of an account here: it begins as a line of another kind does");
    CHECK(message_below_cluster("User - 'al:x'\n").find("tux.cfg:2: \"al:x\" is no name of a user here: ") == 0);
    CHECK(message_below_cluster("User - '*'\n").find("tux.cfg:2: \"*\" is no name of a user here: ") == 0);
    CHECK(message_below_cluster("User - 'al':Partition='a,b'\n")
              .find("tux.cfg:2: \"a,b\" is no name of a partition "
                    "here: ") == 0);
    const std::string encoding = ": it is not in UTF-8";
    for (const std::string bad : {"\x9a", "\xc3", "\xc0\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xe2\x82z"}) {
        CHECK(message_below_cluster("Account - 'a" + bad + "'\n").find("is no name of an account here" + encoding) !=
              std::string::npos);
        CHECK(message_below_cluster("User - 'a" + bad + "'\n").find("is no name of a user here" + encoding) !=
              std::string::npos);
        CHECK(message_below_cluster("User - 'a':Partition='p" + bad + "'\n")
                  .find("is no name of a partition here" + encoding) != std::string::npos);
    }
    CHECK(toml_below_cluster("Account - 'z\xc3\xbcrich':Description='Z\xfcrich'\n") == "\"z\xc3\xbcrich\" = 1\n");
    std::string deep;
    for (int i = 0; i <= 64; ++i) {
        deep += "Account - 'a" + std::to_string(i) + "'\nParent - 'a" + std::to_string(i) + "'\n";
    }
    CHECK(message_below_cluster(deep) == "tux.cfg:130: more than 63 accounts stand above \"a64\"; flatten the tree");
}

// Mutant: cmd/accounting/slurm_accounts.cpp: account.path += (account.path.empty() ? "" : "/") + name; => account.path
// = name;
TEST_CASE("slurm: a tree written as a dump comes back equal") {
    draw::property("any tree of accounts and users", [] {
        struct Made {
            std::string name;
            std::string path;
            std::string lines;  // of the dump, below its Parent line
        };
        std::vector<Made> accounts{{"root", "", ""}};
        std::string toml;
        std::string users_toml;
        const auto shares = [] { return draw::in_range<std::int64_t>(0, 2147483647); };
        for (int i = draw::in_range(0, 12); i > 0; --i) {
            Made& above = accounts[draw::in_range<std::size_t>(0, accounts.size())];
            const bool is_parent = draw::in_range(0, 5) == 0;
            const std::string value = std::to_string(shares());
            const int cores = draw::in_range(-1, 1000);
            const std::string name = "Acc" + std::to_string(i);
            const std::string path = (above.path.empty() ? "" : above.path + "/") + "acc" + std::to_string(i);
            above.lines += "Account - '" + name + "':Description='it's: " + name +
                           "':Fairshare=" + (is_parent ? "parent" : value) + ":GrpTRES=cpu=" + std::to_string(cores) +
                           "\n";
            toml += "\"" + path + "\" = { shares = " + (is_parent ? "\"parent\"" : value) +
                    (cores < 0 ? "" : ", cores_max = " + std::to_string(cores)) + " }\n";
            accounts.push_back({name, path, ""});
        }
        for (const std::string user : {"al", "bo", "cy"}) {
            std::vector<std::size_t> in;
            for (std::size_t i = 0; i < accounts.size(); ++i) {
                if (draw::in_range(0, 3) == 0) {
                    in.push_back(i);
                }
            }
            const std::size_t by_default = in.empty() ? 0 : in[draw::in_range<std::size_t>(0, in.size())];
            for (const std::size_t i : in) {
                const std::string value = std::to_string(shares());
                accounts[i].lines += "User - '" + user + "':DefaultAccount='" + accounts[by_default].name +
                                     "':Fairshare=" + value + ":MaxJobs=" + std::to_string(i) + "\n";
                users_toml += "\"" + accounts[i].path + (i == 0 ? "" : "/") + "@" + user + "\" = { shares = " + value +
                              (in.size() > 1 && i == by_default ? ", default = true" : "") +
                              ", running_jobs_max = " + std::to_string(i) + " }\n";
            }
        }
        std::string dump = "Cluster - 'tux':Fairshare=1\n";
        for (const Made& account : accounts) {
            dump += account.lines.empty() ? "" : "Parent - '" + account.name + "'\n" + account.lines;
        }
        const auto wanted = parse_share_tree(toml + users_toml);
        RC_ASSERT(std::holds_alternative<ShareTree>(wanted));
        const auto read = read_slurm_accounts(dump, "tux.cfg");
        RC_ASSERT(static_cast<bool>(read));
        RC_ASSERT(read->left_out.empty());
        const auto lines_of = [](const ShareTree& tree) {
            std::vector<std::string> lines;
            const std::string all = write_share_tree(tree);
            for (std::size_t at = 0, end = 0; at < all.size(); at = end + 1) {
                end = all.find('\n', at);
                lines.push_back(all.substr(at, end - at));
            }
            std::sort(lines.begin(), lines.end());
            return lines;
        };
        RC_ASSERT(lines_of(read->tree) == lines_of(std::get<ShareTree>(wanted)));
    });
}
