// SPDX-License-Identifier: LGPL-3.0-only
// Owns: what the viewers of one instance get: who they are, when the instance is asked, and which part of the answers
// each may see. Runs on the loop's thread. Must not know routes, nor how the instance is asked.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cmd/common/jobs.hpp"
#include "cmd/serve/http_server.hpp"
#include "cmd/serve/instance_reader.hpp"
#include "cmd/serve/load_past.hpp"
#include "cmd/serve/tree_events.hpp"
#include "cmd/serve/tree_levels.hpp"
#include "cmd/serve/worker.hpp"

namespace weir::cmd {

/// Held by shared_ptr: a question on its way keeps its feed.
class InstanceFeed : public std::enable_shared_from_this<InstanceFeed> {
  public:
    using Id = HttpServer::Id;
    struct Setting {
        Worker& worker;      ///< asks the instance
        const Users& users;  ///< of the top
        uid_t owner;         ///< who sees all: who runs the server
        bool may_edit;
        std::string comparison;  ///< HTML with picture 6; empty: none
        std::function<void(Id, const EventText&)> send;
    };
    /// `reader` is used by the worker's thread alone. What the setting refers to must outlive this.
    InstanceFeed(Setting setting, InstanceReader reader);

    /// The stream `id` of this user gets the present state, and then each change.
    void begin_viewing(Id id, uid_t user);
    /// Sets which rows the viewer has open. False: the stream belongs to another user.
    bool open_rows(Id id, uid_t user, Opened opened);
    void gone(Id id) { viewers_.erase(id); }
    bool is_viewed() const { return !viewers_.empty(); }
    /// Sends the requests that are due, if there are viewers.
    void ask_instance();

    Worker& worker() const { return setting_.worker; }
    /// For tasks of the worker.
    InstanceReader& reader() { return reader_; }

  private:
    /// Pictures are equal if their pointers are equal.
    using Picture = std::shared_ptr<const std::string>;
    /// What the viewers with the same view of the instance get. In a private instance each guest has a view of his own;
    /// all other viewers share one.
    struct Part {
        ShareView view;
        TreeLevels levels;
        std::map<Opened, TreeEvents> trees;  ///< by the rows that viewers have open
        std::optional<QueueScene> queue;
        std::map<std::string, Picture> queue_drawn;      ///< by the user whose jobs are marked; mostly no user
        std::map<std::string, Picture> queue_drawn_had;  ///< pictures of the previous queue
        Picture boxes;
        Picture forgetting;  ///< picture 2 with its caption
        std::string past;    ///< the event with the lines of the past
    };
    struct Viewer {
        uid_t userid = 0;
        std::string user;
        Opened opened;
        std::map<std::string, Picture> pictures;  ///< as the viewer has them, by name
        std::string past;                         ///< as the viewer has it
        std::string place;                        ///< the same
        std::string trouble;                      ///< the same
        std::uint64_t load = 0;                   ///< he has the points before this one
        bool has_tree = false;
    };

    void take(const Result<InstanceReading>& reading);
    void take_privacy(bool is_private);
    void take_load(const InstanceReading& reading);
    /// Whose part this user sees; nobody's: all of it.
    std::optional<uid_t> seen_by(uid_t user) const;
    /// A guest does not look into the instances of a private one.
    bool may_see(uid_t user) const { return !is_inside_ || !seen_by(user); }
    /// Why he sees nothing, or nothing new.
    std::string trouble_of(const Viewer& viewer) const;
    /// With what the instance told last.
    Part& part_of(uid_t user);
    void fill_tree(Part& part, std::optional<uid_t> whose) const;
    static TreeEvents& tree_of(Part& part, const Opened& opened);
    void forget_unseen();
    void fill_usage(Part& part, std::optional<uid_t> whose) const;
    void fill_queue(Part& part, std::optional<uid_t> whose) const;
    void fill_boxes(Part& part, std::optional<uid_t> whose) const;
    /// Of a large tree, as those see it who see all.
    void put_figures(const ShareFigures& figures);
    std::vector<std::string> rows_seen() const;
    static Picture queue_drawn(Part& part, const std::string& user);
    std::string greeting_of(const Viewer& viewer, Id id) const;
    std::string pictures_for(Viewer& viewer, Part& part) const;
    void notify_viewers();
    void keep_alive();

    Setting setting_;
    const Picture comparison_;
    InstanceReader reader_;
    const bool is_inside_;
    std::string link_ = "?in=";  ///< before the way of a box, as the page takes it
    bool is_asking_ = false;
    int quiet_turns_ = 0;
    std::map<Id, Viewer> viewers_;
    bool is_known_ = false;                       ///< whether the instance is private
    InstanceReading last_;                        ///< each part as it was told last, of guests those who view
    std::map<std::optional<uid_t>, Part> parts_;  ///< those that somebody views
    LoadPast load_, guests_load_;                 ///< of the boxes as all see them, as guests of a private instance do
    std::string trouble_;                         ///< why the instance does not answer; empty: it does
};

}  // namespace weir::cmd
