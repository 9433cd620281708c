// SPDX-License-Identifier: LGPL-3.0-only
// Owns: struct flux_handle: a connector, the queue of requeued messages, matchtags and the objects of a handle. Must
// not know how messages are dispatched (dispatch.hpp) or what services mean. One thread.
#pragma once
#include <flux/core.h>

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "broker/api/aux_table.hpp"
#include "broker/api/connector.hpp"
#include "broker/api/reactor.hpp"

namespace weir::broker {
class Dispatcher;
}

struct flux_handle {
    flux_handle(std::unique_ptr<weir::broker::Connector> c, int open_flags);
    flux_handle(const flux_handle&) = delete;
    flux_handle& operator=(const flux_handle&) = delete;

    // ---- life ----
    /// Ends the handle now, or when the outermost Hold goes (a callback may close the handle it was called for).
    void close();
    bool is_closed() const { return is_closed_; }
    struct Hold {
        explicit Hold(flux_handle* held) : h(held) { ++h->holds_; }
        Hold(const Hold&) = delete;
        Hold& operator=(const Hold&) = delete;
        ~Hold() {
            if (--h->holds_ == 0 && h->is_closed_) {
                delete h;
            }
        }
        flux_handle* h;
    };

    // ---- messages ----
    int send(const weir::broker::Message& msg, bool nonblock);
    /// The oldest message: a requeued one, else from the connector. Null with errno.
    weir::broker::MessagePtr recv_any(bool nonblock);
    /// The oldest message that fits; others keep their order.
    weir::broker::MessagePtr recv(const flux_match& match, bool nonblock);
    /// The response with this matchtag, waiting for it until `deadline_ns` (monotonic; 0: for ever), others keep their
    /// order. Null with errno ETIMEDOUT or the connector's.
    weir::broker::MessagePtr recv_response(uint32_t matchtag, uint64_t deadline_ns);
    /// True if recv_any(nonblock) would not fail with EAGAIN, as far as is known without waiting.
    bool is_readable() { return !queue.empty() || connector->buffered(); }
    int pollfd();
    int pollevents();
    /// Makes pollfd() readable when there is more to do (after a bounded dispatch), quiet otherwise.
    void update_pollfd();
    /// Calls the comms_error callback; true if it wants to continue.
    bool survives_error(int errnum);

    // ---- matchtags: an index into `calls`; O(1) from response to future ----
    struct Call {
        flux_future* future = nullptr;  ///< null: free, or its future is gone and the last response is still to come
        bool is_used = false;
        bool is_finished = false;  ///< the last response arrived
    };
    uint32_t alloc_matchtag(flux_future* future);
    Call* call_of(uint32_t matchtag);
    /// The future is gone: the tag is free at once, or after the last response.
    void release_matchtag(uint32_t matchtag);
    /// Passes a response to its future. False if no future of this handle waits for it.
    bool deliver_response(weir::broker::MessagePtr msg);

    flux_reactor* get_reactor();
    weir::broker::Dispatcher* get_dispatcher();

    std::unique_ptr<weir::broker::Connector> connector;
    const int flags;
    weir::broker::AuxTable aux;
    std::deque<weir::broker::MessagePtr> queue;
    std::function<bool(const weir::broker::Message&)> divert;  ///< see handle_divert()
    flux_msgcounters_t counters{};
    flux_comms_error_f comms_error = nullptr;
    void* comms_error_arg = nullptr;
    flux_reactor* reactor = nullptr;
    std::map<std::string, std::string, std::less<>> attributes;       ///< immutable ones, or primed by the module host
    std::map<std::string, std::string, std::less<>> attributes_once;  ///< valid until the next call
    const flux_conf_t* conf = nullptr;
    std::string log_app_name;  ///< empty: the program's name

  private:
    ~flux_handle();
    void forget_futures();
    void close_pollfd();
    void drain_pollfd();
    void trace(const char* direction, const weir::broker::Message& msg) const;
    void count(const weir::broker::Message& msg, bool is_sent);

    std::shared_ptr<weir::broker::Dispatcher> dispatcher_;
    std::vector<Call> calls_;  ///< [0] is FLUX_MATCHTAG_NONE and never used
    std::deque<uint32_t> free_tags_;
    int pollfd_ = -1;
    int requeue_fd_ = -1;
    int holds_ = 0;
    bool is_closed_ = false;
    bool in_comms_error_ = false;
};
