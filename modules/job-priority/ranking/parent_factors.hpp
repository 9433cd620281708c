// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the fair-share factors that the parent instance sent, and which of them is a job's.
// Must not know: how they were computed or how they arrived.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace weir::priority {

/// One association's factor as it goes down the hierarchy.
struct FactorRow {
    std::optional<std::uint32_t> userid;  ///< empty: the name is no user here, or "*"
    std::string user;                     ///< "*": users who join by the account's `@*` line
    std::string account;                  ///< full path
    double factor = 0;                    ///< [0, 1]
    bool is_default = false;              ///< the account of this user's jobs that name none
};

class ParentFactors {
  public:
    /// \param is_complete  rows that are not there any more are forgotten (their factor becomes 0)
    void take(const std::vector<FactorRow>& rows, bool is_complete);

    /// The index of the factor for a job; 0, whose factor is 0, if the parent sent none.
    /// \param account  as the job names it: full path, last component, or empty for the default
    std::uint32_t index(std::uint32_t userid, const std::string& user, const std::string& account) const;

    /// By index.
    std::span<const double> factors() const { return factors_; }
    bool is_empty() const { return factors_.size() <= 1; }
    /// Increases whenever index() may find another index. More than 0.
    std::uint64_t version() const { return factors_.size(); }

  private:
    struct Names {
        std::string_view user;     ///< decimal id where known, else name
        std::string_view account;  ///< "": default
    };
    struct Key {
        explicit Key(const Names& names) : user(names.user), account(names.account) {}
        operator Names() const { return {user, account}; }
        std::string user, account;
    };
    struct Hash {
        using is_transparent = void;
        std::size_t operator()(const Names& names) const {
            const std::hash<std::string_view> hash;
            return hash(names.user) * 0x9e3779b97f4a7c15 + hash(names.account);
        }
    };
    struct Equal {
        using is_transparent = void;
        bool operator()(const Names& a, const Names& b) const { return a.user == b.user && a.account == b.account; }
    };
    std::uint32_t index_for(const Names& names);

    std::unordered_map<Key, std::uint32_t, Hash, Equal> index_;
    std::vector<double> factors_{0.};
};

}  // namespace weir::priority
