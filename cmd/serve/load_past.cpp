// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see load_past.hpp.
#include "cmd/serve/load_past.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <set>

#include "cmd/common/text.hpp"
#include "cmd/serve/event_text.hpp"
#include "libfairshare/base/json/text_writer.hpp"

namespace weir::cmd {
namespace {

/// Of a stretch of points: two extremes of two figures, a gap, the last point.
constexpr std::size_t stretch_sent_max = 6;

}  // namespace

Load load_of(const InstanceBox& box) {
    Load load{box.cores_busy.value_or(0), box.cores, box.waiting};
    for (const InstanceBox& child : box.children) {
        if (child.has_queues && child.cores_busy) {
            load.cores_busy -= child.cores - load_of(child).cores_busy;
        }
    }
    load.cores_busy = std::max<std::int64_t>(0, load.cores_busy);  // parent and child are not asked at one moment
    return load;
}

void LoadPast::take(double now, const std::optional<Load>& read) {
    const double passed = now - until_;
    if (!read) {
        until_ += passed > 0 && passed < gap_s ? passed : 0;
        return;
    }
    if (passed < 0 && passed > -gap_s) {
        now = until_;  // the instance's clock is known to some milliseconds
    }
    while (!points_.empty() && points_.back().at > now) {  // the clock was put back
        points_.pop_back();
        ++first_;
    }
    if (!points_.empty() && passed >= gap_s) {
        points_.push_back({until_, std::nullopt});
    }
    if (points_.empty() || points_.back().load != read) {
        points_.push_back({now, read});
    }
    until_ = now;
    forget_old();
}

/// The last point before the hour holds at its beginning.
void LoadPast::forget_old() {
    while (points_.size() > points_max || (points_.size() > 1 && points_[1].at <= until_ - kept_s)) {
        points_.pop_front();
        ++first_;
    }
}

std::vector<std::size_t> LoadPast::telling(std::size_t begin) const {
    const std::size_t count = points_.size() - begin;
    if (count <= sent_max) {
        std::vector<std::size_t> all(count);
        std::iota(all.begin(), all.end(), begin);
        return all;
    }
    constexpr std::size_t stretches = (sent_max - 1) / stretch_sent_max;
    std::set<std::size_t> kept{begin};
    for (std::size_t i = 0; i < stretches; ++i) {
        const std::size_t from = begin + count * i / stretches, to = begin + count * (i + 1) / stretches;
        std::array<std::optional<std::size_t>, 4> extremes;
        std::optional<std::size_t> gap;
        const auto figures = [this](std::size_t place) {
            const Load& load = *points_[place].load;
            return std::array<std::int64_t, 4>{load.cores_busy, -load.cores_busy, load.waiting, -load.waiting};
        };
        for (std::size_t place = from; place < to; ++place) {
            if (!points_[place].load) {
                gap = gap.value_or(place);
                continue;
            }
            for (std::size_t k = 0; k < extremes.size(); ++k) {
                if (!extremes[k] || figures(place)[k] > figures(*extremes[k])[k]) {
                    extremes[k] = place;
                }
            }
        }
        for (const auto& extreme : extremes) {
            kept.insert(extreme.value_or(to - 1));
        }
        kept.insert({gap.value_or(to - 1), to - 1});
    }
    return {kept.begin(), kept.end()};
}

std::string LoadPast::event(std::uint64_t begin) const {
    if (begin >= end()) {
        return "";
    }
    ArrayText points;
    for (const std::size_t place : telling(begin <= first_ ? 0 : begin - first_)) {
        const Point& point = points_[place];
        ArrayText told;
        told.splice(fixed(point.at, 3));
        if (point.load) {
            told.append(point.load->cores_busy).append(point.load->cores).append(point.load->waiting);
        } else {
            told.splice("null").splice("null").splice("null");
        }
        points.splice(told.text());
    }
    ObjectText load;
    load.splice("now", fixed(until_, 3)).set("whole", begin <= first_).splice("points", points.text());
    return event_text("load", load.text());
}

}  // namespace weir::cmd
