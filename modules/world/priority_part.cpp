// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the journal, the passes, the plugin and the state file of a simulated job-priority. See priority_part.hpp;
// parent and children in priority_links.cpp.
#include "modules/world/priority_part.hpp"

#include "modules/job-priority/messages/journal_events.hpp"
#include "modules/job-priority/module/dated_event.hpp"
#include "modules/world/manager.hpp"
#include "modules/world/submissions.hpp"

namespace weir::world {

using namespace std::chrono_literals;
using priority::Pass;

namespace {

constexpr Duration commit_delay = 50ms;
constexpr Duration commit_retry = 500ms;
constexpr Duration order_patience = 10s;
constexpr Duration step_min = 1s;

priority::UserDatabase nobody_else() {
    return {[](std::uint32_t) -> Result<std::optional<std::string>> { return std::optional<std::string>(); },
            [](const std::string&) -> Result<std::optional<std::uint32_t>> { return std::optional<std::uint32_t>(); }};
}

}  // namespace

PriorityPart::PriorityPart(Process& process, StateDir& disk, priority::Settings settings, Facts facts, Peers peers)
    : Part(process),
      disk_(disk),
      facts_(std::move(facts)),
      peers_(std::move(peers)),
      service_(
          std::make_unique<priority::PriorityService>(std::move(settings), nobody_else(), owner, facts_.host != 0)) {}

// ---- start ----

void PriorityPart::start(const std::string& share_tree) {
    const priority::SavedState& saved = disk_.state.saved();
    const bool is_new = saved.meta.instance.empty();
    time_.emplace(clocks(), saved.meta.position, step_min,
                  ground().machine.is_stock ? priority::EventClock::wall : priority::EventClock::instance);
    if (const auto restored = service_->restore(saved, now()); !restored) {
        ground().fail(process().name, "the state file is refused: " + restored.error().message);
        return;
    }
    if (is_new) {
        service_->log().set_instance(facts_.instance);
    }
    if (facts_.host != 0) {
        service_->log().begin_life(facts_.host);
    }
    if (service_->trees().in_force().revision == 0) {
        (void)set_tree(share_tree, "site");
    }
    (void)commit();
    if (service_->gate().is_limited()) {
        peers_.to_manager([this, life = life()](Manager& manager) {
            if (!life.expired()) {
                later(Duration(100us), [this, ids = manager.withheld()] {
                    service_->gate().set_withheld(ids);
                    follow();
                });
            }
        });
    } else {
        follow();
    }
    if (facts_.host != 0) {
        connect();
        later(order_patience, [this] {
            is_patience_over_ = true;
            iterate();
        });
    }
    tick();
}

priority::ClockReading PriorityPart::clocks() const {
    return {clock_now(), ground().now() - Instant{}};
}

Instant PriorityPart::now() {
    (void)time_->look(clocks());
    return time_->now();
}

bool PriorityPart::set_tree(const std::string& share_tree, const std::string& author) {
    const Instant at = now();
    auto proposal = service_->propose({share_tree, author, "", std::nullopt}, "share tree", at);
    if (!proposal) {
        ground().fail(process().name, "the share tree: " + proposal.error().message);
        return false;
    }
    if (!proposal->is_new) {
        return true;
    }
    priority::TreeChangeover changeover = service_->prepare(std::move(*proposal), at);
    if (!disk_.apply(changeover.batch)) {
        return false;
    }
    service_->accept(std::move(changeover));
    is_pass_due_ = true;
    publish_tree();
    return true;
}

void PriorityPart::follow() {
    MachineSize machine;
    machine.cores = facts_.cores;
    service_->set_machine(machine);
    is_backlog_ = true;
    service_->begin_backlog();
    journal_mark_ = std::to_string(ground().agenda.steps());
    peers_.to_manager([mark = journal_mark_](Manager& manager) {
        manager.open_journal_of_priority(priority::journal_filter(), mark);
    });
}

// ---- the journal ----

void PriorityPart::on_journal(const std::string& payload) {
    if (!is_journal_open_) {
        is_journal_open_ = payload == journal_mark_;
        return;
    }
    const auto message = priority::read_journal(reader_.read(payload));
    if (!message) {
        ground().fail(process().name, "job-priority cannot read the journal: " + message.error().message);
        return;
    }
    if (message->is_sentinel) {
        for (const std::string& fault : service_->end_backlog(now())) {
            ground().fail(process().name, "job-priority: " + fault);
        }
        is_backlog_ = false;
        is_pass_due_ = true;
    } else if (is_backlog_) {
        (void)now();
        std::vector<priority::JobEvent> events = message->events;
        for (priority::JobEvent& event : events) {
            event = priority::dated(*time_, std::move(event), false);
        }
        service_->add_backlog(std::move(events));
    } else {
        (void)now();
        for (const priority::JobEvent& event : message->events) {
            service_->apply(priority::dated(*time_, event, true));
        }
    }
    iterate();
}

void PriorityPart::on_given(const std::vector<priority::GivenPriority>& rows, bool is_all, bool is_complete) {
    service_->take_given_priorities(rows, is_all);
    is_complete_ = is_complete_ || is_complete;
    iterate();
}

// ---- a turn of the reactor ----

void PriorityPart::iterate() {
    if ((is_pass_due_ || service_->is_full_due()) && service_->is_synced()) {
        is_pass_due_ = false;
        pass();
    } else if (service_->has_marked()) {
        service_->pass(now(), Pass::marked);
    }
    arm_evaluation();
    for (const auto& [id, why] : service_->gate().take_refusals()) {
        peers_.to_manager([id = id, why = why](Manager& manager) { manager.raise(id, "limit", why); });
    }
    (void)service_->users().take_problem();
    pump();
    pump_wishes();
    if (service_->gate().places().has_unwritten() && !has_failed_) {
        (void)commit();
    }
    pump_answers();
    if (service_->log().is_dirty()) {
        commit_soon();
    }
}

void PriorityPart::arm_evaluation() {
    const std::optional<Instant> due = service_->evaluation_due();
    if (due && due != evaluation_armed_) {
        evaluation_armed_ = due;
        later(std::max(*due - now(), Duration(10ms)), [this] {
            evaluation_armed_.reset();
            service_->pass(now(), Pass::marked);
            iterate();
        });
    }
}

void PriorityPart::pass() {
    service_->pass(now());
    is_heartbeat_due_ = true;
    pump();
    publish_factors();
}

void PriorityPart::tick() {
    later(service_->settings().update_interval, [this] {
        is_pass_due_ = true;
        iterate();
        tick();
    });
}

// ---- the plugin ----

bool PriorityPart::is_ordered() {
    is_ordered_ = is_ordered_ || facts_.host == 0 || is_patience_over_ ||
                  (is_complete_ && is_uplink_attached_ && service_->has_all_given());
    return is_ordered_;
}

void PriorityPart::pump() {
    if (is_push_out_ || !service_->is_synced() || !is_ordered()) {
        return;
    }
    if (const auto push = service_->sends().plugin().next()) {
        send_push(*push, true);
    } else if (is_heartbeat_due_) {
        send_push({}, false);
    }
}

void PriorityPart::send_push(const priority::Push& push, bool is_push) {
    is_push_out_ = true;
    is_heartbeat_due_ = false;
    const bool is_last = !service_->sends().plugin().has_work();
    peers_.to_manager([this, life = life(), push, is_push, is_last](Manager& manager) {
        manager.update_priorities(push, is_last, [this, life, is_push](std::int64_t nonce) {
            if (life.expired()) {
                return;
            }
            later(Duration(50us), [this, is_push, nonce] {
                is_push_out_ = false;
                if (is_push) {
                    service_->sends().plugin().acknowledge(nonce);
                } else {
                    service_->sends().plugin().check_nonce(nonce);
                }
                iterate();
            });
        });
    });
}

// ---- the state file ----

bool PriorityPart::commit() {
    priority::StateBatch batch = service_->take_batch();
    const Status written = disk_.apply(batch);
    has_failed_ = !written;
    if (written) {
        service_->written();
        pump_uplink();
        pump_answers();
    } else {
        service_->log().untake(std::move(batch));
        arm(commit_retry);
    }
    return !has_failed_;
}

void PriorityPart::commit_soon() {
    if (!is_armed_) {
        arm(commit_delay);
    }
}

void PriorityPart::arm(Duration delay) {
    if (!std::exchange(is_armed_, true)) {
        later(delay, [this] {
            is_armed_ = false;
            (void)commit();
        });
    }
}

bool PriorityPart::is_quiet() const {
    return service_->is_synced() && !is_push_out_ && !service_->sends().plugin().has_work() &&
           !service_->log().is_dirty() && !has_failed_ && !service_->has_wishes() && !is_wish_out_ &&
           service_->gate().places().to_answer().empty() &&
           (facts_.host == 0 || (is_attached() && service_->sends().uplink().queue().unacknowledged() == 0));
}

}  // namespace weir::world
