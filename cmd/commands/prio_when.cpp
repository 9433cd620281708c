// SPDX-License-Identifier: LGPL-3.0-only
// Owns: `weir prio when`: which of two waiting jobs is ahead of the other, now and later.
#include "cmd/commands/answer.hpp"
#include "cmd/commands/commands.hpp"
#include "cmd/common/jobs.hpp"
#include "cmd/common/reader.hpp"
#include "cmd/common/routed.hpp"
#include "cmd/common/text.hpp"
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
    std::string text = name_of(first) + " of " + printable(text_at(leader, "user")) + " is ahead of " +
                       name_of(integer_at(follower, "id")) + " of " + printable(text_at(follower, "user")) +
                       ": priority " + std::to_string(integer_at(leader, "priority")) + " against " +
                       std::to_string(integer_at(follower, "priority")) + ".\n";
    if (json_is_false(json_object_get(answer, "do_compete"))) {
        return text + "They wait for different partitions, in the queues " + printable(text_at(leader, "queue")) +
               " and " + printable(text_at(follower, "queue")) + ": neither delays the other.\n";
    }
    const auto is_held_back = [](const json_t* job) { return json_is_true(json_object_get(job, "is_held_back")); };
    if (is_held_back(follower)) {
        const std::string held = name_of(integer_at(follower, "id"));
        if (!is_held_back(leader)) {
            return text + held + " is held back, whatever its priority; weir why " + held + " says why.\n";
        }
        text += "Both are held back, whatever their priorities; weir why " + held + " says why.\n";
    }
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

/// Which of the two is not pending, and its state.
Error no_waiter(Client& client, const std::vector<std::uint64_t>& ids) {
    for (const std::uint64_t id : ids) {
        const auto job = find_job(client, id);
        if (!job) {
            return job.error();
        }
        if ((job->state & FLUX_JOB_STATE_PENDING) == 0) {
            const bool has_ended = job->state == FLUX_JOB_STATE_INACTIVE;
            return {std::errc::no_such_file_or_directory, job_name(id) + " does not wait: it " +
                                                              (has_ended ? ending_text(*job) : "has its resources") +
                                                              ". Only waiting jobs pass each other."};
        }
    }
    return {std::errc::no_such_file_or_directory,
            "one of the two is not in the queue yet; see:  weir why " + job_name(ids.front())};
}

Exit run_prio_when(Context& context) {
    const auto a = parse_job(context.args.words[0]);
    const auto b = parse_job(context.args.words[1]);
    if (!a || !b) {
        return context.fail(Exit::usage, (a ? b : a).error().message);
    }
    return with_instance(context, [&](Client& client) {
        const std::uint64_t first = id_here(client, *a), second = id_here(client, *b);
        Json payload = Json::object();
        payload.set("a", first).set("b", second);
        const auto answer = client.call("job-priority.when", payload);
        if (!answer) {
            const bool is_no_waiter = answer.error().code == std::errc::no_such_file_or_directory;
            return context.fail(is_no_waiter ? no_waiter(client, {first, second}) : answer.error());
        }
        context.print(context.json ? json_text("weir.prio-when/1", *answer)
                                   : when_text(answer->get(), context.out.glyphs));
        return Exit::ok;
    });
}

}  // namespace

Command prio_when_command() {
    Command command;
    command.name = "prio when";
    command.summary = "when one pending job passes another";
    command.examples = {"weir prio when ƒ7J4Ab ƒ7J4Cd  # now, and while both wait",
                        "weir prio when ƒ7J4Ab ƒ7J4Cd --json  # for a program",
                        "weir prio explain ƒ7J4Ab  # how its priority is computed"};
    command.words = {"JOB JOB", 2, 2};
    command.run = run_prio_when;
    return command;
}

}  // namespace weir::cmd
