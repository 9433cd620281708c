// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the model's parameters and draws. Parameters: Lublin and Feitelson 2003, table of the one-class model and of
// the two classes. Requested times after Tsafrir, Etsion and Feitelson 2005: few round values carry most jobs.
#include "libsched/sim/lublin.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <queue>

#include "libsched/sim/prng.hpp"

namespace weir {
namespace {

struct ClassModel {
    double serial, power_of_two;                  // probabilities
    double log_low, log_middle, log_high, first;  // two-stage uniform over log2 of the size
    double a1, b1, a2, b2, pa, pb;                // hyper-gamma of ln(run time)
    double arrive_shape, arrive_scale, day_shape, day_scale, rate;
    std::int64_t queue;
};

constexpr ClassModel one_class{.244, .576,   .8,  4.5,     7.,    .86,    4.2,    .94,    312.,
                               .03,  -.0054, .78, 10.2303, .4871, 8.1737, 3.9631, 1.0225, 2};
constexpr ClassModel batch_class{.2927, .6686, 1.2,   5.,     7.,    .875,   6.57,   .823,   639.1,
                                 .0156, -.003, .6986, 6.0415, .8531, 6.1271, 5.2740, 1.0519, 2};
constexpr ClassModel interactive_class{.1541, .625,   1.,    3.,     5.5,   .705,   3.8351, .6605, 7.073,
                                       .6856, -.0118, .9156, 6.5510, .6621, 8.9186, 3.6680, .9797, 1};

constexpr std::size_t buckets = 48;  // half hours of a day
constexpr double bucket_seconds = 1800.;
constexpr double log_arrive_max = 13.;
constexpr double log_run_max = 12.;
constexpr double log_model_cores = 7.;  // of two

/// Regularised lower incomplete gamma function P(a, x): by its series below a + 1, by the continued fraction above.
double gamma_cdf(double a, double x) {
    if (x <= 0.) {
        return 0.;
    }
    const double scale = std::exp(-x + a * std::log(x) - std::lgamma(a));
    if (x < a + 1.) {
        double term = 1. / a;
        double sum = term;
        for (int n = 1; n < 1000 && term > sum * 1e-16; n++) {
            term *= x / (a + n);
            sum += term;
        }
        return sum * scale;
    }
    double b = x + 1. - a;
    double c = 1e300;
    double d = 1. / b;
    double h = d;
    for (int i = 1; i < 1000; i++) {
        const double an = -i * (i - a);
        b += 2.;
        d = 1. / (an * d + b);
        c = b + an / c;
        const double delta = d * c;
        h *= delta;
        if (std::abs(delta - 1.) < 1e-15) {
            break;
        }
    }
    return 1. - scale * h;
}

/// Arrivals of one class: points are paid by the weight of the half hour that passes.
class Arrivals {
  public:
    explicit Arrivals(const ClassModel& model) : model_(model) {
        double sum = 0.;
        for (std::size_t i = 11; i < 11 + buckets; i++) {
            const double at = static_cast<double>(i);
            weights_[i % buckets] = gamma_cdf(model.day_shape, (at + .5) / model.day_scale) -
                                    gamma_cdf(model.day_shape, (at - .5) / model.day_scale);
            sum += weights_[i % buckets];
        }
        for (double& weight : weights_) {
            weight *= static_cast<double>(buckets) / sum;
        }
    }
    /// Seconds from the start to the next arrival.
    double next(Prng& prng) {
        double gap = 0.;
        do {
            gap = prng.gamma(model_.arrive_shape * model_.rate, model_.arrive_scale);
        } while (gap > log_arrive_max);
        points_ += std::exp(gap) / bucket_seconds;
        while (points_ > weights_[bucket_ % buckets]) {
            points_ -= weights_[bucket_ % buckets];
            bucket_++;
        }
        return (static_cast<double>(bucket_) + points_ / weights_[bucket_ % buckets]) * bucket_seconds;
    }

