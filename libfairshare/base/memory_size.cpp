// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see memory_size.hpp.
#include "libfairshare/base/memory_size.hpp"

#include <array>
#include <charconv>

namespace weir {
namespace {

struct MemoryUnit {
    std::string_view name;
    std::string_view letter;
    std::uint64_t mib;
};
constexpr std::array<MemoryUnit, 3> memory_units{{{"TiB", "T", 1 << 20}, {"GiB", "G", 1 << 10}, {"MiB", "M", 1}}};

}  // namespace

Result<std::uint32_t> parse_mib(std::string_view text) {
    std::uint64_t number = 0;
    const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
    const std::string_view suffix(end, static_cast<std::size_t>(text.data() + text.size() - end));
    for (const MemoryUnit& unit : memory_units) {
        const bool is_unit = suffix == unit.name || suffix == unit.letter;
        if (is_unit && failed == std::errc{} && number > 0 && number <= 0xFFFFFFFFULL / unit.mib) {
            return static_cast<std::uint32_t>(number * unit.mib);
        }
    }
    return Error{std::errc::invalid_argument,
                 "\"" + std::string(text) + "\" is no amount of memory; write a whole number with MiB, GiB or TiB"};
}

std::string encode_mib(std::uint32_t mib) {
    for (const MemoryUnit& unit : memory_units) {
        if (mib > 0 && mib % unit.mib == 0) {
            return std::to_string(mib / unit.mib) + std::string(unit.name);
        }
    }
    return "0MiB";
}

}  // namespace weir
