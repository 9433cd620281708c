// SPDX-License-Identifier: LGPL-3.0-only
// Owns: flux_plugin_t: a DSO or a builtin with handlers found by glob. Must not know job-manager topics.
// Same rules as flux-core: first match wins, a DSO without flux_plugin_init loads and does nothing.
#include <dlfcn.h>
#include <fnmatch.h>
#include <jansson.h>
#include <sys/random.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "broker/api/aux_table.hpp"

struct flux_plugin {
    struct Handler {
        std::string topic;
        flux_plugin_f callback;
        void* data;
        bool is_glob = topic.find_first_of("*?[\\") != std::string::npos;
        bool fits(const char* asked) const { return is_glob ? fnmatch(topic.c_str(), asked, 0) == 0 : topic == asked; }
    };
    std::string path;
    std::string name;
    bool has_name = false;
    std::string uuid;
    json_t* conf = nullptr;
    std::string conf_text;
    weir::broker::AuxTable aux;
    void* dso = nullptr;
    std::vector<Handler> handlers;
    int flags = FLUX_PLUGIN_RTLD_LAZY;
    std::string error;

    flux_plugin() = default;
    flux_plugin(const flux_plugin&) = delete;
    flux_plugin& operator=(const flux_plugin&) = delete;
    ~flux_plugin() {
        json_decref(conf);
        aux.clear();  // its destructors are code of the DSO
        if (dso != nullptr) {
            dlclose(dso);
        }
    }
    int fail(int errnum, std::string text) {
        error = std::move(text);
        errno = errnum;
        return -1;
    }
    const Handler* match(const char* topic) const {
        for (const Handler& handler : handlers) {
            if (handler.fits(topic)) {
                return &handler;
            }
        }
        return nullptr;
    }
};

namespace {

std::string make_uuid() {
    unsigned char bytes[16];
    if (getrandom(bytes, sizeof bytes, 0) != static_cast<ssize_t>(sizeof bytes)) {
        std::memset(bytes, 0, sizeof bytes);
    }
    bytes[6] = static_cast<unsigned char>((bytes[6] & 0x0f) | 0x40);  // RFC 4122 version 4
    bytes[8] = static_cast<unsigned char>((bytes[8] & 0x3f) | 0x80);
    std::string text;
    for (int i = 0; i < 16; ++i) {
        char hex[3];
        snprintf(hex, sizeof hex, "%02x", bytes[i]);
        text += i == 4 || i == 6 || i == 8 || i == 10 ? std::string("-") + hex : hex;
    }
    return text;
}

/// FLUX_PLUGIN_RTLD_DEEPBIND has no effect: a plugin that finds libc's free() before the allocator of this process
/// could free no memory of the broker.
int open_flags(int flags) {
    int result = (flags & FLUX_PLUGIN_RTLD_GLOBAL) != 0 ? RTLD_GLOBAL : RTLD_LOCAL;
    result |= (flags & FLUX_PLUGIN_RTLD_LAZY) != 0 ? RTLD_LAZY : 0;
    result |= (flags & FLUX_PLUGIN_RTLD_NOW) != 0 ? RTLD_NOW : 0;
    return result;
}

int invalid(flux_plugin_t* p) {
    if (p != nullptr) {
        p->error = std::strerror(EINVAL);
    }
    errno = EINVAL;
    return -1;
}

}  // namespace

