// SPDX-License-Identifier: LGPL-3.0-only
// Owns: arrivals. See part.hpp.
#include "modules/world/part.hpp"

#include <algorithm>

namespace weir::world {

using namespace std::chrono_literals;

namespace {

/// Mostly a fraction of a millisecond; now and then the receiver is busy.
Duration latency(Random& random) {
    return random.one_in(16) ? random.between(Duration(1ms), Duration(30ms))
                             : random.between(Duration(20us), Duration(400us));
}

}  // namespace

Part::~Part() {
    life_.reset();
    for (const auto& kept : links_) {
        if (const auto link = kept.lock()) {
            link->close();
        }
    }
}

void Part::receive(Channel& channel, Task task) {
    channel.last = std::max(channel.last, ground().now() + latency(ground().random));
    arrive(channel.last, std::move(task));
}

std::vector<std::shared_ptr<Link>> Part::links() const {
    std::vector<std::shared_ptr<Link>> up;
    for (const auto& kept : links_) {
        if (auto link = kept.lock(); link != nullptr && link->is_up()) {
            up.push_back(std::move(link));
        }
    }
    return up;
}

bool Part::is_link_busy() const {
    return std::any_of(links_.begin(), links_.end(), [this](const auto& kept) {
        const auto link = kept.lock();
        return link != nullptr && link->is_busy(ground().now());
    });
}

void Part::arrive(Instant when, Task task) {
    ground().agenda.at(when, [this, life = std::weak_ptr<char>(life_), task = std::move(task)] {
        if (life.expired()) {
            return;
        }
        if (process_.stopped_until > ground().now()) {
            arrive(process_.stopped_until, task);
        } else {
            task();
        }
    });
}

std::shared_ptr<Link> Link::open(Part& child, Part& parent, Task child_lost, Task parent_lost) {
    auto link = std::make_shared<Link>();
    link->child_ = &child;
    link->parent_ = &parent;
    link->child_lost_ = std::move(child_lost);
    link->parent_lost_ = std::move(parent_lost);
    child.keep(link);
    parent.keep(link);
    return link;
}

void Link::up(Task message) {
    if (is_up_) {
        parent_->receive(up_, [link = shared_from_this(), message = std::move(message)] {
            if (!link->loses_up_) {
                message();
            }
        });
    }
}

void Link::down(Task message) {
    if (is_up_) {
        child_->receive(down_, [link = shared_from_this(), message = std::move(message)] {
            if (!link->loses_down_) {
                message();
            }
        });
    }
}

void Link::close() {
    if (!std::exchange(is_up_, false)) {
        return;
    }
    Random& random = child_->ground().random;
    loses_up_ = random.one_in(2);
    loses_down_ = random.one_in(2);
    child_->receive(down_, std::exchange(child_lost_, {}));
    parent_->receive(up_, std::exchange(parent_lost_, {}));
    child_ = nullptr;
    parent_ = nullptr;
}

void Link::delay(Duration by) {
    if (is_up_) {
        const Instant until = child_->ground().now() + by;
        up_.last = std::max(up_.last, until);
        down_.last = std::max(down_.last, until);
    }
}

}  // namespace weir::world
