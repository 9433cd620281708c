// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the service "resource": reports to schedulers and clients which resources the instance has and which an
// operator drained. No node is ever lost: the instance has one broker. Must not know schedulers or jobs.
// Source: RFC 27 resource.acquire; flux-core's resource.status, .sched-status, .drain and .journal as observed.
#include <string>

#include "broker/services/resource_drain.hpp"
#include "broker/services/resource_log.hpp"
#include "broker/services/resource_source.hpp"
#include "broker/services/service.hpp"
#include "broker/services/services.hpp"
#include "libfairshare/base/hostlist.hpp"
#include "libfairshare/base/json/kvs_value.hpp"

namespace weir::broker {
namespace {

class Resource {
  public:
    explicit Resource(flux_t* h) : h_(h), acquirers_(flux_msglist_create()), journal_(flux_msglist_create()) {}
    Resource(const Resource&) = delete;
    Resource& operator=(const Resource&) = delete;

    /// An open stream that ends without an answer would leave a scheduler waiting for drains that it is never told of.
    ~Resource() {
        for (flux_msglist* open : {acquirers_.get(), journal_.get()}) {
            for (const flux_msg_t* msg = flux_msglist_first(open); msg != nullptr; msg = flux_msglist_next(open)) {
                flux_respond_error(h_, msg, ENOSYS, "the resource service is unloaded");
            }
        }
    }

