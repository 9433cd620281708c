// SPDX-License-Identifier: LGPL-3.0-only
// Owns: set algebra on sorted ranges and the idset text form of RFC 22.
#include "libfairshare/base/id_set.hpp"

#include <algorithm>
#include <charconv>

namespace weir {
namespace {

std::uint64_t size_of(const IdSet::Range& range) {
    return std::uint64_t{range.last} - range.first + 1;
}

Error not_an_idset(std::string_view text, const std::string& why) {
    return Error{std::errc::invalid_argument,
                 "\"" + std::string(text.substr(0, 64)) + "\" is not a set of ids: " + why + "; write 0-3,7"};
}

/// Reads a number at the front of rest; false when there is none or it is too large.
bool eat_number(std::string_view& rest, std::uint32_t& value) {
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
    if (error != std::errc{} || value > IdSet::id_max) {
        return false;
    }
    rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
    return true;
}

}  // namespace

IdSet IdSet::range(std::uint32_t first, std::uint32_t last) {
    IdSet set;
    set.add(Range{first, last});
    return set;
}

Result<IdSet> IdSet::parse(std::string_view text) {
    std::string_view rest = text;
    if (!rest.empty() && rest.front() == '[') {
        if (rest.size() < 2 || rest.back() != ']') {
            return not_an_idset(text, "the bracket is not closed");
        }
        rest = rest.substr(1, rest.size() - 2);
    }
    std::vector<Range> ranges;
    while (!rest.empty()) {
        Range range{};
        if (!eat_number(rest, range.first)) {
            return not_an_idset(text, "a number is missing or too large");
        }
        range.last = range.first;
        if (!rest.empty() && rest.front() == '-') {
            rest.remove_prefix(1);
            if (!eat_number(rest, range.last)) {
                return not_an_idset(text, "the end of a range is missing or too large");
            }
        }
        if (range.last < range.first) {
            return not_an_idset(text, "a range runs backwards");
        }
        ranges.push_back(range);
        if (!rest.empty()) {
            if (rest.front() != ',' || rest.size() == 1) {
                return not_an_idset(text, "after a number comes a comma and another number");
            }
            rest.remove_prefix(1);
        }
    }
    std::sort(ranges.begin(), ranges.end(), [](const Range& a, const Range& b) { return a.first < b.first; });
    IdSet set;
    for (const Range& range : ranges) {
        if (!set.empty() && range.first <= set.last()) {
            return not_an_idset(text, "an id is given twice");
        }
        set.add(range);
    }
    return set;
}

std::string IdSet::encode() const {
    std::string out;
    for (const Range& range : ranges_) {
        out += out.empty() ? "" : ",";
        out += std::to_string(range.first);
        if (range.last != range.first) {
            out += "-" + std::to_string(range.last);
        }
    }
    return out;
}

bool IdSet::contains(std::uint32_t id) const {
    const auto after = std::upper_bound(ranges_.begin(), ranges_.end(), id,
                                        [](std::uint32_t value, const Range& range) { return value < range.first; });
    return after != ranges_.begin() && std::prev(after)->last >= id;
}

bool IdSet::includes(const IdSet& other) const {
    return std::all_of(other.ranges_.begin(), other.ranges_.end(), [this](const Range& range) {
        const auto after = std::upper_bound(ranges_.begin(), ranges_.end(), range.first,
                                            [](std::uint32_t value, const Range& r) { return value < r.first; });
        return after != ranges_.begin() && std::prev(after)->last >= range.last;
    });
}

bool IdSet::intersects(const IdSet& other) const {
    auto a = ranges_.begin();
    auto b = other.ranges_.begin();
    while (a != ranges_.end() && b != other.ranges_.end()) {
        if (a->last < b->first) {
            ++a;
        } else if (b->last < a->first) {
            ++b;
        } else {
            return true;
        }
    }
    return false;
}

void IdSet::add(Range range) {
    WEIR_CHECK(range.first <= range.last && range.last <= id_max);
    // The ranges that overlap or touch the new one are [from, to).
    const auto from =
        std::lower_bound(ranges_.begin(), ranges_.end(), range.first,
                         [](const Range& r, std::uint32_t first) { return std::uint64_t{r.last} + 1 < first; });
    auto to = from;
    while (to != ranges_.end() && to->first <= std::uint64_t{range.last} + 1) {
        range.first = std::min(range.first, to->first);
        range.last = std::max(range.last, to->last);
        count_ -= size_of(*to);
        ++to;
    }
    count_ += size_of(range);
    if (from == to) {
        ranges_.insert(from, range);
    } else {
        *from = range;
        ranges_.erase(from + 1, to);
    }
}

void IdSet::add(const IdSet& other) {
    if (other.ranges_.size() == 1) {
        add(other.ranges_.front());
        return;
    }
    IdSet both;
    auto mine = ranges_.begin();
    auto others = other.ranges_.begin();
    while (mine != ranges_.end() || others != other.ranges_.end()) {
        const bool is_mine = others == other.ranges_.end() || (mine != ranges_.end() && mine->first <= others->first);
        both.add(is_mine ? *mine++ : *others++);  // in order, so it touches the last one at most
    }
    *this = std::move(both);
}

void IdSet::remove(const IdSet& other) {
    if (!intersects(other)) {
        return;
    }
    std::vector<Range> left;
    std::uint64_t count = 0;
    const auto keep = [&](std::uint64_t first, std::uint64_t last_plus_one) {
        if (first < last_plus_one) {
            left.push_back({static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(last_plus_one - 1)});
            count += last_plus_one - first;
        }
    };
    auto cut = other.ranges_.begin();
    for (const Range& range : ranges_) {
        std::uint64_t from = range.first;
        while (cut != other.ranges_.end() && cut->last < from) {
            ++cut;
        }
        for (auto c = cut; c != other.ranges_.end() && c->first <= range.last; ++c) {
            keep(from, std::max<std::uint64_t>(from, c->first));
            from = std::uint64_t{c->last} + 1;
        }
        keep(from, std::max<std::uint64_t>(from, std::uint64_t{range.last} + 1));
    }
    ranges_ = std::move(left);
    count_ = count;
}

IdSet IdSet::take_lowest(std::uint64_t n) {
    WEIR_CHECK(n <= count_);
    IdSet taken;
    std::size_t whole = 0;
    while (n > 0) {
        Range& range = ranges_[whole];
        const std::uint64_t size = size_of(range);
        const std::uint64_t part = std::min(n, size);
        taken.ranges_.push_back({range.first, static_cast<std::uint32_t>(range.first + part - 1)});
        taken.count_ += part;
        count_ -= part;
        n -= part;
        if (part == size) {
            whole++;
        } else {
            range.first += static_cast<std::uint32_t>(part);
        }
    }
    ranges_.erase(ranges_.begin(), ranges_.begin() + static_cast<std::ptrdiff_t>(whole));
    return taken;
}

}  // namespace weir
