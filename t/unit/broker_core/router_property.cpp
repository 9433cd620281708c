// SPDX-License-Identifier: LGPL-3.0-only
// Guests' services and their clients in any order of requests, answers and forged answers.
#include <flux/core.h>
#include <array>
#include <catch2/catch.hpp>
#include <cstdint>
#include <map>
#include <memory>
#include <tuple>

#include "broker/core/router.hpp"
#include "t/unit/draws.hpp"

using namespace weir::broker;

namespace {

constexpr Cred owner{10, FLUX_ROLE_OWNER | FLUX_ROLE_LOCAL};

class Caller final : public Endpoint {
  public:
    explicit Caller(std::string uuid, Cred who) : Endpoint(std::move(uuid)) { cred = who; }
    bool deliver(const Packet&) override {
        got += 1;
        return true;
    }
    int got = 0;
};

enum class Act : std::uint8_t { ask, ask_stream, ask_deaf, answer, fail, leave };

struct Step {
    Act act = Act::ask;
    std::size_t caller = 0;
    std::size_t guest = 0;
    std::uint32_t matchtag = 0;
};

Step any_step() {
    Step step;
    step.act = static_cast<Act>(draw::in_range(0, 6));
    step.caller = draw::in_range<std::size_t>(0, 3);
    step.guest = draw::in_range<std::size_t>(0, 2);
    step.matchtag = draw::in_range<std::uint32_t>(1, 4);
    return step;
}

/// A router with three callers and two guests' services, and what is open by the rule.
struct World {
    World() {
        for (std::size_t i = 0; i < callers.size(); ++i) {
            arrive(i);
        }
        for (std::size_t i = 0; i < guests.size(); ++i) {
            const auto userid = static_cast<std::uint32_t>(20 + i);
            guests[i] = std::make_unique<Caller>("guest" + std::to_string(i), Cred{userid, FLUX_ROLE_USER});
            router.attach(*guests[i]);
            RC_ASSERT(router.services().add(std::to_string(i), guests[i]->uuid()).has_value());
        }
    }
    void arrive(std::size_t i) {
        callers[i] = std::make_unique<Caller>("caller" + std::to_string(i), owner);
        router.attach(*callers[i]);
    }
    void ask(const Step& step) {
        const bool is_stream = step.act == Act::ask_stream;
        const std::uint8_t flags = is_stream                   ? FLUX_MSGFLAG_STREAMING
                                   : step.act == Act::ask_deaf ? FLUX_MSGFLAG_NORESPONSE
                                                               : 0;
        router.receive(*callers[step.caller],
                       Packet::make({FLUX_MSGTYPE_REQUEST, flags, owner, FLUX_NODEID_ANY, step.matchtag},
                                    std::to_string(step.guest) + ".x", {}));
        if (step.act != Act::ask_deaf) {
            open[{step.caller, step.guest, step.matchtag}] = is_stream;
        }
    }
    /// Honest or forged.
    void answer(const Step& step) {
        const std::uint32_t errnum = step.act == Act::fail ? 5 : 0;
        Packet response = Packet::make({FLUX_MSGTYPE_RESPONSE, 0, guests[step.guest]->cred, errnum, step.matchtag},
                                       std::to_string(step.guest) + ".x", {});
        response.push_route(callers[step.caller]->uuid());
        const int before = callers[step.caller]->got;
        router.receive(*guests[step.guest], std::move(response));
        const auto asked = open.find({step.caller, step.guest, step.matchtag});
        RC_ASSERT(callers[step.caller]->got - before == (asked != open.end() ? 1 : 0));
        if (asked != open.end() && (!asked->second || errnum != 0)) {
            open.erase(asked);
        }
    }
    void leave(std::size_t i) {
        router.detach(*callers[i]);
        std::erase_if(open, [i](const auto& one) { return std::get<0>(one.first) == i; });
        arrive(i);
    }

    Router router{owner};
    std::array<std::unique_ptr<Caller>, 3> callers;
    std::array<std::unique_ptr<Caller>, 2> guests;
    std::map<std::tuple<std::size_t, std::size_t, std::uint32_t>, bool> open;  ///< (caller, guest, matchtag): a stream?
};

}  // namespace

// Mutant: broker/core/pending_requests.hpp: packet.aux2()} => 0}
// Mutant: broker/core/pending_requests.hpp: !request->second || response.aux1() != 0 => !request->second
// Mutant: broker/core/router.cpp: other->pending_.drop(endpoint.uuid()); =>
// Mutant: broker/core/router.cpp: from.is_owner() || from.pending_.take(response) => true
TEST_CASE("router: a guest's response arrives if it answers an open request, and only then") {
    draw::property("any steps", [] {
        World world;
        const int steps = draw::in_range(1, 60);
        for (int i = 0; i < steps; ++i) {
            const Step step = any_step();
            if (step.act == Act::leave) {
                world.leave(step.caller);
            } else if (step.act == Act::answer || step.act == Act::fail) {
                world.answer(step);
            } else {
                world.ask(step);
            }
        }
    });
}
