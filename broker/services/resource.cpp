// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the service "resource": tells schedulers and clients what the instance has. Nothing is ever down here: the
// instance lives and dies with its one broker. Must not know schedulers or jobs.
// Source: RFC 27 resource.acquire; flux-core's resource.status and .sched-status as observed.
#include <string>

#include "broker/services/resource_source.hpp"
#include "broker/services/service.hpp"
#include "broker/services/services.hpp"
#include "libfairshare/base/json/kvs_value.hpp"

namespace weir::broker {
namespace {

class Resource {
  public:
    explicit Resource(flux_t* h) : h_(h), acquirers_(flux_msglist_create()) {}

    Status start() {
        auto found = discover();
        if (!found) {
            return found.error();
        }
        inventory_ = std::move(*found);
        r_ = inventory_.to_r();
        publish();
        using T = Resource;
        const flux_msg_handler_spec table[] = {
            {FLUX_MSGTYPE_REQUEST, "resource.acquire", on_message<T, &T::acquire>, 0},
            {FLUX_MSGTYPE_REQUEST, "resource.acquire-cancel", on_message<T, &T::acquire_cancel>, 0},
            {FLUX_MSGTYPE_REQUEST, "resource.disconnect", on_message<T, &T::disconnect>, FLUX_ROLE_USER},
            {FLUX_MSGTYPE_REQUEST, "resource.status", on_message<T, &T::status>, FLUX_ROLE_USER},
            {FLUX_MSGTYPE_REQUEST, "resource.sched-status", on_message<T, &T::sched_status>, FLUX_ROLE_USER},
            {FLUX_MSGTYPE_REQUEST, "resource.stats-get", on_message<T, &T::stats>, FLUX_ROLE_USER},
            FLUX_MSGHANDLER_TABLE_END,
        };
        if (handlers_.add(h_, table, this) < 0) {
            return Error{static_cast<std::errc>(errno), "cannot register the resource methods"};
        }
        return Done{};
    }

  private:
    Result<Inventory> discover() {
        json_t* table = nullptr;
        flux_conf_unpack(flux_get_conf(h_), nullptr, "{s?o}", "resource", &table);
        const Json conf = Json::ref(table);
        if (is_configured(conf)) {
            source_ = "configuration";
            return configured_inventory(conf);
        }
        const char* uri = flux_attr_get(h_, "parent-uri");
        const char* jobid = flux_attr_get(h_, "jobid");
        if (uri != nullptr && jobid != nullptr) {
            source_ = "parent";
            return parent_inventory(uri, jobid);
        }
        source_ = "hwloc";
        const char* host = flux_attr_get(h_, "hostlist");
        return machine_inventory(host != nullptr ? host : "localhost");
    }

    /// R is in the KVS as `resource.R`, where tools look for it. Without a kvs service it is not needed.
    void publish() {
        Json ops = Json::array();
        ops.append(kvs_put("resource.R", r_.dump()));
        const std::string commit = kvs_commit(std::move(ops)).dump();
        const Future done(flux_rpc(h_, "kvs.commit", commit.c_str(), FLUX_NODEID_ANY, FLUX_RPC_NORESPONSE));
    }

    void acquire(const flux_msg_t* msg) {
        if (!flux_msg_is_streaming(msg)) {
            respond(h_, msg, Error{std::errc::protocol_error, "resource.acquire is a streaming request"});
            return;
        }
        if (flux_msglist_count(acquirers_.get()) > 0) {
            respond(h_, msg,
                    Error{std::errc::device_or_resource_busy, "a scheduler has acquired the resources already"});
            return;
        }
        flux_msglist_append(acquirers_.get(), msg);
        Json answer = Json::object();
        answer.set("resources", r_.share()).set("up", inventory_.ranks().encode());
        if (inventory_.expiration > 0) {
            answer.set("expiration", inventory_.expiration);
        }
        respond(h_, msg, answer);
    }

    void acquire_cancel(const flux_msg_t* msg) { flux_msglist_cancel(h_, acquirers_.get(), msg); }
    // Guest: ends his own connection's streams, of which he can have none.
    void disconnect(const flux_msg_t* msg) { flux_msglist_disconnect(acquirers_.get(), msg); }

    // Guest: reads which nodes and cores there are.
    void status(const flux_msg_t* msg) {
        const std::string all = inventory_.ranks().encode();
        respond(h_, msg,
                Json::own(json_pack("{s:O s:{} s:s s:s s:s s:s}", "R", r_.get(), "drain", "online", all.c_str(),
                                    "offline", "", "exclude", "", "torpid", "")));
    }

    /// What is allocated is the job-manager's to say; without one nothing is.
    // Guest: reads which cores are there, up and taken.
    void sched_status(const flux_msg_t* msg) {
        flux_future_t* f = flux_rpc(h_, "job-manager.resource-status", nullptr, FLUX_NODEID_ANY, 0);
        if (f == nullptr) {
            flux_respond_error(h_, msg, errno, nullptr);
            return;
        }
        flux_future_aux_set(f, "request", new HeldMessage(msg),
                            [](void* held) { delete static_cast<HeldMessage*>(held); });
        flux_future_then(f, -1.0, on_allocated, this);
    }

    static void on_allocated(flux_future_t* f, void* arg) {
        const Future done(f);
        Resource& self = *static_cast<Resource*>(arg);
        guarded(self.h_, [&self, f] {
            const flux_msg_t* msg = static_cast<HeldMessage*>(flux_future_aux_get(f, "request"))->get();
            json_t* allocated = nullptr;
            if (flux_rpc_get_unpack(f, "{s:o}", "allocated", &allocated) < 0 && errno != ENOSYS) {
                flux_respond_error(self.h_, msg, errno, flux_future_error_string(f));
                return;
            }
            Json answer = Json::object();
            answer.set("all", self.r_.share()).set("down", Inventory().to_r());
            answer.set("allocated", allocated != nullptr ? Json::ref(allocated) : Inventory().to_r());
            respond(self.h_, msg, answer);
        });
    }

    // Guest: reads counts.
    void stats(const flux_msg_t* msg) {
        respond(h_, msg,
                Json::own(json_pack(
                    "{s:s s:i s:i s:i s:i}", "source", source_, "nodes", static_cast<int>(inventory_.nodes.size()),
                    "cores", static_cast<int>(inventory_.core_count()), "gpus",
                    static_cast<int>(inventory_.gpu_count()), "acquirers", flux_msglist_count(acquirers_.get()))));
    }

    flux_t* h_;
    MessageList acquirers_;
    Handlers handlers_;
    Inventory inventory_;
    Json r_;
    const char* source_ = "";
};

}  // namespace
}  // namespace weir::broker

extern "C" int resource_mod_main(flux_t* h, int, char**) {
    return weir::broker::run_service<weir::broker::Resource>(h);
}
