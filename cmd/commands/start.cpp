// SPDX-License-Identifier: LGPL-3.0-only
// Owns: `weir start`: an instance tree for interactive work, in the foreground until Ctrl-C.
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
#include <thread>
#include <utility>

#include "cmd/commands/commands.hpp"
#include "cmd/common/folders.hpp"
#include "cmd/common/instances.hpp"
#include "cmd/common/jobs.hpp"
#include "cmd/common/reader.hpp"
#include "cmd/instance/folder_lock.hpp"
#include "cmd/instance/page_process.hpp"
#include "cmd/instance/reload.hpp"
#include "cmd/instance/session.hpp"
#include "cmd/view/instance_tree.hpp"
#include "libfairshare/base/text/text_file.hpp"
#include "libfairshare/base/text/toml_json.hpp"
#include "libfairshare/toml/share_tree_toml.hpp"
#include "libsched/config/settings.hpp"

namespace weir::cmd {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

constexpr const char* open_tree =
    "# Everybody has one share in one account. Make it yours: weir share export, edit, weir share apply FILE\n"
    "\"everybody\"    = 1\n\"everybody/@*\" = 1\n";

std::string host_name() {
    char name[256] = "localhost";
    (void)gethostname(name, sizeof(name) - 1);
    return name;
}

/// A quarter for debug, the rest for batch; on a small machine there are more slots than cores, so that a few jobs run
/// side by side.
std::vector<Partition> partitions_of(std::int64_t cores) {
    const std::int64_t debug = std::max<std::int64_t>(1, cores / 4);
    return {{"debug", "sched-weir-fcfs", 1, debug}, {"batch", "sched-weir-easy", 1, cores - debug}};
}

/// The share tree that the configuration names, as a path; empty where it names none. A mistake in [weir] is reported
/// here with its line, because the module that would find it does not know the file.
Exit check_config(Context& context, std::string& share_tree) {
    if (!context.args.has("config")) {
        return Exit::ok;
    }
    const std::string path = context.args.text("config");
    const auto text = read_text_file(path);
    if (!text) {
        return context.fail(exit_of_unread(text.error()), "cannot read " + path + ": " + text.error().message + ".");
    }
    const auto settings = config::read_settings_toml(*text, path);
    if (!settings) {
        return context.fail(Exit::failed, settings.error().message);
    }
    if (settings->is_share_tree_named && context.args.has("tree")) {
        return context.fail(Exit::usage, "two share trees: --tree=" + context.args.text("tree") + ", and in " + path +
                                             " [weir] share-tree = \"" + settings->share_tree +
                                             "\". Leave out one of them.");
    }
    if (settings->is_share_tree_named) {
        share_tree = (fs::absolute(path).parent_path() / settings->share_tree).string();
    }
    return Exit::ok;
}

/// Why the file cannot be the share tree; `shown` is its name in messages.
Status check_tree(const std::string& path, const std::string& shown) {
    const auto text = read_text_file(path);
    if (!text) {
        return Error{text.error().code, "cannot read " + path + ": " + text.error().message + "."};
    }
    const auto parsed = parse_share_tree(*text, shown);
    if (const auto* mistakes = std::get_if<Diagnostics>(&parsed)) {
        return Error{std::errc::invalid_argument, "the share tree is invalid:\n" + to_string(*mistakes)};
    }
    return Done{};
}

/// Checks a share tree that the user names. Where an earlier tree is stored, that one stays in force if the file has
/// mistakes, which must not prevent the start of an instance.
Exit check_named_tree(Context& context, const std::string& path, const std::string& shown, bool has_stored_tree) {
    const Status checked = check_tree(path, shown);
    if (!checked && has_stored_tree) {
        context.note("The stored share tree stays in force: " + checked.error().message);
        return Exit::ok;
    }
    const bool is_invalid = !checked && checked.error().code == std::errc::invalid_argument;
    return checked ? Exit::ok : context.fail(is_invalid ? Exit::invalid_tree : Exit::no_such, checked.error().message);
}

/// The share tree's file in the written configuration, which that of --config may override with `configured`: the file
/// of --tree, else one that admits all users.
Exit choose_tree(Context& context, const std::string& files, const std::string& configured, bool has_stored_tree,
                 std::string& path) {
    if (context.args.has("tree")) {
        path = fs::absolute(context.args.text("tree")).string();
        return check_named_tree(context, path, context.args.text("tree"), has_stored_tree);
    }
    path = files + "/shares.toml";
    if (const auto made = fs::exists(path) ? Status(Done{}) : broker::write_private_file(path, open_tree); !made) {
        return context.fail(made.error());
    }
    return configured.empty() ? Exit::ok : check_named_tree(context, configured, configured, has_stored_tree);
}

Plan plan_of(const Args& args, const std::string& rundir, const std::string& statedir) {
    const std::int64_t machine =
        std::max<std::int64_t>(1, static_cast<std::int64_t>(std::thread::hardware_concurrency()));
    Plan plan;
    plan.rundir = rundir;
    plan.statedir = statedir;
    plan.plugins = plugin_folder();
    plan.host = host_name();
    plan.cores_per_node = args.integer("cores", std::max<std::int64_t>(8, machine));
    plan.partitions = partitions_of(plan.cores_per_node);
    plan.default_queue = "batch";
    if (args.has("scale")) {
        plan.scale = args.number("scale", 1);
    }
    return plan;
}

void print_sentences(const Context& context, const std::vector<std::string>& sentences) {
    for (const std::string& sentence : sentences) {
        context.note(sentence);
    }
}

/// SIGHUP comes from logrotate, from a closed terminal, or from a user who wants a reload.
void reload(const Context& context, Session& session) {
    const auto done = reload_tree(session.client());
    if (!done) {
        context.note("The configuration was not reloaded: " + done.error().message);
    } else {
        print_sentences(context, done->changes);
        for (const std::string& warning : done->warnings) {
            context.note("warning: " + warning);
        }
        context.note("The configuration was reloaded" + std::string(done->changes.empty() ? "; no key changed." : "."));
    }
    (void)session.warnings();  // the logs have it, too
}

/// Waits for Ctrl-C. The parent keeps the partitions; its messages about them are shown here as well.
Exit stay(Context& context, Session& session, Signals& signals) {
    while (!signals.is_stop_asked()) {
        if (session.broker().has_ended() && session.broker().was_shut_down()) {
            context.note("The parent was shut down.");
            return Exit::ok;
        }
        if (session.broker().has_ended()) {
            return context.fail(Exit::failed, "the parent broker ended: " + session.broker().end_text());
        }
        (void)wait_readable({signals.fd(), session.broker().pidfd()}, 1s);
        if (signals.take_hangup()) {
            reload(context, session);
        }
        print_sentences(context, session.warnings());
    }
    return Exit::ok;
}

/// Of the partitions in the site's files, else of the planned ones.
std::vector<std::string> queues_of(const Context& context, const Plan& plan) {
    std::vector<std::string> queues;
    if (context.args.has("config")) {
        const std::string path = context.args.text("config");
        const auto text = read_text_file(path);
        const auto read = text ? toml_to_json(*text, path) : Result<json_t*>(text.error());
        const Json config = read ? Json::own(*read) : Json();
        for (const json_t* partition : items_at(config.get(), "partition")) {
            const auto named = items_at(partition, "queues");
            for (const json_t* queue : named) {
                queues.emplace_back(json_is_string(queue) ? json_string_value(queue) : "");
            }
            if (named.empty()) {
                queues.push_back(text_at(partition, "name"));
            }
        }
        std::erase(queues, "");
        std::sort(queues.begin(), queues.end());
        queues.erase(std::unique(queues.begin(), queues.end()), queues.end());
    }
    if (queues.empty()) {
        for (const Partition& partition : plan.partitions) {
            queues.push_back(partition.name);
        }
    }
    return queues;
}

/// The page's server where --page asks for it; the instance serves without it, too.
std::optional<PageProcess> page_beside(Context& context, const Session& session, const Signals& signals) {
    if (!context.args.has("page")) {
        return std::nullopt;
    }
    auto page = PageProcess::start(session.uri(), signals);
    if (!page) {
        context.note(page.error().message);
        return std::nullopt;
    }
    context.print("The page, for a browser on this machine:\n  " + page->url() + "\n");
    return std::move(*page);
}

Exit run_in(Context& context, Plan plan, const std::string& files) {
    std::vector<std::string> extra;
    if (context.args.has("config")) {
        extra.push_back(fs::absolute(context.args.text("config")).string());
    }
    Signals signals(Hangup::reloads);
    const std::vector<std::string> queues = queues_of(context, plan);
    if (std::find(queues.begin(), queues.end(), plan.default_queue) == queues.end()) {
        plan.default_queue = queues.front();
    }
    auto session = Session::start({plan, queues, files, extra}, signals, [](const std::string&) {});
    if (!session) {
        const bool is_interrupted = session.error().code == std::errc::interrupted;
        return is_interrupted ? Exit::interrupted : context.fail(Exit::failed, session.error().message);
    }
    context.print(instance_tree_text(instance_tree(session->client()), context.out));
    const bool is_default = plan.rundir == default_rundir();
    context.print(
        "\nFrom another terminal:\n" + (is_default ? std::string() : "  export FLUX_URI=" + session->uri() + "\n") +
        "  weir submit hostname    weir jobs    weir share show\nCtrl-C ends it, and so does weir shutdown.\n");
    auto page = page_beside(context, *session, signals);
    std::fflush(stdout);
    print_sentences(context, session->warnings());
    const Exit code = stay(context, *session, signals);
    page.reset();
    context.note("Ending the partitions and the parent.");
    session->stop(signals);
    return code;
}

/// Refuses a folder that an instance has, also one that is stopped.
Status check_unused(const std::string& rundir) {
    auto client = Client::open("local://" + rundir + "/local-0", holder_answer_s);
    const std::string other = "\nOr another:  weir start --rundir DIR";
    if (client) {
        return Error{std::errc::address_in_use, rundir + " is in use by the instance with process id " +
                                                    client->attribute("broker.pid").value_or("unknown") +
                                                    ".\nUse it:      export FLUX_URI=" + client->uri() + other};
    }
    if (client.error().code == std::errc::timed_out) {
        return Error{std::errc::address_in_use, rundir + " is in use: " + client.error().message +
                                                    "\nEnd it:      kill -KILL the process id in " + rundir +
                                                    "/broker.pid" + other};
    }
    return Done{};
}

/// `option`: what names the folder.
Result<FolderLock> lock_folder(const std::string& folder, const std::string& option) {
    auto lock = FolderLock::take(folder, FolderLock::of_start);
    if (!lock && lock.error().code == std::errc::address_in_use) {
        return Error{std::errc::address_in_use,
                     lock.error().message + "\nGive this one a folder of its own:  weir start " + option + " DIR"};
    }
    return lock;
}

/// Removes the folder with all that is in it where it was made here, else if it is empty; not where a broker lives.
void leave_rundir(const std::string& rundir, bool is_made_here) {
    std::error_code ignored;
    if (is_made_here) {
        if (const auto lock = FolderLock::take(rundir, FolderLock::of_broker)) {
            fs::remove_all(rundir, ignored);
        }
    }
    fs::remove(rundir + "/" + FolderLock::of_start, ignored);
    fs::remove(rundir, ignored);
}

/// In a run directory that is locked.
Exit run_at(Context& context, const std::string& rundir, const std::string& configured_tree) {
    const bool has_state = context.args.has("statedir");
    const std::string statedir =
        has_state ? fs::absolute(context.args.text("statedir")).lexically_normal().string() : "";
    const std::string files = has_state ? statedir : rundir + "/etc";
    if (const auto made = make_private_tree(files); !made) {
        return context.fail(made.error());
    }
    std::optional<FolderLock> lock;  // before another instance's settings are changed
    if (has_state) {
        auto taken = lock_folder(statedir, "--statedir");
        if (!taken) {
            return context.fail(taken.error());
        }
        lock.emplace(std::move(*taken));
    }
    Plan plan = plan_of(context.args, rundir, statedir);
    const bool has_stored_tree = has_state && fs::exists(statedir + "/job-priority.sqlite");
    Exit code = choose_tree(context, files, configured_tree, has_stored_tree, plan.share_tree);
    if (code == Exit::ok) {
        code = run_in(context, plan, files);
    }
    if (std::error_code ignored; !has_state) {
        fs::remove_all(files, ignored);
    }
    return code;
}

Exit run_start(Context& context) {
    std::string configured_tree;
    if (const Exit code = check_config(context, configured_tree); code != Exit::ok) {
        return code;
    }
    const std::string rundir = fs::absolute(context.args.text("rundir", default_rundir())).lexically_normal().string();
    const auto is_made = make_private_tree(rundir);
    if (!is_made) {
        return context.fail(is_made.error());
    }
    if (const Status is_unused = check_unused(rundir); !is_unused) {
        return context.fail(is_unused.error());
    }
    const auto lock = lock_folder(rundir, "--rundir");
    if (!lock) {
        return context.fail(lock.error());
    }
    const Exit code = run_at(context, rundir, configured_tree);
    leave_rundir(rundir, *is_made);
    return code;
}

}  // namespace

