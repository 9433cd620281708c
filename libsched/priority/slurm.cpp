// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the translation from and to Slurm's words. See slurm.hpp.
#include "libsched/priority/slurm.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace weir::slurm {
namespace {

/// To the nearest whole number, halves to even, as printf's %.0f.
std::string sprio_rounded(double value) {
    std::array<char, 400> text{};
    const auto end = std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed, 0).ptr;
    const std::string out(text.data(), end);
    return out == "-0" ? "0" : out;
}

std::string upper(std::string_view text) {
    std::string out(text);
    std::transform(out.begin(), out.end(), out.begin(),
                   [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; });
    return out;
}

}  // namespace

PriorityFlags priority_flags(std::string_view text) {
    const std::string flags = upper(text);
    const auto has = [&](const char* name) { return flags.find(name) != std::string::npos; };
    PriorityFlags out;
    const bool all = has("NO_NORMAL_ALL");
    out.no_normal_assoc = all || has("NO_NORMAL_ASSOC");
    out.no_normal_part = all || has("NO_NORMAL_PART");
    out.no_normal_qos = all || has("NO_NORMAL_QOS");
    out.no_normal_tres = all || has("NO_NORMAL_TRES");
    out.small_relative_to_time = has("SMALL_RELATIVE_TO_TIME");
    out.incr_only = has("INCR_ONLY");
    out.accrue_always = has("ACCRUE_ALWAYS");
    out.calculate_running = has("CALCULATE_RUNNING");
    out.depth_oblivious = has("DEPTH_OBLIVIOUS");
    out.fair_tree = !out.depth_oblivious && !has("NO_FAIR_TREE");
    out.max_tres_gres = has("MAX_TRES_GRES");
    out.max_tres = !out.max_tres_gres && has("MAX_TRES");
    return out;
}

PrioritySettings priority_settings(const PriorityFlags& flags, bool favor_small, const PriorityWeights& w) {
    PrioritySettings out;
    // In the order of Factor; user is nice, which like site and resources is in priority units already.
    out.weights = {w.age, w.fairshare, w.qos, w.partition, w.job_size, 1., w.assoc, 1., 1.};
    const auto set_raw = [&](Factor factor, bool is_raw) { out.is_raw[index_of(factor)] = is_raw; };
    set_raw(Factor::qos, flags.no_normal_qos);
    set_raw(Factor::queue, flags.no_normal_part);
    set_raw(Factor::association, flags.no_normal_assoc);
    set_raw(Factor::resources, flags.no_normal_tres);
    set_raw(Factor::user, true);
    set_raw(Factor::site, true);
    out.size_rule = flags.small_relative_to_time ? SizeRule::over_time : SizeRule::nodes_and_cores;
    out.size_favors_large = !favor_small;
    out.rounding = Rounding::down;
    out.ceiling = 0xFFFFFFFFU;
    out.only_raises = flags.incr_only;
    return out;
}

std::vector<Column> sprio_columns(const Breakdown& parts, std::int64_t nice) {
    const auto term = [&](Factor factor) { return sprio_rounded(parts.terms[index_of(factor)].contribution); };
    std::string tres;
    for (const ResourcePart& part : parts.resources) {
        const std::string value = sprio_rounded(part.contribution);
        if (value != "0") {
            tres += (tres.empty() ? "" : ",") + std::string(part.name) + "=" + value;
        }
    }
    const bool is_given = parts.bypass == Bypass::given;
    return {{"PRIORITY", sprio_rounded(std::max(1., std::floor(parts.sum + 0x1p-30)))},
            {"SITE", term(Factor::site)},
            {"AGE", term(Factor::wait)},
            {"ASSOC", term(Factor::association)},
            {"FAIRSHARE", term(Factor::fairshare)},
            {"JOBSIZE", term(Factor::size)},
            {"PARTITION", term(Factor::queue)},
            {"QOS", term(Factor::qos)},
            {"NICE", is_given ? "0" : std::to_string(nice)},
            {"TRES", tres}};
}

}  // namespace weir::slurm
