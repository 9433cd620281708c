// SPDX-License-Identifier: LGPL-3.0-only
// Owns: which nodes are drained, since when and why. Must not know messages or files.
// Source: flux-resource(1) drain, undrain; flux-core's resource module for modes and refusals.
#pragma once
#include <map>
#include <optional>
#include <string>

#include "libfairshare/base/id_set.hpp"
#include "libfairshare/base/json/json.hpp"
#include "libfairshare/base/result.hpp"

namespace weir::broker {

class Drains {
  public:
    /// What happens to nodes that are drained already: `fresh` and `update` give a reason to those without one, and
    /// `fresh` refuses all if one has a reason; `overwrite` replaces the reason, `force` the time, too.
    enum class Mode { fresh, update, overwrite, force };
    /// Of a request; none is `fresh`. Nothing: the text names no mode.
    static std::optional<Mode> mode_of(const std::optional<std::string>& text);

    /// Error: EEXIST that names the ranks which have a reason, in mode fresh; nothing has changed.
    Status check_drain(const IdSet& ranks, Mode mode) const;
    void drain(const IdSet& ranks, const std::optional<std::string>& reason, double time_s, Mode mode);
    /// Error: EEXIST that names the ranks which are not drained, in mode fresh; nothing has changed.
    Status check_undrain(const IdSet& ranks, Mode mode) const;
    void undrain(const IdSet& ranks);

    const IdSet& ranks() const { return ranks_; }
    /// {"0-1": {"timestamp": 1700000000.5, "reason": "fan"}}: ranks with the same values share an entry.
    Json to_json() const;

  private:
    struct Drain {
        double time_s = 0;
        std::optional<std::string> reason;  ///< an empty one is one
        friend bool operator==(const Drain&, const Drain&) = default;
    };
    std::map<std::uint32_t, Drain> drains_;
    IdSet ranks_;
};

}  // namespace weir::broker
