// SPDX-License-Identifier: LGPL-3.0-only
// A client of a real broker on Weir's Flux API, for t/t1001-client-on-flux.t: flux_client COMMAND [ARG...].
// Prints one fact a line; exit code 0 when the command did what it says.
#include <flux/core.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>

namespace {

int fail(const char* what, flux_future_t* f) {
    const int errnum = errno;
    const char* why = f != nullptr ? flux_future_error_string(f) : nullptr;
    std::printf("%s: %s (errno %d)\n", what, why != nullptr ? why : flux_strerror(errnum), errnum);
    flux_future_destroy(f);
    return 1;
}

int get(flux_t* h, const char* topic, const char* payload) {
    flux_future_t* f = flux_rpc(h, topic, payload, FLUX_NODEID_ANY, 0);
    const char* text = nullptr;
    if (f == nullptr || flux_rpc_get(f, &text) < 0) {
        return fail(topic, f);
    }
    std::printf("%s\n", text != nullptr ? text : "(no payload)");
    flux_future_destroy(f);
    return 0;
}

int attributes(flux_t* h) {
    uint32_t rank = 99;
    uint32_t size = 99;
    if (flux_get_rank(h, &rank) < 0 || flux_get_size(h, &size) < 0) {
        return fail("rank", nullptr);
    }
    std::printf("rank %u size %u\n", rank, size);
    const char* missing = flux_attr_get(h, "no-such-attribute");
    std::printf("missing %s errno %d\n", missing != nullptr ? missing : "none", errno);
    return 0;
}

/// Many requests in flight, all answered, in order.
struct Flood {
    flux_t* h;
    int sent = 0;
    int answered = 0;
    bool is_in_order = true;
};
void flooded(flux_future_t* f, void* arg) {
    auto* flood = static_cast<Flood*>(arg);
    int seq = -1;
    flood->is_in_order =
        flood->is_in_order && flux_rpc_get_unpack(f, "{s:i}", "seq", &seq) == 0 && seq == flood->answered;
    ++flood->answered;
    flux_future_destroy(f);
}
int flood(flux_t* h, int count) {
    Flood state{h};
    const std::string pad(1000, 'x');
    for (; state.sent < count; ++state.sent) {
        flux_future_t* f = flux_rpc_pack(h, "broker.ping", FLUX_NODEID_ANY, 0, "{s:i s:I s:I s:s}", "seq", state.sent,
                                         "time.tv_sec", 0LL, "time.tv_nsec", 0LL, "pad", pad.c_str());
        if (f == nullptr || flux_future_then(f, -1., flooded, &state) < 0) {
            return fail("broker.ping", f);
        }
    }
    const int rc = flux_reactor_run(flux_get_reactor(h), 0);
    std::printf("answered %d of %d in order %d run %d\n", state.answered, count, state.is_in_order, rc);
    return state.answered == count && state.is_in_order && rc == 0 ? 0 : 1;
}

/// Subscribes, publishes twice (one event that fits, before it one that does not), prints what arrives.
void event_seen(flux_t* h, flux_msg_handler_t*, const flux_msg_t* msg, void*) {
    const char* topic = nullptr;
    int n = 0;
    if (flux_event_unpack(msg, &topic, "{s:i}", "n", &n) == 0) {
        std::printf("event %s %d\n", topic, n);
    }
    flux_reactor_stop(flux_get_reactor(h));
}
int events(flux_t* h) {
    const flux_msg_handler_spec table[] = {{FLUX_MSGTYPE_EVENT, "weir-test.*", event_seen, FLUX_ROLE_ALL},
                                           FLUX_MSGHANDLER_TABLE_END};
    flux_msg_handler_t** handlers = nullptr;
    if (flux_event_subscribe(h, "weir-test.yes") < 0 || flux_msg_handler_addvec(h, table, nullptr, &handlers) < 0) {
        return fail("subscribe", nullptr);
    }
    for (const char* topic : {"weir-test.no", "weir-test.yes"}) {
        flux_future_t* f = flux_event_publish_pack(h, topic, 0, "{s:i}", "n", 42);
        int sequence = 0;
        if (f == nullptr || flux_rpc_get_unpack(f, "{s:i}", "seq", &sequence) < 0) {
            return fail("event.publish", f);
        }
        flux_future_destroy(f);
    }
    const int rc = flux_reactor_run(flux_get_reactor(h), 0);
    flux_msg_handler_delvec(handlers);
    return rc < 0 || flux_event_unsubscribe(h, "weir-test.yes") < 0 ? fail("run", nullptr) : 0;
}

/// Follows the job-manager's journal until the job with this id is clean; prints its events' names.
struct Follow {
    flux_jobid_t id;
    bool is_clean = false;
};
void journal_response(flux_future_t* f, void* arg) {
    auto* follow = static_cast<Follow*>(arg);
    const char* text = nullptr;
    long long id = 0;
    if (flux_rpc_get(f, &text) < 0 || flux_rpc_get_unpack(f, "{s:I}", "id", &id) < 0) {
        std::printf("journal ends: %s\n", flux_future_error_string(f));
        flux_reactor_stop(flux_get_reactor(flux_future_get_flux(f)));
        return;
    }
    if (static_cast<flux_jobid_t>(id) == follow->id) {
        for (const char* name : {"submit", "depend", "alloc", "finish", "clean"}) {
            if (std::strstr(text, (std::string("\"name\":\"") + name + "\"").c_str()) != nullptr) {
                std::printf("%s\n", name);
                follow->is_clean = follow->is_clean || std::strcmp(name, "clean") == 0;
            }
        }
    }
    flux_future_reset(f);
    if (follow->is_clean) {
        // Ends the stream in an orderly way: the cancel is answered on the stream with ENODATA.
        flux_future_t* cancel =
            flux_rpc_pack(flux_future_get_flux(f), "job-manager.events-journal-cancel", FLUX_NODEID_ANY,
                          FLUX_RPC_NORESPONSE, "{s:i}", "matchtag", static_cast<int>(flux_rpc_get_matchtag(f)));
        flux_future_destroy(cancel);
    }
}
int journal(flux_t* h, const char* id) {
    Follow follow{0};
    if (flux_job_id_parse(id, &follow.id) < 0) {
        return fail(id, nullptr);
    }
    flux_future_t* f =
        flux_rpc_pack(h, "job-manager.events-journal", FLUX_NODEID_ANY, FLUX_RPC_STREAMING, "{s:b}", "full", 1);
    if (f == nullptr || flux_future_then(f, 60., journal_response, &follow) < 0 ||
        flux_reactor_run(flux_get_reactor(h), 0) < 0) {
        return fail("job-manager.events-journal", f);
    }
    flux_future_destroy(f);
    return follow.is_clean ? 0 : 1;
}

/// Registers a service and answers one ping on it.
void ping_request(flux_t* h, flux_msg_handler_t*, const flux_msg_t* msg, void*) {
    flux_msg_cred cred{};
    (void)flux_msg_get_cred(msg, &cred);
    std::printf("request from userid %u rolemask 0x%x\n", cred.userid, cred.rolemask);
    (void)flux_respond_pack(h, msg, "{s:s}", "answer", "pong");
    flux_reactor_stop(flux_get_reactor(h));
}
int serve(flux_t* h, const char* name) {
    const flux_msg_handler_spec table[] = {{FLUX_MSGTYPE_REQUEST, "hello", ping_request, FLUX_ROLE_USER},
                                           FLUX_MSGHANDLER_TABLE_END};
    flux_msg_handler_t** handlers = nullptr;
    flux_future_t* f = flux_service_register(h, name);
    if (f == nullptr || flux_future_get(f, nullptr) < 0 ||
        flux_msg_handler_addvec_ex(h, name, table, nullptr, &handlers) < 0) {
        return fail("service.add", f);
    }
    flux_future_destroy(f);
    std::printf("serving\n");
    std::fflush(stdout);
    const int rc = flux_reactor_run(flux_get_reactor(h), 0);
    flux_msg_handler_delvec(handlers);
    return rc < 0 ? 1 : 0;
}

int run(flux_t* h, const std::string& command, int argc, char** argv) {
    const char* first = argc > 2 ? argv[2] : "";
    if (command == "attributes") {
        return attributes(h);
    }
    if (command == "get" && argc > 2) {
        return get(h, first, argc > 3 ? argv[3] : nullptr);
    }
    if (command == "flood") {
        return flood(h, 5000);
    }
    if (command == "events") {
        return events(h);
    }
    if (command == "journal") {
        return journal(h, first);
    }
    if (command == "serve") {
        return serve(h, first);
    }
    if (command == "log") {
        return flux_log(h, 4, "%s", first) < 0 || flux_attr_get(h, "size") == nullptr ? 1 : 0;
    }
    std::fprintf(stderr, "usage: flux_client attributes|get|flood|events|journal|serve|log [ARG...]\n");
    return 2;
}

}  // namespace

int main(int argc, char** argv) {
    flux_error_t error;
    flux_t* h = flux_open_ex(nullptr, 0, &error);
    if (h == nullptr) {
        std::printf("%s\n", error.text);
        return 3;
    }
    const int rc = run(h, argc > 1 ? argv[1] : "", argc, argv);
    flux_close(h);
    return rc;
}
