// SPDX-License-Identifier: LGPL-3.0-only
// Owns: sending memos to the job-manager, at a bounded rate, since each is an event of the journal and serves display
// alone. Volatile: they are not stored. Must not know what they say. RFC 21 (memo).
#pragma once
#include <cstddef>
#include <functional>
#include <string>

#include "modules/common/flux_cpp.hpp"
#include "modules/common/memos.hpp"

namespace weir::flux {

class MemoLink {
  public:
    struct Source {
        Memos& memos;
        std::function<bool()> is_ready;  ///< false: the reasons are not known yet
        Memos::Reason reason_of;
    };
    /// \param key  of the job's memo: `why` is {user.why} for `flux jobs`
    MemoLink(flux_t* h, std::string key, Source source);

    /// Sends what is due, unless the last portion was sent just now; then it is sent later. Cheap if nothing is due.
    void pump();
    /// The module ends: withdraws the memos, since no other module would.
    void withdraw();

    flux_t* flux() const { return h_; }

  private:
    void send(std::size_t count, const Memos::Reason& reason_of);
    void on_timer();

    flux_t* h_;
    std::string key_;
    Source source_;
    bool is_paused_ = false;
    Watcher timer_;
};

}  // namespace weir::flux
