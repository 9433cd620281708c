// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the stream's life. See journal_link.hpp.
#include "modules/job-priority/module/journal_link.hpp"

#include <utility>

#include "modules/common/journal_jobs.hpp"

namespace weir::priority {
namespace {

constexpr double journal_retry_first_s = 0.1;
constexpr double journal_retry_last_s = 5.0;
/// Bytes of {"id":-1,"events":[]}, in any spelling.
constexpr std::size_t sentinel_size_max = 100;

}  // namespace

JournalLink::JournalLink(flux_t* h, double time_scale, Listener listener)
    : h_(h),
      listener_(std::move(listener)),
      backlog_([this](Result<JournalMessage> message) {
          flux::guard(h_, "journal", [&] { listener_.backlog(flux::value_or_throw(std::move(message))); });
      }),
      backoff_(journal_retry_first_s * time_scale, journal_retry_last_s * time_scale),
      timer_(flux_timer_watcher_create(flux_get_reactor(h), 1., 0., flux::on_watcher<&JournalLink::on_retry>, this)) {
    if (!timer_) {
        flux::fail_errno("journal timer");
    }
}

void JournalLink::open() {
    Json request = Json::object();
    request.set("full", true).set("together", true).set("allow", journal_filter());
    stream_ = flux::open_stream(h_, "job-manager.events-journal", request);
    is_backlog_ = true;
    backlog_.clear();
    listener_.begin();
    flux::then<&JournalLink::on_response>(stream_.get(), this);
}

void JournalLink::on_response(flux_future_t* f) {
    const char* text = nullptr;
    if (flux_rpc_get(f, &text) < 0) {
        const int errnum = errno;
        const char* why = flux_future_error_string(f);
        retry_later(why != nullptr ? why : flux_strerror(errnum));
        return;
    }
    if (!take(text != nullptr ? text : "{}")) {
        retry_later("its backlog was not taken");  // logged; without the backlog the module would stay mute
        return;
    }
    flux_future_reset(f);
}

/// An invalid response does not end the stream. The response at the end of the backlog is short; a longer one is a
/// job's, which another thread may read.
bool JournalLink::take(std::string_view response) {
    if (!is_backlog_) {
        take_live(message_.read(response));
        return true;
    }
    bool is_sentinel = false;
    flux::guard(h_, "journal", [&] {
        is_sentinel = response.size() <= sentinel_size_max &&
                      flux::value_or_throw(read_journal(message_.read(response))).is_sentinel;
        if (!is_sentinel) {
            backlog_.add(response);
        }
    });
    return !is_sentinel || end_backlog();
}

void JournalLink::take_live(FlatValue response) {
    flux::for_each_job(response, [this](FlatValue job) {
        flux::guard(h_, "journal", [&] { listener_.live(flux::value_or_throw(read_journal(job))); });
    });
}

bool JournalLink::end_backlog() {
    return flux::guard(h_, "journal", [this] {
               backlog_.finish();
               listener_.synced();
               is_backlog_ = false;
               backoff_.reset();
           }) == 0;
}

void JournalLink::retry_later(const std::string& why) {
    stream_.reset();
    const double delay = backoff_.next();
    flux_log(h_, LOG_INFO, "the job journal ended (%s): opening it again", why.c_str());
    flux_timer_watcher_reset(timer_.get(), delay, 0.);
    flux_watcher_start(timer_.get());
}

void JournalLink::on_retry() {
    if (flux::guard(h_, "journal", [this] { open(); }) < 0) {
        retry_later("it could not be opened");
    }
}

}  // namespace weir::priority
