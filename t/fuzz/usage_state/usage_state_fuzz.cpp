// SPDX-License-Identifier: LGPL-3.0-only
// Owns: what must hold for every saved state of the other decays (windows, LSF's history, resources, usage as a site
// counts it), however absurd: it is refused with a sentence, or it goes on as it was saved. Input: which of them (1
// byte), then its settings and its leaves' numbers as they lie.
#include <array>
#include <cstdint>
#include <memory>
#include <string>

#include "libfairshare/base/check.hpp"
#include "libfairshare/tree/share_tree_builder.hpp"
#include "libfairshare/usage/counted_usage.hpp"
#include "libfairshare/usage/lsf_history.hpp"
#include "libfairshare/usage/resource_usage.hpp"
#include "libfairshare/usage/window.hpp"
#include "t/fuzz/bytes.hpp"

using namespace weir;
using fuzz::Bytes;

namespace {

constexpr std::array<const char*, 6> paths{"a", "a/@u", "a/@v", "b", "b/group:g", "gone/@x"};

const ShareTreePtr& tree() {
    static const ShareTreePtr made = [] {
        std::vector<NodeSpec> specs;
        for (std::size_t i = 0; i + 1 < paths.size(); ++i) {
            NodeSpec spec;
            spec.name = paths[i];
            specs.push_back(spec);
        }
        return std::make_shared<const ShareTree>(std::get<ShareTree>(build_share_tree(specs)));
    }();
    return made;
}

const Instant now = instant_from_seconds(1.78e9);

template <typename T>
bool is_refused(const Result<T>& restored) {
    WEIR_CHECK(restored || !restored.error().message.empty());
    return !restored;
}

void check_window(Bytes bytes) {
    WindowState state;
    state.policy.interval = Duration{bytes.take<std::int64_t>()};
    state.policy.depth = bytes.take<std::uint8_t>();
    state.policy.factor = bytes.take<double>();
    state.current = bytes.take<std::int64_t>();
    while (bytes.left() > 0) {
        WindowRow row{NodeId{bytes.take<std::uint8_t>()}, bytes.take<std::int64_t>(), {}};
        for (std::uint8_t i = bytes.take<std::uint8_t>(); i > 0 && bytes.left() > 0; --i) {
            row.windows.push_back(bytes.wide());
        }
        state.rows.push_back(row);
    }
    auto restored = WindowLedger::restore(tree()->size(), state);
    if (is_refused(restored)) {
        return;
    }
    const WindowState saved = restored->save();
    const auto again = WindowLedger::restore(tree()->size(), saved);
    WEIR_CHECK(again && again->save() == saved);
    std::vector<CoreMicros> usage;
    restored->snapshot(*tree(), now, usage);
    for (CoreMicros each : usage) {
        WEIR_CHECK(each <= usage_max);
    }
    restored->charge(*tree()->find("a/@u"), 3, now, now + std::chrono::hours{1});
    restored->snapshot(*tree(), now + std::chrono::hours{2}, usage);
}

void check_lsf(Bytes bytes) {
    LsfHistoryState state;
    state.settings.hist_hours = bytes.take<double>();
    state.settings.enable_hist_run_time = bytes.flag();
    state.settings.enable_gpu_hist_run_time = bytes.flag();
    state.settings.run_time_decay = bytes.flag();
    state.settings.counts_cpus = bytes.flag();
    state.settings.counts_jobs = bytes.flag();
    state.frame = bytes.take<std::int64_t>();
    while (bytes.left() > 0) {
        PayerNumbers payer{paths[bytes.take<std::uint8_t>() % paths.size()], {}};
        for (std::uint8_t i = bytes.take<std::uint8_t>() % 16; i > 0; --i) {
            payer.numbers.push_back(bytes.wide());
        }
        state.payers.push_back(payer);
    }
    auto restored = LsfHistory::restore(*tree(), state);
    if (is_refused(restored)) {
        return;
    }
    const LsfHistoryState saved = restored->save(*tree());
    const auto again = LsfHistory::restore(*tree(), saved);
    WEIR_CHECK(again && again->save(*tree()) == saved);
    const NodeId leaf = *tree()->find("a/@u");
    restored->start(leaf, {4, 1, std::chrono::hours{2}}, now);
    restored->end(leaf, {4, 1, std::chrono::hours{2}}, now, now + std::chrono::hours{1});
    std::vector<DynamicUse> use;
    restored->snapshot(*tree(), now + std::chrono::hours{2}, use);
    for (const DynamicUse& each : use) {
        WEIR_CHECK(each.cpu_time_h == each.cpu_time_h && each.run_time_h == each.run_time_h);  // no NaN
    }
}

void check_resources(Bytes bytes) {
    ResourceUsageState state;
    for (std::uint8_t i = bytes.take<std::uint8_t>() % 4; i > 0; --i) {
        DecayingResource resource{std::string(1, static_cast<char>('a' + bytes.take<std::uint8_t>() % 4)), {}, 1.0};
        LedgerState ledger;
        if (bytes.flag()) {
            resource.half_life = Duration{bytes.take<std::int64_t>()};
            ledger.half_life = bytes.flag() ? *resource.half_life : Duration{0};
        }
        resource.weight = bytes.take<double>();
        ledger.frame = bytes.take<std::int64_t>();
        for (std::uint8_t n = bytes.take<std::uint8_t>() % 4; n > 0; --n) {
            ledger.payers.push_back({paths[bytes.take<std::uint8_t>() % paths.size()], bytes.wide(), bytes.wide(),
                                     bytes.take<std::int64_t>()});
        }
        state.resources.push_back(resource);
        state.ledgers.push_back(ledger);
    }
    auto restored = ResourceUsage::restore(tree(), state);
    if (is_refused(restored)) {
        return;
    }
    const ResourceUsageState saved = restored->save();
    const auto again = ResourceUsage::restore(tree(), saved);
    WEIR_CHECK(again && again->save() == saved);
    std::vector<CoreMicros> bill;
    restored->snapshot(now, bill);
    for (CoreMicros each : bill) {
        WEIR_CHECK(each <= usage_max);
    }
}

std::vector<PayerNumbers> payers(Bytes& bytes) {
    std::vector<PayerNumbers> made;
    for (std::uint8_t i = bytes.take<std::uint8_t>() % 4; i > 0; --i) {
        PayerNumbers payer{paths[bytes.take<std::uint8_t>() % paths.size()], {}};
        for (std::uint8_t n = bytes.take<std::uint8_t>() % 16; n > 0; --n) {
            payer.numbers.push_back(bytes.wide());
        }
        made.push_back(payer);
    }
    return made;
}

void check_counted(Bytes bytes) {
    CountedUsageState state;
    for (std::uint8_t i = bytes.take<std::uint8_t>() % 20; i > 0; --i) {
        state.rules.push_back(bytes.flag() ? bytes.take<std::int64_t>() : bytes.take<std::int8_t>());
    }
    state.usage = payers(bytes);
    state.history = payers(bytes);
    auto restored = CountedUsage::restore(tree(), state);
    if (is_refused(restored)) {
        return;
    }
    const CountedUsageState saved = restored->save();
    const auto again = CountedUsage::restore(tree(), saved);
    WEIR_CHECK(again && again->save() == saved);
    UsageSnapshot usage;
    restored->snapshot(now, usage);
    const CountedJob job{{*tree()->find("a/@u"), 1500, now, std::chrono::hours{3}}, {2, 1, std::chrono::hours{3}}};
    restored->start(job);
    UsageRules other = restored->rules();
    other.decay = other.decay == DecayKind::window ? DecayKind::none : DecayKind::window;
    other.window = {};
    restored->set_rules(other, std::array{job}, now + std::chrono::hours{1});
    restored->end(job, now + std::chrono::hours{2});
    restored->snapshot(now + std::chrono::hours{2}, usage);
    for (CoreMicros each : usage.usage) {
        WEIR_CHECK(each <= usage_max);
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    Bytes bytes{data, size};
    switch (bytes.take<std::uint8_t>() % 4) {
        case 0:
            check_window(bytes);
            break;
        case 1:
            check_lsf(bytes);
            break;
        case 3:
            check_counted(bytes);
            break;
        default:
            check_resources(bytes);
            break;
    }
    return 0;
}
