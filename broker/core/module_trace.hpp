// SPDX-License-Identifier: LGPL-3.0-only
// Owns: who traces the messages of modules, and what of each message he is told. Must not know how messages are routed
// or modules run. Source: flux-module(1) trace, as observed.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "broker/core/router.hpp"

namespace weir::broker {

/// The methods module.trace, module.cancel and module.disconnect. What a tracer leaves unread is bounded as all that a
/// client does: with 64 MiB it is disconnected.
class ModuleTrace {
  public:
    /// \param now seconds since the epoch on the instance's clock.
    ModuleTrace(Router& router, std::function<double()> now);

  private:
    struct Tracer {
        Call call;
        std::int64_t types = 0;  // FLUX_MSGTYPE_* bits, 0: all
        std::string topic_glob;
        std::vector<std::string> modules;  // none: all
        bool is_full = false;
    };
    void begin(const Call& call);
    void end(const std::function<bool(const Call&)>& is_meant);
    void tell(const Endpoint& module, const char* way, const Packet& packet) const;

    Router& router_;
    std::function<double()> now_;
    std::vector<Tracer> tracers_;
};

}  // namespace weir::broker
