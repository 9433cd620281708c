// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see dispatch.hpp, and the flux_msg_handler_* functions. RFC 6.
#include "broker/api/dispatch.hpp"

#include <uv.h>

#include <algorithm>
#include <cerrno>

#include "broker/api/handle_state.hpp"

namespace weir::broker {

namespace {
constexpr int messages_per_turn = 64;  // then timers and descriptors have their turn
}

/// The connector's descriptor in the loop; freed when libuv has closed it.
struct Dispatcher::Poll {
    uv_poll_t handle{};
    Dispatcher* dispatcher = nullptr;
};

Dispatcher::Dispatcher(flux_t* h) : h_(h), reactor_(h->get_reactor()) {
    reactor_->incref();
}

Dispatcher::~Dispatcher() {
    detach();
}

void Dispatcher::detach() {
    if (h_ != nullptr) {
        unwatch();
        h_ = nullptr;
        reactor_->decref();
    }
}

void Dispatcher::watch() {
    if (poll_ != nullptr || is_broken_) {
        return;
    }
    auto* poll = new Poll;
    poll->handle.data = poll;
    poll->dispatcher = this;
    if (uv_poll_init(reactor_->loop(), &poll->handle, h_->connector->pollfd()) < 0) {
        delete poll;
        return;
    }
    uv_poll_start(&poll->handle, UV_READABLE,
                  [](uv_poll_t* handle, int, int) { static_cast<Poll*>(handle->data)->dispatcher->is_woken_ = true; });
    poll_ = poll;
    reactor_->add_source(this);
}

void Dispatcher::unwatch() {
    if (poll_ != nullptr) {
        reactor_->remove_source(this);
        uv_poll_stop(&poll_->handle);
        uv_close(reinterpret_cast<uv_handle_t*>(&poll_->handle),
                 [](uv_handle_t* handle) { delete static_cast<Poll*>(handle->data); });
        poll_ = nullptr;
    }
}

void Dispatcher::listen(int change) {
    listeners_ += change;
    if (h_ != nullptr && listeners_ > 0) {
        watch();
    } else if (listeners_ == 0) {
        unwatch();
    }
}

bool Dispatcher::is_ready() {
    is_woken_ = is_woken_ || h_->is_readable();
    return is_woken_;
}

void Dispatcher::dispatch() {
    if (!is_woken_) {
        return;
    }
    is_woken_ = false;
    const auto self = shared_from_this();
    const flux_handle::Hold hold(h_);
    for (int i = 0; i < messages_per_turn && listeners_ > 0; ++i) {
        MessagePtr msg = h_->recv_any(true);
        if (!msg) {
            if (errno != EAGAIN) {
                if (h_->survives_error(errno)) {
                    is_broken_ = true;  // the owner knows; there is nothing left to watch
                    unwatch();
                } else {
                    reactor_->stop(true, errno);
                }
            }
            break;
        }
        deliver(std::move(msg));
        reactor_->run_ready();
        if (h_->is_closed() || reactor_->is_stopping()) {
            break;
        }
    }
    h_->update_pollfd();
}

bool Dispatcher::is_exact(const flux_msg_handler& handler) {
    return handler.typemask == FLUX_MSGTYPE_REQUEST && handler.has_topic && !is_glob(handler.topic.c_str());
}

void Dispatcher::add(flux_msg_handler* handler) {
    if (is_exact(*handler)) {
        exact_[handler->topic].push_back(handler);
    } else {
        globs_.push_back(handler);
    }
    listen(+1);
}

void Dispatcher::remove(flux_msg_handler* handler) {
    if (is_exact(*handler)) {
        const auto entry = exact_.find(handler->topic);
        auto& stack = entry->second;
        stack.erase(std::find(stack.begin(), stack.end(), handler));
        if (stack.empty()) {
            exact_.erase(entry);
        }
    } else if (depth_ > 0) {
        std::replace(globs_.begin(), globs_.end(), handler, static_cast<flux_msg_handler*>(nullptr));
    } else {
        globs_.erase(std::find(globs_.begin(), globs_.end(), handler));
    }
    listen(-1);
}

void Dispatcher::deliver(MessagePtr msg) {
    const bool is_done = msg->type == FLUX_MSGTYPE_RESPONSE  ? h_->deliver_response(msg)
                         : msg->type == FLUX_MSGTYPE_REQUEST ? to_exact(*msg)
                                                             : false;
    if (!is_done && !to_globs(*msg)) {
        not_handled(*msg);
    }
}

bool Dispatcher::to_exact(const Message& msg) {
    const auto entry = exact_.find(std::string_view(msg.topic));
    if (entry == exact_.end()) {
        return false;
    }
    call(entry->second.back(), msg);
    return true;
}

bool Dispatcher::to_globs(const Message& msg) {
    bool is_done = false;
    ++depth_;
    // Handlers added by a callback are after this range; removed ones are null.
    for (size_t i = globs_.size(); i-- > 0 && !(is_done && msg.type != FLUX_MSGTYPE_EVENT);) {
        flux_msg_handler* handler = globs_[i];
        if (handler != nullptr) {
            const char* topic = handler->has_topic ? handler->topic.c_str() : nullptr;
            if (matches(msg, flux_match{handler->typemask, FLUX_MATCHTAG_NONE, topic})) {
                is_done = true;
                call(handler, msg);
            }
        }
    }
    if (--depth_ == 0) {
        globs_.erase(std::remove(globs_.begin(), globs_.end(), nullptr), globs_.end());
    }
    return is_done;
}

void Dispatcher::call(flux_msg_handler* handler, const Message& msg) {
    if ((msg.rolemask & handler->rolemask) != 0) {
        handler->callback(h_, handler, &msg, handler->argument);
    } else if (msg.type == FLUX_MSGTYPE_REQUEST && !msg.has(FLUX_MSGFLAG_NORESPONSE)) {
        const bool owner_only = handler->rolemask == 0 || handler->rolemask == FLUX_ROLE_OWNER;
        (void)flux_respond_error(
            h_, &msg, EPERM,
            owner_only ? "Request requires owner credentials" : "Request rejected due to insufficient privilege");
    }
}

void Dispatcher::not_handled(const Message& msg) {
    if (msg.type == FLUX_MSGTYPE_REQUEST) {
        const std::string text = std::string("Unknown service method '") +
                                 (msg.has(FLUX_MSGFLAG_TOPIC) ? msg.topic_text() : "unknown") + "'";
        (void)flux_respond_error(h_, &msg, ENOSYS, text.c_str());
    }
}

}  // namespace weir::broker

