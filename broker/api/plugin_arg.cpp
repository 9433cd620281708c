// SPDX-License-Identifier: LGPL-3.0-only
// Owns: flux_plugin_arg_t: the input and the output of a plugin, as two JSON objects. Must not know their keys. Packing
// merges into what is there unless FLUX_PLUGIN_ARG_REPLACE is given, as in flux-core.
#include "broker/api/plugin_arg.hpp"

#include <flux/core.h>
#include <jansson.h>

#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <string_view>
#include <utility>

struct flux_plugin_arg {
    json_t* in = nullptr;
    json_t* out = nullptr;
    json_error_t error{};
    std::function<json_t*()> make_more_in;  ///< empty when there is none, or once it was called
    bool has_addition = false;              ///< IN is no longer as plugin_arg_seal() found it

    json_t*& side(int flags) { return (flags & FLUX_PLUGIN_ARG_OUT) != 0 ? out : in; }
    /// Takes over `object`.
    int put(int flags, json_t* object) {
        json_t*& target = side(flags);
        has_addition |= &target == &in;
        if ((flags & FLUX_PLUGIN_ARG_REPLACE) == 0 && target != nullptr) {
            const int rc = json_object_update(target, object);
            json_decref(object);
            return rc;
        }
        json_decref(target);
        target = object;
        return 0;
    }
    /// Makes the deferred part of IN. Returns whether there was one.
    bool complete(int flags) {
        if ((flags & FLUX_PLUGIN_ARG_OUT) != 0 || !make_more_in) {
            return false;
        }
        if (json_t* object = std::exchange(make_more_in, nullptr)()) {
            put(FLUX_PLUGIN_ARG_IN, object);
        }
        return true;
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

namespace weir::broker {
void plugin_arg_defer(flux_plugin_arg_t* args, std::function<json_t*()> make) {
    args->make_more_in = std::move(make);
}

const json_t* plugin_arg_out(const flux_plugin_arg_t* args) {
    return args->out;
}

json_t* plugin_arg_seal(flux_plugin_arg_t* args) {
    args->has_addition = false;
    return args->in;
}

bool plugin_arg_renew(flux_plugin_arg_t* args) {
    args->make_more_in = nullptr;
    if (args->has_addition || (args->in != nullptr && args->in->refcount != 1)) {
        return false;
    }
    if (args->out == nullptr || args->out->refcount != 1) {
        json_decref(args->out);
        args->out = json_object();
    } else if (json_object_size(args->out) > 0) {
        json_object_clear(args->out);
    }
    return args->out != nullptr;
}
}  // namespace weir::broker

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
    args->complete(flags);
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
    // Missing optional keys and a whole object do not fail, so they cannot show that a value is missing.
    const std::string_view format(fmt);
    if (format.find_first_of("?*!") != std::string_view::npos || format.find('{') == std::string_view::npos) {
        args->complete(flags);
    }
    va_list ap;
    va_start(ap, fmt);
    va_list again;
    va_copy(again, ap);
    int rc = json_vunpack_ex(args->side(flags), &args->error, 0, fmt, ap);
    va_end(ap);
    if (rc < 0 && args->complete(flags)) {
        args->error.text[0] = '\0';
        rc = json_vunpack_ex(args->side(flags), &args->error, 0, fmt, again);
    }
    va_end(again);
    return rc;
}

}  // extern "C"
