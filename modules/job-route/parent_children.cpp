// SPDX-License-Identifier: LGPL-3.0-only
// Owns: ParentRole's requests of children. See parent_role.hpp.
#include <unistd.h>

#include "modules/job-route/parent_role.hpp"

namespace weir::route {
namespace {

using flux::Failure;
using flux::value_or_throw;

}  // namespace

Caller ParentRole::caller_of(const flux_msg_t* msg) const {
    const flux_msg_cred cred = flux::cred_of(msg);
    return {cred.userid, (cred.rolemask & FLUX_ROLE_OWNER) != 0, privacy_.is_on()};
}

// Guest: a child that is the guest's own running job takes jobs of the queues that it names: the guest's, nobody
// else's. It may name up to 256 queues, a URI and cores as it likes. Everybody is told them as this user's: commands
// and the page name such a child by its job, and open its URI for this user alone. The log tells the 1st, 2nd, 4th, 8th
// time that a child of his attaches.
void ParentRole::on_attach(const flux_msg_t* msg) {
    if (!flux_msg_is_streaming(msg) || flux_msg_is_noresponse(msg)) {
        throw Failure(EPROTO, "attach is a streaming request");
    }
    value_or_throw(table_.may_have_child(caller_of(msg)));
    turns_.serve<&ParentRole::attach>(this, msg, flux::payload_size(msg));
}

void ParentRole::attach(const flux_msg_t* msg) {
    const Caller caller = caller_of(msg);
    FlatJson reader;
    const FlatValue payload = flux::read_in_place(msg, reader);
    value_or_throw(table_.may_attach(value_or_throw(read_attach_head(payload)), caller));  // the rest takes long
    Attach attach = value_or_throw(decode_attach(Json::of(payload).get()));
    ResourceMap resources = value_or_throw(
        ResourceMap::make(attach.resources, table_.R_of(attach.child),
                          caller.is_owner ? ResourceMap::child_nodes_max : ResourceMap::guest_nodes_max));
    attach.node_cores = resources.node_cores();
    value_or_throw(table_.attach(attach, caller));
    close(attach.child);
    Json answer = Json::object();
    answer.set("attached", true).set("heartbeat", heartbeat_s_);
    flux::respond(h_, msg, answer);
    sessions_.insert_or_assign(
        attach.child, Session{flux::keep(msg), attach.session, caller.userid, std::move(resources),
                              attach.takes_drains && caller.userid == getuid(), log_attached(attach, caller.userid)});
    send_drains(attach.child);
    probe_ = flux::rpc(h_, update_topic, Json::own(json_pack("{s:[]}", "jobs")));
    flux::then<&ParentRole::on_probed>(probe_.get(), this);
    callbacks_.changed();
}

/// \return whether it is logged. A guest may attach as often as he likes, and would fill the log.
bool ParentRole::log_attached(const Attach& attach, std::uint32_t userid) {
    if (userid != getuid() && !guests_attached_[userid].is_next_told()) {
        return false;
    }
    flux::log(h_, LOG_INFO,
              "child " + std::to_string(attach.child.value) + " attached, knows " +
                  std::to_string(attach.known.size()) + " jobs");
    return true;
}

/// Without the plugin every routed job would wait for ever, without another message. Children attach again and again
/// then: it is told once.
void ParentRole::on_probed(flux_future_t* f) {
    const bool is_absent = flux_rpc_get(f, nullptr) < 0 && errno == ENOSYS;
    if (!std::exchange(is_plugin_absent_, is_absent) && is_absent) {
        flux::log(h_, LOG_ERR,
                  "no job is routed until the jobtap plugin job-route-tap.so is loaded: name it in [job-manager] "
                  "plugins, or `flux jobtap load job-route-tap.so`");
    }
    probe_.reset();
}

/// Answered when every event in it is on record, or was sent to the job-manager.
// Guest: starts, ends and fails jobs that were routed to its own child, which are its own, in any order and with any
// status; their R lies inside the child's allocation, or is not larger than it. Nobody is told the ids of the copies as
// ids of jobs. A job that it returns is given to it again after a pause. A report has at most 256 events.
void ParentRole::on_report(const flux_msg_t* msg) {
    if (flux_msg_is_noresponse(msg)) {
        throw Failure(EPROTO, "a report wants an answer");
    }
    value_or_throw(table_.may_have_session(caller_of(msg)));
    turns_.serve<&ParentRole::report>(this, msg, flux::payload_size(msg));
}

void ParentRole::report(const flux_msg_t* msg) {
    FlatJson reader;
    const FlatValue payload = flux::read_in_place(msg, reader);
    const ReportHead head = value_or_throw(read_report_head(payload));
    value_or_throw(table_.may_report(head, caller_of(msg)));  // the rest takes long
    const Report report = value_or_throw(decode_report(payload));
    const ResourceMap& resources = sessions_.at(head.child).resources;
    const std::uint64_t seq =
        value_or_throw(table_.report(report, [&resources](const std::string& R) { return resources.map(R); }));
    reports_ += 1;
    fresh_replies_.push_back({flux::keep(msg), seq});
    callbacks_.changed();
}

// Guest: ends its own client's sessions.
void ParentRole::disconnect(const flux_msg_t* msg) {
    turns_.drop(msg);
    callbacks_.left(msg);
    std::erase_if(sessions_, [&](const auto& entry) {  // one client may speak for several children
        const auto& [child, session] = entry;
        if (!flux_disconnect_match(msg, session.request.get())) {
            return false;
        }
        if (session.is_logged) {
            flux::log(h_, LOG_INFO, "child " + std::to_string(child.value) + " is gone from the link");
        }
        table_.detach(child, session.session);
        return true;
    });
    callbacks_.changed();
}

void ParentRole::close(JobId child) {
    const auto session = sessions_.find(child);
    if (session != sessions_.end()) {
        flux::respond_error(h_, session->second.request.get(), ENODATA, "this session is over");
        sessions_.erase(session);
    }
}

}  // namespace weir::route
