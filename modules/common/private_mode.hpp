// SPDX-License-Identifier: LGPL-3.0-only
// Owns: `[access] private-mode`: who may be told of all jobs, and who of his own alone. Must not know any service.
// Source: flux-config-access(5).
#pragma once
#include <cstdint>
#include <optional>

#include "modules/common/flux_cpp.hpp"

namespace weir::flux {

class PrivateMode {
  public:
    /// \param access the table [access]; nullptr: there is none. Failure EINVAL: the key is neither true nor false.
    explicit PrivateMode(const json_t* access) {
        const json_t* mode = json_object_get(access, "private-mode");
        if (mode != nullptr && !json_is_boolean(mode)) {
            throw Failure(EINVAL, "[access] private-mode is true or false");
        }
        is_on_ = json_is_true(mode);
    }

    bool is_on() const { return is_on_; }
    /// The user of whose jobs alone the sender may be told; none: he may be told of all. As in Flux, the role `admin`
    /// sees what the owner sees.
    std::optional<std::uint32_t> only(const flux_msg_t* msg) const {
        const flux_msg_cred cred = cred_of(msg);
        const bool is_guest = (cred.rolemask & (FLUX_ROLE_OWNER | FLUX_ROLE_ADMIN)) == 0;
        return is_on_ && is_guest ? std::optional(cred.userid) : std::nullopt;
    }
    /// Whether the sender may be told that a job of this user is there.
    bool may_see(const flux_msg_t* msg, std::uint32_t userid) const {
        const auto user = only(msg);
        return !user || *user == userid;
    }

  private:
    bool is_on_ = false;
};

}  // namespace weir::flux
