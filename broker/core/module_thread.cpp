// SPDX-License-Identifier: LGPL-3.0-only
// Owns: what happens in a module's thread around mod_main. Must not know the module host.
// Source: RFC 5; flux-core's libflux/module.c for the farewell: a module that has ended tells the router FINALIZING,
// which then sends no more requests, and answers those that were under way.
#include "broker/core/module_thread.hpp"

#include <jansson.h>
#include <syslog.h>

#include <cerrno>
#include <cstring>
#include <exception>
#include <memory>
#include <utility>

#include "broker/api/handle.hpp"
#include "broker/core/counting_connector.hpp"
#include "broker/core/module_methods.hpp"
#include "libfairshare/base/json/json.hpp"

namespace weir::broker {
namespace {

constexpr double farewell_seconds_max = 10;
constexpr int state_finalizing = 2;

struct CloseHandle {
    void operator()(flux_t* h) const { flux_close(h); }
};
using Handle = std::unique_ptr<flux_t, CloseHandle>;

ModuleEnd failed(std::string what) {
    return {errno != 0 ? errno : ECONNRESET, std::move(what)};
}

/// Tells the router on the first turn of the reactor that the module runs.
class RunningReport {
  public:
    explicit RunningReport(flux_t* h)
        : h_(h), prepare_(flux_prepare_watcher_create(flux_get_reactor(h), report, this)) {
        flux_watcher_start(prepare_);
    }
    ~RunningReport() { flux_watcher_destroy(prepare_); }
    RunningReport(const RunningReport&) = delete;
    RunningReport& operator=(const RunningReport&) = delete;

  private:
    static void report(flux_reactor_t*, flux_watcher_t* w, int, void* arg) {
        flux_watcher_stop(w);
        flux_module_set_running(static_cast<RunningReport*>(arg)->h_);
    }
    flux_t* h_;
    flux_watcher_t* prepare_;
};

ModuleEnd call_mod_main(flux_t* h, const ModuleStart& start) {
    std::vector<std::string> words = start.args;
    std::vector<char*> argv;
    for (std::string& word : words) {
        argv.push_back(word.data());
    }
    argv.push_back(nullptr);
    ModuleEnd end;
    try {
        errno = 0;
        if (start.mod_main(h, static_cast<int>(words.size()), argv.data()) < 0) {
            end.errnum = errno != 0 ? errno : ECONNRESET;
            end.message = std::strerror(end.errnum);
        }
    } catch (const std::exception& thrown) {
        end = {EFAULT, std::string("an exception left mod_main: ") + thrown.what()};
    } catch (...) {
        end = {EFAULT, "an exception of unknown type left mod_main"};
    }
    return end;
}

/// Requests that arrived after mod_main had ended get an answer.
void farewell(flux_t* h) {
    flux_future_t* told = flux_rpc_pack(h, "module.status", FLUX_NODEID_ANY, 0, "{s:i}", "status", state_finalizing);
    if (told != nullptr) {
        flux_future_wait_for(told, farewell_seconds_max);
        flux_future_destroy(told);
    }
    const flux_match requests{FLUX_MSGTYPE_REQUEST, FLUX_MATCHTAG_NONE, nullptr};
    while (flux_msg_t* msg = flux_recv(h, requests, FLUX_O_NONBLOCK)) {
        if (!flux_msg_is_noresponse(msg)) {
            flux_respond_error(h, msg, ENOSYS, "the module has ended");
        }
        flux_msg_decref(msg);
    }
}

}  // namespace

ModuleEnd run_module(ModuleStart start) {
    auto counted = std::make_unique<CountingConnector>(std::move(start.connector));
    MessageCounts& counts = counted->counts();
    const Handle h(handle_create(std::move(counted), 0));
    if (!h) {
        return failed("cannot make a handle");
    }
    handle_set_identity(h.get(), start.name, start.uuid);
    for (const auto& [name, value] : start.attributes) {
        handle_prime_attr(h.get(), name, value);
    }
    if (handle_set_conf(h.get(), Json::parse_payload(start.config).get()) < 0) {
        return failed("cannot set the configuration");
    }
    ModuleEnd end;
    {
        const ModuleMethods methods(h.get(), start.name, start.uuid, counts);
        const RunningReport running(h.get());
        end = call_mod_main(h.get(), start);
    }
    if (end.errnum != 0) {
        flux_log(h.get(), LOG_CRIT, "module exiting abnormally");
    }
    farewell(h.get());
    return end;
}

}  // namespace weir::broker
