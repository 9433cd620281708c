// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the keys of [weir.lsf]. See policy_keys.hpp.
#include "libsched/config/key_table.hpp"
#include "libsched/config/policy_tables.hpp"

namespace weir::config {

void read_lsf(Reader& reader, Value value, PolicySettings& s) {
    LsfFactors& f = s.lsf.factors;
    LsfHistorySettings& h = s.lsf.history;
    const std::array<NumberKey, 7> numbers{{{"cpu-time-factor", &f.cpu_time},
                                            {"run-time-factor", &f.run_time},
                                            {"committed-run-time-factor", &f.committed_run_time, 0, 1},
                                            {"run-job-factor", &f.run_job},
                                            {"adjustment-factor", &f.adjustment},
                                            {"gpu-run-time-factor", &f.gpu_run_time},
                                            {"hist-hours", &h.hist_hours, 0, 876600}}};
    const std::array<FlagKey, 5> flags{{{"hist-run-time", &h.enable_hist_run_time},
                                        {"gpu-hist-run-time", &h.enable_gpu_hist_run_time},
                                        {"run-time-decay", &h.run_time_decay},
                                        {"counts-cpus", &h.counts_cpus},
                                        {"counts-jobs", &h.counts_jobs}}};
    fixed_table(reader, "lsf", value,
                "cpu-time-factor, run-time-factor, committed-run-time-factor, run-job-factor, adjustment-factor, "
                "gpu-run-time-factor, hist-hours, hist-run-time, gpu-hist-run-time, run-time-decay, counts-cpus, "
                "counts-jobs",
                [&](const std::string& path, const std::string& key, Value inner) {
                    s.given.insert(path);
                    return read_number(reader, numbers, path, key, inner) || read_flag(reader, flags, path, key, inner);
                });
}

}  // namespace weir::config
