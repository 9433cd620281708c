// SPDX-License-Identifier: LGPL-3.0-only
// Owns: usage by the hour in the state file: a label of its own for each account, user, queue and project, so that a
// row of an hour is three integers. See state_store.hpp.
#include "modules/job-priority/state/state_store.hpp"

#include <unordered_map>

namespace weir::priority {
namespace {

constexpr const char* add_label_sql =
    "INSERT OR IGNORE INTO usage_label (account, user, queue, project) VALUES (?1,?2,?3,?4)";
constexpr const char* add_hour_sql =
    "INSERT INTO usage_hour (hour, label, core_us) SELECT ?5, id, ?6 FROM usage_label"
    " WHERE account=?1 AND user=?2 AND queue=?3 AND project=?4"
    " ON CONFLICT (hour, label) DO UPDATE SET core_us=core_us+excluded.core_us";

SqliteStatement& bind_label(SqliteStatement& statement, const UsageSlot& slot) {
    return statement.bind(slot.account).bind(slot.user).bind(slot.queue).bind(slot.project);
}

UsageSlot read_label(SqliteStatement& label, std::int64_t id, const UsageLabels& by) {
    label.reset();
    if (!label.bind(id).step()) {
        return {};
    }
    return label_of({0, label.column_text(0), label.column_text(1), label.column_text(2), label.column_text(3)}, by);
}

}  // namespace

UsageSlot label_of(const UsageSlot& slot, const UsageLabels& by) {
    return {0, by.account ? slot.account : "", by.user ? slot.user : "", by.queue ? slot.queue : "",
            by.project ? slot.project : ""};
}

/// When a new hour is written, hours beyond usage_hours_kept are deleted, and so are labels without an hour.
Status StateStore::add_usage(const UsageHours& usage) {
    if (usage.empty()) {
        return Done{};
    }
    SqliteStatement label = db_.prepare(add_label_sql);
    SqliteStatement hour = db_.prepare(add_hour_sql);
    bool is_done = true;
    for (const auto& [slot, core_us] : usage) {
        is_done = is_done && bind_label(label, slot).run();
        is_done = is_done && bind_label(hour, slot).bind(slot.hour).bind(core_us).run();
    }
    const std::int64_t first = usage.rbegin()->first.hour - usage_hours_kept;
    const std::string oldest = db_.scalar("SELECT min(hour) FROM usage_hour").value_or("");
    if (is_done && !oldest.empty() && std::stoll(oldest) < first) {
        is_done = db_.execute("DELETE FROM usage_hour WHERE hour<" + std::to_string(first) +
                              "; DELETE FROM usage_label WHERE id NOT IN (SELECT label FROM usage_hour)");
    }
    return is_done ? Status(Done{}) : failed("cannot write usage by the hour");
}

/// The sums by label are computed here: SQLite would sort all rows for that, which takes ten times as long. Each label
/// is read once, whatever the number of spans, and only if an hour has it.
Status StateStore::read_usage(std::span<const std::int64_t> edges, const UsageLabels& by,
                              const std::function<void(std::size_t, const UsageSlot&, SignedCoreMicros)>& take,
                              const std::function<void()>& end) {
    std::unordered_map<std::int64_t, UsageSlot> labels;
    SqliteStatement hours = db_.prepare("SELECT label, core_us FROM usage_hour WHERE hour>=? AND hour<?");
    SqliteStatement label = db_.prepare("SELECT account, user, queue, project FROM usage_label WHERE id=?");
    for (std::size_t span = 0; span + 1 < edges.size(); ++span) {
        std::unordered_map<std::int64_t, SignedCoreMicros> sums;
        hours.reset();
        hours.bind(edges[span]).bind(edges[span + 1]);
        while (hours.step()) {
            sums[hours.column_int(0)] += hours.column_int(1);
        }
        for (const auto& [id, sum] : sums) {
            const auto [known, is_new] = labels.try_emplace(id);
            if (is_new) {
                known->second = read_label(label, id, by);
            }
            take(span, known->second, sum);
        }
        end();
    }
    const auto& failure = hours.failure() ? hours.failure() : label.failure();
    return failure
               ? Status(Error{std::errc::io_error, "state file " + path_ + ": cannot read usage: " + failure->message})
               : Status(Done{});
}

}  // namespace weir::priority
