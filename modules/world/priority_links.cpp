// SPDX-License-Identifier: LGPL-3.0-only
// Owns: a simulated job-priority's dealings with its parent and its children, as in uplink_link.cpp and
// module_requests.cpp. See priority_part.hpp.
#include <algorithm>
#include <utility>

#include "modules/world/manager.hpp"
#include "modules/world/priority_part.hpp"
#include "modules/world/submissions.hpp"

namespace weir::world {

using namespace std::chrono_literals;

// ---- the parent ----

void PriorityPart::retry_connect() {
    later(ground().random.between(Duration(200ms), Duration(3s)), [this] { connect(); });
}

void PriorityPart::connect() {
    PriorityPart* parent = peers_.parent();
    if (uplink_ != nullptr) {
        return;
    }
    if (parent == nullptr) {
        retry_connect();
        return;
    }
    const std::uint64_t host = facts_.host;
    const auto self = std::make_shared<std::weak_ptr<Link>>();
    uplink_ = Link::open(
        *this, *parent, [this] { on_lost(); }, [parent, host, self] { parent->on_detach(host, self->lock()); });
    *self = uplink_;
    uplink_->up([this, parent, host, link = uplink_, meta = service_->log().meta(),
                 first = service_->sends().uplink().queue().first_seq()] {
        parent->on_attach(host, meta, first, *this, link);
        parent->iterate();
    });
}

void PriorityPart::on_lost() {
    uplink_.reset();
    is_uplink_attached_ = false;
    is_report_out_ = false;
    is_wish_out_ = false;
    service_->gate().detach_from_parent();
    service_->sends().uplink().queue().detached();
    pace_.restart();
    retry_connect();
}

/// A record leaves when the state file has it.
void PriorityPart::pump_uplink() {
    priority::Uplink& records = service_->sends().uplink();
    if (uplink_ == nullptr || is_report_out_ || records.sendable() == 0) {
        return;
    }
    (void)now();
    const Duration rest = std::max(pace_.wait(ground().now(), records.sendable()), time_->lag());
    if (rest > Duration{}) {
        if (!std::exchange(is_pace_timer_armed_, true)) {
            later(rest, [this] {
                is_pace_timer_armed_ = false;
                pump_uplink();
            });
        }
        return;
    }
    auto batch = records.next();
    if (!batch) {
        return;
    }
    pace_.sent(ground().now());
    for (priority::UplinkRow& record : batch->records) {
        record.time += time_->ahead();
    }
    is_report_out_ = true;
    PriorityPart* parent = peers_.parent();
    uplink_->up([this, parent, host = facts_.host, batch = *batch, link = uplink_] {
        parent->on_report(host, batch, *this, link);
        parent->iterate();
    });
}

// ---- the children ----

void PriorityPart::on_attach(std::uint64_t child, const priority::StateMeta& meta, std::uint64_t first_seq,
                             PriorityPart& from, const std::shared_ptr<Link>& link) {
    if (!service_->children().authorize(child, owner, true)) {
        link->close();
        return;
    }
    const std::uint64_t acked = service_->attach_child(child, meta.instance, first_seq, now(), meta.hosts);
    if (!keep_written()) {
        link->close();
        return;
    }
    const auto rows = priority::factor_rows(service_->accounting().tree(), service_->ranking().shares().standings(),
                                            service_->users());
    const std::uint64_t number = from.facts_.is_following ? service_->open_places(child) : 0;
    link->down([&from, acked, rows, number, link, tree = service_->trees().in_force().toml] {
        priority::Uplink& uplink = from.service_->sends().uplink();
        uplink.queue().attached(acked);
        uplink.acknowledged(acked);
        from.is_uplink_attached_ = true;
        from.service_->take_parent_factors(rows, true);
        if (number != 0) {
            from.take_tree(tree, link);
            from.service_->gate().attach_to_parent(number);
            from.service_->set_parent(priority::PlaceAsks::Parent::counts);
        } else {
            from.service_->set_parent(priority::PlaceAsks::Parent::absent);
        }
        from.iterate();
        from.pump_uplink();
    });
    attached_[child] = {link, &from, from.facts_.is_following,
                        [&from, link](const std::vector<priority::FactorRow>& changed, bool is_complete) {
                            link->down([&from, changed, is_complete] {
                                from.service_->take_parent_factors(changed, is_complete);
                                from.iterate();
                            });
                        }};
}

void PriorityPart::note_report(std::uint64_t child, const priority::UplinkBatch& batch) const {
    if (!ground().is_traced()) {
        return;
    }
    std::uint64_t seq = batch.first_seq;
    for (const priority::UplinkRow& record : batch.records) {
        note("usage record " + std::to_string(seq++) + " of job " + std::to_string(child) + ": " +
             (record.is_start ? "start of " : "end of ") + std::to_string(record.job) +
             (record.inside != 0 ? " in " + std::to_string(record.inside) : "") + ", " + record.user + " " +
             std::to_string(record.cores) + " cores at " +
             std::to_string(static_cast<double>(micros(record.time) - Ground::start_us) / 1e6));
    }
}

void PriorityPart::on_report(std::uint64_t child, const priority::UplinkBatch& batch, PriorityPart& from,
                             const std::shared_ptr<Link>& link) {
    if (!service_->children().authorize(child, owner, true)) {
        link->close();
        return;
    }
    note_report(child, batch);
    const Instant read_at = now();
    std::vector<priority::UplinkRow> records = batch.records;
    for (priority::UplinkRow& record : records) {
        record.time -= time_->ahead();
    }
    const std::uint64_t acked = service_->report(child, batch.first_seq, std::move(records), read_at);
    if (!keep_written()) {
        link->close();
        return;
    }
    link->down([&from, acked] {
        from.is_report_out_ = false;
        from.service_->sends().uplink().acknowledged(acked);
        from.iterate();
        from.pump_uplink();
    });
}

bool PriorityPart::take_guest_report(std::uint64_t child, std::uint32_t userid, const std::string& instance,
                                     const priority::UplinkBatch& batch) {
    if (!service_->children().authorize(child, userid, false)) {
        return false;
    }
    note_report(child, batch);
    const Instant read_at = now();
    std::vector<std::uint64_t> hosts;  // the latest lives of partitions
    for (const auto& [key, closed] : service_->accounting().closed()) {
        if (key.second == 0) {
            hosts.push_back(key.first);
        }
    }
    (void)service_->attach_child(child, instance, 1, read_at, hosts);
    (void)service_->report(child, batch.first_seq, batch.records, read_at);
    (void)keep_written();
    iterate();
    return true;
}

// ---- places under limits, and the share tree that has these ----

void PriorityPart::on_detach(std::uint64_t child, const std::shared_ptr<Link>& link) {
    if (const auto known = attached_.find(child); known != attached_.end() && known->second.link == link) {
        attached_.erase(known);
        service_->close_places(child);
        iterate();
    }
}

/// A child that cannot write it attaches again, and gets it again.
void PriorityPart::take_tree(const std::string& text, const std::shared_ptr<Link>& link) {
    if (!set_tree(text, "parent")) {
        link->close();
    }
}

void PriorityPart::publish_tree() {
    const std::string text = service_->trees().in_force().toml;
    for (const auto& [child, one] : attached_) {
        if (one.is_following) {
            one.link->down([to = one.child, text, link = one.link] {
                to->take_tree(text, link);
                to->iterate();
            });
        }
    }
}

void PriorityPart::pump_wishes() {
    if (uplink_ == nullptr || !is_uplink_attached_ || is_wish_out_ || !service_->has_wishes()) {
        return;
    }
    const priority::PlaceWishes wishes = service_->take_wishes(now());
    if (wishes.is_empty()) {
        return;
    }
    is_wish_out_ = true;
    PriorityPart* parent = peers_.parent();
    uplink_->up(
        [this, parent, host = facts_.host, wishes, link = uplink_] { parent->on_wishes(host, wishes, *this, link); });
}

void PriorityPart::on_wishes(std::uint64_t child, const priority::PlaceWishes& wishes, PriorityPart& from,
                             const std::shared_ptr<Link>& link) {
    if (!service_->children().authorize(child, owner, true)) {
        link->close();
        return;
    }
    if (ground().is_traced()) {
        for (const priority::PlaceWish& wish : wishes.jobs) {
            note("job " + std::to_string(wish.id) + " of " + std::to_string(child) + " says " +
                 std::to_string(static_cast<int>(wish.state)) + " after " + std::to_string(wish.seen) + ", " +
                 wish.job.user + " " + std::to_string(wish.job.cores) + " cores");
        }
    }
    service_->take_wishes_of(child, wishes, now());
    link->down([&from] {
        from.is_wish_out_ = false;
        from.iterate();
    });
    iterate();
}

void PriorityPart::pump_answers() {
    for (const std::uint64_t child : service_->gate().places().to_answer()) {
        const auto to = attached_.find(child);
        if (to == attached_.end()) {
            continue;
        }
        to->second.link->down([from = to->second.child, answers = service_->gate().places().take_answers(child)] {
            from->on_answers(answers);
        });
    }
}

void PriorityPart::on_answers(const std::vector<priority::PlaceAnswer>& answers) {
    if (ground().is_traced()) {
        for (const priority::PlaceAnswer& answer : answers) {
            note("answer " + std::to_string(answer.number) + " of the parent to job " + std::to_string(answer.id) +
                 ": " + std::to_string(static_cast<int>(answer.what)) + " " + answer.text);
        }
    }
    service_->take_answers(answers);
    iterate();
}

void PriorityPart::publish_factors() {
    std::erase_if(attached_, [this](const auto& one) { return service_->children().children().count(one.first) == 0; });
    if (attached_.empty()) {
        return;
    }
    const auto changed = service_->changed_factors();
    if (changed.is_nothing()) {
        return;
    }
    for (const auto& [child, one] : attached_) {
        one.factors(changed.rows, changed.is_complete);
    }
}

}  // namespace weir::world
