// SPDX-License-Identifier: LGPL-3.0-only
// Owns: a module that throws in every kind of callback through modules/common/flux_cpp.hpp, as our own modules would.
// Must not know a broker: it loads in any.
#include <stdexcept>

#include "modules/common/flux_cpp.hpp"

namespace {

using namespace weir;

class Guarded {
  public:
    explicit Guarded(flux_t* h)
        : h_(h),
          timer_(flux_timer_watcher_create(flux_get_reactor(h), 0., 0., flux::on_watcher<&Guarded::tick>, this)) {
        const int request = FLUX_MSGTYPE_REQUEST;
        handlers_ = flux::add_handlers(h, "test-module-guarded",
                                       {
                                           {request, "about", flux::on_request<&Guarded::about>, FLUX_ROLE_OWNER},
                                           {request, "error", flux::on_request<&Guarded::error>, FLUX_ROLE_OWNER},
                                           {request, "number", flux::on_message<&Guarded::number>, FLUX_ROLE_OWNER},
                                           {request, "later", flux::on_message<&Guarded::later>, FLUX_ROLE_OWNER},
                                       },
                                       this);
        flux_watcher_start(timer_.get());
    }
    flux_t* flux() const { return h_; }

  private:
    Json about(const flux_msg_t*) { return Json::object().set("alive", true).share(); }
    Json error(const flux_msg_t*) { throw std::runtime_error("out of luck in a request"); }
    void number(const flux_msg_t*) { throw 42; }
    void later(const flux_msg_t* msg) {
        waiting_ = flux::keep(msg);
        ping_ = flux::rpc(h_, "test-module-guarded.about", Json());
        flux::then<&Guarded::answered>(ping_.get(), this);
    }
    void answered(flux_future_t*) {
        flux::respond(h_, waiting_.get(), Json());
        throw std::runtime_error("out of luck in a continuation");
    }
    void tick() { throw std::runtime_error("out of luck in a timer"); }

    flux_t* h_;
    flux::Watcher timer_;
    flux::MessageRef waiting_;
    flux::Future ping_;
    flux::Handlers handlers_;
};

}  // namespace

extern "C" __attribute__((visibility("default"))) int mod_main(flux_t* h, int argc, char** argv);
int mod_main(flux_t* h, int argc, char** argv) {
    std::unique_ptr<Guarded> module;
    const auto start = [&] {
        if (argc > 0 && std::string(argv[0]) == "throw") {
            throw std::runtime_error("out of luck at the start");
        }
        module = std::make_unique<Guarded>(h);
    };
    return weir::flux::guard(h, "test-module-guarded", start) < 0 ? -1 : flux_reactor_run(flux_get_reactor(h), 0);
}
