// SPDX-License-Identifier: LGPL-3.0-only
// Owns: what ParentRole sends to a child beside orders, and to whom.
#include "modules/job-route/parent_role.hpp"

namespace weir::route {

std::string ParentRole::session_of(JobId child) const {
    const auto session = sessions_.find(child);
    return session != sessions_.end() ? session->second.session : std::string();
}

void ParentRole::send(JobId child, const Json& message) {
    const auto session = sessions_.find(child);
    if (session != sessions_.end()) {
        flux::respond(h_, session->second.request.get(), message);
    }
}

bool ParentRole::is_from(JobId child, const std::string& name, std::uint32_t userid) const {
    const auto session = sessions_.find(child);
    return session != sessions_.end() && session->second.session == name && session->second.userid == userid;
}

// ---- drained nodes ----

void ParentRole::set_drains(const Drains& drains) {
    if (drains_ == drains) {
        return;
    }
    drains_ = drains;
    for (const auto& [child, session] : sessions_) {
        send_drains(child);
    }
}

/// All of them, so that nothing depends on what the child was told before.
void ParentRole::send_drains(JobId child) {
    const auto session = sessions_.find(child);
    if (drains_ && session != sessions_.end() && session->second.takes_drains) {
        Json message = Json::object();
        message.set("drained", encode_drains(session->second.resources.drains_below(*drains_)));
        send(child, message);
    }
}

}  // namespace weir::route
