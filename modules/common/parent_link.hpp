// SPDX-License-Identifier: LGPL-3.0-only
// Owns: a module's connection to the instance above, on a reactor of its own: a parent that is lost during a request
// must not stop the module's reactor, and with it the broker. The child opens the link, because a parent has no
// credentials for a child of another user. Reconnects with backoff. Must not know the messages.
#pragma once
#include <functional>
#include <string>

#include "modules/common/flux_cpp.hpp"

namespace weir::flux {

/// Seconds of real time as seconds of this instance's clock, which runs faster in a simulated run (attr clock.scale).
double real_seconds(flux_t* h, double seconds);

class ParentLink {
  public:
    struct Callbacks {
        std::function<void()> connected;
        /// Destroy every future that was made on handle(): the handle is closed when this returns.
        std::function<void(const std::string& why)> lost;
    };
    /// \param h the module's own handle; its reactor drives the link.
    /// \param uri of the instance above (attr parent-uri).
    /// \param retry_max the longest pause between attempts, in seconds of real time.
    ParentLink(flux_t* h, std::string uri, double retry_max, Callbacks callbacks);
    /// Futures made on handle() must be destroyed before; no callback is called.
    ~ParentLink();
    ParentLink(const ParentLink&) = delete;
    ParentLink& operator=(const ParentLink&) = delete;

    flux_t* flux() const { return h_; }
    /// nullptr while there is no connection. Futures made on it run their continuations by themselves; do not set a
    /// timeout on them.
    flux_t* handle() const { return parent_.get(); }
    /// The other side answered: the next pause is the shortest one again.
    void proven() { pause_ = pause_min; }
    /// Closes and tries again after a pause. May be called from a continuation on handle().
    void fail(const std::string& why);

  private:
    static constexpr double pause_min = 0.05;
    void connect();
    bool start_knock();
    void end_knock();
    void open();
    void pump();
    void on_timer();
    void drop();
    void arm(double seconds);

    flux_t* h_;
    std::string uri_;
    double retry_max_;
    double pause_ = pause_min;
    Callbacks callbacks_;
    bool is_pumping_ = false;
    bool has_failed_ = false;
    std::string why_;
    Handle parent_;
    Watcher readable_;
    int knock_ = -1;  ///< a connection of its own, see start_knock()
    Watcher knocked_;
    Watcher timer_;
};

}  // namespace weir::flux
