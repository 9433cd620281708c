// SPDX-License-Identifier: LGPL-3.0-only
#include "t/unit/draws.hpp"

#include <rapidcheck/catch.h>

#include <cstdint>

namespace draw {

void property(const std::string& description, const std::function<void()>& body) {
    rc::prop(description, body);
}

template <typename T>
T in_range(T low, T end) {
    return *rc::gen::inRange(low, end);
}
template int in_range(int, int);
template unsigned in_range(unsigned, unsigned);
template std::int64_t in_range(std::int64_t, std::int64_t);
template std::uint64_t in_range(std::uint64_t, std::uint64_t);

template <typename T>
T arbitrary() {
    return *rc::gen::arbitrary<T>();
}
template bool arbitrary();
template char arbitrary();
template int arbitrary();
template unsigned arbitrary();
template std::int64_t arbitrary();
template std::uint64_t arbitrary();
template double arbitrary();
template std::string arbitrary();

std::string bytes(std::size_t count) {
    return *rc::gen::container<std::string>(count, rc::gen::arbitrary<char>());
}

std::size_t index(std::size_t count) {
    if (count == 0) {
        throw rc::GenerationFailure("an element of nothing");
    }
    return *rc::Gen<std::size_t>([count](const rc::Random& random, int /*size*/) {
        return rc::shrinkable::just(static_cast<std::size_t>(rc::Random(random).next() % count));
    });
}

std::size_t length() {
    return *rc::gen::withSize(
        [](int size) { return rc::gen::inRange<std::size_t>(0, static_cast<std::size_t>(size) + 1); });
}

}  // namespace draw