  private:
    const ClassModel& model_;
    std::array<double, buckets> weights_{};  ///< mean 1
    std::size_t bucket_ = 0;                 ///< half hours since the start
    double points_ = 0.;                     ///< of the present half hour's weight, used up
};

std::int64_t draw_size(Prng& prng, const ClassModel& m, std::uint32_t cores) {
    const double u = prng.uniform();
    if (u <= m.serial) {
        return 1;
    }
    const double middle = std::max(m.log_middle, 0.);  // of a tiny machine
    const double low = std::min(m.log_low, middle);
    double x =
        prng.uniform() <= m.first ? prng.uniform(low, middle) : prng.uniform(middle, std::max(m.log_high, middle));
    if (u <= m.serial + m.power_of_two) {
        x = std::floor(x + .5);
    }
    return std::clamp<std::int64_t>(std::llround(std::exp2(x)), 1, cores);
}

std::int64_t draw_run(Prng& prng, const ClassModel& m, std::int64_t processors, std::int64_t run_max) {
    const double p = std::clamp(m.pa * static_cast<double>(processors) + m.pb, 0., 1.);
    while (true) {
        const double x = prng.uniform() <= p ? prng.gamma(m.a1, m.b1) : prng.gamma(m.a2, m.b2);
        if (x > log_run_max) {
            continue;
        }
        const auto run = std::max<std::int64_t>(1, static_cast<std::int64_t>(std::exp(x)));
        if (run_max == 0 || run <= run_max) {
            return run;
        }
    }
}

/// Requested time >= run: mostly the round values people write, those not far above and the longest most often, so that
/// twenty values carry 85 to 90 % of the jobs.
std::int64_t draw_request(Prng& prng, std::int64_t run) {
    constexpr std::array<std::int64_t, 16> popular{300,   600,   900,   1200,  1800,  3600,  7200,  10800,
                                                   14400, 18000, 21600, 28800, 36000, 43200, 64800, 172800};
    constexpr double unpopular = .27;
    constexpr double longest = .2;
    constexpr double step_up = .7;
    if (prng.uniform() < unpopular) {
        const double asked = static_cast<double>(run) * prng.uniform(1., 4.);
        return std::min(popular.back(), static_cast<std::int64_t>(std::ceil(asked / 60.)) * 60);
    }
    if (prng.uniform() < longest) {
        return popular.back();
    }
    const auto* choice = std::lower_bound(popular.begin(), popular.end(), run);
    while (choice + 1 < popular.end() && prng.uniform() < step_up) {
        ++choice;
    }
    return std::max(run, *choice);
}

/// User u in 1..users with a probability in proportion to 1/u.
class Users {
  public:
    explicit Users(std::uint32_t count) {
        double sum = 0.;
        for (std::uint32_t u = 1; u <= count; u++) {
            sums_.push_back(sum += 1. / u);
        }
    }
    /// O(log users).
    std::int64_t draw(Prng& prng) const {
        const auto at = std::upper_bound(sums_.begin(), sums_.end() - 1, prng.uniform() * sums_.back());
        return at - sums_.begin() + 1;
    }

  private:
    std::vector<double> sums_;  ///< of 1/1 to 1/u
};

void stretch_to_load(std::vector<SwfJob>& jobs, std::vector<double>& times, const LublinSettings& settings) {
    double work = 0.;
    for (const SwfJob& job : jobs) {
        work += static_cast<double>(job.run) * static_cast<double>(job.processors);
    }
    const double span = times.back() - times.front();
    if (settings.load > 0. && span > 0.) {
        const double factor = work / (span * settings.cores) / settings.load;
        for (double& t : times) {
            t = times.front() + (t - times.front()) * factor;
        }
    }
    for (std::size_t i = 0; i < jobs.size(); i++) {
        jobs[i].submit = static_cast<std::int64_t>(times[i] - times.front());
    }
}

}  // namespace

Result<std::vector<SwfJob>> generate_lublin(const LublinSettings& settings) {
    if (settings.cores < 2 || settings.users == 0 || settings.accounts == 0 || settings.run_max < 0 ||
        !(settings.load >= 0.) || !std::isfinite(settings.load)) {
        return Error{
            std::errc::invalid_argument,
            "a generated workload needs at least 2 cores, 1 user, 1 account, and a load and a longest run time "
            "that are not negative"};
    }
    std::vector<ClassModel> models;
    if (settings.two_classes) {
        models = {interactive_class, batch_class};
    } else {
        models = {one_class};
    }
    // The model is of 128 processors; on others the greatest size, and the middle with it, goes with the machine.
    const double larger = std::log2(static_cast<double>(settings.cores)) - log_model_cores;
    for (ClassModel& model : models) {
        model.log_high += larger;
        model.log_middle += larger;
    }
    // A stream of random numbers for each purpose: another number of users changes no run time.
    Prng arrive(settings.seed);
    Prng shape(settings.seed ^ 0x5348415045ULL);
    Prng people(settings.seed ^ 0x50454F504C45ULL);
    const Users users(settings.users);
    std::vector<Arrivals> arrivals;
    using Next = std::pair<double, std::size_t>;
    std::priority_queue<Next, std::vector<Next>, std::greater<>> next;
    for (std::size_t c = 0; c < models.size(); c++) {
        arrivals.emplace_back(models[c]);
        next.emplace(arrivals[c].next(arrive), c);
    }
    std::vector<SwfJob> jobs;
    std::vector<double> times;
    while (jobs.size() < settings.jobs) {
        const auto [time, c] = next.top();
        next.pop();
        next.emplace(arrivals[c].next(arrive), c);
        SwfJob job;
        job.job = static_cast<std::int64_t>(jobs.size()) + 1;
        job.processors = draw_size(shape, models[c], settings.cores);
        job.run = draw_run(shape, models[c], job.processors, settings.run_max);
        job.requested_processors = job.processors;
        job.requested_time = draw_request(people, job.run);
        job.status = 1;
        job.user = users.draw(people);
        job.group = 1 + (job.user - 1) % settings.accounts;
        job.queue = models[c].queue;
        jobs.push_back(job);
        times.push_back(time);
    }
    if (!jobs.empty()) {
        stretch_to_load(jobs, times, settings);
    }
    return jobs;
}

std::string write_swf(const std::vector<SwfJob>& jobs, std::int64_t processors, const std::string& computer) {
    std::string out = swf_header({"Computer: " + computer, "MaxJobs: " + std::to_string(jobs.size())}, processors);
    for (const SwfJob& job : jobs) {
        append_swf_line(out, job);
        out += '\n';
    }
    return out;
}

}  // namespace weir
