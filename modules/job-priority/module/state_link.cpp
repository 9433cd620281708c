// SPDX-License-Identifier: LGPL-3.0-only
// Owns: writing the state file. See state_link.hpp.
#include "modules/job-priority/module/state_link.hpp"

#include <sys/random.h>

#include <utility>
#include <vector>

#include "modules/job-priority/module/instance_name.hpp"

namespace weir::priority {
namespace {

// A commit is one fsync, which batches of events share. After a kill before it the journal replays the lost events.
constexpr double commit_delay_s = 0.05;
// An attempt may write the whole ledger. Once a minute that is no load, and the usage stays in memory until then.
constexpr double state_retry_first_s = 0.5;
constexpr double state_retry_last_s = 60.0;

HashKey new_key() {
    HashKey key;
    if (getrandom(&key, sizeof key, 0) != static_cast<ssize_t>(sizeof key)) {
        flux::fail_errno("getrandom");
    }
    return key;
}

}  // namespace

StateLink::StateLink(flux_t* h, double time_scale, PriorityService& service, std::function<void()> written)
    : h_(h),
      service_(service),
      delay_s_(commit_delay_s * time_scale),
      backoff_(state_retry_first_s * time_scale, state_retry_last_s * time_scale),
      written_(std::move(written)),
      timer_(flux_timer_watcher_create(flux_get_reactor(h), 1., 0., flux::on_watcher<&StateLink::on_timer>, this)) {
    if (!timer_) {
        flux::fail_errno("state timer");
    }
}

Instant StateLink::open(const std::string& path, StatePlace place) {
    store_ = flux::value_or_throw(StateStore::open(path, warnings_, place));
    return store_->saved().meta.position;
}

void StateLink::restore(Instant now) {
    const bool is_new = store_->is_new();
    std::vector<std::string> warnings = std::exchange(warnings_, {});
    for (std::string& warning : flux::value_or_throw(service_.restore(store_->saved(), now))) {
        warnings.push_back(std::move(warning));
    }
    store_->drop_saved();
    if (is_new || store_->has_lost_log()) {  // else the parent would take our next records for those that it has
        service_.log().set_instance(new_instance_name(h_));
    }
    if (service_.log().meta().names_key == HashKey{}) {
        service_.log().set_names_key(new_key());
    }
    is_rebuilt_told_ = !is_new || path().empty();
    for (const std::string& warning : warnings) {
        flux::log(h_, LOG_ERR, warning);  // loud: usage or the tree may be missing
    }
}

void StateLink::report_rebuilt() {
    if (std::exchange(is_rebuilt_told_, true) || service_.charges().rebuilt() == 0) {
        return;
    }
    flux::log(
        h_, LOG_ERR,
        "there was no state in " + path() + ", but the job-manager knows " +
            std::to_string(service_.charges().rebuilt()) +
            " jobs that have ended: their usage was counted again from the job journal. If there was a state before, "
            "what only it had is lost: revisions of the share tree by command, usage of purged jobs, usage that "
            "child instances reported, values of the site's own factor. To have them back, stop the instance, put "
            "a copy of the file back and start again");
}

Status StateLink::settle(Status status) {
    if (status) {
        backoff_.reset();
        if (std::exchange(failure_, std::nullopt)) {
            flux::log(h_, LOG_INFO, "the state file is written again");
        }
        return status;
    }
    if (!failure_) {
        flux::log(h_, LOG_ERR,
                  status.error().message +
                      "; changes are kept in memory and tried again, and what must be written before "
                      "it is answered is refused");
    }
    failure_ = status.error();
    failures_ += 1;
    arm(backoff_.next());
    return status;
}

Status StateLink::commit() {
    StateBatch batch = service_.take_batch();
    const double started = flux_reactor_time();
    Status status = store_->apply(batch);
    if (!status) {
        service_.log().untake(std::move(batch));
        return settle(std::move(status));
    }
    commits_.add(flux_reactor_time() - started);
    unwritten_since_s_.reset();
    service_.written();
    written_();
    return settle(std::move(status));
}

Status StateLink::keep() {
    return failure_ ? Status(*failure_) : commit();
}

Status StateLink::write(const StateBatch& batch) {
    return settle(store_->apply(batch));
}

Status StateLink::read_usage(UsageReport& report, Instant now) {
    return store_->read_usage(
        report.query().edges, report.labels(),
        [&](std::size_t, const UsageSlot& slot, SignedCoreMicros sum) { report.add(slot, sum); },
        [&] {
            report.add_unwritten(service_, now);
            report.end_span();
        });
}

double StateLink::lag_s() const {
    return unwritten_since_s_ ? flux_reactor_time() - *unwritten_since_s_ : 0;
}

void StateLink::commit_soon() {
    unwritten_since_s_ = unwritten_since_s_ ? unwritten_since_s_ : flux_reactor_time();
    if (!is_armed_) {
        arm(delay_s_);
    }
}

void StateLink::arm(double seconds) {
    is_armed_ = true;
    flux_watcher_stop(timer_.get());
    flux_timer_watcher_reset(timer_.get(), seconds, 0.);
    flux_watcher_start(timer_.get());
}

void StateLink::on_timer() {
    is_armed_ = false;
    (void)commit();  // told
}

}  // namespace weir::priority
