// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the skipped parts of a log: the number of each kind, and the first of each. Must not know logs.
#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace weir {

class Skipped {
  public:
    struct Kind {
        std::string why;  ///< "larger than the machine"
        std::uint64_t count = 0;
        std::string first;  ///< its position and text
    };
    /// There are few kinds: `why` holds no values of the log. O(kinds).
    void add(const std::string& why, std::string what) {
        for (Kind& kind : kinds_) {
            if (kind.why == why) {
                ++kind.count;
                return;
            }
        }
        kinds_.push_back({why, 1, std::move(what)});
    }
    void add(const Skipped& more) {
        for (const Kind& kind : more.kinds_) {
            add(kind.why, kind.first);
            for (Kind& own : kinds_) {
                own.count += own.why == kind.why ? kind.count - 1 : 0;
            }
        }
    }
    /// In the order of their first.
    const std::vector<Kind>& kinds() const { return kinds_; }
    std::uint64_t total() const {
        std::uint64_t sum = 0;
        for (const Kind& kind : kinds_) {
            sum += kind.count;
        }
        return sum;
    }

  private:
    std::vector<Kind> kinds_;
};

}  // namespace weir
