// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the keys of [weir.lsf]. See policy_keys.hpp.
#include "libsched/config/key_table.hpp"
#include "libsched/config/policy_tables.hpp"

namespace weir::config {
namespace {

constexpr const char* factor_names_listed =
    "cpu-time-factor, run-time-factor, committed-run-time-factor, run-job-factor, adjustment-factor, "
    "gpu-run-time-factor";

double factor_max(const std::string& name) {
    return name == "committed-run-time-factor" ? 1 : weight_max;
}

/// [weir.lsf.queues.NAME]: factors that go before the common ones.
void read_queue_factors(Reader& reader, Value value, LsfPolicy& policy) {
    reader.table("lsf.queues", value, "must be a table of tables: [weir.lsf.queues.NAME]",
                 [&](const std::string& queue, Value inner) {
                     const std::string table = "lsf.queues." + queue;
                     fixed_table(reader, table, inner, factor_names_listed,
                                 [&](const std::string& path, const std::string& key, Value number) {
                                     LsfFactors probe;
                                     double* factor = lsf_factor_named(probe, key);
                                     if (factor != nullptr) {
                                         reader.number(path, number, 0, factor_max(key), *factor);
                                         policy.queue_factors[queue][key] = *factor;
                                     }
                                     return factor != nullptr;
                                 });
                 });
}

/// A weight alone, or { weight, limit, grace }.
void read_aps_part(Reader& reader, const std::string& path, Value value, ApsRule::Part& part) {
    if (!json_is_object(value)) {
        reader.number(path, value, -weight_max, weight_max, part.weight);
        return;
    }
    const std::array<NumberKey, 2> keys{{{"weight", &part.weight, -weight_max}, {"limit", &part.limit}}};
    fixed_table(reader, path, value, "weight, limit, grace",
                [&](const std::string& inner_path, const std::string& key, Value v) {
                    if (key == "grace") {
                        reader.duration(inner_path, v, Duration{}, part.grace);
                        return true;
                    }
                    return read_number(reader, keys, inner_path, key, v);
                });
}

void read_aps(Reader& reader, Value value, LsfPolicy& policy) {
    policy.aps.emplace();
    fixed_table(reader, "lsf.aps", value, listed(aps_part_names),
                [&](const std::string& path, const std::string& key, Value inner) {
                    const auto name = std::find(aps_part_names.begin(), aps_part_names.end(), key);
                    if (name == aps_part_names.end()) {
                        return false;
                    }
                    read_aps_part(reader, path, inner,
                                  policy.aps->parts[static_cast<std::size_t>(name - aps_part_names.begin())]);
                    return true;
                });
}

void read_hist_hours(Reader& reader, const std::string& path, Value value, LsfHistorySettings& history) {
    LsfHistorySettings given;
    given.hist_hours = json_is_number(value) ? json_number_value(value) : -1;
    if (given.validate()) {
        history.hist_hours = given.hist_hours;
    } else {
        reader.complain(path, value, "must be 0 (no decay) or from 0.001 to 876600 hours");
    }
}

}  // namespace

void read_lsf(Reader& reader, Value value, PolicySettings& s) {
    LsfFactors& f = s.lsf.factors;
    LsfHistorySettings& h = s.lsf.history;
    const std::array<FlagKey, 5> flags{{{"hist-run-time", &h.enable_hist_run_time},
                                        {"gpu-hist-run-time", &h.enable_gpu_hist_run_time},
                                        {"run-time-decay", &h.run_time_decay},
                                        {"counts-cpus", &h.counts_cpus},
                                        {"counts-jobs", &h.counts_jobs}}};
    fixed_table(reader, "lsf", value,
                std::string(factor_names_listed) +
                    ", hist-hours, hist-run-time, gpu-hist-run-time, run-time-decay, counts-cpus, counts-jobs, queues, "
                    "aps",
                [&](const std::string& path, const std::string& key, Value inner) {
                    s.given.insert(path);
                    if (double* factor = lsf_factor_named(f, key)) {
                        reader.number(path, inner, 0, factor_max(key), *factor);
                        return true;
                    }
                    if (key == "queues" || key == "aps") {
                        if (key == "aps") {
                            read_aps(reader, inner, s.lsf);
                        } else {
                            read_queue_factors(reader, inner, s.lsf);
                        }
                        return true;
                    }
                    if (key == "hist-hours") {
                        read_hist_hours(reader, path, inner, h);
                        return true;
                    }
                    return read_flag(reader, flags, path, key, inner);
                });
}

}  // namespace weir::config
