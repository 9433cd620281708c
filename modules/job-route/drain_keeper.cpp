// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see drain_keeper.hpp.
#include "modules/job-route/drain_keeper.hpp"

#include "modules/common/parent_link.hpp"

namespace weir::route {
namespace {

constexpr double drain_retry_s = 5.;  ///< of real time

}  // namespace

DrainKeeper::DrainKeeper(flux_t* h) : h_(h) {
    retry_.reset(
        flux_timer_watcher_create(flux_get_reactor(h), 0., 0., flux::on_watcher<&DrainKeeper::reconcile>, this));
    if (!retry_) {
        flux::fail_errno("timer");
    }
}

void DrainKeeper::want(Drains wanted) {
    wanted_ = std::move(wanted);
    reconcile();
}

void DrainKeeper::present(const Drains& drains) {
    present_ = drains;
    reconcile();
}

/// One round at a time. A request that changes something is an event of the resource service, after which the drains
/// are read anew.
void DrainKeeper::reconcile() {
    is_news_ = !requests_.empty();
    if (!wanted_ || !present_ || is_news_) {
        return;
    }
    const DrainPlan plan = plan_drains(*present_, *wanted_);
    for (const auto& [reason, ranks] : plan.drain) {
        send("resource.drain", ranks, reason, "update");  // one of another reason keeps it
    }
    for (const auto& [reason, ranks] : plan.replace) {
        send("resource.drain", ranks, reason, "overwrite");
    }
    if (!plan.undrain.empty()) {
        send("resource.undrain", plan.undrain, "", nullptr);
    }
}

void DrainKeeper::send(const char* topic, const IdSet& ranks, const std::string& reason, const char* mode) {
    Json payload = Json::object();
    payload.set("targets", ranks.encode());
    if (mode != nullptr) {
        payload.set("mode", mode).set("reason", reason);
    }
    flux::Future future = flux::rpc(h_, topic, payload);
    flux_future_t* f = future.get();
    flux::then<&DrainKeeper::on_done>(f, this);
    requests_.emplace(f, std::move(future));
}

/// What was read before this request does not show it. If nothing is read after it, the next round is after a pause.
void DrainKeeper::on_done(flux_future_t* f) {
    const flux::Caught caught = flux::catching([f] { (void)flux::rpc_get(f, "a drain of the parent"); });
    requests_.erase(f);
    if (caught.errnum != 0 && std::exchange(last_failure_, caught.message) != caught.message) {
        flux::log(h_, LOG_WARNING, caught.message);
    }
    if (!requests_.empty()) {
        return;
    }
    flux_timer_watcher_reset(retry_.get(), flux::real_seconds(h_, drain_retry_s), 0.);
    flux_watcher_start(retry_.get());
    if (is_news_ && caught.errnum == 0) {
        reconcile();
    }
}

}  // namespace weir::route
