// SPDX-License-Identifier: LGPL-3.0-only
// Owns: properties and what they draw at random. These are rapidcheck's generators, compiled once (draws.cpp) for the
// types that the tests draw: each is a template, and one more type adds some hundred functions to a program. What a
// test composes of them it composes in plain code: a struct whose members are drawn, `several` for a list.
#pragma once
#include <rapidcheck.h>

#include <array>
#include <functional>
#include <string>
#include <vector>

namespace draw {

/// A section of a test case: the body holds in each of some hundred runs (RC_PARAMS). Where RC_ASSERT fails in one, the
/// draws are made smaller while it fails, and shown.
void property(const std::string& description, const std::function<void()>& body);

/// In [low, end); smaller is nearer to low. Another type than those of draws.cpp is an error of the linker.
template <typename T>
T in_range(T low, T end);

/// Any value of the type, as rapidcheck draws it: greater ones and longer ones in later runs.
template <typename T>
T arbitrary();

/// `count` characters, any of them.
std::string bytes(std::size_t count);

/// In [0, count), without a smaller one. The test fails where the count is 0: there is nothing to choose from.
std::size_t index(std::size_t count);

/// 0 to as many as rapidcheck's containers have: more in later runs, up to about 100.
std::size_t length();

template <typename T, typename... More>
T element(T first, More... more) {
    const std::array<T, 1 + sizeof...(more)> all{first, static_cast<T>(more)...};
    return all[index(all.size())];
}

template <typename Container>
typename Container::value_type element_of(const Container& all) {
    return *std::next(all.begin(), static_cast<std::ptrdiff_t>(index(all.size())));
}

/// length() of what `draw` draws.
template <typename Draw>
std::vector<std::invoke_result_t<Draw>> several(const Draw& draw, std::size_t count = length()) {
    std::vector<std::invoke_result_t<Draw>> all;
    while (all.size() < count) {
        all.push_back(draw());
    }
    return all;
}

}  // namespace draw
