// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see usage_events.hpp.
#include "cmd/serve/usage_events.hpp"

#include "cmd/common/text.hpp"
#include "cmd/report/svg.hpp"
#include "cmd/serve/event_text.hpp"
#include "libfairshare/base/json/text_writer.hpp"

namespace weir::cmd {
namespace {

/// Rows that have a line, and its points: together at most about 40 kB.
constexpr std::size_t past_rows_max = 150, past_points = 28;
constexpr std::size_t forgetting_rows_max = 40;

}  // namespace

std::string forgetting_part(const InstanceFacts& facts) {
    for (const DrawnPicture& picture : pictures_of(facts, forgetting_rows_max)) {
        if (picture.name == "forgetting") {
            return "<p>" + escaped(picture.caption) + "</p>" + picture.svg;
        }
    }
    return "";
}

std::string past_event(const InstanceFacts& facts) {
    UsageInputs inputs{{}, facts.all_core_s, facts.charges, facts.decay.half_life_s, facts.known_since_s};
    const auto places = most_telling(facts.rows, past_rows_max);
    for (const std::size_t place : places) {
        const ShareRow& row = facts.rows[place];
        inputs.nodes.push_back({row.path, row.entitled, row.usage_core_s});
    }
    const UsageLines lines(std::move(inputs));
    ObjectText by_path;
    for (std::size_t i = 0; i < places.size() && lines.since_s() < 0; ++i) {
        ArrayText line;
        for (const auto& [at, used] : lines.past(i, past_points)) {
            line.splice(fixed(used, 4));
        }
        by_path.splice(facts.rows[places[i]].path, line.text());
    }
    return event_text("past",
                      ObjectText().splice("since_s", exact(lines.since_s())).splice("lines", by_path.text()).text());
}

}  // namespace weir::cmd
