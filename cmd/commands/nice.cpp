// SPDX-License-Identifier: LGPL-3.0-only
// Owns: `weir nice`: nice n is urgency 16-n (RFC 30); users lower their own jobs, the owner may raise.
#include "cmd/commands/answer.hpp"
#include "cmd/commands/commands.hpp"
#include "cmd/common/jobs.hpp"
#include "cmd/common/reader.hpp"
#include "cmd/common/routed.hpp"

namespace weir::cmd {
namespace {

constexpr std::int64_t nice_hold = 16, nice_expedite = -15;
constexpr const char* range_text =
    "N is a whole number: 0 is normal, 15 is the lowest, and 16 or hold holds the job; the instance's owner may also "
    "use -1 to -14, and -15 or expedite to put it before all others; not \"";

constexpr const char* not_owner = "only the instance's owner can raise a job above normal. You can use 0 to 16.";
constexpr const char* not_yours = "it belongs to another user; you can renice your own jobs only.";

/// A number, or a word of `flux job urgency`.
std::optional<std::int64_t> parse_nice(const std::string& text) {
    if (text == "hold") {
        return nice_hold;
    }
    return text == "expedite" ? nice_expedite : parse_integer(text, nice_expedite, nice_hold);
}

std::string sentence(std::uint64_t id, std::int64_t before, std::int64_t after, Glyphs glyphs) {
    const std::string arrow = glyphs.unicode ? " → " : " -> ";
    return job_name(id, glyphs.unicode) + ": nice " + std::to_string(16 - before) + arrow + std::to_string(16 - after) +
           " (urgency " + std::to_string(before) + arrow + std::to_string(after) + ")" +
           (after == 0    ? ", held"
            : after == 31 ? ", expedited"
                          : "") +
           "\n";
}

Exit run_nice(Context& context) {
    auto id = parse_job(context.args.words[0]);
    if (!id) {
        return context.fail(Exit::usage, id.error().message);
    }
    const auto nice = parse_nice(context.args.words[1]);
    if (!nice) {
        return context.fail(Exit::usage, range_text + context.args.words[1] + "\".");
    }
    return with_instance(context, [&](Client& client) {
        const std::int64_t urgency = 16 - *nice;
        auto origin = origin_of(client, *id);
        if (!origin) {
            return context.fail(origin.error());
        }
        *id = origin->id;
        Client& instance = origin->instance ? *origin->instance : client;
        Json payload = Json::object();
        payload.set("id", *id).set("urgency", urgency);
        auto answer = instance.call("job-manager.urgency", payload);
        if (!answer) {
            return context.fail(explained(answer.error(), *id, instance, *nice < 0 ? not_owner : not_yours));
        }
        const std::int64_t before = integer_at(answer->get(), "old_urgency", 16);
        if (context.json) {
            Json out = Json::object();
            out.set("id", *id).set("job", job_name(*id)).set("nice", *nice).set("urgency", urgency);
            context.print(json_text("weir.nice/1", out.set("old_urgency", before)));
        } else {
            context.print(sentence(*id, before, urgency, context.out.glyphs));
        }
        return Exit::ok;
    });
}

}  // namespace

Command nice_command() {
    Command command;
    command.name = "nice";
    command.summary = "lower the priority of a pending job";
    command.examples = {"weir nice ƒ7J4Ab 5  # five steps below normal: urgency 11",
                        "weir nice ƒ7J4Ab 0  # back to normal", "weir nice ƒ7J4Ab hold  # hold it: as 16"};
    command.words = {"JOB N", 2, 2};
    command.run = run_nice;
    return command;
}

}  // namespace weir::cmd
