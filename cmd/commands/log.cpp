// SPDX-License-Identifier: LGPL-3.0-only
// Owns: `weir log`: the last lines of the logs of an instance and its partitions, and new lines.
#include <poll.h>

#include <algorithm>
#include <cstdio>
#include <list>
#include <set>

#include "cmd/commands/answer.hpp"
#include "cmd/commands/commands.hpp"
#include "cmd/common/instance_clock.hpp"
#include "cmd/common/instances.hpp"
#include "cmd/common/log_line.hpp"
#include "cmd/common/text.hpp"
#include "cmd/common/time_text.hpp"

namespace weir::cmd {
namespace {

constexpr int look_again_ms = 1000;  // for new partitions

/// One instance's log.
struct Source {
    std::string name;  ///< empty: the instance that was asked
    Client client;
    std::optional<TextStream> stream = std::nullopt;
    std::set<std::string> seen = {};  ///< lines of the ring that the stream may bring once more
};
struct Entry {
    std::string instance;
    LogLine line;
};
struct Filter {
    int severity = 6;
    double since = 0;  ///< Unix seconds of the instance's clock
    bool takes(const LogLine& line) const {
        return line.severity <= severity && (line.time == 0 || line.time >= since);
    }
};

std::string entry_text(const Entry& entry) {
    const std::string source =
        entry.instance + (entry.instance.empty() || entry.line.app.empty() ? "" : "/") + entry.line.app;
    return (entry.line.time > 0 ? local_time(entry.line.time) : std::string(19, ' ')) + " " +
           padded_right(severity_name(entry.line.severity), 7) + " " + printable(source) + ": " +
           printable(entry.line.text) + "\n";
}

Json json_of(const Entry& entry) {
    Json json = Json::object();
    json.set("time", entry.line.time).set("severity", severity_name(entry.line.severity));
    json.set("instance", entry.instance.empty() ? "top" : entry.instance).set("app", entry.line.app);
    return std::move(json.set("text", entry.line.text));
}

/// Opens the serving partitions that are not open yet; prints the log files of the others.
void open_partitions(Context& context, Client& top, const std::string& wanted, std::list<Source>& sources) {
    for (const ChildEntry& entry : children_of(top)) {
        const std::string name = instance_name(entry.name, entry.jobid);
        const bool is_open =
            std::any_of(sources.begin(), sources.end(), [&](const Source& s) { return s.name == name; });
        if (is_open || entry.state != "attached" || !may_open(entry) || (!wanted.empty() && wanted != name)) {
            continue;
        }
        if (auto client = open_child(entry)) {
            sources.push_back({name, std::move(*client)});
        } else {
            context.note(name + ": " + client.error().message);
        }
    }
}

void report_stopped_partitions(const Context& context, Client& top, const std::string& wanted) {
    for (const PartitionState& state : told_partition_states(top)) {
        if (state.is_down && (wanted.empty() || wanted == state.name)) {
            context.note("The partition " + state.name + " is down; its log is in " + state.log);
        }
    }
}

Result<std::vector<Entry>> last_lines(std::list<Source>& sources, const Filter& filter) {
    std::vector<Entry> entries;
    for (Source& source : sources) {
        Json payload = Json::object();
        payload.set("follow", false);
        const Status done = source.client.stream_text("log.dmesg", payload, [&](const char* text) {
            LogLine line = parse_ring_line(text == nullptr ? "" : text);
            if (source.stream) {
                source.seen.insert(text == nullptr ? "" : text);
            }
            if (filter.takes(line)) {
                entries.push_back({source.name, std::move(line)});
            }
            return true;
        });
        if (!done) {
            return done.error();
        }
    }
    std::stable_sort(entries.begin(), entries.end(),
                     [](const Entry& a, const Entry& b) { return a.line.time < b.line.time; });
    return entries;
}

/// From now on no new line is missed.
void open_stream(Source& source, bool is_new_only) {
    Json following = Json::object();
    following.set("follow", true).set("nobacklog", is_new_only);
    source.stream.emplace(source.client, "log.dmesg", following);
}

/// Prints what one stream has now. False when the stream has ended.
bool drain(Context& context, Source& source, const Filter& filter) {
    for (;;) {
        auto next = source.stream->next();
        if (!next) {
            return false;
        }
        if (!*next) {
            return true;
        }
        Entry entry{source.name, parse_ring_line(**next)};
        if (source.seen.erase(**next) == 0 && filter.takes(entry.line)) {
            context.print(entry_text(entry));
        }
    }
}

/// Until the instance ends, the reader closes, or Ctrl-C. A partition that restarts is followed again.
Exit follow(Context& context, Client& top, std::list<Source>& sources, const Filter& filter) {
    const std::string wanted = context.args.text("partition");
    for (;;) {
        for (auto it = sources.begin(); it != sources.end();) {
            if (!it->stream) {  // new: all of its lines
                open_stream(*it, false);
            }
            const bool goes_on = drain(context, *it, filter);
            if (!goes_on && it->name.empty()) {
                return context.fail(Exit::no_instance, "the instance at " + top.uri() + " has ended.");
            }
            it = goes_on ? std::next(it) : sources.erase(it);
        }
        if (std::fflush(stdout) != 0) {
            return Exit::ok;
        }
        std::vector<pollfd> polls;
        for (const Source& source : sources) {
            polls.push_back({source.stream->fd(), POLLIN, 0});
        }
        if (poll(polls.data(), polls.size(), look_again_ms) == 0) {
            if (!top.call("broker.ping", Json::object())) {
                return context.fail(Exit::no_instance, "the instance at " + top.uri() + " has ended.");
            }
            open_partitions(context, top, wanted, sources);
        }
    }
}

Exit run_on(Context& context, Client& client, const Filter& filter) {
    const std::string wanted = context.args.text("partition");
    std::list<Source> sources;
    auto top = Client::open(client.uri());
    if (!top) {
        return context.fail(top.error());
    }
    sources.push_back({"", std::move(*top)});
    open_partitions(context, client, wanted, sources);
    report_stopped_partitions(context, client, wanted);
    if (!wanted.empty() && sources.size() == 1) {
        return context.fail(Exit::no_such,
                            "no partition " + wanted + " serves its queue here; weir tree lists those that do.");
    }
    if (!wanted.empty()) {
        sources.pop_front();
    }
    if (context.args.has("follow")) {
        for (Source& source : sources) {
            open_stream(source, true);
        }
    }
    const auto entries = last_lines(sources, filter);
    if (!entries) {
        return context.fail(entries.error());
    }
    if (context.json) {
        Json lines = Json::array(), json = Json::object();
        for (const Entry& entry : *entries) {
            lines.append(json_of(entry));
        }
        json.set("lines", std::move(lines));
        context.print(json_text("weir.log/1", json));
        return Exit::ok;
    }
    for (const Entry& entry : *entries) {
        context.print(entry_text(entry));
    }
    return context.args.has("follow") ? follow(context, client, sources, filter) : Exit::ok;
}

Exit run_log(Context& context) {
    Filter filter;
    if (context.args.has("level")) {
        const auto severity = parse_severity(context.args.text("level"));
        if (!severity) {
            return context.fail(Exit::usage, "--level " + context.args.text("level") +
                                                 ": write emerg, alert, crit, err, warning, notice, info or debug.");
        }
        filter.severity = *severity;
    }
    if (context.json && context.args.has("follow")) {
        return context.fail(Exit::usage, "--json is one document: leave --follow out.");
    }
    return with_instance(context, [&](Client& client) {
        if (const auto since = context.args.duration("since")) {
            filter.since = instance_now(client) - to_seconds(*since);
        }
        return run_on(context, client, filter);
    });
}

}  // namespace

Command log_command() {
    Command command;
    command.name = "log";
    command.summary = "show the log of an instance and its partitions";
    command.examples = {"weir log --level warning --since 1h  # warnings and errors of the last hour",
                        "weir log --follow  # also new lines, until Ctrl-C",
                        "weir log --partition batch --level debug  # all lines of one partition"};
    command.options = {
        {"follow", 'f', "", "keep printing new lines", Kind::flag},
        {"level", 'l', "LEVEL",
         "lines of this severity or worse: emerg, alert, crit, err, warning, notice, info (default), debug"},
        {"since", 0, "TIME", "only lines of the last 30m, 2h, 7d ...", Kind::duration},
        {"partition", 'p', "NAME", "lines of one partition"}};
    command.run = run_log;
    return command;
}

}  // namespace weir::cmd
