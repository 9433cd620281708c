// SPDX-License-Identifier: LGPL-3.0-only
// Owns: what `weir serve` answers: its routes, and which instance each viewer looks at. Runs on the loop's thread.
// Must not know sockets, nor what viewers of an instance get.
#pragma once
#include <uv.h>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cmd/serve/access.hpp"
#include "cmd/serve/http_server.hpp"
#include "cmd/serve/instance_feed.hpp"

namespace weir::cmd {

struct PageOptions {
    AccessRules access;
    bool may_edit = false;
    std::string comparison;         ///< HTML that the top's page shows; empty: none
    std::size_t viewers_max = 256;  ///< streams of events; further ones are refused
};

/// An instance inside may hang: it keeps nobody waiting who looks at the top.
struct Workers {
    Worker& top;
    Worker& inside;
};

class PageService {
  public:
    /// `uri`: of the top instance. The workers must outlive this.
    PageService(uv_loop_t* loop, Workers workers, std::string uri, Users users, PageOptions options);
    PageService(const PageService&) = delete;
    PageService& operator=(const PageService&) = delete;

    /// Answers go to it from now on.
    void serve_by(HttpServer& server) { server_ = &server; }
    void handle(HttpServer::Id id, const HttpRequest& request);
    void gone(HttpServer::Id id);
    /// Ends the loop's handles.
    void close();

  private:
    /// The jobs that are instances, from the top's on.
    using Way = std::vector<std::uint64_t>;

    std::shared_ptr<InstanceFeed> new_feed(const Way& way);
    /// One that nobody views is kept by who holds the answer alone.
    std::shared_ptr<InstanceFeed> feed_at(const Way& way);
    void ask_all();
    bool answer_file(HttpServer::Id id, const HttpRequest& request);
    void answer_asker(HttpServer::Id id, const HttpRequest& request, uid_t asker);
    void answer_metrics(HttpServer::Id id, const Way& way, uid_t asker);
    void answer_after_job(HttpServer::Id id, const HttpRequest& request, const Way& way, uid_t asker);
    void compare_jobs(HttpServer::Id id, const HttpRequest& request, const Way& way, uid_t asker);
    void change_shares(HttpServer::Id id, const HttpRequest& request, uid_t asker);
    void answer_later(HttpServer::Id id, Worker& worker, std::function<Result<HttpAnswer>()> question);
    void answer(HttpServer::Id id, const Result<HttpAnswer>& told);
    void answer_text(HttpServer::Id id, int status, const std::string& sentence);
    void begin_viewing(HttpServer::Id id, const Way& way, uid_t user);
    void open_rows(HttpServer::Id id, const HttpRequest& request, uid_t asker);
    /// Nullopt: it is who runs the server.
    std::optional<std::string> guest_name(uid_t asker) const;

    Workers workers_;
    std::string uri_;
    Users users_;
    PageOptions options_;
    HttpServer* server_ = nullptr;
    uv_timer_t timer_{};
    std::map<Way, std::shared_ptr<InstanceFeed>> feeds_;  ///< the top's, and those that somebody views
    std::map<HttpServer::Id, Way> viewed_;                ///< by the stream of the viewer
    /// Who asked for metrics while they are read, by instance and whether he is a guest: one reading answers all.
    std::map<std::pair<Way, bool>, std::vector<HttpServer::Id>> metrics_askers_;
};

}  // namespace weir::cmd
