// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see instance_feed.hpp.
#include "cmd/serve/instance_feed.hpp"

#include "cmd/pictures/instances.hpp"
#include "cmd/pictures/queue.hpp"
#include "cmd/serve/usage_events.hpp"
#include "cmd/serve/visible_part.hpp"

namespace weir::cmd {
namespace {

/// Of changes in one turn, to one viewer.
constexpr std::size_t turn_bytes_max = 40'000;
/// Turns without an event after which a comment is sent: proxies close a connection on which nothing moves.
constexpr int quiet_turns_max = 20;

std::string trouble_event(const std::string& sentence) {
    return event_text("trouble", "{\"text\":" + json_quoted(sentence) + "}");
}

/// From the top to the instance that is shown.
std::string place_event(const std::vector<std::string>& names) {
    std::string json;
    for (const std::string& name : names) {
        json += (json.empty() ? "" : ",") + json_quoted(name);
    }
    return event_text("place", "{\"names\":[" + json + "]}");
}

}  // namespace

InstanceFeed::InstanceFeed(Setting setting, InstanceReader reader)
    : setting_(std::move(setting)), reader_(std::move(reader)), is_inside_(!reader_.way().empty()) {
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
        text += pictures_for(viewer, part, drawn(part, viewer.user));
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
    tell_viewers();
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
    return event_text("hello", "{\"user\":" + json_quoted(viewer.user) + ",\"viewer\":" + std::to_string(id) +
                                   ",\"may_edit\":" + (setting_.may_edit ? "true" : "false") + "}");
}

std::optional<uid_t> InstanceFeed::seen_by(uid_t user) const {
    return last_.is_private && user != setting_.owner ? std::optional(user) : std::nullopt;
}

void InstanceFeed::fill_tree(Part& part, std::optional<uid_t> whose) const {
    const ShareView* newest = last_.tree ? &*last_.tree : last_.top && !whose ? &*last_.top : nullptr;
    if (newest == nullptr) {
        return;
    }
    part.view = whose ? visible_tree(*newest, setting_.users.name(*whose)) : *newest;
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
    for (auto& [whose, part] : parts_) {
        const std::set<Opened>& kept = seen.at(whose);
        std::erase_if(part.trees, [&](const auto& tree) { return kept.count(tree.first) == 0; });
    }
}

void InstanceFeed::fill_usage(Part& part, std::optional<uid_t> whose) const {
    if (last_.usage && last_.tree) {
        const InstanceFacts some =
            whose ? visible_usage(*last_.usage, visible_tree(*last_.tree, setting_.users.name(*whose))) : *last_.usage;
        part.forgetting = forgetting_part(some);
        part.past = past_event(some);
    }
}

InstanceFeed::Part& InstanceFeed::part_of(uid_t user) {
    const auto whose = seen_by(user);
    const auto [at, is_new] = parts_.try_emplace(whose);
    if (is_new) {
        fill_tree(at->second, whose);
        fill_usage(at->second, whose);
        at->second.scene = whose ? std::nullopt : last_.scene;
    }
    return at->second;
}

InstanceFeed::Drawn InstanceFeed::drawn(const Part& part, const std::string& user) const {
    if (!part.scene) {
        return {};
    }
    std::vector<PendingRow> queue = part.scene->queue;
    for (PendingRow& row : queue) {
        row.is_own = row.user == user;
    }
    return {{"queue", queue_picture(queue, part.scene->pending)},
            {"instances", instances_picture(part.scene->top, link_)},
            {"forgetting", part.forgetting},
            {"policies", setting_.comparison}};
}

std::string InstanceFeed::pictures_for(Viewer& viewer, const Part& part, const Drawn& drawn) const {
    if (!part.scene) {
        return "";
    }
    std::string changed;
    for (const auto& [name, svg] : drawn) {
        if (viewer.pictures[name] != svg) {
            viewer.pictures[name] = svg;
            changed += (changed.empty() ? "{" : ",") + json_quoted(name) + ":" + json_quoted(svg);
        }
    }
    std::string events = changed.empty() ? "" : event_text("pictures", changed + "}");
    if (const std::string place = is_inside_ ? place_event(last_.names) : ""; viewer.place != place) {
        viewer.place = place;
        events += place;
    }
    if (viewer.past != part.past) {
        viewer.past = part.past;
        events += part.past;
    }
    return events;
}

/// Another answer: everybody begins anew, with the part that he may see now.
void InstanceFeed::take_privacy(bool is_private) {
    if (is_private == last_.is_private) {
        return;
    }
    last_.is_private = is_private;
    parts_.clear();
    for (auto& entry : viewers_) {
        Viewer& viewer = entry.second;
        viewer = {viewer.userid, viewer.user, viewer.opened, {}, "", viewer.place, viewer.trouble, false};
    }
}

void InstanceFeed::take(const Result<InstanceReading>& reading) {
    trouble_ = reading ? "" : reading.error().message;
    if (reading) {
        take_privacy(reading->is_private);
        is_known_ = true;
        last_.top = reading->top ? reading->top : last_.top;
        last_.tree = reading->tree ? reading->tree : last_.tree;
        last_.scene = reading->scene ? reading->scene : last_.scene;
        last_.usage = reading->usage ? reading->usage : last_.usage;
        last_.names = reading->names;
        forget_unseen();
        for (const auto& entry : viewers_) {
            if (may_see(entry.second.userid)) {
                (void)part_of(entry.second.userid);
            }
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

void InstanceFeed::tell_viewers() {
    std::map<const TreeEvents*, std::pair<EventText, EventText>> texts;  // whole, changes
    std::map<std::pair<const Part*, std::string>, Drawn> pictures;       // of each user
    std::map<std::string, EventText> equal;                              // what several viewers get is compressed once
    ++quiet_turns_;
    for (auto& [id, viewer] : viewers_) {
        std::string own;
        if (const std::string trouble = trouble_of(viewer); viewer.trouble != trouble) {
            own += trouble_event(trouble);
            viewer.trouble = trouble;
        }
        if (const auto part = parts_.find(seen_by(viewer.userid)); part != parts_.end()) {
            const auto [drawing, is_first] = pictures.try_emplace({&part->second, viewer.user});
            if (is_first) {
                drawing->second = drawn(part->second, viewer.user);
            }
            own += pictures_for(viewer, part->second, drawing->second);
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
    std::map<uid_t, std::string> guests;
    for (const auto& entry : viewers_) {
        if (entry.second.userid != setting_.owner) {
            guests.emplace(entry.second.userid, entry.second.user);
        }
    }
    setting_.worker.post([this, self = shared_from_this(), guests = std::move(guests)] {
        auto reading = std::make_shared<Result<InstanceReading>>(reader_.read(guests));
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