extern "C" {

int flux_msg_handler_addvec_ex(flux_t* h, const char* service_name, const struct flux_msg_handler_spec tab[], void* arg,
                               flux_msg_handler_t** msgs[]) {
    if (h == nullptr || tab == nullptr || msgs == nullptr) {
        errno = EINVAL;
        return -1;
    }
    weir::broker::Dispatcher* dispatcher = h->get_dispatcher();
    if (dispatcher == nullptr) {
        return -1;
    }
    const auto is_end = [](const flux_msg_handler_spec& s) {
        return s.typemask == 0 && s.topic_glob == nullptr && s.cb == nullptr && s.rolemask == 0;
    };
    size_t count = 0;
    for (; !is_end(tab[count]); ++count) {
        if (tab[count].cb == nullptr) {
            errno = EINVAL;
            return -1;
        }
    }
    auto** handlers = new flux_msg_handler_t*[count + 1];
    for (size_t i = 0; i < count; ++i) {
        const char* glob = tab[i].topic_glob;
        std::string topic = glob != nullptr ? glob : "";
        if (service_name != nullptr) {
            topic = std::string(service_name) + "." + topic;
        }
        // Owners are always allowed (RFC 12).
        handlers[i] = new flux_msg_handler{dispatcher->shared_from_this(),
                                           tab[i].typemask,
                                           glob != nullptr || service_name != nullptr,
                                           std::move(topic),
                                           tab[i].rolemask | FLUX_ROLE_OWNER,
                                           tab[i].cb,
                                           arg};
        dispatcher->add(handlers[i]);
    }
    handlers[count] = nullptr;
    *msgs = handlers;
    return 0;
}

int flux_msg_handler_addvec(flux_t* h, const struct flux_msg_handler_spec tab[], void* arg,
                            flux_msg_handler_t** msgs[]) {
    return flux_msg_handler_addvec_ex(h, nullptr, tab, arg, msgs);
}

void flux_msg_handler_delvec(flux_msg_handler_t* msgs[]) {
    if (msgs == nullptr) {
        return;
    }
    const int saved = errno;
    for (size_t i = 0; msgs[i] != nullptr; ++i) {
        const auto dispatcher = msgs[i]->dispatcher;
        dispatcher->remove(msgs[i]);
        delete msgs[i];
    }
    delete[] msgs;
    errno = saved;
}

}  // extern "C"
