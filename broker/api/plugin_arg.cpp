// SPDX-License-Identifier: LGPL-3.0-only
// Owns: flux_plugin_arg_t: what a plugin is given and what it gives back, as two JSON objects. Must not know their
// keys. Packing merges into what is there unless FLUX_PLUGIN_ARG_REPLACE is given, as in flux-core.
#include <flux/core.h>
#include <jansson.h>

#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstring>

struct flux_plugin_arg {
    json_t* in = nullptr;
    json_t* out = nullptr;
    json_error_t error{};

    json_t*& side(int flags) { return (flags & FLUX_PLUGIN_ARG_OUT) != 0 ? out : in; }
    /// Takes over `object`.
    int put(int flags, json_t* object) {
        json_t*& target = side(flags);
        if ((flags & FLUX_PLUGIN_ARG_REPLACE) == 0 && target != nullptr) {
            const int rc = json_object_update(target, object);
            json_decref(object);
            return rc;
        }
        json_decref(target);
        target = object;
        return 0;
    }
    int fail(int errnum, const char* text) {
        snprintf(error.text, sizeof error.text, "%s", text);
        errno = errnum;
        return -1;
    }
};

namespace {
int invalid(flux_plugin_arg_t* args) {
    errno = EINVAL;
    return args != nullptr ? args->fail(EINVAL, std::strerror(EINVAL)) : -1;
}
}  // namespace

extern "C" {

flux_plugin_arg_t* flux_plugin_arg_create(void) {
    return new flux_plugin_arg;
}

void flux_plugin_arg_destroy(flux_plugin_arg_t* args) {
    if (args != nullptr) {
        const int saved = errno;
        json_decref(args->in);
        json_decref(args->out);
        delete args;
        errno = saved;
    }
}

const char* flux_plugin_arg_strerror(flux_plugin_arg_t* args) {
    return args != nullptr ? args->error.text : std::strerror(errno);
}

int flux_plugin_arg_set(flux_plugin_arg_t* args, int flags, const char* json_str) {
    if (args == nullptr) {
        return invalid(args);
    }
    args->error.text[0] = '\0';
    json_t* object = nullptr;
    if (json_str != nullptr) {
        object = json_loads(json_str, 0, &args->error);
        if (object == nullptr) {
            errno = EINVAL;
            return -1;
        }
    }
    return args->put(flags, object);
}

int flux_plugin_arg_get(flux_plugin_arg_t* args, int flags, char** json_str) {
    if (args == nullptr || json_str == nullptr) {
        return invalid(args);
    }
    args->error.text[0] = '\0';
    if (args->side(flags) == nullptr) {
        return args->fail(ENOENT, "No args currently set");
    }
    *json_str = json_dumps(args->side(flags), JSON_COMPACT);
    return 0;
}

int flux_plugin_arg_pack(flux_plugin_arg_t* args, int flags, const char* fmt, ...) {
    if (args == nullptr || fmt == nullptr) {
        return invalid(args);
    }
    args->error.text[0] = '\0';
    va_list ap;
    va_start(ap, fmt);
    json_t* object = json_vpack_ex(&args->error, 0, fmt, ap);
    va_end(ap);
    if (object == nullptr) {
        errno = EINVAL;
        return -1;
    }
    return args->put(flags, object);
}

int flux_plugin_arg_unpack(flux_plugin_arg_t* args, int flags, const char* fmt, ...) {
    if (args == nullptr || fmt == nullptr) {
        return invalid(args);
    }
    args->error.text[0] = '\0';
    va_list ap;
    va_start(ap, fmt);
    const int rc = json_vunpack_ex(args->side(flags), &args->error, 0, fmt, ap);
    va_end(ap);
    return rc;
}

}  // extern "C"
