// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the values that a site's own script gave the jobs of a log. Must not know what they count.
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
    /// A job a line: its number in the log, a comma or white space, its value; '#' begins a comment. `name` is the
    /// text's in errors: "NAME:LINE: ..." for a line that is none, a value that is not finite, a job named twice.
    /// O(text).
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
