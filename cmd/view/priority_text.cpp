// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the layout of `weir prio explain`.
#include "cmd/view/priority_text.hpp"

#include <cmath>

#include "cmd/common/jobs.hpp"
#include "cmd/common/reader.hpp"
#include "cmd/common/routed.hpp"
#include "cmd/common/table.hpp"
#include "cmd/common/text.hpp"
#include "cmd/common/wait_reason.hpp"

namespace weir::cmd {
namespace {

/// "2h 5m", "8 cores"; internal units are left out.
std::string raw_text(const json_t* term) {
    const std::string unit = text_at(term, "unit");
    const double raw = number_at(term, "raw");
    if (unit == "s") {
        return duration_text(duration_from_seconds(raw));
    }
    const bool is_whole = raw == static_cast<double>(static_cast<std::int64_t>(raw));
    return fixed(raw, is_whole ? 0 : 3) + (unit.empty() || unit == "factor" ? "" : " " + unit);
}

std::string terms_text(const json_t* answer, const Screen& screen) {
    Table table({{"term"},
                 {"raw", Align::right},
                 {"factor", Align::right},
                 {"weight", Align::right},
                 {"adds", Align::right},
                 {"of the sum", Align::right, 1}});
    for (const json_t* term : items_at(answer, "terms")) {
        const double weight = number_at(term, "weight");
        const bool is_part = has_number(term, "factor");  // of a greatest: under multifactor
        table.add({text_at(term, "name"), raw_text(term), is_part ? fixed(number_at(term, "factor"), 4) : "",
                   fixed(weight, is_part || weight == std::floor(weight) ? 0 : 3),
                   fixed(number_at(term, "contribution"), is_part ? 1 : 3), percent(number_at(term, "share"))});
    }
    for (const json_t* part : items_at(answer, "resources")) {
        table.add({"  " + text_at(part, "name"), fixed(number_at(part, "amount"), 2),
                   fixed(number_at(part, "factor"), 4), fixed(number_at(part, "weight"), 0),
                   fixed(number_at(part, "contribution"), 1), ""});
    }
    return table.text(screen);
}

/// What the parent says of a job that it gave its priority; nothing where the parent cannot be asked.
std::optional<Json> explained_above(Client& client, std::uint64_t id) {
    auto above = origin_above(client, id);
    if (!above) {
        return std::nullopt;
    }
    auto answer = explained_job(*above->instance, above->id);
    if (!answer) {
        return std::nullopt;
    }
    answer->set("here", id);
    return std::move(*answer);
}

}  // namespace

std::string priority_text(const json_t* answer, const Screen& screen) {
    const std::string name = job_name(id_at(answer), screen.glyphs.unicode);
    std::string text = name + " of " + printable(text_at(answer, "user"));
    const std::string account = printable(text_at(answer, "account"));
    text += account.empty() ? "" : " (" + account + ")";
    if (const auto rank = integer_at(answer, "rank"); rank > 0) {  // else it does not wait for resources
        text += ": priority " + std::to_string(integer_at(answer, "priority")) + ", place " + std::to_string(rank) +
                " of " + std::to_string(integer_at(answer, "of"));
    }
    text += "\n";
    const std::string bypass = text_at(answer, "bypass");
    if (has_number(answer, "here")) {
        text += "It waits in the partition as " + job_name(id_at(answer, "here"), screen.glyphs.unicode) +
                "; the parent instance decides its priority.\n";
    }
    if (bypass == "held" || bypass == "expedited") {
        text += "It is " + bypass + ": the sum below has no effect.\n";
    }
    text += items_at(answer, "terms").empty() ? "" : "\n" + terms_text(answer, screen);
    const auto ahead = items_at(answer, "ahead");
    if (!ahead.empty()) {
        Table table({{"ahead of it"},
                     {"user"},
                     {"account", Align::left, 1, 8},
                     {"queue", Align::left, 2},
                     {"priority", Align::right},
                     {"why", Align::left, 0, 16}});
        for (const json_t* job : ahead) {
            const bool is_told = has_number(job, "id");  // else of another user of a private instance
            table.add({is_told ? job_name(id_at(job), screen.glyphs.unicode) : "another", text_at(job, "user"),
                       text_at(job, "account"), text_at(job, "queue"), std::to_string(integer_at(job, "priority")),
                       text_at(job, "why")});
        }
        text += "\n" + table.text(screen);
    }
    const auto words = items_at(answer, "words");
    text += words.empty() ? "" : "\n";
    for (const json_t* line : words) {
        text += printable(json_is_string(line) ? json_string_value(line) : "") + "\n";
    }
    if (const json_t* reason = json_object_get(answer, "scheduler")) {
        text += "\n" + wait_text("It", reason, screen.glyphs.unicode);
    }
    return text;
}

Result<Json> explained_job(Client& client, std::uint64_t id) {
    Json payload = Json::object();
    payload.set("id", id);
    auto answer = client.call("job-priority.explain", payload);
    if (!answer && answer.error().code == std::errc::no_such_file_or_directory) {
        return Error{answer.error().code, job_name(id) + " is not pending at " + client.uri() +
                                              ": priorities are for waiting jobs. See: weir jobs -a"};
    }
    if (!answer) {
        return answer.error();
    }
    if (text_at(answer->get(), "bypass") == "given") {
        if (auto decided = explained_above(client, id)) {
            return std::move(*decided);
        }
    }
    if (const auto job = find_job(client, id)) {
        Json reason = wait_reason(*job, ask_wait_facts(client, *job));
        if (text_at(reason.get(), "reason") != "not-waiting") {
            answer->set("scheduler", std::move(reason));
        }
    }
    return answer;
}

}  // namespace weir::cmd
