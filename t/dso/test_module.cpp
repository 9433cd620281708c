// SPDX-License-Identifier: LGPL-3.0-only
// Owns: modules that live, fail, throw or lie, for the tests of a module host; what it is is chosen by a macro.
// Must not know a broker: it loads in any.
#include <flux/core.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <string>

#define EXPORT extern "C" __attribute__((visibility("default")))

#ifdef TEST_MODULE_WRONG_NAME
EXPORT const char* mod_name;
const char* mod_name = "somebody-else";
#endif

#ifdef TEST_MODULE_MISSING_SYMBOL
extern "C" int flux_no_such_function(flux_t* h);
#endif

#ifndef TEST_MODULE_NO_MAIN
namespace {

#ifdef TEST_MODULE_REPLACED
constexpr const char* GENERATION = "new";
#else
constexpr const char* GENERATION = "old";
#endif

std::string topic(flux_t* h, const char* method) {
    return std::string(static_cast<const char*>(flux_aux_get(h, "flux::name"))) + "." + method;
}

void about(flux_t* h, flux_msg_handler_t*, const flux_msg_t* msg, void* arg) {
    flux_respond_pack(h, msg, "{s:s s:s s:s}", "generation", GENERATION, "args",
                      static_cast<std::string*>(arg)->c_str(), "uuid",
                      static_cast<const char*>(flux_aux_get(h, "flux::uuid")));
}

void veto(flux_t* h, flux_msg_handler_t*, const flux_msg_t* msg, void*) {
    flux_conf_t* conf = nullptr;
    int bad = 0;
    if (flux_module_config_request_decode(msg, &conf) < 0) {
        flux_respond_error(h, msg, errno, nullptr);
        return;
    }
    flux_conf_unpack(conf, nullptr, "{s?b}", "veto", &bad);
    if (bad != 0) {
        flux_conf_decref(conf);
        flux_respond_error(h, msg, EINVAL, "key veto must not be true");
        return;
    }
    flux_set_conf_new(h, conf);
    flux_respond(h, msg, nullptr);
}

void show_conf(flux_t* h, flux_msg_handler_t*, const flux_msg_t* msg, void*) {
    int number = -1;
    flux_conf_unpack(flux_get_conf(h), nullptr, "{s?i}", "number", &number);
    flux_respond_pack(h, msg, "{s:i}", "number", number);
}

[[maybe_unused]] void fail_now(flux_t* h, flux_msg_handler_t*, const flux_msg_t*, void*) {
    errno = ENOSPC;
    flux_reactor_stop_error(flux_get_reactor(h));
}

}  // namespace

EXPORT int mod_main(flux_t* h, int argc, char** argv) {
#ifdef TEST_MODULE_MISSING_SYMBOL
    return flux_no_such_function(h);
#endif
    std::string args;
    for (int i = 0; i < argc; ++i) {
        args += (i > 0 ? "," : "") + std::string(argv[i]);
    }
#ifdef TEST_MODULE_FAILS
    errno = EADDRNOTAVAIL;
    return -1;
#elif defined(TEST_MODULE_THROWS)
    throw std::runtime_error("out of luck");
#endif
    const std::string names[] = {topic(h, "about"), topic(h, "config-reload"), topic(h, "conf"), topic(h, "fail")};
    const flux_msg_handler_spec table[] = {
        {FLUX_MSGTYPE_REQUEST, names[0].c_str(), about, FLUX_ROLE_USER},
        {FLUX_MSGTYPE_REQUEST, names[1].c_str(), veto, 0},
        {FLUX_MSGTYPE_REQUEST, names[2].c_str(), show_conf, 0},
#if defined(TEST_MODULE_FAILS_LATER) || defined(TEST_MODULE_THROWS_LATER)
        {FLUX_MSGTYPE_REQUEST, names[3].c_str(), fail_now, 0},
#endif
        FLUX_MSGHANDLER_TABLE_END,
    };
    flux_msg_handler_t** handlers = nullptr;
    if (flux_msg_handler_addvec(h, table, &args, &handlers) < 0) {
        return -1;
    }
    const int rc = flux_reactor_run(flux_get_reactor(h), 0);
#ifdef TEST_MODULE_THROWS_LATER
    if (rc < 0) {
        throw std::runtime_error("out of luck while running");
    }
#endif
    const int saved = errno;
    flux_msg_handler_delvec(handlers);
    errno = saved;
    return rc;
}
#endif
