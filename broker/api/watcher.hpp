// SPDX-License-Identifier: LGPL-3.0-only
// Owns: struct flux_watcher, the base of all watchers: callback, reactor reference, deferred end. Must not know which
// kinds exist. A watcher may be stopped or destroyed inside any callback, its own included.
#pragma once
#include <flux/core.h>

#include "broker/api/reactor.hpp"

struct flux_watcher {
    flux_watcher(flux_reactor* r, flux_watcher_f cb, void* arg) : reactor(r), callback(cb), argument(arg) {
        reactor->incref();
    }
    flux_watcher(const flux_watcher&) = delete;
    flux_watcher& operator=(const flux_watcher&) = delete;
    virtual void start() = 0;
    virtual void stop() = 0;
    /// Stops and frees, at once or when the loop closed its handles. Releases the reactor last.
    virtual void end() = 0;
    void call(int revents) {
        if (callback != nullptr) {
            callback(reactor, this, revents, argument);
        }
    }

    flux_reactor* const reactor;
    const flux_watcher_f callback;
    void* const argument;

  protected:
    virtual ~flux_watcher() = default;
};
