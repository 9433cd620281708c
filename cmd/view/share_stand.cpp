// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see share_stand.hpp.
#include "cmd/view/share_stand.hpp"

#include "cmd/common/reader.hpp"
#include "cmd/common/table.hpp"
#include "libfairshare/base/fsd.hpp"

namespace weir::cmd {

std::string parent_factors_text(const json_t* answer) {
    return json_is_true(json_object_get(answer, "parent_factors"))
               ? "The jobs here take their factors from the parent instance, not from this tree (weir share show "
                 "there).\n"
               : "";
}

namespace {

std::string rank_text(const json_t* stand) {
    return "rank " + std::to_string(integer_at(stand, "rank")) + ", factor " + fixed(number_at(stand, "factor"), 4);
}

/// "3 of 10", or that it has its parent's.
std::string shares_text(const json_t* level) {
    const std::string word = text_at(level, "shares");
    return !word.empty() ? word
                         : std::to_string(integer_at(level, "shares")) + " of " +
                               std::to_string(integer_at(level, "level_shares"));
}

/// The value that siblings are compared by; without usage it is infinite, and an account with `parent` has none.
std::string level_value(const json_t* level, Glyphs glyphs) {
    if (has_number(level, "level_fs")) {
        return fixed(number_at(level, "level_fs"), 4);
    }
    const bool has_none = !text_at(level, "shares").empty() && text_at(level, "kind") != "user";
    return has_none ? "-" : glyphs.unicode ? "∞" : "inf";
}

Table level_table(const char* title, const char* last) {
    return Table({{title},
                  {"shares", Align::right},
                  {"of level", Align::right, 3},
                  {"of all", Align::right, 5},
                  {"usage, core-h", Align::right, 4},
                  {"of level", Align::right},
                  {"of all", Align::right, 6},
                  {"effective", Align::right, 2},
                  {"level value", Align::right},
                  {last, Align::right}});
}

void add_level(Table& table, const json_t* level, const std::string& last, Glyphs glyphs) {
    table.add({text_at(level, "path"), shares_text(level), percent(number_at(level, "norm_shares")),
               percent(number_at(level, "entitled")), core_hours(number_at(level, "usage_core_s")),
               percent(number_at(level, "level_usage")), percent(number_at(level, "norm_usage")),
               percent(number_at(level, "effective_usage")), level_value(level, glyphs), last});
}

/// Where a list of projects holds: "projects: qcd (default), qed".
std::string projects_text(const json_t* answer) {
    std::string text;
    for (const json_t* name : items_at(answer, "projects")) {
        const std::string project = printable(json_is_string(name) ? json_string_value(name) : "");
        text += text.empty() ? "Projects: " + project + " (default)" : ", " + project;
    }
    return text.empty() ? text : text + "\n";
}

/// Notes about the whole answer.
std::string notes(const json_t* answer) {
    return projects_text(answer) + parent_factors_text(answer);
}

std::string newcomer(const json_t* stand) {
    const json_t* is_member = json_object_get(stand, "is_member");
    return json_is_false(is_member) ? " (no job yet: as a member by an @* line)" : "";
}

/// An account has the place of the first of its users.
std::string account_text(const json_t* answer, const Screen& screen) {
    const json_t* first = json_object_get(answer, "first");
    const std::string count = std::to_string(integer_at(answer, "associations_below"));
    std::string text = printable(text_at(answer, "path")) + ": " + count + " of " +
                       std::to_string(integer_at(answer, "associations")) + " associations are below it";
    text += json_is_object(first) ? ", first " + printable(text_at(first, "path")) + " at " + rank_text(first) : "";
    Table table = level_table("level", "ahead");
    for (const json_t* level : items_at(answer, "levels")) {
        add_level(table, level, json_is_object(first) ? std::to_string(integer_at(level, "ahead")) : "", screen.glyphs);
    }
    text += ", by " + text_at(answer, "algorithm") + "\n\n" + table.text(screen);
    Table below = level_table("below it", "rank");
    for (const json_t* level : items_at(answer, "below")) {
        add_level(below, level, has_number(level, "rank") ? std::to_string(integer_at(level, "rank")) : "-",
                  screen.glyphs);
    }
    text += below.empty() ? "" : "\n" + below.text(screen);
    if (json_is_object(first)) {
        text += "\n" + printable(text_at(first, "path")) + ": " + printable(text_at(answer, "reason")) + ".\n";
    }
    return text + notes(answer);
}

}  // namespace

std::string share_explain_text(const json_t* answer, const Screen& screen) {
    if (json_object_get(answer, "below") != nullptr) {
        return account_text(answer, screen);
    }
    std::string text = printable(text_at(answer, "path")) + newcomer(answer) + ": rank " +
                       std::to_string(integer_at(answer, "rank")) + " of " +
                       std::to_string(integer_at(answer, "associations")) + ", factor " +
                       fixed(number_at(answer, "factor"), 4) + " by " + text_at(answer, "algorithm") + "\n\n";
    Table table = level_table("level", "ahead");
    for (const json_t* level : items_at(answer, "levels")) {
        add_level(table, level, std::to_string(integer_at(level, "ahead")), screen.glyphs);
    }
    return text + table.text(screen) + "\n" + printable(text_at(answer, "reason")) + ".\n" + notes(answer);
}

std::string share_after_text(const json_t* answer, const Screen& screen) {
    const std::int64_t cores = integer_at(answer, "cores");
    std::string text = printable(text_at(answer, "path")) + newcomer(answer) + ", before and after a job of " +
                       std::to_string(cores) + (cores == 1 ? " core for " : " cores for ") +
                       duration_text(duration_from_seconds(number_at(answer, "seconds"))) + ", by " +
                       text_at(answer, "algorithm") + "\n\n";
    Table table({{""}, {"now", Align::right}, {"after", Align::right}});
    table.add({"factor", fixed(number_at(answer, "factor"), 4), fixed(number_at(answer, "factor_after"), 4)});
    const std::string of = " of " + std::to_string(integer_at(answer, "associations"));
    table.add({"rank", std::to_string(integer_at(answer, "rank")) + of,
               std::to_string(integer_at(answer, "rank_after")) + of});
    table.add({"usage", percent(number_at(answer, "used")), percent(number_at(answer, "used_after"))});
    return text + table.text(screen) + "\nIt is entitled to " + percent(number_at(answer, "entitled")) + ".\n" +
           notes(answer);
}

std::string share_compare_text(const json_t* answer, const Screen& screen) {
    const json_t* a = json_object_get(answer, "a");
    const json_t* b = json_object_get(answer, "b");
    std::string text = printable(text_at(a, "path")) + newcomer(a) + ": " + rank_text(a) + "\n" +
                       printable(text_at(b, "path")) + newcomer(b) + ": " + rank_text(b) + ", both by " +
                       text_at(answer, "algorithm") + "\n\n";
    const json_t* level_a = json_object_get(answer, "level_a");
    const json_t* level_b = json_object_get(answer, "level_b");
    if (json_is_object(level_a) && json_is_object(level_b)) {
        const std::string first = text_at(answer, "first");
        Table table = level_table("where they differ", "first");
        add_level(table, level_a, first == "a" ? "yes" : "", screen.glyphs);
        add_level(table, level_b, first == "b" ? "yes" : "", screen.glyphs);
        text += table.text(screen) + "\n";
    }
    return text + printable(text_at(answer, "reason")) + ".\n" + notes(answer);
}

}  // namespace weir::cmd
