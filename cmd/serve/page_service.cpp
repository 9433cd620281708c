// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see page_service.hpp.
#include "cmd/serve/page_service.hpp"

#include <algorithm>
#include <charconv>

#include "cmd/common/text.hpp"
#include "cmd/serve/open_wish.hpp"
#include "cmd/serve/page_files.hpp"
#include "cmd/serve/share_edit.hpp"
#include "libfairshare/base/json/text_writer.hpp"

namespace weir::cmd {
namespace {

constexpr std::uint64_t turn_ms = 1000;
constexpr std::size_t page_file_bytes_max = 4 << 20;
/// Questions that wait for the instance; further ones are refused.
constexpr std::size_t questions_max = 64;
constexpr const char* too_many = "too many questions wait; try again later";
/// Instances inside this one that somebody looks at, at one time, and levels.
constexpr std::size_t inside_max = 16, inside_levels_max = 16;

int status_of(const Error& error) {
    switch (error.code) {
        case std::errc::invalid_argument:
        case std::errc::message_size:
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

/// "12/345": the jobs that are instances, from the top's on. Empty: the top. Nullopt: it is no such text.
std::optional<std::vector<std::uint64_t>> way_of(const std::string& text) {
    std::vector<std::uint64_t> way;
    std::size_t at = 0;
    while (at < text.size()) {
        const std::size_t end = std::min(text.find('/', at), text.size());
        std::uint64_t job = 0;
        const auto [past, failure] = std::from_chars(text.data() + at, text.data() + end, job);
        if (failure != std::errc{} || past != text.data() + end || end + 1 == text.size() ||
            way.size() == inside_levels_max) {
            return std::nullopt;
        }
        way.push_back(job);
        at = end + 1;
    }
    return way;
}

}  // namespace

PageService::PageService(uv_loop_t* loop, Workers workers, std::string uri, Users users, PageOptions options)
    : workers_(workers), uri_(std::move(uri)), users_(std::move(users)), options_(std::move(options)) {
    feeds_[{}] = new_feed({});
    (void)uv_timer_init(loop, &timer_);
    timer_.data = this;
    (void)uv_timer_start(
        &timer_, [](uv_timer_t* timer) { static_cast<PageService*>(timer->data)->ask_all(); }, 0, turn_ms);
}

void PageService::close() {
    uv_close(reinterpret_cast<uv_handle_t*>(&timer_), nullptr);
}

std::shared_ptr<InstanceFeed> PageService::new_feed(const Way& way) {
    InstanceFeed::Setting setting{way.empty() ? workers_.top : workers_.inside,
                                  users_,
                                  options_.access.server,
                                  options_.may_edit && way.empty(),
                                  way.empty() ? options_.comparison : "",
                                  [this](HttpServer::Id id, const EventText& text) { server_->send_events(id, text); }};
    return std::make_shared<InstanceFeed>(std::move(setting), InstanceReader(uri_, way));
}

std::shared_ptr<InstanceFeed> PageService::feed_at(const Way& way) {
    const auto known = feeds_.find(way);
    return known != feeds_.end() ? known->second : new_feed(way);
}

void PageService::ask_all() {
    for (const auto& entry : feeds_) {
        entry.second->ask_instance();
    }
}

void PageService::gone(HttpServer::Id id) {
    const auto viewed = viewed_.find(id);
    if (viewed == viewed_.end()) {
        return;
    }
    const auto feed = feeds_.find(viewed->second);
    feed->second->gone(id);
    if (!feed->second->is_viewed() && !feed->first.empty()) {
        feeds_.erase(feed);
    }
    viewed_.erase(viewed);
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
    const bool is_posted = request.path == "/api/change" || request.path == "/api/open";
    const bool is_read = request.method == "GET" || request.method == "HEAD";
    if (!is_read && !(is_posted && request.method == "POST")) {
        const std::string allow = is_posted ? "POST" : "GET, HEAD";
        HttpAnswer answer =
            HttpAnswer::of(405, "this address takes " + allow + " alone\n", "text/plain; charset=utf-8");
        answer.allow = allow;
        server_->answer(id, std::move(answer));
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
    const auto way = way_of(query_value(request.query, "in").value_or(""));
    if (!way) {
        answer_text(id, 400, "in= names jobs that are instances, from above: in=12/345");
    } else if (request.path == "/api/open") {
        open_rows(id, request, asker);
    } else if (request.method == "POST") {
        change_shares(id, request, asker);
    } else if (request.path == "/api/events" && request.method == "HEAD") {
        HttpAnswer stream;
        stream.type = "text/event-stream";
        server_->answer(id, std::move(stream));
    } else if (request.path == "/api/events") {
        begin_viewing(id, *way, asker);
    } else if (request.path == "/metrics") {
        answer_metrics(id, *way, asker);
    } else if (request.path == "/api/after-job") {
        answer_after_job(id, request, *way, asker);
    } else if (request.path == "/api/two-jobs") {
        compare_jobs(id, request, *way, asker);
    } else {
        answer_text(id, 404, "there is nothing at this address");
    }
}

std::optional<std::string> PageService::guest_name(uid_t asker) const {
    return asker == options_.access.server ? std::nullopt : std::optional(users_.name(asker));
}

/// Partitions that hang make a reading slow. Scrapes that come meanwhile must not queue up behind it.
void PageService::answer_metrics(HttpServer::Id id, const Way& way, uid_t asker) {
    const std::pair key(way, guest_name(asker).has_value());
    if (const auto reading = metrics_askers_.find(key); reading != metrics_askers_.end()) {
        reading->second.push_back(id);
        return;
    }
    const auto feed = feed_at(way);
    if (feed->worker().pending() >= questions_max) {
        answer_text(id, 503, too_many);
        return;
    }
    metrics_askers_[key] = {id};
    feed->worker().post([this, feed, key] {
        const auto text = feed->reader().metrics(key.second);
        const auto told = std::make_shared<Result<HttpAnswer>>(
            text ? Result<HttpAnswer>(
                       HttpAnswer::of(200, *text, "application/openmetrics-text; version=1.0.0; charset=utf-8"))
                 : text.error());
        return [this, key, told] {
            const auto askers = metrics_askers_.extract(key);
            for (const HttpServer::Id waiting : askers.mapped()) {
                answer(waiting, *told);
            }
        };
    });
}

void PageService::answer_after_job(HttpServer::Id id, const HttpRequest& request, const Way& way, uid_t asker) {
    const auto number = [&request](const char* name) {
        return parse_integer(query_value(request.query, name).value_or(""), 0, std::int64_t{1} << 40);
    };
    const auto cores = number("cores"), seconds = number("seconds");
    if (!cores || !seconds) {
        answer_text(id, 400, "after-job takes path, cores and seconds: numbers");
        return;
    }
    const ThoughtJob job{query_value(request.query, "path").value_or(""), *cores, *seconds};
    const auto feed = feed_at(way);
    const auto guest = asker == options_.access.server ? std::nullopt : std::optional(asker);
    answer_later(id, feed->worker(), [feed, job, guest]() -> Result<HttpAnswer> {
        const auto told = feed->reader().after_job(job, guest);
        return told ? Result<HttpAnswer>(HttpAnswer::of(200, *told)) : told.error();
    });
}

void PageService::compare_jobs(HttpServer::Id id, const HttpRequest& request, const Way& way, uid_t asker) {
    const auto job = parse_job(query_value(request.query, "job").value_or(""));
    if (!job) {
        answer_text(id, 400, job.error().message);
        return;
    }
    const auto feed = feed_at(way);
    answer_later(id, feed->worker(), [feed, job = *job, guest = guest_name(asker)]() -> Result<HttpAnswer> {
        const auto svg = feed->reader().two_jobs(job, guest);
        return svg ? Result<HttpAnswer>(HttpAnswer::of(200, ObjectText().set("svg", *svg).text())) : svg.error();
    });
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
    const auto feed = feeds_.at({});
    answer_later(id, feed->worker(), [feed, edit = *edit]() -> Result<HttpAnswer> {
        const auto client = feed->reader().client();
        if (!client) {
            return client.error();
        }
        const auto changed = put_share_edit(**client, edit);
        if (!changed) {
            return changed.error();
        }
        feed->reader().ask_at_once();
        return HttpAnswer::of(200, changed->dump());
    });
}

void PageService::answer_later(HttpServer::Id id, Worker& worker, std::function<Result<HttpAnswer>()> question) {
    if (worker.pending() >= questions_max) {
        answer_text(id, 503, too_many);
        return;
    }
    worker.post([this, id, question = std::move(question)] {
        const auto told = std::make_shared<Result<HttpAnswer>>(question());
        return [this, id, told] { answer(id, *told); };
    });
}

void PageService::answer(HttpServer::Id id, const Result<HttpAnswer>& told) {
    if (told) {
        server_->answer(id, *told);
    } else {
        answer_text(id, status_of(told.error()), told.error().message);
    }
}

/// A viewer says what he has open: the rows come as events, in the order of all others.
void PageService::open_rows(HttpServer::Id id, const HttpRequest& request, uid_t asker) {
    auto wish = request.content_type == "application/json"
                    ? open_wish_from(request.body)
                    : Error{std::errc::invalid_argument, "send application/json"};
    if (!wish) {
        answer_text(id, 400, wish.error().message);
        return;
    }
    const HttpServer::Id stream = wish->viewer;
    const auto viewed = viewed_.find(stream);
    if (viewed != viewed_.end() && feeds_.at(viewed->second)->open_rows(stream, asker, std::move(wish->opened))) {
        server_->answer(id, HttpAnswer::of(200, "{}"));
    } else {
        answer_text(id, 404, "you have no such stream of events");
    }
}

void PageService::begin_viewing(HttpServer::Id id, const Way& way, uid_t user) {
    const auto has_room = [&] {
        return viewed_.size() < options_.viewers_max && (feeds_.count(way) > 0 || feeds_.size() <= inside_max);
    };
    if (!has_room()) {
        server_->end_left();
    }
    if (!has_room()) {
        answer_text(id, 503,
                    viewed_.size() < options_.viewers_max ? "too many instances are looked at; try again later"
                                                          : "too many viewers; try again later");
        return;
    }
    server_->begin_events(id);
    viewed_[id] = way;
    const auto feed = feed_at(way);
    feeds_[way] = feed;
    feed->begin_viewing(id, user);
}

}  // namespace weir::cmd
