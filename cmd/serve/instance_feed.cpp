// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see instance_feed.hpp.
#include "cmd/serve/instance_feed.hpp"

#include <algorithm>

#include "cmd/pictures/instances.hpp"
#include "cmd/pictures/queue.hpp"
#include "cmd/serve/event_text.hpp"
#include "cmd/serve/usage_events.hpp"
#include "cmd/serve/visible_part.hpp"
#include "libfairshare/base/json/text_writer.hpp"

namespace weir::cmd {
namespace {

/// Of changes in one turn, to one viewer.
constexpr std::size_t turn_bytes_max = 40'000;
/// Turns without an event after which a comment is sent: proxies close a connection on which nothing moves.
constexpr int quiet_turns_max = 20;

std::string trouble_event(const std::string& sentence) {
    return event_text("trouble", ObjectText().set("text", sentence).text());
}

/// Keeps the picture where it is the same.
void put(std::shared_ptr<const std::string>& picture, std::string svg) {
    if (!picture || *picture != svg) {
        picture = std::make_shared<const std::string>(std::move(svg));
    }
}

/// From the top to the instance that is shown.
std::string place_event(const std::vector<std::string>& names) {
    ArrayText way;
    for (const std::string& name : names) {
        way.append(name);
    }
    return event_text("place", ObjectText().splice("names", way.text()).text());
}

}  // namespace

InstanceFeed::InstanceFeed(Setting setting, InstanceReader reader)
    : setting_(std::move(setting)),
      comparison_(std::make_shared<const std::string>(setting_.comparison)),
      reader_(std::move(reader)),
      is_inside_(!reader_.way().empty()) {
    for (const std::uint64_t id : reader_.way()) {
        link_ += std::to_string(id) + "/";
    }
}

void InstanceFeed::begin_viewing(Id id, uid_t user) {
    Viewer& viewer = viewers_[id];
    viewer.userid = user;
    viewer.user = setting_.users.name(user);
    viewer.trouble = trouble_of(viewer);
    std::string text = greeting_of(viewer, id) + (viewer.trouble.empty() ? "" : trouble_event(viewer.trouble));
    if (is_known_ && may_see(user)) {
        Part& part = part_of(user);
        const TreeEvents& tree = tree_of(part, viewer.opened);
        text += tree.is_empty() ? "" : tree.whole();
        viewer.has_tree = !tree.is_empty();
        text += pictures_for(viewer, part);
    }
    setting_.send(id, event_bytes(std::move(text)));
    ask_instance();
}

bool InstanceFeed::open_rows(Id id, uid_t user, Opened opened) {
    const auto viewer = viewers_.find(id);
    if (viewer == viewers_.end() || viewer->second.userid != user) {
        return false;
    }
    Viewer& his = viewer->second;
    his.has_tree = his.has_tree && his.opened == opened;
    his.opened = std::move(opened);
    notify_viewers();
    forget_unseen();
    return true;
}

std::string InstanceFeed::trouble_of(const Viewer& viewer) const {
    // What keeps an instance from answering is nothing for a guest, as long as it may be private.
    const bool is_shut = is_inside_ && viewer.userid != setting_.owner && (!is_known_ || last_.is_private);
    if (is_shut && (is_known_ || !trouble_.empty())) {
        return "Only its owner sees what is inside this instance, or it does not answer.";
    }
    return trouble_.empty() ? "" : "The instance does not answer: " + trouble_;
}

std::string InstanceFeed::greeting_of(const Viewer& viewer, HttpServer::Id id) const {
    ObjectText greeting;
    greeting.set("user", viewer.user).set("viewer", id).set("may_edit", setting_.may_edit);
    return event_text("hello", greeting.text());
}

std::optional<uid_t> InstanceFeed::seen_by(uid_t user) const {
    return last_.is_private && user != setting_.owner ? std::optional(user) : std::nullopt;
}

void InstanceFeed::fill_tree(Part& part, std::optional<uid_t> whose) const {
    const auto told = whose ? last_.guests.find(*whose) : last_.guests.end();
    const ShareView* newest = whose        ? told != last_.guests.end() ? &told->second.tree : nullptr
                              : last_.tree ? &*last_.tree
                              : last_.top  ? &*last_.top
                                           : nullptr;
    if (newest == nullptr) {
        return;
    }
    part.view = *newest;
    if (!part.levels.is_of(part.view.nodes)) {
        part.levels = TreeLevels(part.view.nodes);
    }
    for (auto& [opened, tree] : part.trees) {
        tree.take(part.levels.rows(part.view, part.levels.places(part.view.nodes, opened)));
    }
}

TreeEvents& InstanceFeed::tree_of(Part& part, const Opened& opened) {
    const auto [at, is_new] = part.trees.try_emplace(opened);
    if (at->second.is_empty() && part.view.now > 0) {
        at->second.take(part.levels.rows(part.view, part.levels.places(part.view.nodes, opened)));
    }
    return at->second;
}

/// What nobody views any more.
void InstanceFeed::forget_unseen() {
    std::map<std::optional<uid_t>, std::set<Opened>> seen;
    for (const auto& entry : viewers_) {
        seen[seen_by(entry.second.userid)].insert(entry.second.opened);
    }
    std::erase_if(parts_, [&](const auto& part) { return seen.count(part.first) == 0; });
    std::erase_if(last_.guests, [&](const auto& guest) { return seen.count(guest.first) == 0; });
    for (auto& [whose, part] : parts_) {
        const std::set<Opened>& kept = seen.at(whose);
        std::erase_if(part.trees, [&](const auto& tree) { return kept.count(tree.first) == 0; });
    }
}

void InstanceFeed::fill_usage(Part& part, std::optional<uid_t> whose) const {
    if (last_.usage && (!whose || part.view.now > 0)) {
        const InstanceFacts some = whose ? visible_usage(*last_.usage, part.view) : *last_.usage;
        put(part.forgetting, forgetting_part(some));
        part.past = past_event(some);
    }
}

void InstanceFeed::fill_queue(Part& part, std::optional<uid_t> whose) const {
    const auto told = whose ? last_.guests.find(*whose) : last_.guests.end();
    if (whose ? told == last_.guests.end() : !last_.queue) {
        return;
    }
    part.queue = whose ? told->second.queue : *last_.queue;
    part.queue_drawn_had = std::exchange(part.queue_drawn, {});
}

void InstanceFeed::fill_boxes(Part& part, std::optional<uid_t> whose) const {
    if (last_.boxes) {
        put(part.boxes, instances_picture(whose ? visible_box(*last_.boxes) : *last_.boxes, link_));
    }
}

InstanceFeed::Part& InstanceFeed::part_of(uid_t user) {
    const auto whose = seen_by(user);
    const auto [at, is_new] = parts_.try_emplace(whose);
    if (is_new) {
        fill_tree(at->second, whose);
        fill_usage(at->second, whose);
        fill_queue(at->second, whose);
        fill_boxes(at->second, whose);
    }
    return at->second;
}

/// Most viewers have no job among the first ones: for them it is one picture.
InstanceFeed::Picture InstanceFeed::queue_drawn(Part& part, const std::string& user) {
    std::vector<PendingRow> queue = part.queue->queue;
    bool has_own = false;
    for (PendingRow& row : queue) {
        row.is_own = row.user == user;
        has_own = has_own || row.is_own;
    }
    Picture& drawn = part.queue_drawn[has_own ? user : ""];
    if (!drawn) {
        drawn = part.queue_drawn_had[has_own ? user : ""];
        put(drawn, queue_picture(queue, part.queue->pending));
    }
    return drawn;
}

std::string InstanceFeed::pictures_for(Viewer& viewer, Part& part) const {
    ObjectText changed;
    const auto add = [&](const char* name, const Picture& picture) {
        if (picture && !picture->empty() && viewer.pictures[name] != picture) {
            viewer.pictures[name] = picture;
            changed.set(name, *picture);
        }
    };
    add("queue", part.queue ? queue_drawn(part, viewer.user) : nullptr);
    add("instances", part.boxes);
    add("forgetting", part.forgetting);
    add("policies", part.queue ? comparison_ : nullptr);
    std::string events = changed.empty() ? "" : event_text("pictures", changed.text());
    if (const std::string place = is_inside_ ? place_event(last_.names) : ""; viewer.place != place) {
        viewer.place = place;
        events += place;
    }
    if (viewer.past != part.past) {
        viewer.past = part.past;
        events += part.past;
    }
    const LoadPast& load = seen_by(viewer.userid) ? guests_load_ : load_;
    return events + load.event(std::exchange(viewer.load, load.end()));
}

/// Another answer: everybody begins anew, with the part that he may see now.
void InstanceFeed::take_privacy(bool is_private) {
    if (is_private == last_.is_private) {
        return;
    }
    last_.is_private = is_private;
    last_.guests.clear();
    parts_.clear();
    for (auto& entry : viewers_) {
        Viewer& viewer = entry.second;
        viewer = {viewer.userid, viewer.user, viewer.opened, {}, "", viewer.place, viewer.trouble, 0, false};
    }
}

void InstanceFeed::take_load(const InstanceReading& reading) {
    const auto& boxes = reading.boxes;
    load_.take(reading.now, boxes ? std::optional(load_of(*boxes)) : std::nullopt);
    guests_load_.take(reading.now, boxes ? std::optional(load_of(visible_box(*boxes))) : std::nullopt);
}

void InstanceFeed::take(const Result<InstanceReading>& reading) {
    trouble_ = reading ? "" : reading.error().message;
    if (reading) {
        take_privacy(reading->is_private);
        is_known_ = true;
        take_load(*reading);
        last_.top = reading->top ? reading->top : last_.top;
        last_.tree = reading->tree ? reading->tree : last_.tree;
        last_.queue = reading->queue ? reading->queue : last_.queue;
        last_.boxes = reading->boxes ? reading->boxes : last_.boxes;
        last_.usage = reading->usage ? reading->usage : last_.usage;
        last_.names = reading->names;
        for (const auto& [guest, told] : reading->guests) {
            last_.guests.insert_or_assign(guest, told);
        }
        forget_unseen();
        for (const auto& entry : viewers_) {
            if (may_see(entry.second.userid)) {
                (void)part_of(entry.second.userid);
            }
        }
        for (auto& [whose, part] : parts_) {
            const bool is_first = part.view.now <= 0;
            if (whose ? reading->guests.count(*whose) > 0 : reading->tree || reading->top) {
                fill_tree(part, whose);
            }
            if (reading->usage || (is_first && part.view.now > 0)) {
                fill_usage(part, whose);
            }
            if (whose ? reading->guests.count(*whose) > 0 : reading->queue.has_value()) {
                fill_queue(part, whose);
            }
            if (reading->boxes) {
                fill_boxes(part, whose);
            }
        }
        if (reading->figures) {
            put_figures(*reading->figures);
        }
    }
    notify_viewers();
    keep_alive();
}

void InstanceFeed::put_figures(const ShareFigures& figures) {
    const auto all = parts_.find(std::nullopt);
    if (all == parts_.end() || !last_.tree || last_.tree->nodes.size() != all->second.view.nodes.size()) {
        return;
    }
    Part& part = all->second;
    for (ShareView* view : {&part.view, &*last_.tree}) {
        view->now = figures.now;
        view->all_core_s = figures.all_core_s;
        for (const ShareNode& told : figures.nodes) {
            const auto place = part.levels.place_of(told.path);
            if (!place) {
                continue;
            }
            ShareNode& node = view->nodes[*place];
            const ShareNode had = std::exchange(node, told);
            node.is_user = had.is_user;
            node.charged_core_us = had.charged_core_us;
            node.children = had.children;
        }
    }
    for (auto& [opened, tree] : part.trees) {
        tree.take(part.levels.rows(part.view, part.levels.places(part.view.nodes, opened)));
    }
}

/// The rows of the viewers with fewer rows come first.
std::vector<std::string> InstanceFeed::rows_seen() const {
    const auto all = parts_.find(std::nullopt);
    std::vector<const TreeEvents*> trees;
    if (all != parts_.end()) {
        for (const auto& entry : all->second.trees) {
            trees.push_back(&entry.second);
        }
    }
    std::sort(trees.begin(), trees.end(), [](const TreeEvents* a, const TreeEvents* b) {
        return a->shown().nodes.size() < b->shown().nodes.size();
    });
    std::set<std::string> seen;
    for (const TreeEvents* tree : trees) {
        for (const ShareNode& node : tree->shown().nodes) {
            if (seen.size() < share_figures_max) {
                seen.insert(node.path);
            }
        }
    }
    return {seen.begin(), seen.end()};
}

void InstanceFeed::notify_viewers() {
    std::map<const TreeEvents*, std::pair<EventText, EventText>> texts;  // whole, changes
    std::map<std::string, EventText> equal;                              // what several viewers get is compressed once
    ++quiet_turns_;
    for (auto& [id, viewer] : viewers_) {
        std::string own;
        if (const std::string trouble = trouble_of(viewer); viewer.trouble != trouble) {
            own += trouble_event(trouble);
            viewer.trouble = trouble;
        }
        if (const auto part = parts_.find(seen_by(viewer.userid)); part != parts_.end()) {
            own += pictures_for(viewer, part->second);
            TreeEvents& tree = tree_of(part->second, viewer.opened);
            auto& [whole, changes] = texts[&tree];
            if (!changes) {
                changes = event_bytes(tree.is_empty() ? "" : tree.changes(turn_bytes_max));
            }
            if (viewer.has_tree && !changes->plain().empty()) {
                setting_.send(id, changes);
            } else if (!viewer.has_tree && !tree.is_empty()) {
                whole = whole ? whole : event_bytes(tree.whole());
                setting_.send(id, whole);
                viewer.has_tree = true;
            }
        }
        if (!own.empty()) {
            EventText& text = equal[own];
            text = text ? text : event_bytes(own);
            setting_.send(id, text);
        }
    }
}

void InstanceFeed::keep_alive() {
    if (quiet_turns_ >= quiet_turns_max) {
        quiet_turns_ = 0;
        const auto comment = event_bytes(":\n\n");
        for (const auto& entry : viewers_) {
            setting_.send(entry.first, comment);
        }
    }
}

/// Nobody views: the instance is left alone.
void InstanceFeed::ask_instance() {
    if (is_asking_ || viewers_.empty()) {
        return;
    }
    is_asking_ = true;
    Viewing viewing;
    for (const auto& entry : viewers_) {
        if (entry.second.userid != setting_.owner) {
            viewing.guests.emplace(entry.second.userid, entry.second.user);
        } else {
            viewing.has_owner = true;
        }
    }
    viewing.rows = rows_seen();
    setting_.worker.post([this, self = shared_from_this(), viewing = std::move(viewing)] {
        auto reading = std::make_shared<Result<InstanceReading>>(reader_.read(viewing));
        return [this, self, reading] {
            is_asking_ = false;
            take(*reading);
            if (*reading && (*reading)->has_more) {
                ask_instance();
            }
        };
    });
}

}  // namespace weir::cmd
