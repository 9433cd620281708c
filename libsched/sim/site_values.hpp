// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the values that a site's own script set for the jobs of a log. Must not know how they are used.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "libfairshare/base/result.hpp"

namespace weir {

class SiteValues {
  public:
    /// One job on each line: its number in the log, a comma or white space, its value; '#' begins a comment. `name` is
    /// used in errors: "NAME:LINE: ..." for a malformed line, a value that is not finite, a job named twice. O(text).
    static Result<SiteValues> read(std::string_view text, const std::string& name);
    /// 0 for a job that has none.
    double of(std::int64_t job) const {
        const auto found = values_.find(job);
        return found == values_.end() ? 0. : found->second;
    }
    std::size_t size() const { return values_.size(); }

  private:
    std::unordered_map<std::int64_t, double> values_;
};
using SiteValuesPtr = std::shared_ptr<const SiteValues>;

}  // namespace weir
