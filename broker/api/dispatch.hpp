// SPDX-License-Identifier: LGPL-3.0-only
// Owns: struct flux_msg_handler and the dispatcher of a handle, which selects the handler for a message. Must not know
// futures beyond "this response was delivered". RFC 6.
#pragma once
#include <flux/core.h>

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "broker/api/message.hpp"
#include "broker/api/reactor.hpp"

namespace weir::broker {
class Dispatcher;
}

struct flux_msg_handler {
    std::shared_ptr<weir::broker::Dispatcher> dispatcher;
    int typemask;
    bool has_topic;
    std::string topic;
    uint32_t rolemask;
    flux_msg_handler_f callback;
    void* argument;
};

namespace weir::broker {

/// Watches a handle in its reactor while there are listeners, and passes each message to its handler. Order: response
/// -> its future; request -> the newest handler of exactly its topic; then the handlers with a glob, a response without
/// future or an event, newest first: all of them for events, the first for the rest. Else ENOSYS.
class Dispatcher : public Source, public std::enable_shared_from_this<Dispatcher> {
  public:
    explicit Dispatcher(flux_t* h);
    ~Dispatcher() override;
    /// The handle is being destroyed: remaining handlers are never called again.
    void detach();
    void add(flux_msg_handler* handler);
    void remove(flux_msg_handler* handler);
    /// Changes the number of listeners (a handler, a future with a continuation): while it is > 0 the handle is
    /// watched.
    void listen(int change);
    /// Passes one message to its handler.
    void deliver(MessagePtr msg);

    bool is_ready() override;
    void dispatch() override;

  private:
    struct Poll;
    static bool is_exact(const flux_msg_handler& handler);
    bool to_exact(const Message& msg);
    bool to_globs(const Message& msg);
    void call(flux_msg_handler* handler, const Message& msg);
    void not_handled(const Message& msg);
    void watch();
    void unwatch();

    struct Hash {
        using is_transparent = void;
        size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
    };
    flux_t* h_;
    flux_reactor* reactor_;
    int listeners_ = 0;
    Poll* poll_ = nullptr;
    bool is_woken_ = false;
    bool is_broken_ = false;  ///< the connection ended and comms_error took it
    int depth_ = 0;           ///< calls of to_globs on the stack
    std::unordered_map<std::string, std::vector<flux_msg_handler*>, Hash, std::equal_to<>> exact_;  ///< newest: back()
    std::vector<flux_msg_handler*> globs_;  ///< newest: back(); removed ones are null while depth_ > 0
};

}  // namespace weir::broker
