// SPDX-License-Identifier: LGPL-3.0-only
// Owns: `weir share report`: the pictures of the running instance as one page, or as files for papers.
#include <unistd.h>

#include "cmd/commands/answer.hpp"
#include "cmd/commands/commands.hpp"
#include "cmd/common/instance_facts.hpp"
#include "cmd/common/jobs.hpp"
#include "cmd/common/output_file.hpp"
#include "cmd/report/svg.hpp"

namespace weir::cmd {
namespace {

/// Rows of the share tree in a picture for a paper.
constexpr std::size_t paper_rows = 40;

Status written(const std::string& path, const std::string& text) {
    auto file = OutputFile::create(path);
    if (!file) {
        return file.error();
    }
    const auto done = file->write(text);
    return done ? file->commit() : done;
}

/// Prints the names of all files, so that a script need not guess them.
Exit told(Context& context, const std::vector<std::string>& files) {
    Json list = Json::array();
    for (const std::string& file : files) {
        list.append(Json::string(file));
    }
    Json answer = Json::object();
    answer.set("files", std::move(list));
    std::string lines;
    for (const std::string& file : files) {
        lines += file + "\n";
    }
    context.print(context.json ? json_text("weir.share-report/1", answer) : lines);
    return Exit::ok;
}

Exit write_all(Context& context, const InstanceFacts& facts) {
    std::vector<std::string> files;
    if (context.args.has("svg")) {
        for (const DrawnPicture& picture : pictures_of(facts, paper_rows)) {
            files.push_back(context.args.text("svg") + "/" + picture.name + ".svg");
            if (const auto done = written(files.back(), standalone(picture.svg)); !done) {
                return context.fail(done.error());
            }
        }
    }
    if (context.args.has("output") || files.empty()) {
        const std::string path = context.args.text("output", "weir-report.html");
        if (const auto done = written(path, instance_page(facts)); !done) {
            return context.fail(done.error());
        }
        if (path == "-") {
            return Exit::ok;
        }
        files.push_back(path);
    }
    return told(context, files);
}

Exit run_report(Context& context) {
    FactsQuery query;
    if (context.args.has("job")) {
        const auto job = parse_job(context.args.text("job"));
        if (!job) {
            return context.fail(Exit::usage, job.error().message);
        }
        query.job = *job;
    }
    return with_instance(context, [&](Client& client) {
        const Users users = Users::of(client);
        query.user = context.args.text("user", users.name(getuid()));
        if (const auto known = users.id(query.user); context.args.has("user") && !known) {
            return context.fail(known.error());
        }
        const auto facts = instance_facts(client, query);
        return facts ? write_all(context, *facts) : context.fail(facts.error());
    });
}

}  // namespace

Command share_report_command() {
    Command command;
    command.name = "share report";
    command.summary = "draw shares, usage, queue and instances on a page without script";
    command.examples = {"weir share report -o report.html  # one file for a browser, light or dark",
                        "weir share report --svg . --user alice  # files for a paper; jobs of alice are marked",
                        "weir share report --job ƒ7J4Ab  # also why the first job of the queue is ahead of this one"};
    command.options = {{"output", 'o', "FILE", "the page (default weir-report.html)"},
                       {"svg", 0, "DIR", "write each picture into a file of its own in DIR"},
                       {"job", 'j', "JOB", "compare this pending job with the first one of its queue"},
                       {"user", 'u', "NAME", "mark the pending jobs of this user (default: yours)"}};
    command.run = run_report;
    return command;
}

}  // namespace weir::cmd
