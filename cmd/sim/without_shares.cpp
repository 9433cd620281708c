// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see without_shares.hpp.
#include "cmd/sim/without_shares.hpp"

#include "cmd/common/text.hpp"

namespace weir::cmd {
namespace {

constexpr const char* where_names_are = "[weir.users] gives the log's numbers names";

}  // namespace

void WithoutSharesCount::add(const SimJob& job) {
    count_.of++;
    if (shares_.leaf(shares_.party(job)) != unassociated) {
        return;
    }
    if (count_.jobs++ == 0) {
        count_.first_user = shares_.user_name(job.user);
    }
}

std::string without_shares_text(const WithoutShares& found, const std::string& tree) {
    return found.jobs == 0 ? ""
                           : grouped(static_cast<std::int64_t>(found.jobs)) + " of " +
                                 grouped(static_cast<std::int64_t>(found.of)) + " jobs are of users who are not in " +
                                 tree + ", first " + found.first_user + ": they have no shares; " + where_names_are;
}

Status some_have_shares(const WithoutShares& found, const std::string& tree) {
    if (found.jobs == 0 || found.jobs < found.of) {
        return Done{};
    }
    return Error{std::errc::io_error, "no job of this log is of a user who is in " + tree + " (the first is of " +
                                          found.first_user + "), so that there are no figures; " + where_names_are +
                                          "."};
}

void add_without_shares(Json& out, const WithoutShares& found) {
    out.set("without_shares", found.jobs);
    if (found.jobs > 0) {
        out.set("first_without_shares", found.first_user);
    } else {
        out.set("first_without_shares", Json::own(json_null()));
    }
}

}  // namespace weir::cmd
