// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see usage_events.hpp.
#include "cmd/serve/usage_events.hpp"

#include "cmd/common/text.hpp"
#include "cmd/report/svg.hpp"
#include "cmd/serve/tree_events.hpp"

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
    UsageInputs inputs{{}, facts.all_core_s, facts.charges, facts.half_life_s, facts.known_since_s};
    const auto places = most_telling(facts.rows, past_rows_max);
    for (const std::size_t place : places) {
        const ShareRow& row = facts.rows[place];
        inputs.nodes.push_back({row.path, row.entitled, row.usage_core_s});
    }
    const UsageLines lines(std::move(inputs));
    std::string json = "{\"since_s\":" + exact(lines.since_s()) + ",\"lines\":{";
    for (std::size_t i = 0; i < places.size() && lines.since_s() < 0; ++i) {
        json += (i == 0 ? "" : ",") + json_quoted(facts.rows[places[i]].path) + ":[";
        for (const auto& [at, used] : lines.past(i, past_points)) {
            json += (json.back() == '[' ? "" : ",") + fixed(used, 4);
        }
        json += "]";
    }
    return event_text("past", json + "}}");
}

}  // namespace weir::cmd
