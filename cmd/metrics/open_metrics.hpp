// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the OpenMetrics text format 1.0: families, samples, labels, escaping. Pure. Must not know any metric.
#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace weir::cmd {

using Labels = std::vector<std::pair<std::string, std::string>>;

/// The text of an exposition. A family is announced once, then has its samples.
class OpenMetrics {
  public:
    /// \param name  with its unit at the end, without "_total"; \param unit  empty: none
    void gauge(const std::string& name, const std::string& unit, const std::string& help);
    void counter(const std::string& name, const std::string& unit, const std::string& help);
    void summary(const std::string& name, const std::string& unit, const std::string& help);
    void histogram(const std::string& name, const std::string& unit, const std::string& help);

    /// Of the family announced last. A value that is no number is left out.
    void sample(double value, const Labels& labels = {});
    /// Of a summary.
    void sum_and_count(double sum, std::int64_t count, const Labels& labels = {});
    /// Of a histogram: `counts` between `bounds`, one more for what is above the last one.
    void buckets(const std::vector<double>& bounds, const std::vector<std::int64_t>& counts, double sum);

    /// With "# EOF" at the end.
    std::string str() const { return text_ + "# EOF\n"; }

  private:
    void announce(const char* type, const std::string& name, const std::string& unit, const std::string& help);
    void line(const std::string& suffix, const Labels& labels, double value);

    std::string text_, name_, suffix_;
};

}  // namespace weir::cmd
