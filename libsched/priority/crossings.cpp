// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the search. Between two breakpoints each job's sum is constant, or rises at the rate that all jobs share. So
// the difference of two sums is monotone there, and bisection finds the one change; or it is constant, and the order
// can change only at the next step of one of the two numbers.
#include "libsched/priority/crossings.hpp"

#include <algorithm>

#include "libfairshare/base/check.hpp"
#include "libsched/priority/first_instant.hpp"

namespace weir {
namespace {

/// Two ageing jobs: if the next steps of both change nothing, none does until one stops ageing.
constexpr int steps_tried = 3;

class Pair {
  public:
    Pair(const PriorityEngine& engine, PriorityEngine::Slot a, PriorityEngine::Slot b, std::span<const double> factors)
        : engine_(engine), a_(a), b_(b), in_a_(engine.inputs(a)), in_b_(engine.inputs(b)), factors_(factors) {}

    std::uint32_t priority(PriorityEngine::Slot slot, Instant t) const { return engine_.priority(slot, t, factors_); }
    /// Whether a is ahead of b.
    bool is_a_ahead(Instant t) const {
        return QueueKey{priority(a_, t), in_a_.submit, in_a_.id} < QueueKey{priority(b_, t), in_b_.submit, in_b_.id};
    }
    PriorityEngine::Slot ahead(Instant t) const { return is_a_ahead(t) ? a_ : b_; }

    /// The instants after `now`, in order, at which one of the sums may begin or stop to rise: eligibility, the maximum
    /// wait, and where a clamp of the number, or a floor by an earlier pass, ends or begins. Before the first change of
    /// a number comes an instant of its own: until then that job does not move.
    std::vector<Instant> breakpoints(Instant now) const {
        const Duration wait_max = engine_.settings().wait_max;
        std::vector<Instant> points;
        for (const Instant eligible : {in_a_.eligible, in_b_.eligible}) {
            if (eligible < never - wait_max) {
                points.insert(points.end(), {eligible, eligible + wait_max});
            }
        }
        points.erase(std::remove_if(points.begin(), points.end(), [&](Instant t) { return t <= now; }), points.end());
        if (points.empty()) {
            return points;
        }
        const Instant last = *std::max_element(points.begin(), points.end());
        for (const PriorityEngine::Slot slot : {a_, b_}) {
            const std::uint32_t first = priority(slot, now);
            const std::uint32_t final = priority(slot, last);
            if (first != final) {
                const Instant begin = first_in(now, last, [&](Instant t) { return priority(slot, t) != first; });
                if (begin - tick > now) {
                    points.push_back(begin - tick);
                }
                points.push_back(begin);
                points.push_back(first_in(now, last, [&](Instant t) { return priority(slot, t) == final; }));
            }
        }
        std::sort(points.begin(), points.end());
        return points;
    }

    /// The first instant in (from, to] with another order than at `from`; `to` + 1 when there is none. No breakpoint
    /// lies between.
    Instant next(Instant from, Instant to) const {
        const bool is_now = is_a_ahead(from);
        const auto changed = [&](Instant t) { return is_a_ahead(t) != is_now; };
        const bool moves_a = priority(a_, from) != priority(a_, to);
        const bool moves_b = priority(b_, from) != priority(b_, to);
        if (!(moves_a && moves_b)) {
            return changed(to) ? first_in(from, to, changed) : to + tick;
        }
        for (int i = 0; i < steps_tried && from < to; i++) {
            from = std::min(next_step(a_, from, to), next_step(b_, from, to));
            if (from <= to && changed(from)) {
                return from;
            }
        }
        return changed(to) ? to : to + tick;
    }

  private:
    Instant next_step(PriorityEngine::Slot slot, Instant from, Instant to) const {
        const std::uint32_t first = priority(slot, from);
        const auto stepped = [&](Instant t) { return priority(slot, t) != first; };
        return stepped(to) ? first_in(from, to, stepped) : to + tick;
    }

    const PriorityEngine& engine_;
    PriorityEngine::Slot a_, b_;
    JobInputs in_a_, in_b_;
    std::span<const double> factors_;
};

}  // namespace

std::vector<Crossing> crossings(const EngineAt& at, PriorityEngine::Slot a, PriorityEngine::Slot b, std::size_t limit) {
    WEIR_CHECK(at.engine.is_live(a) && at.engine.is_live(b) && !(a == b));
    const Pair pair(at.engine, a, b, at.factors);
    Instant now = at.now;
    std::vector<Crossing> out;
    for (const Instant to : pair.breakpoints(now)) {
        while (now < to && out.size() < limit) {
            now = pair.next(now, to);
            if (now > to) {
                now = to;
                break;
            }
            out.push_back(Crossing{now, pair.ahead(now)});
        }
    }
    return out;
}

}  // namespace weir
