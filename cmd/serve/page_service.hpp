// SPDX-License-Identifier: LGPL-3.0-only
// Owns: what `weir serve` answers: its routes, its viewers, and when the instance is asked. Runs on the loop's thread.
// Must not know sockets, nor how the instance is asked.
#pragma once
#include <uv.h>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "cmd/common/jobs.hpp"
#include "cmd/serve/access.hpp"
#include "cmd/serve/http_server.hpp"
#include "cmd/serve/instance_reader.hpp"
#include "cmd/serve/tree_events.hpp"
#include "cmd/serve/tree_levels.hpp"
#include "cmd/serve/worker.hpp"

namespace weir::cmd {

struct PageOptions {
    AccessRules access;
    bool may_edit = false;
    std::size_t viewers_max = 256;  ///< streams of events; further ones are refused
};

class PageService {
  public:
    /// `reader` is used by the worker's thread alone. All must outlive this.
    PageService(uv_loop_t* loop, Worker& worker, InstanceReader& reader, Users users, PageOptions options);
    PageService(const PageService&) = delete;
    PageService& operator=(const PageService&) = delete;

    /// Answers go to it from now on.
    void serve_by(HttpServer& server) { server_ = &server; }
    void handle(HttpServer::Id id, const HttpRequest& request);
    void gone(HttpServer::Id id) { viewers_.erase(id); }
    /// Ends the loop's handles.
    void close();

  private:
    /// What all who see the same of the instance get: the owner and, unless it is private, everybody; else one user.
    struct Part {
        ShareView view;
        TreeLevels levels;
        std::map<Opened, TreeEvents> trees;  ///< of what somebody has open
        std::optional<QueueScene> scene;
        std::string forgetting;  ///< picture 2 with its caption
        std::string past;        ///< the event with the lines of the past
    };
    struct Viewer {
        uid_t userid = 0;
        std::string user;
        Opened opened;
        std::map<std::string, std::string> pictures;  ///< as the viewer has them, by name
        std::string past;                             ///< as the viewer has it
        bool has_tree = false;
        bool has_trouble = false;
    };

    bool answer_file(HttpServer::Id id, const HttpRequest& request);
    void answer_asker(HttpServer::Id id, const HttpRequest& request, uid_t asker);
    void change_shares(HttpServer::Id id, const HttpRequest& request, uid_t asker);
    void answer_later(HttpServer::Id id, std::function<Result<HttpAnswer>()> question);
    void answer_text(HttpServer::Id id, int status, const std::string& sentence);
    void begin_viewing(HttpServer::Id id, uid_t user);
    void ask_instance();
    void take(const Result<InstanceReading>& reading);
    void take_privacy(bool is_private);
    /// Whose part this user sees; nobody's: all of it.
    std::optional<uid_t> seen_by(uid_t user) const;
    /// With what the instance told last.
    Part& part_of(uid_t user);
    /// Nothing for a guest's part of the levels on top alone: its sums would lack what is below them.
    void fill_tree(Part& part, std::optional<uid_t> whose) const;
    void open_rows(HttpServer::Id id, const HttpRequest& request, uid_t asker);
    static TreeEvents& tree_of(Part& part, const Opened& opened);
    void forget_unseen();
    void fill_usage(Part& part, std::optional<uid_t> whose) const;
    std::string greeting_of(const Viewer& viewer, HttpServer::Id id) const;
    static std::string pictures_for(Viewer& viewer, const Part& part);
    void tell_viewers();
    void keep_alive();

    Worker& worker_;
    InstanceReader& reader_;
    Users users_;
    PageOptions options_;
    HttpServer* server_ = nullptr;
    uv_timer_t timer_{};
    bool is_asking_ = false;
    int quiet_turns_ = 0;
    std::map<HttpServer::Id, Viewer> viewers_;
    bool is_known_ = false;                       ///< whether the instance is private
    InstanceReading last_;                        ///< each part as it was told last
    std::map<std::optional<uid_t>, Part> parts_;  ///< those that somebody views
    std::string trouble_;                         ///< why the instance does not answer; empty: it does
};

}  // namespace weir::cmd
