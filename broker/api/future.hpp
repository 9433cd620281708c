// SPDX-License-Identifier: LGPL-3.0-only
// Owns: struct flux_future: the results of one RPC as they arrive. Must not know what the RPC means. RFC 6.
// Life: a future whose handle is closed keeps its results and gets no more (flux-core keeps the handle open instead).
#pragma once
#include <flux/core.h>

#include <deque>
#include <memory>
#include <string>

#include "broker/api/aux_table.hpp"
#include "broker/api/message.hpp"
#include "broker/api/reactor.hpp"

struct flux_future final : private weir::broker::Ready, private weir::broker::Timer {
  public:
    struct Outcome {
        int errnum = 0;
        std::string error_text;             ///< empty: strerror(errnum)
        weir::broker::MessagePtr response;  ///< what flux_future_get gives; null for a request without response
    };

    explicit flux_future(flux_t* handle);
    flux_future(const flux_future&) = delete;
    flux_future& operator=(const flux_future&) = delete;
    /// Frees the future, at the latest when the continuation on the stack returns.
    void end();

    /// Adds a result: as the current one if there is none, else after those not yet consumed by reset().
    void fulfill(Outcome outcome);
    /// A response to this future's RPC; an error response, and the only one of an RPC that does not stream, is the
    /// last.
    void take_response(weir::broker::MessagePtr msg);
    int wait_for(double timeout);
    int then(double timeout, flux_continuation_f cb, void* arg);
    void reset();
    bool is_ready() const { return has_outcome_; }
    const Outcome& outcome() const { return outcome_; }
    /// The handle is being closed.
    void forget_handle();

    flux_t* h;
    uint32_t matchtag = FLUX_MATCHTAG_NONE;
    uint32_t nodeid = FLUX_NODEID_ANY;
    bool is_streaming = false;
    weir::broker::AuxTable aux;

  private:
    ~flux_future() override;
    void run_ready() override;
    void fire() override;
    void start_timer();
    void update_listening();
    void let_go();

    flux_reactor* reactor_ = nullptr;  ///< of the continuation; set by then()
    Outcome outcome_;
    bool has_outcome_ = false;
    std::unique_ptr<std::deque<Outcome>> queue_;  ///< made when first needed: most futures have one result
    bool is_finished_ = false;                    ///< no more responses will come
    bool is_listening_ = false;
    flux_continuation_f callback_ = nullptr;
    void* argument_ = nullptr;
    double timeout_ = -1;
    bool is_running_ = false;
    bool is_ended_ = false;
};
