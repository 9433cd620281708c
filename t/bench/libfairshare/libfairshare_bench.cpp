// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the cost of the fair-share library at 1,000,000 associations, six deep: time, operation counts, memory.
#include <benchmark/benchmark.h>

#include <cstdio>
#include <cstdlib>
#include <memory>

#include "libfairshare/algorithms/algorithm.hpp"
#include "libfairshare/algorithms/one_factor.hpp"
#include "libfairshare/toml/share_tree_toml.hpp"
#include "libfairshare/tree/share_tree_builder.hpp"
#include "libfairshare/usage/usage_ledger.hpp"

namespace {

using namespace weir;

constexpr std::size_t association_count = 1000000;

/// Ten children a node, six levels; levels = 1 puts all users below the root.
void add_lines(std::vector<NodeSpec>& specs, const std::string& path, unsigned level, unsigned levels) {
    if (level == levels) {
        const std::size_t users = levels == 1 ? association_count : 10;
        for (std::size_t i = 0; i < users; ++i) {
            const std::string name = "@u" + std::to_string(levels == 1 ? i : specs.size());
            specs.push_back(
                {path.empty() ? name : path + "/" + name, std::nullopt, static_cast<std::int64_t>(1 + i % 7), {}});
        }
        return;
    }
    for (int i = 0; i < 10; ++i) {
        const std::string child = (path.empty() ? "" : path + "/") + "a" + std::to_string(level) + std::to_string(i);
        specs.push_back({child, std::nullopt, 1 + i, {}});
        add_lines(specs, child, level + 1, levels);
    }
}

const std::vector<NodeSpec>& specs_of(unsigned levels) {
    static const std::vector<NodeSpec> deep = [] {
        std::vector<NodeSpec> specs;
        add_lines(specs, "", 1, 6);
        return specs;
    }();
    static const std::vector<NodeSpec> flat = [] {
        std::vector<NodeSpec> specs;
        add_lines(specs, "", 1, 1);
        return specs;
    }();
    return levels == 1 ? flat : deep;
}

ShareTreePtr tree_of(unsigned levels) {
    auto built = build_share_tree(specs_of(levels));
    if (auto* diagnostics = std::get_if<Diagnostics>(&built)) {
        std::fprintf(stderr, "%s\n", to_string(*diagnostics).c_str());
        std::abort();
    }
    return std::make_shared<const ShareTree>(std::get<ShareTree>(std::move(built)));
}

ShareTreePtr shared_tree(unsigned levels) {
    static const ShareTreePtr deep = tree_of(6);
    static const ShareTreePtr flat = tree_of(1);
    return levels == 1 ? flat : deep;
}

std::uint64_t next_random(std::uint64_t& state) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    return state >> 33;
}

NodeId random_leaf(const ShareTree& tree, std::uint64_t& state) {
    return NodeId{static_cast<std::uint32_t>(tree.size() - 1 - next_random(state) % association_count)};
}

Instant moment(std::int64_t seconds) {
    return Instant{std::chrono::seconds{1780000000 + seconds}};
}

UsageLedger used_ledger(unsigned levels) {
    UsageLedger ledger{shared_tree(levels), std::chrono::hours{168}};
    std::uint64_t state = 1;
    for (std::size_t i = 0; i < 2 * association_count; ++i) {
        const auto at = static_cast<std::int64_t>(next_random(state) % 600000);
        ledger.charge(random_leaf(ledger.tree(), state), 1 + static_cast<std::int64_t>(next_random(state) % 64),
                      moment(at), moment(at + 3600));
    }
    return ledger;
}

void build_tree(benchmark::State& state) {
    for (auto _ : state) {
        benchmark::DoNotOptimize(build_share_tree(specs_of(6)));
    }
    state.counters["lines"] = static_cast<double>(specs_of(6).size());
}
BENCHMARK(build_tree)->Unit(benchmark::kMillisecond);

void parse_text(benchmark::State& state) {
    const std::string text = write_share_tree(*shared_tree(6));
    for (auto _ : state) {
        benchmark::DoNotOptimize(parse_share_tree(text));
    }
    state.counters["lines"] = static_cast<double>(specs_of(6).size());
}
BENCHMARK(parse_text)->Unit(benchmark::kMillisecond)->Iterations(1);

void ledger_event(benchmark::State& state) {
    UsageLedger ledger{shared_tree(6), std::chrono::hours{168}};
    std::uint64_t random = 1;
    std::vector<NodeId> payers(4096);
    for (NodeId& payer : payers) {
        payer = random_leaf(ledger.tree(), random);
    }
    std::int64_t events = 0;
    for (auto _ : state) {
        ledger.start(payers[static_cast<std::size_t>(events) % payers.size()], 16, moment(events / 1000));
        ++events;
    }
    state.SetItemsProcessed(events);
    state.counters["touches_per_event"] = static_cast<double>(ledger.touches()) / static_cast<double>(events);
}
BENCHMARK(ledger_event);

