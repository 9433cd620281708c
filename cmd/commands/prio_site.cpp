// SPDX-License-Identifier: LGPL-3.0-only
// Owns: `weir prio site`: the site's own values of pending jobs, for one job or from the output of a script.
#include <charconv>
#include <iostream>

#include "cmd/commands/answer.hpp"
#include "cmd/commands/commands.hpp"
#include "cmd/common/jobs.hpp"
#include "cmd/common/reader.hpp"

namespace weir::cmd {
namespace {

/// "0.5"; "none" removes the value. Errors: the right form.
Result<Json> value_of(const std::string& text) {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (text == "none") {
        return Json::own(json_null());
    }
    if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(value)) {
        return Error{std::errc::invalid_argument, "VALUE is a number, or \"none\" to remove it; not \"" + text + "\"."};
    }
    return Json::own(json_real(value));
}

Json pair(std::uint64_t id, Json value) {
    Json entry = Json::array();
    entry.append(Json::own(json_integer(static_cast<json_int_t>(id)))).append(std::move(value));
    return entry;
}

/// {"job": "f7J4Ab", "value": 0.5}; the job may also be a number.
Result<Json> pair_of_line(const std::string& line) {
    const auto read = Json::parse(line);
    const json_t* job = read ? json_object_get(read->get(), "job") : nullptr;
    json_t* value = read ? json_object_get(read->get(), "value") : nullptr;
    if ((!json_is_integer(job) && !json_is_string(job)) || !(json_is_number(value) || json_is_null(value))) {
        return Error{std::errc::invalid_argument,
                     "a line must be such as {\"job\": \"f7J4Ab\", \"value\": 0.5}, null to remove the value"};
    }
    if (json_is_integer(job)) {
        return pair(static_cast<std::uint64_t>(json_integer_value(job)), Json::ref(value));
    }
    const auto id = parse_job(json_string_value(job));
    return id ? Result<Json>(pair(*id, Json::ref(value))) : id.error();
}

/// All lines of stdin, or the number of the first invalid one.
Result<Json> pairs_of_stdin() {
    Json values = Json::array();
    std::string line;
    for (std::size_t number = 1; std::getline(std::cin, line); ++number) {
        if (line.find_first_not_of(" \t\r") == std::string::npos) {
            continue;
        }
        auto entry = pair_of_line(line);
        if (!entry) {
            return Error{entry.error().code,
                         "line " + std::to_string(number) + ": " + entry.error().message + ": " + line.substr(0, 60)};
        }
        values.append(std::move(*entry));
    }
    return values;
}

Result<Json> values_of(const Args& args) {
    if (args.has("stdin")) {
        return args.words.empty() ? pairs_of_stdin()
                                  : Error{std::errc::invalid_argument, "--stdin reads jobs and values: name none."};
    }
    if (args.words.size() != 2) {
        return Error{std::errc::invalid_argument, "name a job and a value, or --stdin."};
    }
    const auto id = parse_job(args.words[0]);
    auto value = value_of(args.words[1]);
    if (!id || !value) {
        return id ? value.error() : id.error();
    }
    Json values = Json::array();
    values.append(pair(*id, std::move(*value)));
    return values;
}

std::string site_text(const json_t* answer, Glyphs glyphs) {
    const auto unknown = items_at(answer, "unknown");
    std::string text = std::to_string(integer_at(answer, "set")) + " set";
    std::string names;
    for (const json_t* id : unknown) {
        names += " " + job_name(static_cast<std::uint64_t>(json_integer_value(id)), glyphs.unicode);
    }
    return text + (names.empty() ? "" : "; not waiting here:" + names) + "\n";
}

Exit run_prio_site(Context& context) {
    auto values = values_of(context.args);
    if (!values) {
        return context.fail(Exit::usage, values.error().message);
    }
    return with_instance(context, [&](Client& client) {
        const bool is_single = !context.args.has("stdin");
        Json payload = Json::object();
        payload.set("values", std::move(*values));
        auto answer = client.call("job-priority.site-set", payload);
        if (!answer) {
            return context.fail(answer.error());
        }
        if (is_single && integer_at(answer->get(), "set") == 0) {
            return context.fail(Exit::no_such, context.args.words[0] + " does not wait at " + client.uri() +
                                                   ": priorities are for waiting jobs. See: weir jobs -a");
        }
        if (number_at(answer->get(), "weight") == 0) {
            context.note("the site's factor has weight 0 here: set [weir.weights] site, under policy \"multifactor\".");
        }
        context.print(context.json ? json_text("weir.prio-site/1", *answer)
                                   : site_text(answer->get(), context.out.glyphs));
        return Exit::ok;
    });
}

}  // namespace

Command prio_site_command() {
    Command command;
    command.name = "prio site";
    command.summary = "set the site factor of pending jobs, which weights.site multiplies";
    command.examples = {
        "weir prio site ƒ7J4Ab 0.5  # one job; \"none\" removes the value",
        "my-site-script | weir prio site --stdin  # lines such as {\"job\": \"f7J4Ab\", \"value\": 0.5}",
        "weir prio explain ƒ7J4Ab  # its contribution to the priority"};
    command.words = {"[JOB VALUE]", 0, 2};
    command.options = {{"stdin", 0, "", "read jobs and values from stdin, one JSON object on each line", Kind::flag}};
    command.run = run_prio_site;
    return command;
}

}  // namespace weir::cmd
