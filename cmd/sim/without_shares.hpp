// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the jobs of a log whose users are not in a share tree, and how people and programs are told of them. Must not
// know replays.
#pragma once
#include <cstdint>
#include <string>
#include <utility>

#include "libfairshare/base/json/json.hpp"
#include "libfairshare/base/result.hpp"
#include "libsched/sim/log_shares.hpp"

namespace weir::cmd {

struct WithoutShares {
    std::uint64_t jobs = 0;  ///< of users who are not in the tree
    std::uint64_t of = 0;    ///< jobs that were looked at
    std::string first_user;  ///< as the tree would name him; empty: all are in it
};

/// Looks at the jobs of a log one by one.
class WithoutSharesCount {
  public:
    explicit WithoutSharesCount(LogShares shares) : shares_(std::move(shares)) {}
    void add(const SimJob& job);
    const WithoutShares& count() const { return count_; }

  private:
    LogShares shares_;
    WithoutShares count_;
};

/// "2 of 486 jobs are of users who are not in sh.toml, first u12: ..."; empty where there are none.
std::string without_shares_text(const WithoutShares& found, const std::string& tree);
/// Error: no job is of a user in the tree, so that shares decide and measure nothing.
Status some_have_shares(const WithoutShares& found, const std::string& tree);
/// Members "without_shares" and "first_without_shares"; the latter is null where there are none.
void add_without_shares(Json& out, const WithoutShares& found);

}  // namespace weir::cmd
