// SPDX-License-Identifier: LGPL-3.0-only
// Owns: opening a DSO, the life of one module's thread and channel. Must not know other modules.
#include "broker/core/module.hpp"

#include <dlfcn.h>
#include <pthread.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "broker/api/connector.hpp"
#include "broker/core/uuid.hpp"

namespace weir::broker {
namespace {

/// All signals are the main thread's: blocks them while a thread is made, which inherits the mask.
class SignalsBlocked {
  public:
    SignalsBlocked() {
        sigset_t all;
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &before_);
    }
    ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

  private:
    sigset_t before_{};
};

}  // namespace

Result<Dso> Dso::open(const std::string& path, const std::string& name) {
    Dso dso;
    dlerror();
    dso.handle_ = dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);  // no RTLD_DEEPBIND: ADR 0001
    if (dso.handle_ == nullptr) {
        return Error{std::errc::no_such_file_or_directory, dlerror()};
    }
    dso.mod_main_ = reinterpret_cast<int (*)(flux_t*, int, char**)>(dlsym(dso.handle_, "mod_main"));
    if (dso.mod_main_ == nullptr) {
        return Error{std::errc::invalid_argument, "module does not define mod_main()"};
    }
    const auto* declared = static_cast<const char* const*>(dlsym(dso.handle_, "mod_name"));
    if (declared != nullptr && *declared != nullptr && name != *declared) {
        return Error{std::errc::invalid_argument, "mod_name " + std::string(*declared) + " != name " + name};
    }
    return dso;
}

Dso::~Dso() {
    if (handle_ != nullptr) {
        dlclose(handle_);
    }
}

Module::Module(ChannelPump& pump, Router& router, std::string name, std::string path)
    : Endpoint(new_uuid(), std::move(name)),
      pump_(pump),
      router_(router),
      path_(std::move(path)),
      last_seen_(std::time(nullptr)),
      channel_(pump, uuid(), [this](std::string bytes) { receive(std::move(bytes)); }) {
    cred = router.owner();
    uv_loop_t* loop = pump.loop().get();
    const auto init = [loop](uv_async_t* async) {
        return uv_async_init(loop, async, [](uv_async_t* h) { Watch<uv_async_t>::fire(h); });
    };
    WEIR_CHECK(exited_.create(init) == 0);
}

Module::~Module() {
    if (thread_.joinable()) {
        thread_.join();
    }
}

void Module::start(ModuleStart start, Dso dso, OnExit on_exit) {
    dso_ = std::move(dso);
    start.name = name();
    start.uuid = uuid();
    auto channel = Channel::connect(pump_.context(), channel_.address());
    WEIR_CHECK(channel.has_value());  // before anything is sent either way
    start.connector = connector_from_channel(std::move(*channel));
    exited_.on([this, on_exit = std::move(on_exit)](int) {
        while (!channel_.drain(1024)) {
        }
        on_exit(*this);
    });
    const SignalsBlocked blocked;
    thread_ = std::thread([this, start = std::move(start), exited = exited_.get()]() mutable {
        pthread_setname_np(pthread_self(), start.name.substr(0, 15).c_str());
        end_ = run_module(std::move(start));
        uv_async_send(exited);
    });
}

bool Module::deliver(const Packet& packet) {
    const bool is_stopping = state == ModuleState::finalizing || state == ModuleState::exited;
    if (is_stopping && packet.type() != FLUX_MSGTYPE_RESPONSE) {  // responses to its last requests are still delivered
        return false;
    }
    return channel_.send(packet);
}

void Module::receive(std::string bytes) {
    last_seen_ = std::time(nullptr);
    if (auto packet = Packet::parse(std::move(bytes))) {
        packet->set_cred(stamped(packet->cred(), cred));
        router_.receive(*this, std::move(*packet));
    }
}

ModuleEnd Module::join() {
    thread_.join();
    dso_ = Dso();
    return std::move(end_);
}

}  // namespace weir::broker
