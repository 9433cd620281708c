// SPDX-License-Identifier: LGPL-3.0-only
// Owns: what must hold for every saved ledger, however absurd: it is refused, or it goes on as it was saved.
// Input: half-life, frame, since (8 bytes each), then payers of 41 bytes: path, two wide numbers, rate.
#include <array>
#include <cstdint>
#include <memory>
#include <string>

#include "libfairshare/base/check.hpp"
#include "libfairshare/tree/share_tree_builder.hpp"
#include "libfairshare/usage/usage_ledger.hpp"
#include "t/fuzz/bytes.hpp"

using namespace weir;
using fuzz::Bytes;

namespace {

const ShareTreePtr& tree() {
    static const ShareTreePtr made = [] {
        const std::array<const char*, 6> paths{"a", "a/@u", "a/@v", "b", "b/group:g", "b/@u"};
        std::vector<NodeSpec> specs;
        for (const char* path : paths) {
            NodeSpec spec;
            spec.name = path;
            specs.push_back(spec);
        }
        return std::make_shared<const ShareTree>(std::get<ShareTree>(build_share_tree(specs)));
    }();
    return made;
}

LedgerState state_of(Bytes bytes) {
    static constexpr std::array<const char*, 8> paths{"", "a/@u", "a/@v", "b/group:g", "b/@u", "a", "gone/@x", "b/@*"};
    LedgerState state;
    state.half_life = Duration{bytes.take<std::int64_t>()};
    state.frame = bytes.take<std::int64_t>();
    state.since = Instant{Duration{bytes.take<std::int64_t>()}};
    while (bytes.left() > 0) {
        PayerState payer;
        const auto which = bytes.take<std::uint8_t>();
        payer.path = paths[which % paths.size()];
        payer.path += which >= 128 ? std::to_string(which) : std::string{};
        payer.weighted = bytes.wide();
        payer.charged = bytes.wide();
        payer.rate = bytes.take<std::int64_t>();
        state.payers.push_back(payer);
    }
    return state;
}

void check_conservation(const UsageLedger& ledger, Instant now) {
    for (std::uint32_t i = 0; i < tree()->size(); ++i) {
        const NodeId id{i};
        if (tree()->children(id).empty()) {
            continue;
        }
        SignedCoreMicros sum = 0;
        std::int64_t rate = 0;
        for (NodeId child : tree()->children(id)) {
            sum += ledger.charged(child, now);
            rate += ledger.rate(child);
        }
        WEIR_CHECK(ledger.charged(id, now) == sum && ledger.rate(id) == rate);
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto restored = UsageLedger::restore(tree(), state_of({data, size}));
    if (!restored) {
        WEIR_CHECK(!restored.error().message.empty());
        return 0;
    }
    UsageLedger ledger = *restored;
    const LedgerState saved = ledger.save();
    const auto again = UsageLedger::restore(tree(), saved);
    WEIR_CHECK(again && again->save() == saved);
    const Instant now = instant_from_seconds(1.78e9);
    check_conservation(ledger, now);
    const UsageSnapshot snapshot = ledger.snapshot(now);
    for (CoreMicros usage : snapshot.usage) {
        WEIR_CHECK(usage <= usage_max);
    }
    ledger.charge(*tree()->find("a/@u"), 3, now, now + std::chrono::hours{1});
    check_conservation(ledger, now + std::chrono::hours{1});
    return 0;
}