    Status start() {
        auto found = discover();
        if (!found) {
            return found.error();
        }
        inventory_ = std::move(*found);
        r_ = inventory_.to_r();
        publish();
        if (auto done = open_log(); !done) {
            return done;
        }
        using T = Resource;
        const flux_msg_handler_spec table[] = {
            {FLUX_MSGTYPE_REQUEST, "resource.acquire", on_message<T, &T::acquire>, 0},
            {FLUX_MSGTYPE_REQUEST, "resource.acquire-mute", on_message<T, &T::acquire_mute>, 0},
            {FLUX_MSGTYPE_REQUEST, "resource.acquire-cancel", on_message<T, &T::acquire_cancel>, 0},
            {FLUX_MSGTYPE_REQUEST, "resource.drain", on_message<T, &T::drain>, 0},
            {FLUX_MSGTYPE_REQUEST, "resource.undrain", on_message<T, &T::undrain>, 0},
            {FLUX_MSGTYPE_REQUEST, "resource.journal", on_message<T, &T::journal>, 0},
            {FLUX_MSGTYPE_REQUEST, "resource.journal-cancel", on_message<T, &T::journal_cancel>, 0},
            {FLUX_MSGTYPE_REQUEST, "resource.config-reload", on_message<T, &T::config_reload>, 0},
            {FLUX_MSGTYPE_REQUEST, "resource.reload", on_message<T, &T::reload>, 0},
            {FLUX_MSGTYPE_REQUEST, "resource.disconnect", on_message<T, &T::disconnect>, FLUX_ROLE_USER},
            {FLUX_MSGTYPE_REQUEST, "resource.status", on_message<T, &T::status>, FLUX_ROLE_USER},
            {FLUX_MSGTYPE_REQUEST, "resource.sched-status", on_message<T, &T::sched_status>, FLUX_ROLE_USER},
            {FLUX_MSGTYPE_REQUEST, "resource.stats-get", on_message<T, &T::stats>, FLUX_ROLE_USER},
            FLUX_MSGHANDLER_TABLE_END,
        };
        return handlers_.add(h_, table, this);
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

    /// Restores the drains of an earlier broker. Nodes that no longer exist are left out.
    Status open_log() {
        const char* statedir = flux_attr_get(h_, "statedir");
        if (auto done = log_.open(statedir != nullptr ? statedir : ""); !done) {
            return done;
        }
        for (const Json& event : log_.events()) {
            replay(event);
        }
        Json restart = Json::object();
        restart.set("ranks", inventory_.ranks().encode()).set("online", inventory_.ranks().encode());
        restart.set("nodelist", hosts_of(inventory_.ranks()));
        log_.note(flux_reactor_time(), "restart", std::move(restart));
        Json define = Json::object();
        define.set("method", source_);
        log_.note(flux_reactor_time(), "resource-define", std::move(define));
        return Done{};
    }

    void replay(const Json& event) {
        const Json context = event.at("context");
        const auto ids = IdSet::parse(context.string_at("idset").value_or(""));
        const std::string name = event.string_at("name").value_or("");
        if (!ids || !inventory_.ranks().includes(*ids)) {
            return;
        }
        if (name == "drain") {
            constexpr Drains::Mode modes[] = {Drains::Mode::update, Drains::Mode::overwrite, Drains::Mode::force};
            const auto overwrite = context.integer_at("overwrite").value_or(0);
            drains_.drain(*ids, context.string_at("reason"), event.number_at("timestamp").value_or(0),
                          modes[overwrite >= 0 && overwrite <= 2 ? overwrite : 0]);
        } else if (name == "undrain") {
            drains_.undrain(*ids);
        }
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
        IdSet up = inventory_.ranks();
        up.remove(drains_.ranks());
        answer.set("resources", r_.share()).set("up", up.encode());
        if (inventory_.expiration > 0) {
            answer.set("expiration", inventory_.expiration);
        }
        respond(h_, msg, answer);
    }

    void acquire_cancel(const flux_msg_t* msg) { flux_msglist_cancel(h_, acquirers_.get(), msg); }
    void acquire_mute(const flux_msg_t* msg) {
        respond(h_, msg,
                Error{std::errc::function_not_supported,
                      "resource.acquire-mute: weir-broker leaves it out, for schedulers are told of all resources"});
    }
    // Guest: ends his own connection's streams, of which he can have none.
    void disconnect(const flux_msg_t* msg) {
        flux_msglist_disconnect(acquirers_.get(), msg);
        flux_msglist_disconnect(journal_.get(), msg);
    }

    // ---- drained nodes ----

    std::string hosts_of(const IdSet& ranks) const {
        std::vector<std::string> names;
        ranks.each([&](std::uint32_t rank) { names.push_back(inventory_.nodes[rank].host); });
        return hostlist_encode(names);
    }

    /// "0-3" or "node[0-3]".
    Result<IdSet> targets_of(const Json& payload) const {
        const auto text = payload.string_at("targets");
        if (!text) {
            return Error{std::errc::protocol_error, "targets must be ranks or host names (string)"};
        }
        if (const auto ids = IdSet::parse(*text)) {
            if (ids->empty()) {
                return Error{std::errc::invalid_argument, "idset is empty"};
            }
            return inventory_.ranks().includes(*ids)
                       ? Result<IdSet>(*ids)
                       : Result<IdSet>(Error{std::errc::invalid_argument, "idset is out of range"});
        }
        const auto names = hostlist_decode(*text, inventory_.nodes.size() + 1);
        if (!names) {
            return Error{std::errc::invalid_argument, "invalid targets: " + names.error().message};
        }
        IdSet ranks;
        std::vector<std::string> unknown;
        for (const std::string& name : *names) {
            bool is_known = false;
            for (std::size_t rank = 0; rank < inventory_.nodes.size(); ++rank) {
                if (inventory_.nodes[rank].host == name) {
                    ranks.add(static_cast<std::uint32_t>(rank));
                    is_known = true;
                }
            }
            if (!is_known) {
                unknown.push_back(name);
            }
        }
        if (!unknown.empty()) {
            return Error{std::errc::invalid_argument, "invalid targets: invalid hosts: " + hostlist_encode(unknown)};
        }
        return ranks;
    }

    struct Wish {
        IdSet ranks;
        Drains::Mode mode;
        std::optional<std::string> reason;
        Json context;
    };

    enum class Change { drain, undrain };

    Result<Wish> wish_of(Change change, const Json& payload) const {
        const std::optional<std::string> text = payload.string_at("mode"), reason = payload.string_at("reason");
        if ((payload.at("mode") && !text) || (payload.at("reason") && !reason)) {
            return Error{std::errc::protocol_error, "mode and reason must be texts (string)"};
        }
        auto ranks = targets_of(payload);
        if (!ranks) {
            return ranks.error();
        }
        const auto mode = Drains::mode_of(text);
        if (!mode) {
            return Error{std::errc::invalid_argument, change == Change::drain
                                                          ? "Invalid mode specified"
                                                          : "invalid undrain mode '" + *text + "' specified"};
        }
        Wish wish{std::move(*ranks), *mode, reason, Json::object()};
        wish.context.set("idset", wish.ranks.encode()).set("nodelist", hosts_of(wish.ranks));
        if (wish.reason) {
            wish.context.set("reason", *wish.reason);
        }
        wish.context.set("overwrite", *mode == Drains::Mode::overwrite ? 1 : *mode == Drains::Mode::force ? 2 : 0);
        return wish;
    }

    /// The drain is written to disk, then applied, then reported.
    Status record(const char* name, Json context, double time_s) {
        if (auto done = log_.append(time_s, name, std::move(context)); !done) {
            return done;
        }
        Json news = Json::object();
        Json events = Json::array();
        events.append(log_.events().back().share());
        news.set("events", std::move(events));
        for (const flux_msg_t* listener = flux_msglist_first(journal_.get()); listener != nullptr;
             listener = flux_msglist_next(journal_.get())) {
            respond(h_, listener, news);
        }
        return Done{};
    }

    void notify_scheduler(const char* key, const IdSet& ranks) {
        if (ranks.empty()) {
            return;
        }
        Json update = Json::object();
        update.set(key, ranks.encode());
        for (const flux_msg_t* acquirer = flux_msglist_first(acquirers_.get()); acquirer != nullptr;
             acquirer = flux_msglist_next(acquirers_.get())) {
            respond(h_, acquirer, update);
        }
    }

    void drain(const flux_msg_t* msg) {
        auto wish = wish_of(Change::drain, payload_of(msg));
        Status done = wish ? drains_.check_drain(wish->ranks, wish->mode) : Status(wish.error());
        const double now = flux_reactor_time();
        if (done) {
            done = record("drain", wish->context.share(), now);
        }
        if (!done) {
            respond(h_, msg, done.error());
            return;
        }
        IdSet down = wish->ranks;
        down.remove(drains_.ranks());
        drains_.drain(wish->ranks, wish->reason, now, wish->mode);
        notify_scheduler("down", down);
        flux_log(h_, LOG_INFO, "drain %s: %s", hosts_of(wish->ranks).c_str(), wish->reason.value_or("").c_str());
        flux_respond(h_, msg, nullptr);
    }

    void undrain(const flux_msg_t* msg) {
        auto wish = wish_of(Change::undrain, payload_of(msg));
        Status done = wish ? drains_.check_undrain(wish->ranks, wish->mode) : Status(wish.error());
        if (done) {
            done = record("undrain", wish->context.share(), flux_reactor_time());
        }
        if (!done) {
            respond(h_, msg, done.error());
            return;
        }
        IdSet up = drains_.ranks();
        drains_.undrain(wish->ranks);
        up.remove(drains_.ranks());
        notify_scheduler("up", up);
        flux_log(h_, LOG_INFO, "undrain %s", hosts_of(wish->ranks).c_str());
        flux_respond(h_, msg, nullptr);
    }

    /// All events so far, then an answer without any, then new ones.
    void journal(const flux_msg_t* msg) {
        if (!flux_msg_is_streaming(msg)) {
            respond(h_, msg, Error{std::errc::protocol_error, "resource.journal is a streaming request"});
            return;
        }
        for (const Json& event : log_.events()) {
            Json answer = Json::object();
            Json events = Json::array();
            events.append(event.share());
            answer.set("events", std::move(events));
            if (event.string_at("name").value_or("") == "resource-define") {
                answer.set("R", r_.share());
            }
            respond(h_, msg, answer);
        }
        respond(h_, msg, std::move(Json::object().set("events", Json::array())));
        flux_msglist_append(journal_.get(), msg);
    }

    void journal_cancel(const flux_msg_t* msg) { flux_msglist_cancel(h_, journal_.get(), msg); }

    /// Resources change at the next start. What that would refuse is refused now.
    void config_reload(const flux_msg_t* msg) {
        json_t* found_table = nullptr;
        (void)flux_request_unpack(msg, nullptr, "{s?o}", "resource", &found_table);
        const Json table = Json::ref(found_table);
        if (is_configured(table)) {
            if (const auto found = configured_inventory(table); !found) {
                respond(h_, msg, found.error());
                return;
            }
        }
        respond(h_, msg, Json::object());
    }

    void reload(const flux_msg_t* msg) {
        respond(h_, msg,
                Error{std::errc::not_supported,
                      "this instance reads its resources at its start: change the configuration and start it again"});
    }

    // Guest: reads which nodes and cores there are.
    void status(const flux_msg_t* msg) {
        const std::string all = inventory_.ranks().encode();
        respond(h_, msg,
                Json::own(json_pack("{s:O s:O s:s s:s s:s s:s}", "R", r_.get(), "drain", drains_.to_json().get(),
                                    "online", all.c_str(), "offline", "", "exclude", "", "torpid", "")));
    }

    /// The job-manager reports the allocated resources; without one there are none.
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
            answer.set("all", self.r_.share()).set("down", self.inventory_.to_r_of(self.drains_.ranks()));
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
    MessageList journal_;
    Handlers handlers_;
    Inventory inventory_;
    Drains drains_;
    ResourceLog log_;
    Json r_;
    const char* source_ = "";
};

}  // namespace
}  // namespace weir::broker

extern "C" int resource_mod_main(flux_t* h, int, char**) {
    return weir::broker::run_service<weir::broker::Resource>(h);
}
