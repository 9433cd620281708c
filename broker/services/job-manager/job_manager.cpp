// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the entry point of the builtin module job-manager, which also serves job-ingest, job-list and job-info.
// Must not know: anything but how to start and stop the engine. RFC 5.
#include <syslog.h>

#include <cerrno>

#include "broker/services/job-manager/engine/engine.hpp"

extern "C" int job_manager_mod_main(flux_t* h, int argc, char** argv);

namespace {

int run(flux_t* h) {
    weir::broker::jobs::Engine engine(h);
    if (const auto started = engine.start(); !started) {
        flux_log(h, LOG_ERR, "%s", started.error().message.c_str());
        errno = static_cast<int>(started.error().code);
        return -1;
    }
    const int rc = flux_reactor_run(flux_get_reactor(h), 0);
    const int saved = errno;
    engine.stop();
    errno = saved;
    return rc < 0 ? -1 : 0;
}

}  // namespace

int job_manager_mod_main(flux_t* h, int argc, char** argv) {
    if (argc > 0) {
        flux_log(h, LOG_ERR, "\"%s\": job-manager takes no arguments; it is configured by [job-manager]", argv[0]);
        errno = EINVAL;
        return -1;
    }
    try {
        return run(h);
    } catch (const std::exception& error) {
        flux_log(h, LOG_ERR, "%s", error.what());
        errno = ENOMEM;
        return -1;
    }
}
