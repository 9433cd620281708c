// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see memo_link.hpp.
#include "modules/common/memo_link.hpp"

#include "modules/common/parent_link.hpp"

namespace weir::flux {
namespace {

constexpr double memo_pause_s = 0.5;      // of real time, between two portions
constexpr std::size_t memo_portion = 50;  // so a hundred a second

}  // namespace

MemoLink::MemoLink(flux_t* h, std::string key, Source source)
    : h_(h),
      key_(std::move(key)),
      source_(std::move(source)),
      timer_(flux_timer_watcher_create(flux_get_reactor(h), 1., 0., on_watcher<&MemoLink::on_timer>, this)) {
    if (!timer_) {
        fail_errno("memo timer");
    }
}

void MemoLink::pump() {
    if (is_paused_ || !source_.memos.has_work() || !source_.is_ready()) {
        return;
    }
    send(memo_portion, source_.reason_of);
    is_paused_ = true;
    flux_timer_watcher_reset(timer_.get(), real_seconds(h_, memo_pause_s), 0.);
    flux_watcher_start(timer_.get());
}

void MemoLink::withdraw() {
    source_.memos.renew();
    send(static_cast<std::size_t>(-1), [](std::uint64_t) { return std::string(); });
}

void MemoLink::send(std::size_t count, const Memos::Reason& reason_of) {
    for (const auto& [id, text] : source_.memos.take(count, reason_of)) {
        Json memo = Json::object();
        memo.set(key_.c_str(), text.empty() ? Json::own(json_null()) : Json::string(text));
        Json payload = Json::object();
        payload.set("id", id).set("volatile", true).set("memo", std::move(memo));
        (void)rpc(h_, "job-manager.memo", payload, FLUX_RPC_NORESPONSE);
    }
}

void MemoLink::on_timer() {
    is_paused_ = false;
    pump();
}

}  // namespace weir::flux
