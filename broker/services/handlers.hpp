// SPDX-License-Identifier: LGPL-3.0-only
// Owns: registered message handlers, removed with the object. Must not know what they do.
#pragma once
#include <flux/core.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "libfairshare/base/result.hpp"

namespace weir::broker {

class Handlers {
  public:
    Handlers() = default;
    ~Handlers() { flux_msg_handler_delvec(handlers_); }
    Handlers(const Handlers&) = delete;
    Handlers& operator=(const Handlers&) = delete;
    /// Errors: those of flux_msg_handler_addvec().
    Status add(flux_t* h, const flux_msg_handler_spec* table, void* arg) {
        if (flux_msg_handler_addvec(h, table, arg, &handlers_) < 0) {
            return Error{static_cast<std::errc>(errno),
                         std::string("cannot register handlers: ") + std::strerror(errno)};
        }
        return Done{};
    }

  private:
    flux_msg_handler_t** handlers_ = nullptr;
};

}  // namespace weir::broker
