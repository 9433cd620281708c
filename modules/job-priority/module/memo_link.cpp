// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see memo_link.hpp.
#include "modules/job-priority/module/memo_link.hpp"

#include <string>

#include "modules/job-priority/messages/views.hpp"

namespace weir::priority {
namespace {

constexpr double pause_s = 0.5;      // of real time, between two portions
constexpr std::size_t portion = 50;  // so a hundred a second

}  // namespace

MemoLink::MemoLink(flux_t* h, double time_scale, PriorityService& service)
    : h_(h),
      service_(service),
      pause_s_(pause_s * time_scale),
      timer_(flux_timer_watcher_create(flux_get_reactor(h), 1., 0., flux::on_watcher<&MemoLink::on_timer>, this)) {
    if (!timer_) {
        flux::fail_errno("memo timer");
    }
}

void MemoLink::pump() {
    if (is_paused_ || !service_.is_synced() || !service_.sends().memos().has_work()) {
        return;
    }
    send(portion, [this](FluxJobId id) { return why_held(service_, id); });
    is_paused_ = true;
    flux_timer_watcher_reset(timer_.get(), pause_s_, 0.);
    flux_watcher_start(timer_.get());
}

void MemoLink::withdraw() {
    service_.sends().memos().withdraw();
    send(static_cast<std::size_t>(-1), [](FluxJobId) { return std::string(); });
}

void MemoLink::send(std::size_t count, const Memos::Reason& reason_of) {
    for (const auto& [id, text] : service_.sends().memos().take(count, reason_of)) {
        Json memo = Json::object();
        memo.set("why", text.empty() ? Json::own(json_null()) : Json::string(text));
        Json payload = Json::object();
        payload.set("id", static_cast<long long>(id)).set("volatile", true).set("memo", std::move(memo));
        (void)flux::rpc(h_, "job-manager.memo", payload, FLUX_RPC_NORESPONSE);
    }
}

void MemoLink::on_timer() {
    is_paused_ = false;  // the reactor's next turn pumps
}

}  // namespace weir::priority
