// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the time of job-priority's thread that a scrape and a look of `weir top` take at 100,000 associations and
// 100,000
//   pending jobs, with the answer's bytes and its counts of operations.
// Must not know: Flux; sending the text is not in it.
// Usage: watch_bench
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "modules/job-priority/messages/metrics_view.hpp"
#include "modules/job-priority/messages/share_rows.hpp"
#include "modules/job-priority/messages/views.hpp"
#include "t/unit/job_priority/support.hpp"

namespace {

using namespace weir;
using namespace weir::priority;
using namespace weir::priority::testing;

constexpr int faculties = 40, groups = 49, users = 50;  // 2,000 accounts, 98,000 users

std::string large_tree() {
    std::string text;
    for (int f = 0; f < faculties; ++f) {
        const std::string faculty = "faculty" + std::to_string(f);
        text += "\"" + faculty + "\" = " + std::to_string(1 + f % 7) + "\n";
        for (int g = 0; g < groups; ++g) {
            const std::string group = faculty + "/group" + std::to_string(g);
            text += "\"" + group + "\" = " + std::to_string(1 + g % 5) + "\n";
            for (int u = 0; u < users; ++u) {
                text += "\"" + group + "/@u" + std::to_string((f * groups + g) * users + u) + "\" = 1\n";
            }
        }
    }
    return text;
}

/// The median of 21 runs, in microseconds; `before` is not measured.
double median_us(const std::function<void()>& before, const std::function<std::size_t()>& run, std::size_t& bytes) {
    std::vector<double> times;
    for (int i = 0; i < 21; ++i) {
        before();
        const auto begin = std::chrono::steady_clock::now();
        bytes = run();
        times.push_back(std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count());
    }
    std::sort(times.begin(), times.end());
    return times[times.size() / 2];
}

void tell(const char* name, const std::function<void()>& before, const std::function<std::size_t()>& run) {
    std::size_t bytes = 0;
    const double us = median_us(before, run, bytes);
    std::printf("%-52s %9.0f us %9zu bytes\n", name, us, bytes);
}

}  // namespace

int main() {
    Settings with = settings();
    for (int u = 0; u < faculties * groups * users; ++u) {
        with.users["u" + std::to_string(u)] = 10000 + static_cast<std::uint32_t>(u);
    }
    auto s = service(false, with);
    put_tree(*s, large_tree());
    s->begin_backlog();
    s->end_backlog(at(0));
    for (FluxJobId id = 1; id <= 100000; ++id) {
        const auto user = 10000 + static_cast<std::uint32_t>(id * 7919 % (faculties * groups * users));
        s->apply(submitted(id, static_cast<double>(id) / 100, user));
        s->apply(eligible(id, static_cast<double>(id) / 100));
        if (id % 50 == 0) {
            s->apply(started(id, static_cast<double>(id) / 100, 4));
        }
    }
    double now = 2000;
    const auto evaluate_anew = [&] { s->pass(at(now += 60)); };
    const auto nothing = [] {};
    evaluate_anew();
    MetricsView kept;
    tell(
        "metrics, depth 2, first answer", [&] { kept = {}; },
        [&] {
            return kept.text(*s, {2, false}).size();
        });
    tell("metrics, depth 2, after an evaluation", evaluate_anew, [&] { return kept.text(*s, {2, false}).size(); });
    tell("metrics, depth 2, again", nothing, [&] { return kept.text(*s, {2, false}).size(); });
    tell("metrics, depth 1, after an evaluation", evaluate_anew, [&] { return kept.text(*s, {1, false}).size(); });
    RowsQuery rows{200, {"faculty0", "faculty0/group0"}, {}, "", RowOrder::used};
    tell("share-rows, 200", nothing, [&] { return share_rows_view(*s, rows).dump().size(); });
    tell("share-rows, seen already", nothing, [&] { return share_rows_version(*s).size(); });
    tell("list, 200", nothing, [&] { return list_view(*s, at(now), {200, {}, ""}).dump().size(); });
    tell("list, all", nothing, [&] { return list_view(*s, at(now), {}).dump().size(); });
    tell("tree-get", nothing, [&] { return tree_view(*s, at(now)).dump().size(); });
    return 0;
}