Command start_command() {
    Command command;
    command.name = "start";
    command.summary = "start a parent instance with two partitions, until Ctrl-C";
    command.examples = {
        "weir start  # then weir submit, weir jobs ... from another terminal",
        "weir start --statedir ~/weir --tree shares.toml  # store usage and pending jobs for the next start",
        "weir start --config weir.toml --cores 16  # your weights and settings, sixteen cores"};
    command.options = {
        {"config", 0, "FILE", "additional configuration (TOML); it overrides the generated one"},
        {"tree", 0, "FILE", "share tree (default: that of the configuration, else one share for every user)"},
        {"rundir", 0, "DIR", "folder of the sockets (default: $XDG_RUNTIME_DIR/weir or /tmp/weir-UID)"},
        {"statedir", 0, "DIR", "folder where jobs and usage are stored (default: none)"},
        {"cores", 0, "N", "cores for jobs (default: the machine's cores, at least 8)", Kind::integer, 2, 1 << 20},
        {"scale", 0, "X", "run the clock X times as fast", Kind::number},
        {"page", 0, "", "also serve the live page, as weir serve does", Kind::flag},
        {"foreground", 0, "", "stay in the foreground (the default)", Kind::flag}};
    command.has_json = false;
    command.has_uri = false;
    command.run = run_start;
    return command;
}

}  // namespace weir::cmd
