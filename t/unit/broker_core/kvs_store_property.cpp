// SPDX-License-Identifier: LGPL-3.0-only
#include <catch2/catch.hpp>
#include <map>
#include <set>

#include "broker/services/kvs_store.hpp"
#include "t/unit/draws.hpp"

using weir::broker::KvsStore;

namespace {

/// Of one to three parts.
std::string key() {
    std::string joined;
    for (int parts = draw::in_range(1, 4); parts > 0; parts--) {
        joined += (joined.empty() ? "" : ".") + draw::element<std::string>("a", "a-", "b", "ab");
    }
    return joined;
}

bool is_under(const std::string& at, const std::string& dir) {
    return at.compare(0, dir.size() + 1, dir + ".") == 0;
}

}  // namespace

// Kills: unlinking by bare prefix (a also takes a-); listing an entry twice or skipping its neighbour; a byte count
// that drifts; a value that stays beside a directory of its name.
TEST_CASE("kvs store agrees with a plain map") {
    draw::property("put, append, unlink, lookup and list", [] {
        KvsStore store;
        std::map<std::string, std::string> model;
        for (std::size_t steps = draw::length(); steps > 0; steps--) {
            const int what = draw::in_range(0, 3);
            const std::string at = key();
            bool is_dir = false;
            for (const auto& [k, v] : model) {
                is_dir = is_dir || is_under(k, at);
            }
            if (what == 2) {
                store.unlink(at);
                std::erase_if(model, [&at](const auto& e) { return e.first == at || is_under(e.first, at); });
            } else {
                const bool append = what == 1;
                RC_ASSERT(store.put(at, "xy", append).has_value() == !(append && is_dir));
                if (!(append && is_dir)) {  // what is below the key, or above it, is no value any more
                    std::erase_if(model,
                                  [&at](const auto& e) { return is_under(e.first, at) || is_under(at, e.first); });
                    model[at] = append ? model[at] + "xy" : "xy";
                }
            }
        }
        std::size_t bytes = 0;
        std::set<std::string> top;
        for (const auto& [k, v] : model) {
            RC_ASSERT(*store.lookup(k) == v);
            bytes += v.size();
            top.insert(k.substr(0, k.find('.')));
        }
        RC_ASSERT(store.size() == model.size());
        RC_ASSERT(store.bytes() == bytes);
        std::multiset<std::string> listed;
        const auto entries = store.list("");
        RC_ASSERT(entries.has_value());
        for (const auto& entry : *entries) {
            listed.insert(entry.name);
        }
        for (const std::string& name : top) {
            RC_ASSERT(listed.count(name) == 1u);
        }
    });
}
