// SPDX-License-Identifier: LGPL-3.0-only
// Owns: a module's connection to the instance above, on a reactor of its own: losing the parent with a request under
// way must not stop the module's reactor, and with it the broker. Reconnects with backoff. Must not know what is said
// over it. Source: FLUX-API section 4.3.
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
        /// Drop every future that was made on handle(): it is closed when this returns.
        std::function<void(const std::string& why)> lost;
    };
    /// \param h the module's own handle; its reactor drives the link.
    /// \param uri of the instance above (attr parent-uri).
    /// \param retry_max seconds (real time) that the pause between attempts grows to.
    ParentLink(flux_t* h, std::string uri, double retry_max, Callbacks callbacks);
    /// Futures made on handle() must be gone by now; nobody is called back.
    ~ParentLink();
    ParentLink(const ParentLink&) = delete;
    ParentLink& operator=(const ParentLink&) = delete;

    flux_t* flux() const { return h_; }
    /// nullptr while there is no connection. Futures made on it run their continuations by themselves; give none a
    /// timeout.
    flux_t* handle() const { return parent_.get(); }
    /// The other side answered: the next pause is the shortest again.
    void proven() { pause_ = pause_min; }
    void set_retry_max(double seconds) { retry_max_ = seconds; }
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
