// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the default methods of every module: NAME.{shutdown,ping,stats-get,stats-clear,rusage,debug,
// config-reload,config-update}. A module's own handler for the same topic comes first. Must not know the module host.
// Source: RFC 5; flux-core libflux/method.c for names, payloads and roles.
#pragma once
#include <flux/core.h>

#include <string>

#include "broker/core/counting_connector.hpp"

namespace weir::broker {

class ModuleMethods {
  public:
    /// All must outlive this object.
    ModuleMethods(flux_t* h, std::string name, std::string uuid, MessageCounts& counts);
    ~ModuleMethods();
    ModuleMethods(const ModuleMethods&) = delete;
    ModuleMethods& operator=(const ModuleMethods&) = delete;

  private:
    friend struct MethodCallbacks;
    flux_t* h_;
    std::string name_;
    std::string uuid_;
    MessageCounts& counts_;
    int debug_flags_ = 0;
    flux_msg_handler_t** handlers_ = nullptr;
};

}  // namespace weir::broker
