// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the thin C++ layer between a module and the Flux C API: move-only owners of handles, trampolines that let no
// exception reach C, unpack and respond. Must not know any service. RFC 3, 5, 6. No other code calls flux_*_destroy.
#pragma once
#include <cxxabi.h>
#include <flux/core.h>
#include <syslog.h>

#include <cerrno>
#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <system_error>
#include <type_traits>
#include <utility>
#include <vector>

#include "libfairshare/base/flat_json.hpp"
#include "libfairshare/base/json/json.hpp"
#include "libfairshare/base/result.hpp"

namespace weir::flux {

// ---- owners ----
struct Destroy {
    void operator()(flux_future_t* f) const { flux_future_destroy(f); }
    void operator()(flux_watcher_t* w) const { flux_watcher_destroy(w); }
    void operator()(flux_msg_t* m) const { flux_msg_destroy(m); }
    void operator()(const flux_msg_t* m) const { flux_msg_decref(m); }
    void operator()(flux_msg_handler_t** m) const { flux_msg_handler_delvec(m); }
    void operator()(flux_t* h) const { flux_close(h); }
    void operator()(struct flux_msglist* l) const { flux_msglist_destroy(l); }
};
using Future = std::unique_ptr<flux_future_t, Destroy>;
using Watcher = std::unique_ptr<flux_watcher_t, Destroy>;
using Message = std::unique_ptr<flux_msg_t, Destroy>;
using MessageRef = std::unique_ptr<const flux_msg_t, Destroy>;
using Handlers = std::unique_ptr<flux_msg_handler_t*, Destroy>;  ///< the vector that flux_msg_handler_addvec made
using Handle = std::unique_ptr<flux_t, Destroy>;                 ///< of flux_open; never of the module's own handle
using MessageList = std::unique_ptr<struct flux_msglist, Destroy>;

/// Keeps a request beyond its handler (a request to be answered later).
inline MessageRef keep(const flux_msg_t* msg) {
    return MessageRef(flux_msg_incref(msg));
}

// ---- failures ----
/// The one exception of module code: an errnum for the peer and a sentence for people. Caught by the trampolines.
class Failure : public std::exception {
  public:
    explicit Failure(int errnum, std::string message = {})
        : errnum_(errnum == 0 ? EINVAL : errnum),
          message_(message.empty() ? std::string(flux_strerror(errnum_)) : std::move(message)) {}
    explicit Failure(const Error& error) : Failure(static_cast<int>(error.code), error.message) {}
    int errnum() const { return errnum_; }
    const char* what() const noexcept override { return message_.c_str(); }

