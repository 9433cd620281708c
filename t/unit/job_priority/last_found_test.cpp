// SPDX-License-Identifier: LGPL-3.0-only
#include <catch2/catch.hpp>

#include <memory>

#include "modules/job-priority/jobs/last_found.hpp"

using namespace weir;
using namespace weir::priority;

namespace {

SharedRequest of_account(const char* account, bool is_instance = false) {
    JobRequest request;
    request.account = account;
    request.is_instance = is_instance;
    return std::make_shared<const JobRequest>(request);
}

}  // namespace

// Mutant: modules/job-priority/jobs/last_found.hpp: a.account == b.account && => true &&
// Mutant: modules/job-priority/jobs/last_found.hpp: last.userid != userid || => false ||
// Mutant: modules/job-priority/jobs/last_found.hpp: == b.is_instance => == a.is_instance
TEST_CASE("last found: what was found holds for the user's next job of the same account, and for no other") {
    LastFound found;
    JobRequest large = *of_account("bio");
    large.cores = 100;
    found.of(1001, of_account("bio")).payer_basis = 7;
    CHECK(found.of(1001, std::make_shared<const JobRequest>(large)).payer_basis == 7);
    CHECK(found.of(1002, of_account("bio")).payer_basis == 0);
    CHECK(found.of(1001, of_account("bio")).payer_basis == 7);
    CHECK(found.of(1001, of_account("bio", true)).payer_basis == 0);
    found.of(1001, of_account("bio")).payer_basis = 8;
    CHECK(found.of(1001, of_account("phys")).payer_basis == 0);
    for (std::uint32_t userid = 0; userid < 200; ++userid) {
        CHECK(found.of(userid, of_account("phys")).payer_basis == 0);
        found.of(userid, of_account("phys")).payer_basis = userid;
    }
}
