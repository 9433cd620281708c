// SPDX-License-Identifier: LGPL-3.0-only
#include <rapidcheck/catch.h>

#include <map>
#include <set>

#include "broker/services/kvs_store.hpp"

using weir::broker::KvsStore;

namespace {

rc::Gen<std::string> key() {
    return rc::gen::map(rc::gen::resize(3, rc::gen::nonEmpty(rc::gen::container<std::vector<std::string>>(
                                               rc::gen::element<std::string>("a", "a-", "b", "ab")))),
                        [](const std::vector<std::string>& parts) {
                            std::string joined;
                            for (const std::string& part : parts) {
                                joined += (joined.empty() ? "" : ".") + part;
                            }
                            return joined;
                        });
}

bool is_under(const std::string& at, const std::string& dir) {
    return at.compare(0, dir.size() + 1, dir + ".") == 0;
}

}  // namespace

// Kills: unlinking by bare prefix (a also takes a-); listing an entry twice or skipping its neighbour; a byte count
// that drifts.
TEST_CASE("kvs store agrees with a plain map") {
    rc::prop("put, append, unlink, lookup and list", [] {
        KvsStore store;
        std::map<std::string, std::string> model;
        const auto steps = *rc::gen::container<std::vector<std::tuple<int, std::string>>>(
            rc::gen::tuple(rc::gen::inRange(0, 3), key()));
        for (const auto& [what, at] : steps) {
            bool is_dir = false;
            for (const auto& [k, v] : model) {
                is_dir = is_dir || is_under(k, at);
            }
            if (what == 2) {
                store.unlink(at);
                std::erase_if(model, [&at = at](const auto& e) { return e.first == at || is_under(e.first, at); });
            } else {
                RC_ASSERT(store.put(at, "xy", what == 1).has_value() == !is_dir);
                if (!is_dir) {
                    model[at] = what == 1 ? model[at] + "xy" : "xy";
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
            RC_ASSERT(listed.count(name) >= 1u);
        }
    });
}
