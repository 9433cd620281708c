// SPDX-License-Identifier: LGPL-3.0-only
// Owns: `weir prio when`: which of two waiting jobs stands before the other, now and later.
#include "cmd/commands/answer.hpp"
#include "cmd/commands/commands.hpp"
#include "cmd/common/jobs.hpp"
#include "cmd/common/reader.hpp"
#include "cmd/common/time_text.hpp"

namespace weir::cmd {
namespace {

std::string when_text(const json_t* answer, Glyphs glyphs) {
    const std::vector<json_t*> jobs = items_at(answer, "jobs");
    if (jobs.size() != 2) {
        return "";
    }
    const auto ahead_at = [](const json_t* object) { return integer_at(object, "ahead"); };
    const auto name_of = [&](std::int64_t id) { return job_name(static_cast<std::uint64_t>(id), glyphs.unicode); };
    const auto other_of = [&](std::int64_t id) {
        return integer_at(jobs[0], "id") == id ? integer_at(jobs[1], "id") : integer_at(jobs[0], "id");
    };
    const std::int64_t first = ahead_at(answer);
    const json_t* leader = integer_at(jobs[0], "id") == first ? jobs[0] : jobs[1];
    const json_t* follower = leader == jobs[0] ? jobs[1] : jobs[0];
    std::string text = name_of(first) + " of " + text_at(leader, "user") + " stands before " +
                       name_of(integer_at(follower, "id")) + " of " + text_at(follower, "user") + ": priority " +
                       std::to_string(integer_at(leader, "priority")) + " against " +
                       std::to_string(integer_at(follower, "priority")) + ".\n";
    const double now = number_at(answer, "now");
    for (const json_t* crossing : items_at(answer, "crossings")) {
        const double at = number_at(crossing, "at");
        text += name_of(ahead_at(crossing)) + " passes " + name_of(other_of(ahead_at(crossing))) + " in " +
                duration_text(duration_from_seconds(at - now)) + ", at " + local_time(at) + ".\n";
    }
    const bool stays = items_at(answer, "crossings").empty();
    const json_t* until = json_object_get(answer, "until");
    const bool is_for_ever = !json_is_number(until);
    const std::string date = is_for_ever ? "" : " until " + local_time(number_at(answer, "until"));
    return text +
           (stays && is_for_ever ? "Waiting alone never changes that "
            : stays              ? "Waiting alone does not change that" + date + ", "
                                 : "So it is" + date + (is_for_ever ? " " : ", ")) +
           text_at(answer, "while") + ".\n";
}

Exit run(Context& context) {
    const auto a = parse_job(context.args.words[0]);
    const auto b = parse_job(context.args.words[1]);
    if (!a || !b) {
        return context.fail(Exit::usage, (a ? b : a).error().message);
    }
    Json payload = Json::object();
    payload.set("a", *a).set("b", *b);
    return ask_and_show(context, "job-priority.when", payload, "weir.prio-when/1",
                        [&](const Json& answer) { return when_text(answer.get(), context.out.glyphs); });
}

}  // namespace

Command prio_when_command() {
    Command command;
    command.name = "prio when";
    command.summary = "when one waiting job passes another";
    command.examples = {"weir prio when ƒ7J4Ab ƒ7J4Cd  # now, and as both go on waiting",
                        "weir prio when ƒ7J4Ab ƒ7J4Cd --json  # for a program",
                        "weir prio explain ƒ7J4Ab  # what its priority is made of"};
    command.words = {"JOB JOB", 2, 2};
    command.run = run;
    return command;
}

}  // namespace weir::cmd