  private:
    int errnum_;
    std::string message_;
};

/// Throws Failure with the present errno and `what: strerror`.
[[noreturn]] inline void fail_errno(const std::string& what) {
    const int errnum = errno;
    throw Failure(errnum, what + ": " + flux_strerror(errnum));
}
template <typename T>
T value_or_throw(Result<T> result) {
    if (!result) {
        throw Failure(result.error());
    }
    return std::move(result).value();
}

inline void log(flux_t* h, int level, const std::string& text) {
    flux_log(h, level, "%s", text.c_str());
}

struct Caught {
    int errnum = 0;  ///< 0: nothing was thrown
    std::string message;
};
/// Runs body and turns whatever it throws into a value. Only the end of the thread passes this function: a stock broker
/// that ends with a module loaded cancels its thread, and glibc unwinds it with an exception that must go on. For that
/// reason neither this nor the trampolines are noexcept.
template <typename F>
Caught catching(F&& body) {
    try {
        std::forward<F>(body)();
        return {};
    } catch (const Failure& e) {
        return {e.errnum(), e.what()};
    } catch (const std::bad_alloc&) {
        return {ENOMEM, {}};
    } catch (const std::system_error& e) {
        return {e.code().value() != 0 ? e.code().value() : EINVAL, e.what()};
    } catch (const std::exception& e) {
        return {EINVAL, e.what()};
    } catch (const abi::__forced_unwind&) {
        throw;
    } catch (...) {
        return {EINVAL, "an exception of unknown type"};
    }
}
/// Runs body; an exception becomes one log line (LOG_ERR: "where: what") and errno. Returns 0, or -1 with errno set.
/// For mod_main and every C callback without a request to answer.
template <typename F>
int guard(flux_t* h, const char* where, F&& body) {
    const Caught caught = catching(std::forward<F>(body));
    if (caught.errnum == 0) {
        return 0;
    }
    if (h != nullptr) {
        flux_log(h, LOG_ERR, "%s: %s", where, caught.message.empty() ? "out of memory" : caught.message.c_str());
    }
    errno = caught.errnum;
    return -1;
}

/// Whether the broker is weir-broker, which runs the jobs of all users as the owner of the instance.
inline bool is_embedded(flux_t* h) {
    return flux_attr_get(h, "output-dir") != nullptr;
}

// ---- names ----
/// The module's own name, also under `flux module load --name=`; every topic is built from it (RFC 5).
inline std::string service_name(flux_t* h, const char* fallback) {
    const auto* name = static_cast<const char*>(flux_aux_get(h, "flux::name"));
    return name != nullptr ? name : fallback;
}

// ---- requests ----
/// Unpacks a request's JSON payload (jansson format); Failure EPROTO names the topic when the payload does not fit.
template <typename... Args>
void unpack(const flux_msg_t* msg, const char* format, Args... args) {
    const char* topic = nullptr;
    if (flux_request_unpack(msg, &topic, format, args...) < 0) {
        const char* name = nullptr;
        (void)flux_msg_get_topic(msg, &name);
        throw Failure(EPROTO, std::string(name != nullptr ? name : "request") + ": the payload does not fit " + format);
    }
}
/// With a payload that is JSON text; empty: without one.
inline void respond_text(flux_t* h, const flux_msg_t* msg, const std::string& text) {
    if (flux_respond(h, msg, text.empty() ? nullptr : text.c_str()) < 0) {
        flux_log(h, LOG_ERR, "respond: %s", flux_strerror(errno));
    }
}
inline void respond(flux_t* h, const flux_msg_t* msg, const Json& payload) {
    respond_text(h, msg, payload.dump());
}
inline void respond_error(flux_t* h, const flux_msg_t* msg, int errnum, const std::string& text) {
    if (flux_msg_is_noresponse(msg)) {
        return;
    }
    if (flux_respond_error(h, msg, errnum, text.empty() ? nullptr : text.c_str()) < 0) {
        flux_log(h, LOG_ERR, "respond_error: %s", flux_strerror(errno));
    }
}
inline flux_msg_cred cred_of(const flux_msg_t* msg) {
    flux_msg_cred cred{FLUX_USERID_UNKNOWN, FLUX_ROLE_NONE};
    if (flux_msg_get_cred(msg, &cred) < 0) {
        fail_errno("flux_msg_get_cred");
    }
    return cred;
}
/// The payload of a request, without a tree of its values, which takes many times its memory. Valid as long as `msg`
/// and the reader. Throws Failure (EPROTO).
inline FlatValue read_in_place(const flux_msg_t* msg, FlatJson& reader) {
    const char* text = nullptr;
    if (flux_request_decode(msg, nullptr, &text) < 0 || text == nullptr) {
        throw Failure(EPROTO, "the request has no payload");
    }
    const FlatValue payload = reader.read(text);
    if (!payload) {
        throw Failure(EPROTO, "the payload is not JSON");
    }
    return payload;
}
/// Bytes of the payload of a request; 0: it has none. O(bytes).
inline std::size_t payload_size(const flux_msg_t* msg) {
    const char* text = nullptr;
    return flux_request_decode(msg, nullptr, &text) == 0 && text != nullptr ? std::strlen(text) : 0;
}
inline bool is_from_owner(const flux_msg_t* msg) {
    flux_msg_cred cred{FLUX_USERID_UNKNOWN, FLUX_ROLE_NONE};
    return flux_msg_get_cred(msg, &cred) == 0 && (cred.rolemask & FLUX_ROLE_OWNER) != 0;
}

// ---- trampolines: member functions as C callbacks. The object needs `flux_t* flux() const`. ----
namespace detail {
template <typename M>
struct member;
template <typename R, typename T, typename... A>
struct member<R (T::*)(A...)> {
    using object = T;
    using result = R;
};
template <typename R, typename T, typename... A>
struct member<R (T::*)(A...) const> : member<R (T::*)(A...)> {};
}  // namespace detail

/// A handler that answers: `Json T::method(const flux_msg_t*)` is sent as the response; a Failure becomes the error
/// response. An empty Json from a method means an empty success response.
template <auto Method>
void on_request(flux_t* h, flux_msg_handler_t*, const flux_msg_t* msg, void* arg) {
    using T = typename detail::member<decltype(Method)>::object;
    const Caught caught = catching([&] { respond(h, msg, (static_cast<T*>(arg)->*Method)(msg)); });
    if (caught.errnum != 0) {
        (void)guard(h, "respond", [&] { respond_error(h, msg, caught.errnum, caught.message); });
    }
}
/// A handler that answers later, by itself or not at all: `void T::method(const flux_msg_t*)`. A Failure is sent as the
/// error response when the message is a request that wants one, and logged otherwise. A guest's is not logged: he could
/// fill the log.
template <auto Method>
void on_message(flux_t* h, flux_msg_handler_t*, const flux_msg_t* msg, void* arg) {
    using T = typename detail::member<decltype(Method)>::object;
    const Caught caught = catching([&] { (static_cast<T*>(arg)->*Method)(msg); });
    if (caught.errnum != 0) {
        uint32_t matchtag = FLUX_MATCHTAG_NONE;
        const bool answerable = flux_msg_get_matchtag(msg, &matchtag) == 0 && matchtag != FLUX_MATCHTAG_NONE;
        (void)guard(h, "respond", [&] {
            if (answerable) {
                respond_error(h, msg, caught.errnum, caught.message);
            } else if (is_from_owner(msg)) {
                const char* topic = nullptr;
                (void)flux_msg_get_topic(msg, &topic);
                log(h, LOG_ERR, std::string(topic != nullptr ? topic : "message") + ": " + caught.message);
            }
        });
    }
}
/// `void T::method(flux_future_t*)`. The future stays the object's; it may destroy it inside.
template <auto Method>
void on_future(flux_future_t* f, void* arg) {
    using T = typename detail::member<decltype(Method)>::object;
    auto* self = static_cast<T*>(arg);
    (void)guard(self->flux(), "continuation", [&] { (self->*Method)(f); });
}
/// `void T::method()` for timer, prepare, check, idle and fd watchers.
template <auto Method>
void on_watcher(flux_reactor_t*, flux_watcher_t*, int, void* arg) {
    using T = typename detail::member<decltype(Method)>::object;
    auto* self = static_cast<T*>(arg);
    (void)guard(self->flux(), "watcher", [&] { (self->*Method)(); });
}

template <auto Method, typename T>
void then(flux_future_t* f, T* self, double timeout = -1.) {
    if (flux_future_then(f, timeout, on_future<Method>, self) < 0) {
        fail_errno("flux_future_then");
    }
}
/// Registers handlers for "service.method" topics; destroy the result before the object they point to.
inline Handlers add_handlers(flux_t* h, const std::string& service, std::vector<flux_msg_handler_spec> table,
                             void* self) {
    table.push_back(FLUX_MSGHANDLER_TABLE_END);
    flux_msg_handler_t** handlers = nullptr;
    if (flux_msg_handler_addvec_ex(h, service.c_str(), table.data(), self, &handlers) < 0) {
        fail_errno("registering the handlers of " + service);
    }
    return Handlers(handlers);
}

// ---- RPC ----
/// Starts an RPC whose payload is JSON text.
inline Future rpc_text(flux_t* h, const std::string& topic, const std::string& payload) {
    Future future(flux_rpc(h, topic.c_str(), payload.c_str(), FLUX_NODEID_ANY, 0));
    if (!future) {
        fail_errno(topic);
    }
    return future;
}
/// Starts an RPC with a JSON payload (empty Json: no payload).
inline Future rpc(flux_t* h, const std::string& topic, const Json& payload, int flags = 0,
                  uint32_t nodeid = FLUX_NODEID_ANY) {
    const std::string text = payload ? payload.dump() : std::string();
    Future future(flux_rpc(h, topic.c_str(), payload ? text.c_str() : nullptr, nodeid, flags));
    if (!future) {
        fail_errno(topic);
    }
    return future;
}
/// The answer to an RPC, waiting for it when it is not there; an answer without payload gives an empty Json.
/// Throws Failure with the peer's errnum and text.
inline Json rpc_get(flux_future_t* f, const std::string& what) {
    const char* text = nullptr;
    if (flux_rpc_get(f, &text) < 0) {
        const int errnum = errno;
        const char* why = flux_future_error_string(f);
        throw Failure(errnum, what + ": " + (why != nullptr ? why : flux_strerror(errnum)));
    }
    if (text == nullptr) {
        return {};
    }
    auto json = Json::parse_with_nuls(text);
    if (!json) {
        throw Failure(EPROTO, what + ": the answer is not JSON: " + json.error().message);
    }
    return std::move(json).value();
}
/// Registers a service name for this module and waits for it.
inline void register_service(flux_t* h, const std::string& name) {
    Future f(flux_service_register(h, name.c_str()));
    if (!f || flux_future_get(f.get(), nullptr) < 0) {
        fail_errno("registering service " + name + " (is another scheduler loaded?)");
    }
}

// ---- configuration ----
/// A table of the instance's TOML configuration as JSON, borrowed until the configuration changes; nullptr if absent.
inline json_t* conf_table(flux_t* h, const char* name) {
    json_t* table = nullptr;
    flux_error_t error;
    const flux_conf_t* conf = flux_get_conf(h);
    if (conf == nullptr || flux_conf_unpack(conf, &error, "{s?o}", name, &table) < 0) {
        return nullptr;
    }
    return table;
}

}  // namespace weir::flux
