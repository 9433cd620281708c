// SPDX-License-Identifier: LGPL-3.0-only
#include "libfairshare/tree/path_index.hpp"
#include "t/unit/draws.hpp"

#include <catch2/catch.hpp>
#include <map>

using namespace weir;

// Kills: a look that stops at the first slot; a full table; the second place of a path in the place of the first.
TEST_CASE("path index: finds what a map finds") {
    draw::property("equal to std::map", [] {
        const auto any_path = [] {
            std::string path;
            for (std::size_t letters = draw::length(); letters > 0; letters--) {
                path += draw::element('a', 'b', '/');
            }
            return path;
        };
        const auto texts = draw::several(any_path);
        const std::vector<std::string_view> paths(texts.begin(), texts.end());
        PathIndex index(paths);
        index.reserve(paths.size());
        std::map<std::string_view, std::uint32_t> first;
        for (std::uint32_t place = 0; place < paths.size(); ++place) {
            RC_ASSERT(index.enter(place) == first.try_emplace(paths[place], place).first->second);
        }
        for (const std::string& path : draw::several(any_path)) {
            const auto found = first.find(path);
            RC_ASSERT(index.find(path) == (found == first.end() ? std::nullopt : std::optional(found->second)));
        }
        for (const auto& [path, place] : first) {
            RC_ASSERT(index.find(path) == place);
        }
    });
}

TEST_CASE("path index: empty, it finds nothing") {
    const std::vector<std::string_view> none;
    CHECK_FALSE(PathIndex(none).find("physics"));
}
