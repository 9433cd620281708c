// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the search. A span in which the lead stays above the error of rounding has no passing. A span in which all
// numbers are monotonic is bisected, then searched integer by integer. Any other span is halved.
#include "libsched/order/course.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "libsched/priority/first_instant.hpp"

namespace weir {
namespace {

/// Integer steps without a change of order, after which two jobs count as tied for the span.
constexpr int steps_until_tied = 1000;
/// More than the rounding of sums up to 2^32.
constexpr double margin = 1e-5;

bool has_one_sign(const Slope& slope) {
    return slope.least >= 0 || slope.most <= 0;
}

class PassingSearch {
  public:
    PassingSearch(const Course& first, const Course& second, Instant now, Instant until, std::size_t limit)
        : first_(first), second_(second), limit_(limit), is_first_(is_first_at(now)) {
        found_.first_now = compared(first, now);
        found_.second_now = compared(second, now);
        found_.is_first_now = is_first_;
        over(now, until);
        found_.until = found_.list.size() >= limit   ? found_.list.back().at
                       : stretches_ >= stretches_max ? stopped_
                                                     : until;
    }
    Passings take() { return std::move(found_); }

  private:
    static double compared(const Course& course, Instant t) {
        const double number = course.number(t);
        return course.is_rounded ? std::round(number) : number;
    }
    static bool is_earlier(const Course& a, const Course& b) {
        return a.submit != b.submit ? a.submit < b.submit : a.id < b.id;
    }
    bool is_first_at(Instant t) const {
        const double a = compared(first_, t);
        const double b = compared(second_, t);
        return a != b ? a > b : is_earlier(first_, second_);
    }
    bool is_changed(Instant t) const { return is_first_at(t) != is_first_; }
    bool is_full() const { return found_.list.size() >= limit_ || stretches_ >= stretches_max; }
    const Course& ahead() const { return is_first_ ? first_ : second_; }
    const Course& behind() const { return is_first_ ? second_ : first_; }
    /// The lead of the job ahead, less what rounding may take from it.
    double spare(Instant t) const {
        const double hidden = !first_.is_rounded || is_earlier(ahead(), behind()) ? 0. : 1.;
        return ahead().number(t) - behind().number(t) - hidden - (first_.is_rounded ? margin : 0.);
    }
    void pass(Instant t) {
        is_first_ = !is_first_;
        found_.list.push_back({t, is_first_});
    }
    /// Nullopt: there is none in (from, to]; `to` may be the end of time.
    static std::optional<Instant> next_step(const Course& course, Instant from, Instant to) {
        const double now = compared(course, from);
        const auto stepped = [&](Instant t) { return compared(course, t) != now; };
        for (Duration reach = tick; reach < (to - from) / 2; reach *= 2) {
            if (stepped(from + reach)) {
                return first_in(from, from + reach, stepped);
            }
        }
        return stepped(to) ? std::optional(first_in(from, to, stepped)) : std::nullopt;
    }

    /// REQUIRES: each number and the lead are monotonic in (from, to]. Returns the instant up to which it searched.
    Instant through(Instant from, Instant to) {
        if (spare(from) >= 0) {
            if (spare(to) >= 0) {
                return to;
            }
            from = first_in(from, to, [&](Instant t) { return spare(t) < 0; });
            if (is_changed(from)) {
                pass(from);
            }
            return from;
        }
        for (int i = 0; i < steps_until_tied; i++) {
            const std::optional<Instant> mine = next_step(first_, from, to), theirs = next_step(second_, from, to);
            if (!mine && !theirs) {
                return to;
            }
            from = std::min(mine.value_or(to), theirs.value_or(to));
            if (is_changed(from)) {
                pass(from);
                return from;
            }
        }
        if (from < to && is_changed(to)) {
            from = first_in(from, to, [&](Instant t) { return is_changed(t); });
            pass(from);
            return from;
        }
        return to;
    }

    void over(Instant from, Instant to) {
        while (from < to && !is_full()) {
            stopped_ = from;
            stretches_++;
            const Slope mine = ahead().slope(from, to);
            const Slope theirs = behind().slope(from, to);
            const Slope lead{mine.least - theirs.most, mine.most - theirs.least};
            if (spare(from) + std::min(lead.least, 0.) * to_seconds(to - from) >= 0) {
                break;
            }
            if (to - from <= tick) {
                if (is_changed(to)) {
                    pass(to);
                }
                break;
            }
            if (has_one_sign(lead) && has_one_sign(mine) && has_one_sign(theirs)) {
                from = through(from, to);
            } else {
                const Instant middle = from + (to - from) / 2;
                over(from, middle);
                from = middle;
            }
        }
    }

    const Course& first_;
    const Course& second_;
    std::size_t limit_;
    bool is_first_;
    std::size_t stretches_ = 0;
    Instant stopped_{};  ///< the begin of the last span
    Passings found_;
};

}  // namespace

Course constant_course(double number, Instant submit, JobId id) {
    return {[number](Instant) { return number; }, [](Instant, Instant) { return Slope{}; }, submit, id, true};
}

Passings passings(const Course& first, const Course& second, Instant now, Instant until, std::size_t limit) {
    return PassingSearch(first, second, now, until, limit).take();
}

}  // namespace weir
