// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the words around the pictures of an instance.
#include "cmd/pictures/instance_report.hpp"

#include <algorithm>
#include <cmath>

#include "cmd/common/text.hpp"
#include "cmd/pictures/forgetting.hpp"
#include "cmd/report/page.hpp"
#include "cmd/report/svg.hpp"

namespace weir::cmd {
namespace {

constexpr std::size_t row_points = 28, group_points = 56;

/// The groups with the greatest shares or usage: the tops of the tree.
std::vector<std::size_t> groups_of(const std::vector<ShareRow>& rows) {
    std::vector<std::size_t> groups;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        if (rows[i].path.find('/') == std::string::npos) {
            groups.push_back(i);
        }
    }
    std::stable_sort(groups.begin(), groups.end(), [&](std::size_t a, std::size_t b) {
        return std::max(rows[a].used, rows[a].entitled) > std::max(rows[b].used, rows[b].entitled);
    });
    groups.resize(std::min(groups.size(), groups_max));
    return groups;
}

/// The shown rows and the lines of their usage.
struct ShownRows {
    std::vector<ShareRow> rows;
    std::vector<GroupLine> groups;
    double since_s = 0;
};

/// With a window the usage of each interval would have to be known.
bool has_forecast(const InstanceFacts& facts) {
    return facts.all_core_s > 0 && !facts.decay.is_window();
}

ShownRows shown_of(const InstanceFacts& facts, std::size_t most_rows) {
    ShownRows shown;
    for (const std::size_t place : most_telling(facts.rows, std::max(most_rows, groups_max))) {
        shown.rows.push_back(facts.rows[place]);
    }
    UsageInputs inputs{{}, facts.all_core_s, facts.charges, facts.decay.half_life_s, facts.known_since_s};
    for (const ShareRow& row : shown.rows) {
        inputs.nodes.push_back({row.path, row.entitled, row.usage_core_s});
    }
    const UsageLines lines(std::move(inputs));
    const auto groups = groups_of(shown.rows);
    const auto ahead = lines.ahead(groups, group_points / 2);
    for (std::size_t i = 0; i < groups.size(); ++i) {
        const ShareRow& row = shown.rows[groups[i]];
        shown.groups.push_back({row.path, row.entitled, row.used, lines.past(groups[i], group_points),
                                has_forecast(facts) ? ahead[i] : UsageLine{}});
    }
    for (std::size_t i = 0; i < shown.rows.size(); ++i) {
        shown.rows[i].past = lines.past(i, row_points);
    }
    shown.since_s = lines.since_s();
    return shown;
}

std::string tree_caption(const InstanceFacts& facts, const ShownRows& shown) {
    std::string text =
        "Bar: decayed usage. Tick: entitlement. A bar beyond its tick, of the other colour, is above its share.";
    if (shown.since_s < 0) {
        text += " Small line: the usage around the share, which is the thin line; its height is twice the share.";
    }
    const std::size_t left_out = facts.rows.size() - shown.rows.size();
    return text + (left_out > 0 ? " The " + grouped(static_cast<std::int64_t>(shown.rows.size())) +
                                      " largest of the upper levels; " + grouped(static_cast<std::int64_t>(left_out)) +
                                      " more are in weir share show."
                                : "");
}

std::string forgetting_caption(const InstanceFacts& facts, const ShownRows& shown) {
    return decay_sentence(facts.decay) + " Dashed: entitlement." +
           (has_forecast(facts) ? " Dotted: forecast: a group above its share runs nothing from now on, the others "
                                  "keep their pace."
                                : "") +
           (shown.since_s < 0 ? "" : " The past is missing: the ended jobs that are still listed do not tell it.");
}

std::string shares_summary(const ShownRows& shown) {
    std::string text;
    for (const GroupLine& group : shown.groups) {
        text += (text.empty() ? "" : "; ") + group.name + " " + standing_words(group.used, group.entitled);
    }
    return text.empty() ? "The share tree is empty." : text + ".";
}

std::vector<DrawnPicture> drawn_of(const InstanceFacts& facts, const ShownRows& shown) {
    std::vector<DrawnPicture> list;
    list.push_back({"share-tree", "Who is above and who is below his share", tree_caption(facts, shown),
                    share_tree_picture(shown.rows, shown.since_s < 0 ? span_text(shown.since_s) : "")});
    list.push_back(
        {"forgetting", "How usage is forgotten", forgetting_caption(facts, shown), forgetting_picture(shown.groups)});
    if (facts.two_jobs) {
        list.push_back({"two-jobs", "Why one job is ahead of another",
                        "What each part of the priority gives to either job; dashed: what it takes away.",
                        two_jobs_picture(facts.two_jobs->first, facts.two_jobs->second)});
    }
    list.push_back({"queue", "The queue", "Pending jobs in their order; those of the reader are bold and shaded.",
                    queue_picture(facts.queue, facts.pending)});
    list.push_back({"instances", "Instances inside instances",
                    "Boxes are as wide as their cores allow. Bar on top: cores in use.", instances_picture(facts.top)});
    return list;
}

std::string page_with(const InstanceFacts& facts, std::size_t most_rows) {
    const ShownRows shown = shown_of(facts, most_rows);
    Page page(facts.title);
    page.paragraph(facts.subtitle);
    page.paragraph(shares_summary(shown));
    for (const DrawnPicture& picture : drawn_of(facts, shown)) {
        page.figure(picture.heading, picture.caption, picture.svg);
    }
    std::vector<std::vector<std::string>> rows;
    for (const ShareRow& row : shown.rows) {
        rows.push_back({row.path, std::to_string(row.shares), percent(row.entitled), percent(row.used),
                        core_hours(row.usage_core_s)});
    }
    page.table("Numbers of the share tree", {"account", "shares", "entitled", "used", "usage, core-h"}, rows,
               Page::folded);
    return page.str();
}

}  // namespace

std::vector<DrawnPicture> pictures_of(const InstanceFacts& facts, std::size_t most_rows) {
    return drawn_of(facts, shown_of(facts, most_rows));
}

std::string instance_page(const InstanceFacts& facts) {
    std::size_t most_rows = 40;
    std::string page = page_with(facts, most_rows);
    while (page.size() > page_bytes_max && most_rows > groups_max) {
        most_rows = most_rows * 3 / 4;
        page = page_with(facts, most_rows);
    }
    return page;
}

}  // namespace weir::cmd
