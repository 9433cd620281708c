// SPDX-License-Identifier: LGPL-3.0-only
// Owns: following job-manager.events-journal, and opening it again with backoff when it ends (the job-manager was
// reloaded: ENODATA; is not there: ENOSYS). Must not know what the events mean.
#pragma once
#include <functional>
#include <string>
#include <string_view>

#include "modules/common/backoff.hpp"
#include "modules/common/flux_cpp.hpp"
#include "modules/common/stream.hpp"
#include "modules/job-priority/messages/backlog_reader.hpp"
#include "modules/job-priority/messages/journal_events.hpp"

namespace weir::priority {

class JournalLink {
  public:
    struct Listener {
        std::function<void()> begin;                      ///< a stream was opened: its backlog follows
        std::function<void(JournalMessage)> backlog;      ///< one job
        std::function<void()> synced;                     ///< the backlog is complete
        std::function<void(const JournalMessage&)> live;  ///< one event
    };
    /// \param time_scale  reactor seconds in a real second
    JournalLink(flux_t* h, double time_scale, Listener listener);
    void open();
    flux_t* flux() const { return h_; }
    bool is_open() const { return stream_ != nullptr; }

  private:
    void on_response(flux_future_t* f);
    /// \return false if the stream has failed.
    bool take(std::string_view response);
    void take_live(FlatValue response);
    bool end_backlog();
    void on_retry();
    void retry_later(const std::string& why);

    flux_t* h_;
    Listener listener_;
    FlatJson message_;  ///< the one being read
    BacklogReader backlog_;
    flux::Backoff backoff_;
    flux::Stream stream_;
    flux::Watcher timer_;
    bool is_backlog_ = true;
};

}  // namespace weir::priority
