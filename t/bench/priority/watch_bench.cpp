// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the CPU time of job-priority's thread that a scrape and a look of `weir top` take at 100,000 associations and
// 100,000 pending jobs, with the answer's bytes and its counts of operations: nodes that a scrape looked at (visited),
// and nodes whose figures it wrote (written).
// Must not know: Flux; sending the text is not in it.
// Usage: watch_bench
#include <algorithm>
#include <cstdio>
#include <ctime>
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

/// Of this thread, in microseconds: other programs of a busy machine are not in it.
double cpu_us() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) * 1e6 + static_cast<double>(now.tv_nsec) / 1e3;
}

/// The value of a count in an answer of metrics; "-" in any other answer.
std::string count_of(const std::string& text, const std::string& name) {
    const std::size_t at = text.find("\"" + name + "\":");
    const std::size_t begin = at == std::string::npos ? at : at + name.size() + 3;
    return at == std::string::npos ? "-" : text.substr(begin, text.find_first_of(",}", begin) - begin);
}

/// The median of 21 runs and the counts of the last; `before` is not measured.
void tell(const char* name, const std::function<void()>& before, const std::function<std::string()>& run) {
    std::vector<double> times;
    std::string text;
    for (int i = 0; i < 21; ++i) {
        before();
        const double begin = cpu_us();
        text = run();
        times.push_back(cpu_us() - begin);
    }
    std::sort(times.begin(), times.end());
    std::printf("%-40s %9.0f us %9zu bytes %6s visited %6s written\n", name, times[times.size() / 2], text.size(),
                count_of(text, "visited").c_str(), count_of(text, "written").c_str());
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
            return kept.text(*s, {2, false});
        });
    tell("metrics, depth 2, after an evaluation", evaluate_anew, [&] { return kept.text(*s, {2, false}); });
    tell("metrics, depth 2, again", nothing, [&] { return kept.text(*s, {2, false}); });
    tell("metrics, depth 1, after an evaluation", evaluate_anew, [&] { return kept.text(*s, {1, false}); });
    RowsQuery rows{200, {"faculty0", "faculty0/group0"}, {}, "", RowOrder::used};
    tell("share-rows, 200", nothing, [&] { return share_rows_view(*s, rows).dump(); });
    tell("share-rows, seen already", nothing, [&] { return share_rows_version(*s); });
    tell("list, 200", nothing, [&] { return list_view(*s, at(now), {200, {}, ""}).dump(); });
    tell("list, all", nothing, [&] { return list_view(*s, at(now), {}).dump(); });
    tell("tree-get", nothing, [&] { return tree_view(*s, at(now)).dump(); });
    return 0;
}