void ledger_event_any_of_a_million(benchmark::State& state) {
    UsageLedger ledger{shared_tree(6), std::chrono::hours{168}};
    std::uint64_t random = 1;
    std::int64_t events = 0;
    for (auto _ : state) {
        ledger.start(random_leaf(ledger.tree(), random), 16, moment(events / 1000));
        ++events;
    }
    state.SetItemsProcessed(events);
    state.counters["touches_per_event"] = static_cast<double>(ledger.touches()) / static_cast<double>(events);
}
BENCHMARK(ledger_event_any_of_a_million);

void ledger_read(benchmark::State& state) {
    const UsageLedger ledger = used_ledger(6);
    std::uint64_t random = 1;
    for (auto _ : state) {
        benchmark::DoNotOptimize(ledger.usage(random_leaf(ledger.tree(), random), moment(700000)));
    }
}
BENCHMARK(ledger_read);

/// Snapshot and factors of everything: what a full pass costs. Arguments: row of algorithms(), levels, usage or none.
void recompute(benchmark::State& state) {
    const auto& entry = algorithms()[static_cast<std::size_t>(state.range(0))];
    const auto levels = static_cast<unsigned>(state.range(1));
    const UsageLedger ledger =
        state.range(2) != 0 ? used_ledger(levels) : UsageLedger{shared_tree(levels), std::chrono::hours{168}};
    std::vector<std::uint64_t> demand(ledger.tree().size());  // half of the users are idle
    for (std::size_t i = 0; i < demand.size(); ++i) {
        demand[i] = i % 2 * (i % 7);
    }
    UsageSnapshot snapshot;
    Standings standings;
    for (auto _ : state) {
        ledger.snapshot(moment(700000), snapshot);
        evaluate(entry.algorithm, ledger.tree(),
                 Measures{.usage = snapshot.usage, .demand = demand, .capacity = association_count}, standings);
        benchmark::ClobberMemory();
    }
    const std::size_t bytes =
        ledger.tree().memory_bytes() + ledger.memory_bytes() + snapshot.usage.capacity() * sizeof(CoreMicros) +
        standings.factor.capacity() * sizeof(double) + standings.rank.capacity() * sizeof(std::uint32_t);
    state.SetLabel(std::string{entry.name} + (levels == 1 ? ", flat" : ", six deep") +
                   (state.range(2) != 0 ? "" : ", all tied"));
    state.counters["bytes_per_association"] = static_cast<double>(bytes) / static_cast<double>(association_count);
}
BENCHMARK(recompute)
    ->Apply([](auto* runs) {
        for (std::size_t i = 0; i < algorithms().size(); ++i) {
            runs->Args({static_cast<std::int64_t>(i), 6, 1});
        }
        runs->Args({0, 6, 0})->Args({0, 1, 1});
    }) -> Unit(benchmark::kMillisecond);

/// A charge along its path, then the factor of who was charged. Argument: row of algorithms().
void factor_after_charge(benchmark::State& state) {
    const auto& entry = algorithms()[static_cast<std::size_t>(state.range(0))];
    const UsageLedger ledger = used_ledger(6);
    const ShareTree& tree = ledger.tree();
    UsageSnapshot snapshot = ledger.snapshot(moment(700000));
    std::vector<DynamicUse> dynamic(tree.size());
    const Measures measures{.usage = snapshot.usage, .dynamic = dynamic};
    OneFactor one{entry.algorithm, tree, measures};
    std::uint64_t random = 1;
    for (auto _ : state) {
        const NodeId leaf = random_leaf(tree, random);
        add_usage(tree, leaf, 1000000, snapshot.usage);
        dynamic[leaf.value].job_slots += 1;
        one.changed(measures, leaf);
        benchmark::DoNotOptimize(one.factor(measures, leaf));
    }
    state.SetLabel(std::string{entry.name});
    state.counters["siblings_on_path"] = 60;
}
BENCHMARK(factor_after_charge)
    ->DenseRange(0, static_cast<std::int64_t>(algorithms().size()) - 1)
    ->Unit(benchmark::kMicrosecond);

void snapshot_only(benchmark::State& state) {
    const UsageLedger ledger = used_ledger(6);
    UsageSnapshot snapshot;
    for (auto _ : state) {
        ledger.snapshot(moment(700000), snapshot);
        benchmark::ClobberMemory();
    }
}
BENCHMARK(snapshot_only)->Unit(benchmark::kMillisecond);

void rebind_equal_tree(benchmark::State& state) {
    UsageLedger ledger = used_ledger(6);
    for (auto _ : state) {
        benchmark::DoNotOptimize(ledger.rebind(shared_tree(6), moment(700000)));
    }
}
BENCHMARK(rebind_equal_tree)->Unit(benchmark::kMillisecond);

}  // namespace
