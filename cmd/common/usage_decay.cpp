// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see usage_decay.hpp.
#include "cmd/common/usage_decay.hpp"

#include "cmd/common/reader.hpp"
#include "cmd/common/text.hpp"
#include "libfairshare/usage/reset.hpp"

namespace weir::cmd {
namespace {

std::string decay_span(double seconds) {
    return duration_text(duration_from_seconds(seconds));
}

/// What counts of a window.
std::string window_text(const UsageDecay& decay) {
    if (decay.factor <= 0) {
        return "the current interval of " + decay_span(decay.interval_s) + " counts";
    }
    return "the last " + std::to_string(decay.intervals) + " intervals of " + decay_span(decay.interval_s) + " count" +
           (decay.factor < 1 ? ", each older one " + fixed(decay.factor, 2) + " times the one after it" : "");
}

}  // namespace

UsageDecay usage_decay_of(const json_t* answer) {
    UsageDecay decay;
    const std::string kind = text_at(answer, "decay", "half-life");
    decay.half_life_s = kind == "half-life" ? number_at(answer, "half_life_s") : 0;
    if (const json_t* window = json_object_get(answer, "window"); kind == "window") {
        decay.interval_s = number_at(window, "interval_s");
        decay.intervals = integer_at(window, "depth");
        decay.factor = number_at(window, "factor", 1);
    }
    const auto period = reset_period_named(text_at(answer, "usage_reset", "none"));
    decay.reset = period && !decay.is_window() ? std::string(time_of(*period)) : "";  // windows are not reset
    decay.has_history = json_is_true(json_object_get(answer, "has_history"));
    return decay;
}

std::string decay_words(const UsageDecay& decay) {
    const std::string reset = decay.reset.empty() ? "" : ", reset " + decay.reset;
    return decay.has_history ? "LSF's history"
           : decay.is_window()
               ? "window " + std::to_string(decay.intervals) + " x " + decay_span(decay.interval_s)
               : (decay.half_life_s > 0 ? "half-life " + decay_span(decay.half_life_s) : "no decay") + reset;
}

std::string decay_clause(const UsageDecay& decay) {
    const std::string clause = decay.is_window() ? "usage decays: " + window_text(decay)
                               : decay.half_life_s > 0
                                   ? "usage decays: half of it is left after " + decay_span(decay.half_life_s)
                                   : "usage does not decay";
    return clause + (decay.reset.empty() ? "" : ", and is reset " + decay.reset) +
           (decay.has_history ? ", but priorities go by LSF's history and not by it" : "");
}

std::string decay_sentence(const UsageDecay& decay) {
    const std::string sentence = decay.is_window() ? "Of the usage " + window_text(decay) + "."
                                 : decay.half_life_s > 0
                                     ? "After " + decay_span(decay.half_life_s) + " half of the usage is forgotten."
                                 : decay.reset.empty() ? "Usage is not forgotten here."
                                                       : "Usage does not decay.";
    return sentence + (decay.reset.empty() ? "" : " It is reset " + decay.reset + ".") +
           (decay.has_history ? " Priorities do not go by it, but by LSF's history." : "");
}

}  // namespace weir::cmd
