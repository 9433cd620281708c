// SPDX-License-Identifier: LGPL-3.0-only
// Owns: counting of the messages that pass a module's connector, for stats-get. Must not know modules.
#pragma once
#include <cstdint>
#include <memory>
#include <utility>

#include "broker/api/connector.hpp"

namespace weir::broker {

struct MessageCounts {
    struct OneWay {
        std::uint64_t request = 0, response = 0, event = 0, control = 0;
        void add(int type) {
            ++(type == FLUX_MSGTYPE_REQUEST    ? request
               : type == FLUX_MSGTYPE_RESPONSE ? response
               : type == FLUX_MSGTYPE_EVENT    ? event
                                               : control);
        }
    };
    OneWay tx, rx;
};

/// Passes everything on to another connector.
class CountingConnector final : public Connector {
  public:
    explicit CountingConnector(std::unique_ptr<Connector> inner) : inner_(std::move(inner)) {}
    int pollfd() override { return inner_->pollfd(); }
    int pollevents() override { return inner_->pollevents(); }
    int send(const Message& msg, bool nonblock) override {
        const int rc = inner_->send(msg, nonblock);
        if (rc == 0) {
            counts_.tx.add(msg.type);
        }
        return rc;
    }
    MessagePtr recv(bool nonblock) override {
        MessagePtr msg = inner_->recv(nonblock);
        if (msg) {
            counts_.rx.add(msg->type);
        }
        return msg;
    }
    int wait(int timeout_ms) override { return inner_->wait(timeout_ms); }
    bool buffered() override { return inner_->buffered(); }
    MessageCounts& counts() { return counts_; }

  private:
    std::unique_ptr<Connector> inner_;
    MessageCounts counts_;
};

}  // namespace weir::broker
