// SPDX-License-Identifier: LGPL-3.0-only
#include "broker/core/pmi_exchange.hpp"

#include <catch2/catch.hpp>

using weir::broker::PmiExchange;

namespace {

std::string one(PmiExchange& exchange, int task, const std::string& line) {
    const auto answers = exchange.take(task, line);
    REQUIRE(answers.size() == 1);
    CHECK(answers[0].task == task);
    return answers[0].line;
}

}  // namespace

TEST_CASE("pmi: a task learns its key space, size and level") {
    PmiExchange exchange(2, "f9", 3);
    CHECK(one(exchange, 0, "cmd=init pmi_version=1 pmi_subversion=1").find(" rc=0 ") != std::string::npos);
    CHECK(one(exchange, 0, "cmd=init pmi_version=2 pmi_subversion=0") == "cmd=response_to_init rc=-1\n");
    CHECK(one(exchange, 1, "cmd=get_my_kvsname") == "cmd=my_kvsname rc=0 kvsname=f9\n");
    CHECK(one(exchange, 1, "cmd=get_universe_size") == "cmd=universe_size rc=0 size=2\n");
    CHECK(one(exchange, 1, "cmd=get kvsname=f9 key=flux.instance-level") == "cmd=get_result rc=0 value=3\n");
}

TEST_CASE("pmi: what one task puts another gets, spaces and all, once both were at the barrier") {
    PmiExchange exchange(2, "f9", 1);
    CHECK(one(exchange, 0, "cmd=put kvsname=f9 key=a value=b c=d") == "cmd=put_result rc=0\n");
    CHECK(exchange.take(0, "cmd=barrier_in").empty());
    CHECK(exchange.take(0, "cmd=barrier_in").empty());  // the same task twice is one task
    CHECK(exchange.take(1, "cmd=barrier_in").size() == 2);
    CHECK(exchange.take(1, "cmd=barrier_in").empty());  // the next barrier
    CHECK(one(exchange, 1, "cmd=get kvsname=f9 key=a") == "cmd=get_result rc=0 value=b c=d\n");
}

TEST_CASE("pmi: bad lines are refused or have no answer") {
    PmiExchange exchange(1, "f9", 1);
    CHECK(one(exchange, 0, "cmd=get kvsname=f9 key=none") == "cmd=get_result rc=-1\n");
    CHECK(one(exchange, 0, "cmd=put kvsname=other key=a value=b") == "cmd=put_result rc=-1\n");
    CHECK(one(exchange, 0, "cmd=put kvsname=f9 key=" + std::string(65, 'k') + " value=b") == "cmd=put_result rc=-1\n");
    CHECK(one(exchange, 0, "cmd=put kvsname=f9 key=a value=" + std::string(1025, 'v')) == "cmd=put_result rc=-1\n");
    CHECK(exchange.take(0, "").empty());
    CHECK(exchange.take(0, "nonsense").empty());
    CHECK(exchange.take(0, "cmd=spawn").empty());
}