extern "C" {

flux_plugin_t* flux_plugin_create(void) {
    auto* p = new flux_plugin;
    p->uuid = make_uuid();
    return p;
}

void flux_plugin_destroy(flux_plugin_t* p) {
    const int saved = errno;
    delete p;
    errno = saved;
}

int flux_plugin_set_name(flux_plugin_t* p, const char* name) {
    if (p == nullptr || name == nullptr) {
        return invalid(p);
    }
    p->name = name;
    p->has_name = true;
    return 0;
}

const char* flux_plugin_get_name(flux_plugin_t* p) {
    if (p == nullptr) {
        errno = EINVAL;
        return nullptr;
    }
    return p->has_name ? p->name.c_str() : nullptr;
}

const char* flux_plugin_get_uuid(flux_plugin_t* p) {
    if (p == nullptr) {
        errno = EINVAL;
        return nullptr;
    }
    return p->uuid.c_str();
}

const char* flux_plugin_get_path(flux_plugin_t* p) {
    return p != nullptr && !p->path.empty() ? p->path.c_str() : nullptr;
}

const char* flux_plugin_strerror(flux_plugin_t* p) {
    return p->error.c_str();
}

int flux_plugin_set_flags(flux_plugin_t* p, int flags) {
    const int known =
        FLUX_PLUGIN_RTLD_LAZY | FLUX_PLUGIN_RTLD_NOW | FLUX_PLUGIN_RTLD_GLOBAL | FLUX_PLUGIN_RTLD_DEEPBIND;
    if (p == nullptr || (flags & ~known) != 0) {
        return invalid(p);
    }
    p->flags = flags;
    return 0;
}

int flux_plugin_load_dso(flux_plugin_t* p, const char* path) {
    if (p == nullptr || path == nullptr) {
        return invalid(p);
    }
    p->error.clear();
    if (access(path, R_OK) < 0) {
        return p->fail(errno, std::string(path) + ": " + std::strerror(errno));
    }
    dlerror();
    p->dso = dlopen(path, open_flags(p->flags));
    if (p->dso == nullptr) {
        const char* why = dlerror();
        return p->fail(EINVAL, std::string("dlopen: ") + (why != nullptr ? why : path));
    }
    p->path = path;
    flux_plugin_set_name(p, path);
    using Init = int (*)(flux_plugin_t*);
    const auto init = reinterpret_cast<Init>(dlsym(p->dso, "flux_plugin_init"));
    if (init != nullptr && init(p) < 0) {
        return p->fail(0, std::string(path) + ": flux_plugin_init failed");
    }
    return 0;
}

int flux_plugin_set_conf(flux_plugin_t* p, const char* json_str) {
    if (p == nullptr || json_str == nullptr) {
        return invalid(p);
    }
    json_error_t why;
    json_t* conf = json_loads(json_str, 0, &why);
    if (conf == nullptr) {
        return p->fail(EINVAL, "parse error: col " + std::to_string(why.column) + ": " + why.text);
    }
    json_decref(p->conf);
    p->conf = conf;
    p->conf_text.clear();
    return 0;
}

const char* flux_plugin_get_conf(flux_plugin_t* p) {
    if (p == nullptr || p->conf == nullptr) {
        if (p != nullptr) {
            p->fail(ENOENT, "No plugin conf set");
        }
        errno = p != nullptr ? ENOENT : EINVAL;
        return nullptr;
    }
    if (p->conf_text.empty()) {
        char* text = json_dumps(p->conf, JSON_ENCODE_ANY | JSON_COMPACT);
        p->conf_text = text != nullptr ? text : "";
        free(text);
    }
    return p->conf_text.c_str();
}

int flux_plugin_conf_unpack(flux_plugin_t* p, const char* fmt, ...) {
    if (p == nullptr || fmt == nullptr) {
        return invalid(p);
    }
    if (p->conf == nullptr) {
        return p->fail(ENOENT, "No plugin conf set");
    }
    json_error_t why;
    va_list ap;
    va_start(ap, fmt);
    const int rc = json_vunpack_ex(p->conf, &why, 0, fmt, ap);
    va_end(ap);
    return rc < 0 ? p->fail(EINVAL, std::string("unpack error: ") + why.text) : 0;
}

int flux_plugin_add_handler(flux_plugin_t* p, const char* topic, flux_plugin_f cb, void* arg) {
    if (p == nullptr || topic == nullptr) {
        return invalid(p);
    }
    if (cb != nullptr) {
        p->handlers.push_back({topic, cb, arg});
        return 0;
    }
    for (auto handler = p->handlers.begin(); handler != p->handlers.end(); ++handler) {
        if (handler->topic == topic) {
            p->handlers.erase(handler);
            break;
        }
    }
    return 0;
}

int flux_plugin_register(flux_plugin_t* p, const char* name, const struct flux_plugin_handler t[]) {
    if (p == nullptr || t == nullptr) {
        return invalid(p);
    }
    if (name != nullptr) {
        flux_plugin_set_name(p, name);
    }
    for (; t->topic != nullptr; ++t) {
        if (flux_plugin_add_handler(p, t->topic, t->cb, t->data) < 0) {
            return -1;
        }
    }
    return 0;
}

flux_plugin_f flux_plugin_match_handler(flux_plugin_t* p, const char* topic) {
    if (p == nullptr || topic == nullptr) {
        invalid(p);
        return nullptr;
    }
    const flux_plugin::Handler* handler = p->match(topic);
    return handler != nullptr ? handler->callback : nullptr;
}

int flux_plugin_call(flux_plugin_t* p, const char* topic, flux_plugin_arg_t* args) {
    if (p == nullptr || topic == nullptr) {
        return invalid(p);
    }
    p->error.clear();
    const flux_plugin::Handler* handler = p->match(topic);
    if (handler == nullptr) {
        return 0;
    }
    return handler->callback(p, topic, args, handler->data) < 0 ? -1 : 1;
}

int flux_plugin_aux_set(flux_plugin_t* p, const char* key, void* val, flux_free_f free_fn) {
    return p != nullptr ? p->aux.set(key, val, free_fn) : invalid(p);
}

void* flux_plugin_aux_get(flux_plugin_t* p, const char* key) {
    if (p == nullptr) {
        errno = EINVAL;
        return nullptr;
    }
    return p->aux.get(key);
}

}  // extern "C"
