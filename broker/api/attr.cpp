// SPDX-License-Identifier: LGPL-3.0-only
// Owns: broker attributes and configuration as a handle sees them: caches in front of attr.get, flux_conf_t.
// Must not know where TOML files are. Same lifetimes as flux-core: an immutable value stays, any other lives until the
// same name is asked again.
#include <jansson.h>

#include <cerrno>
#include <cstdarg>
#include <cstdlib>

#include "broker/api/handle.hpp"
#include "broker/api/handle_state.hpp"

/// Configuration as JSON. Shared by reference count within one thread.
struct flux_conf {
    json_t* object;
    int refcount = 1;
};

namespace {

constexpr int attr_flag_immutable = 1;

const char* ask_attr(flux_t* h, const char* name) {
    flux_future_t* f = flux_rpc_pack(h, "attr.get", FLUX_NODEID_ANY, 0, "{s:s}", "name", name);
    const char* value = nullptr;
    int flags = 0;
    const char* kept = nullptr;
    if (f != nullptr && flux_rpc_get_unpack(f, "{s:s s:i}", "value", &value, "flags", &flags) == 0) {
        auto& cache = (flags & attr_flag_immutable) != 0 ? h->attributes : h->attributes_once;
        kept = cache.insert_or_assign(name, value).first->second.c_str();
    }
    flux_future_destroy(f);
    return kept;
}

int get_number(flux_t* h, const char* name, uint32_t* value) {
    const char* text = flux_attr_get(h, name);
    if (text == nullptr) {
        return -1;
    }
    *value = static_cast<uint32_t>(std::strtoul(text, nullptr, 10));
    return 0;
}

void set_error(flux_error_t* error, const char* text) {
    if (error != nullptr) {
        snprintf(error->text, sizeof error->text, "%s", text);
    }
}

}  // namespace

namespace weir::broker {

void handle_prime_attr(flux_t* h, const std::string& name, const std::string& value) {
    h->attributes.insert_or_assign(name, value);
}

flux_conf_t* conf_create(const json_t* conf) {
    json_t* object = conf != nullptr ? json_deep_copy(conf) : json_object();
    if (!json_is_object(object)) {
        json_decref(object);
        errno = EINVAL;
        return nullptr;
    }
    return new flux_conf{object};
}

int handle_set_conf(flux_t* h, const json_t* conf) {
    flux_conf_t* made = conf_create(conf);
    return made != nullptr ? flux_set_conf_new(h, made) : -1;
}

}  // namespace weir::broker

extern "C" {

const char* flux_attr_get(flux_t* h, const char* name) {
    if (h == nullptr || name == nullptr) {
        errno = EINVAL;
        return nullptr;
    }
    const auto known = h->attributes.find(name);
    return known != h->attributes.end() ? known->second.c_str() : ask_attr(h, name);
}

int flux_get_rank(flux_t* h, uint32_t* rank) {
    return get_number(h, "rank", rank);
}

int flux_get_size(flux_t* h, uint32_t* size) {
    return get_number(h, "size", size);
}

const flux_conf_t* flux_get_conf(flux_t* h) {
    if (h->conf == nullptr) {
        h->conf = weir::broker::conf_create(nullptr);
    }
    return h->conf;
}

int flux_set_conf_new(flux_t* h, const flux_conf_t* conf) {
    if (h == nullptr) {
        errno = EINVAL;
        return -1;
    }
    flux_conf_decref(h->conf);
    h->conf = conf;
    return 0;
}

const flux_conf_t* flux_conf_incref(const flux_conf_t* conf) {
    if (conf != nullptr) {
        ++const_cast<flux_conf_t*>(conf)->refcount;
    }
    return conf;
}

void flux_conf_decref(const flux_conf_t* conf) {
    auto* mutable_conf = const_cast<flux_conf_t*>(conf);
    if (mutable_conf != nullptr && --mutable_conf->refcount == 0) {
        const int saved = errno;
        json_decref(mutable_conf->object);
        delete mutable_conf;
        errno = saved;
    }
}

int flux_conf_unpack(const flux_conf_t* conf, flux_error_t* error, const char* fmt, ...) {
    if (conf == nullptr || fmt == nullptr || *fmt == '\0') {
        errno = EINVAL;
        set_error(error, flux_strerror(errno));
        return -1;
    }
    json_error_t why;
    va_list ap;
    va_start(ap, fmt);
    const int rc = json_vunpack_ex(conf->object, &why, 0, fmt, ap);
    va_end(ap);
    if (rc < 0) {
        set_error(error, why.text);
        errno = EINVAL;
    }
    return rc < 0 ? -1 : 0;
}

int flux_module_config_request_decode(const flux_msg_t* msg, flux_conf_t** conf) {
    json_t* object = nullptr;
    if (flux_request_unpack(msg, nullptr, "o", &object) < 0) {
        return -1;
    }
    flux_conf_t* made = weir::broker::conf_create(object);
    if (made == nullptr) {
        return -1;
    }
    if (conf != nullptr) {
        *conf = made;
    } else {
        flux_conf_decref(made);
    }
    return 0;
}

int flux_module_set_running(flux_t* h) {
    constexpr int module_running = 1;
    flux_future_t* f =
        flux_rpc_pack(h, "module.status", FLUX_NODEID_ANY, FLUX_RPC_NORESPONSE, "{s:i}", "status", module_running);
    flux_future_destroy(f);
    return f != nullptr ? 0 : -1;
}

}  // extern "C"
