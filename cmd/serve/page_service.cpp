// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see page_service.hpp.
#include "cmd/serve/page_service.hpp"

#include "cmd/common/reader.hpp"
#include "cmd/pictures/instances.hpp"
#include "cmd/pictures/queue.hpp"
#include "cmd/serve/page_files.hpp"
#include "cmd/serve/share_edit.hpp"
#include "cmd/serve/usage_events.hpp"
#include "cmd/serve/visible_part.hpp"

namespace weir::cmd {
namespace {

constexpr std::uint64_t turn_ms = 1000;
/// Of changes in one turn, to one viewer.
constexpr std::size_t turn_bytes_max = 40'000;
/// Turns without an event after which a comment is sent: proxies close a connection on which nothing moves.
constexpr int quiet_turns_max = 20;
constexpr std::size_t page_file_bytes_max = 4 << 20;
/// Questions that wait for the instance; further ones are refused.
constexpr std::size_t questions_max = 64;
/// Of what a viewer has open.
constexpr std::size_t opened_max = 20'000, search_bytes_max = 100;

int status_of(const Error& error) {
    switch (error.code) {
        case std::errc::invalid_argument:
            return 400;
        case std::errc::operation_not_permitted:
        case std::errc::permission_denied:
            return 403;
        case std::errc::no_such_file_or_directory:
            return 404;
        default:
            return static_cast<int>(error.code) == ESTALE ? 409 : 502;
    }
}

std::string trouble_event(const std::string& sentence) {
    return event_text("trouble", "{\"text\":" + json_quoted(sentence) + "}");
}

}  // namespace

PageService::PageService(uv_loop_t* loop, Worker& worker, InstanceReader& reader, Users users, PageOptions options)
    : worker_(worker), reader_(reader), users_(std::move(users)), options_(std::move(options)) {
    (void)uv_timer_init(loop, &timer_);
    timer_.data = this;
    (void)uv_timer_start(
        &timer_, [](uv_timer_t* timer) { static_cast<PageService*>(timer->data)->ask_instance(); }, 0, turn_ms);
}

void PageService::close() {
    uv_close(reinterpret_cast<uv_handle_t*>(&timer_), nullptr);
}

void PageService::answer_text(HttpServer::Id id, int status, const std::string& sentence) {
    server_->answer(id, HttpAnswer::of(status, sentence + "\n", "text/plain; charset=utf-8"));
}

bool PageService::answer_file(HttpServer::Id id, const HttpRequest& request) {
    for (const PageFile& file : page_files()) {
        if (file.path != request.path) {
            continue;
        }
        HttpAnswer answer;
        answer.type = file.type;
        answer.etag = file.etag;
        if (request.if_none_match == file.etag) {
            answer.status = 304;
        } else if (request.takes_gzip) {
            answer.body = file.gzip;
            answer.is_gzip = true;
        } else {
            answer.body = std::make_shared<const std::string>(gunzipped(*file.gzip, page_file_bytes_max));
        }
        server_->answer(id, std::move(answer));
        return true;
    }
    return false;
}

void PageService::handle(HttpServer::Id id, const HttpRequest& request) {
    if (request.method != "GET" &&
        (request.method != "POST" || (request.path != "/api/change" && request.path != "/api/open"))) {
        answer_text(id, 405, "this address is only read");
        return;
    }
    if (answer_file(id, request)) {  // holds nothing of the instance, so anybody may have it
        return;
    }
    const auto asker = asker_of(options_.access, request, [&](const std::string& name) { return users_.id(name); });
    if (!asker) {
        answer_text(id, asker.error().code == std::errc::operation_not_permitted ? 401 : 403, asker.error().message);
        return;
    }
    answer_asker(id, request, *asker);
}

void PageService::answer_asker(HttpServer::Id id, const HttpRequest& request, uid_t asker) {
    if (request.path == "/api/open") {
        open_rows(id, request, asker);
    } else if (request.method == "POST") {
        change_shares(id, request, asker);
    } else if (request.path == "/api/events") {
        begin_viewing(id, asker);
    } else if (request.path == "/metrics") {
        answer_later(id, [this] {
            const auto text = reader_.metrics();
            return text ? Result<HttpAnswer>(
                              HttpAnswer::of(200, *text, "application/openmetrics-text; version=1.0.0; charset=utf-8"))
                        : text.error();
        });
    } else if (request.path == "/api/two-jobs") {
        const auto job = parse_job(query_value(request.query, "job").value_or(""));
        if (!job) {
            answer_text(id, 400, job.error().message);
            return;
        }
        const auto guest = asker == options_.access.server ? std::nullopt : std::optional(users_.name(asker));
        answer_later(id, [this, job = *job, guest] {
            const auto svg = reader_.two_jobs(job, guest);
            return svg ? Result<HttpAnswer>(HttpAnswer::of(200, "{\"svg\":" + json_quoted(*svg) + "}")) : svg.error();
        });
    } else {
        answer_text(id, 404, "there is nothing at this address");
    }
}

/// Another site's page could send a form through the reader's browser, but no JSON.
void PageService::change_shares(HttpServer::Id id, const HttpRequest& request, uid_t asker) {
    if (!options_.may_edit || asker != options_.access.server) {
        answer_text(id, 403,
                    options_.may_edit ? "only who started weir serve may change shares here"
                                      : "this page is only read: weir serve --edit allows changes");
        return;
    }
    auto edit = request.content_type == "application/json"
                    ? share_edit_from(request.body)
                    : Error{std::errc::invalid_argument, "send application/json"};
    if (!edit) {
        answer_text(id, 400, edit.error().message);
        return;
    }
    edit->author = users_.name(asker);
    answer_later(id, [this, edit = *edit]() -> Result<HttpAnswer> {
        const auto client = reader_.client();
        if (!client) {
            return client.error();
        }
        const auto changed = put_share_edit(**client, edit);
        if (!changed) {
            return changed.error();
        }
        reader_.ask_at_once();
        return HttpAnswer::of(200, changed->dump());
    });
}

void PageService::answer_later(HttpServer::Id id, std::function<Result<HttpAnswer>()> question) {
    if (worker_.pending() >= questions_max) {
        answer_text(id, 503, "too many questions wait; try again later");
        return;
    }
    worker_.post([this, id, question = std::move(question)] {
        auto answer = std::make_shared<Result<HttpAnswer>>(question());
        return [this, id, answer] {
            if (*answer) {
                server_->answer(id, **answer);
            } else {
                answer_text(id, status_of(answer->error()), answer->error().message);
            }
        };
    });
}

/// A viewer says what he has open: the rows come as events, in the order of all others.
void PageService::open_rows(HttpServer::Id id, const HttpRequest& request, uid_t asker) {
    const auto wish = Json::parse(request.content_type == "application/json" ? request.body : "");
    const auto viewer = viewers_.find(wish ? id_at(wish->get(), "viewer") : 0);
    if (!wish || viewer == viewers_.end() || viewer->second.userid != asker) {
        answer_text(id, wish ? 404 : 400, wish ? "you have no such stream of events" : "send application/json");
        return;
    }
    Opened opened;
    opened.is_all = json_is_true(json_object_get(wish->get(), "all"));
    opened.search = text_at(wish->get(), "search").substr(0, search_bytes_max);
    for (const json_t* path : items_at(wish->get(), "open")) {
        if (json_is_string(path) && opened.paths.size() < opened_max) {
            opened.paths.insert(json_string_value(path));
        }
    }
    Viewer& his = viewer->second;
    his.has_tree = his.has_tree && his.opened == opened;
    his.opened = std::move(opened);
    server_->answer(id, HttpAnswer::of(200, "{}"));
    tell_viewers();
    forget_unseen();
}

std::string PageService::greeting_of(const Viewer& viewer, HttpServer::Id id) const {
    return event_text("hello", "{\"user\":" + json_quoted(viewer.user) + ",\"viewer\":" + std::to_string(id) +
                                   ",\"may_edit\":" + (options_.may_edit ? "true" : "false") + "}");
}

void PageService::begin_viewing(HttpServer::Id id, uid_t user) {
    if (viewers_.size() >= options_.viewers_max) {
        answer_text(id, 503, "too many viewers; try again later");
        return;
    }
    server_->begin_events(id);
    Viewer& viewer = viewers_[id];
    viewer.userid = user;
    viewer.user = users_.name(user);
    std::string text = greeting_of(viewer, id);
    if (!trouble_.empty()) {
        text += trouble_event(trouble_);
        viewer.has_trouble = true;
    }
    if (is_known_) {
        Part& part = part_of(user);
        const TreeEvents& tree = tree_of(part, viewer.opened);
        text += tree.is_empty() ? "" : tree.whole();
        viewer.has_tree = !tree.is_empty();
        text += pictures_for(viewer, part);
    }
    server_->send_events(id, std::make_shared<const std::string>(std::move(text)));
    ask_instance();
}

std::optional<uid_t> PageService::seen_by(uid_t user) const {
    return last_.is_private && user != options_.access.server ? std::optional(user) : std::nullopt;
}

void PageService::fill_tree(Part& part, std::optional<uid_t> whose) const {
    const ShareView* newest = last_.tree ? &*last_.tree : last_.top && !whose ? &*last_.top : nullptr;
    if (newest == nullptr) {
        return;
    }
    part.view = whose ? visible_tree(*newest, users_.name(*whose)) : *newest;
    if (!part.levels.is_of(part.view.nodes)) {
        part.levels = TreeLevels(part.view.nodes);
    }
    for (auto& [opened, tree] : part.trees) {
        tree.take(part.levels.rows(part.view, part.levels.places(part.view.nodes, opened)));
    }
}

TreeEvents& PageService::tree_of(Part& part, const Opened& opened) {
    const auto [at, is_new] = part.trees.try_emplace(opened);
    if (at->second.is_empty() && part.view.now > 0) {
        at->second.take(part.levels.rows(part.view, part.levels.places(part.view.nodes, opened)));
    }
    return at->second;
}

/// What nobody views any more.
void PageService::forget_unseen() {
    std::map<std::optional<uid_t>, std::set<Opened>> seen;
    for (const auto& entry : viewers_) {
        seen[seen_by(entry.second.userid)].insert(entry.second.opened);
    }
    std::erase_if(parts_, [&](const auto& part) { return seen.count(part.first) == 0; });
    for (auto& [whose, part] : parts_) {
        const std::set<Opened>& kept = seen.at(whose);
        std::erase_if(part.trees, [&](const auto& tree) { return kept.count(tree.first) == 0; });
    }
}

void PageService::fill_usage(Part& part, std::optional<uid_t> whose) const {
    if (last_.usage && last_.tree) {
        const InstanceFacts some =
            whose ? visible_usage(*last_.usage, visible_tree(*last_.tree, users_.name(*whose))) : *last_.usage;
        part.forgetting = forgetting_part(some);
        part.past = past_event(some);
    }
}

PageService::Part& PageService::part_of(uid_t user) {
    const auto whose = seen_by(user);
    const auto [at, is_new] = parts_.try_emplace(whose);
    if (is_new) {
        fill_tree(at->second, whose);
        fill_usage(at->second, whose);
        at->second.scene = whose ? std::nullopt : last_.scene;
    }
    return at->second;
}

std::string PageService::pictures_for(Viewer& viewer, const Part& part) {
    if (!part.scene) {
        return "";
    }
    std::vector<PendingRow> queue = part.scene->queue;
    for (PendingRow& row : queue) {
        row.is_own = row.user == viewer.user;
    }
    std::string changed;
    for (auto& [name, svg] : {std::pair<std::string, std::string>{"queue", queue_picture(queue, part.scene->pending)},
                              {"instances", instances_picture(part.scene->top)},
                              {"forgetting", part.forgetting}}) {
        if (viewer.pictures[name] != svg) {
            viewer.pictures[name] = svg;
            changed += (changed.empty() ? "{" : ",") + json_quoted(name) + ":" + json_quoted(svg);
        }
    }
    std::string events = changed.empty() ? "" : event_text("pictures", changed + "}");
    if (viewer.past != part.past) {
        viewer.past = part.past;
        events += part.past;
    }
    return events;
}

/// Nobody views: the instance is left alone.
void PageService::ask_instance() {
    if (is_asking_ || viewers_.empty()) {
        return;
    }
    is_asking_ = true;
    std::map<uid_t, std::string> guests;
    for (const auto& entry : viewers_) {
        if (entry.second.userid != options_.access.server) {
            guests.emplace(entry.second.userid, entry.second.user);
        }
    }
    worker_.post([this, guests = std::move(guests)] {
        auto reading = std::make_shared<Result<InstanceReading>>(reader_.read(guests));
        return [this, reading] {
            is_asking_ = false;
            take(*reading);
            if (*reading && (*reading)->has_more) {
                ask_instance();
            }
        };
    });
}

/// Another answer: everybody begins anew, with the part that he may see now.
void PageService::take_privacy(bool is_private) {
    if (is_private == last_.is_private) {
        return;
    }
    last_.is_private = is_private;
    parts_.clear();
    for (auto& entry : viewers_) {
        Viewer& viewer = entry.second;
        viewer = {viewer.userid, viewer.user, viewer.opened, {}, "", false, viewer.has_trouble};
    }
}

void PageService::take(const Result<InstanceReading>& reading) {
    trouble_ = reading ? "" : reading.error().message;
    if (reading) {
        take_privacy(reading->is_private);
        is_known_ = true;
        last_.top = reading->top ? reading->top : last_.top;
        last_.tree = reading->tree ? reading->tree : last_.tree;
        last_.scene = reading->scene ? reading->scene : last_.scene;
        last_.usage = reading->usage ? reading->usage : last_.usage;
        forget_unseen();
        for (const auto& entry : viewers_) {
            (void)part_of(entry.second.userid);
        }
        for (auto& [whose, part] : parts_) {
            if (reading->tree || reading->top) {
                fill_tree(part, whose);
            }
            if (reading->usage) {
                fill_usage(part, whose);
            }
            if (const auto own = whose ? reading->own.find(*whose) : reading->own.end(); own != reading->own.end()) {
                part.scene = own->second;
            } else if (!whose && reading->scene) {
                part.scene = reading->scene;
            }
        }
    }
    tell_viewers();
    keep_alive();
}

void PageService::tell_viewers() {
    using Text = std::shared_ptr<const std::string>;
    std::map<const TreeEvents*, std::pair<Text, Text>> texts;  // whole, changes
    ++quiet_turns_;
    for (auto& [id, viewer] : viewers_) {
        std::string own;
        if (viewer.has_trouble != !trouble_.empty()) {
            own += trouble_event(trouble_);
            viewer.has_trouble = !trouble_.empty();
        }
        if (const auto part = parts_.find(seen_by(viewer.userid)); part != parts_.end()) {
            own += pictures_for(viewer, part->second);
            TreeEvents& tree = tree_of(part->second, viewer.opened);
            auto& [whole, changes] = texts[&tree];
            if (!changes) {
                changes = std::make_shared<const std::string>(tree.is_empty() ? "" : tree.changes(turn_bytes_max));
            }
            if (viewer.has_tree && !changes->empty()) {
                server_->send_events(id, changes);
            } else if (!viewer.has_tree && !tree.is_empty()) {
                whole = whole ? whole : std::make_shared<const std::string>(tree.whole());
                server_->send_events(id, whole);
                viewer.has_tree = true;
            }
        }
        if (!own.empty()) {
            server_->send_events(id, std::make_shared<const std::string>(std::move(own)));
        }
    }
}

void PageService::keep_alive() {
    if (quiet_turns_ >= quiet_turns_max) {
        quiet_turns_ = 0;
        const auto comment = std::make_shared<const std::string>(":\n\n");
        for (const auto& entry : viewers_) {
            server_->send_events(entry.first, comment);
        }
    }
}

}  // namespace weir::cmd
