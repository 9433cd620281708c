// SPDX-License-Identifier: LGPL-3.0-only
// Owns: how usage decays, in the words of a person. Pure. Must not know how usage is computed.
#pragma once
#include <cstdint>
#include <string>

struct json_t;

namespace weir::cmd {

struct UsageDecay {
    double half_life_s = 0;      ///< 0: usage does not decay so
    double interval_s = 0;       ///< of a window; 0: there is none
    std::int64_t intervals = 0;  ///< of the window
    double factor = 1;           ///< of each interval, to the one after it
    std::string reset = {};      ///< when usage is reset as well: "daily at midnight"; empty: it is not
    bool has_history = false;    ///< the order goes by LSF's history, which decays by itself

    bool is_window() const { return interval_s > 0; }
};

/// Of an answer of job-priority.usage or job-priority.weights.
UsageDecay usage_decay_of(const json_t* answer);

/// "half-life 16d", "window 7 x 1d", "no decay, reset daily at midnight", "LSF's history".
std::string decay_words(const UsageDecay& decay);
/// "usage decays: half of it is left after 16d".
std::string decay_clause(const UsageDecay& decay);
/// "After 16 days half of the usage is forgotten.", for the caption of a picture.
std::string decay_sentence(const UsageDecay& decay);

}  // namespace weir::cmd
