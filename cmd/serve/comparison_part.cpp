// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see comparison_part.hpp.
#include "cmd/serve/comparison_part.hpp"

#include <fstream>

#include "cmd/common/reader.hpp"
#include "cmd/common/text.hpp"
#include "cmd/pictures/policies.hpp"
#include "libfairshare/base/json/json.hpp"

namespace weir::cmd {
namespace {

constexpr std::size_t comparison_bytes_max = 64U << 20;
/// Policies that are drawn: series repeat their colours and dashes beyond.
constexpr std::size_t policies_max = series_max;

Error no_comparison(const std::string& why) {
    return Error{std::errc::invalid_argument, why + ". Write one: weir sim compare POLICY... --trace LOG -o FILE"};
}

/// `begin_s`: of the log.
PolicyLines lines_of(const json_t* policy, double begin_s) {
    PolicyLines lines;
    lines.name = text_at(policy, "name");
    const auto looks = items_at(policy, "looks_s"), distances = items_at(policy, "distance");
    for (std::size_t i = 0; i < looks.size() && i < distances.size(); ++i) {
        const bool has_value = json_is_number(distances[i]);
        lines.distance.emplace_back(json_number_value(looks[i]) - begin_s,
                                    has_value ? std::optional(json_number_value(distances[i])) : std::nullopt);
    }
    for (const json_t* point : items_at(policy, "wait_ecdf")) {
        lines.waits.emplace_back(json_number_value(json_array_get(point, 0)),
                                 json_number_value(json_array_get(point, 1)));
    }
    const json_t* figures = json_object_get(policy, "figures");
    lines.wait_median_s = number_at(figures, "wait_median_s");
    lines.wait_p95_s = number_at(figures, "wait_p95_s");
    lines.wait_max_s = number_at(figures, "wait_max_s");
    return lines;
}

std::string figure_of(const std::string& heading, const std::string& caption, const std::string& svg) {
    return "<h3>" + escaped(heading) + "</h3><p>" + escaped(caption) + "</p>" + svg;
}

}  // namespace

Result<std::string> comparison_part_of(const std::string& json) {
    const auto parsed = Json::parse(json);
    if (!parsed || text_at(parsed->get(), "schema") != "weir.sim-compare/1") {
        return no_comparison("this is no comparison of weir sim compare");
    }
    const json_t* comparison = parsed->get();
    const double begin_s = number_at(comparison, "begin_s"), end_s = number_at(comparison, "end_s");
    std::vector<PolicyLines> policies;
    const auto all = items_at(comparison, "policies");
    for (std::size_t i = 0; i < all.size() && i < policies_max; ++i) {
        policies.push_back(lines_of(all[i], begin_s));
    }
    if (policies.empty() || !has_number(comparison, "end_s")) {
        return no_comparison("this comparison has no distances from entitlement");
    }
    return "<p>" +
           escaped(grouped(integer_at(comparison, "jobs")) + " jobs of " + text_at(comparison, "log") + " on " +
                   grouped(integer_at(comparison, "cores")) + " cores" +
                   (all.size() > policies_max
                        ? "; the first " + std::to_string(policies_max) + " policies of " + std::to_string(all.size())
                        : "") +
                   ".") +
           "</p>" +
           figure_of(distance_heading, distance_caption(number_at(comparison, "half_life_s")),
                     distance_picture(policies, end_s - begin_s)) +
           figure_of(waits_heading, waits_caption, waits_picture(policies));
}

Result<std::string> comparison_part(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    std::string text(comparison_bytes_max + 1, '\0');
    if (!file || (file.read(text.data(), static_cast<std::streamsize>(text.size())), file.bad())) {
        return Error{std::errc::no_such_file_or_directory, "cannot read " + path};
    }
    text.resize(static_cast<std::size_t>(file.gcount()));
    if (text.size() > comparison_bytes_max) {
        return Error{std::errc::file_too_large, path + " is larger than 64 MiB"};
    }
    auto part = comparison_part_of(text);
    return part ? part : Result<std::string>(Error{part.error().code, path + ": " + part.error().message});
}

}  // namespace weir::cmd
