// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the priority that a new job of each kind would have now, and which of these must still be sent to the plugin,
// so that a job gets its first value without waiting for an answer. Must not know: how values are sent, how a priority
// is computed.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "libsched/job.hpp"
#include "libsched/priority/factors.hpp"

namespace weir::priority {

/// What is sent to the plugin.
struct FirstValueRows {
    std::vector<std::pair<std::string, std::uint32_t>> rows;  ///< kind, value
    bool is_all = false;                                      ///< the plugin forgets its earlier values
};

class FirstValues {
  public:
    using Compute = std::function<std::uint32_t(const JobInputs&)>;
    /// With more kinds than this all are forgotten, and learned again when they are seen again.
    static constexpr std::size_t kinds_max = 1000;

    /// A new job of this kind was seen; its values are computed from `like`, without any wait.
    void note(const std::string& kind, const JobInputs& like, const Compute& compute);
    /// The inputs of the values changed. O(kinds).
    void renew(const Compute& compute);
    /// No kind has a value any more.
    void clear();

    /// The value that the plugin acknowledged. O(1) expected.
    std::optional<std::uint32_t> known(const std::string& kind) const;

    bool has_work() const { return is_all_ || !dirty_.empty(); }
    /// The next values to send; they are in flight until acknowledge() or fail().
    FirstValueRows take();
    void acknowledge();
    /// The plugin refused them, or was loaded again: everything is sent again.
    void fail();

  private:
    struct Kind {
        JobInputs like;
        std::uint32_t value = 0;
        std::optional<std::uint32_t> acknowledged;
    };

    std::unordered_map<std::string, Kind> kinds_;
    std::vector<std::string> dirty_;  ///< each once
    FirstValueRows out_;
    bool is_all_ = true;  ///< at first the plugin may have those of an earlier life
};

}  // namespace weir::priority
