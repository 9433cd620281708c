// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the mapping between rows and structs, checked on the way in and on the way out. See state_store.hpp.
#include <charconv>
#include <cmath>

#include "modules/job-priority/state/state_store.hpp"

namespace weir::priority {
namespace {

std::int64_t us(Instant time) {
    return time.time_since_epoch().count();
}
Instant at(std::int64_t time_us) {
    return Instant{Duration{time_us}};
}
// Job ids are 64-bit FLUIDs; SQLite's integers are signed, the bits are the same.
std::int64_t signed_id(std::uint64_t id) {
    return static_cast<std::int64_t>(id);
}
std::uint64_t unsigned_id(std::int64_t id) {
    return static_cast<std::uint64_t>(id);
}

std::int64_t number_or_zero(const std::string& text) {
    std::int64_t value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
}

std::map<std::string, std::string> meta_texts(const StateMeta& meta) {
    return {{"position_us", std::to_string(us(meta.position))},
            {"charged_floor_us", std::to_string(us(meta.charged_floor))},
            {"uplink_seq", std::to_string(meta.uplink_seq)},
            {"instance", meta.instance}};
}

void set_meta(SavedState& saved, const std::string& key, const std::string& value) {
    StateMeta& meta = saved.meta;
    if (key == "position_us") {
        meta.position = at(number_or_zero(value));
    } else if (key == "charged_floor_us") {
        meta.charged_floor = at(number_or_zero(value));
    } else if (key == "uplink_seq") {
        meta.uplink_seq = unsigned_id(number_or_zero(value));
    } else if (key == "instance") {
        meta.instance = value;
    } else if (key == "half_life_us") {
        saved.ledger.half_life = Duration{number_or_zero(value)};
    } else if (key == "frame") {
        saved.ledger.frame = number_or_zero(value);
    } else if (key == "since_us") {
        saved.ledger.since = at(number_or_zero(value));
    }
}

/// Reads every row of `sql` with `row`, which returns false when the row cannot be what we wrote.
template <typename Row>
Status each(SqliteDb& db, const std::string& path, const char* sql, Row row) {
    SqliteStatement statement = db.prepare(sql);
    while (statement.step()) {
        if (!row(statement)) {
            return Error{std::errc::illegal_byte_sequence,
                         "state file " + path + ": a row of \"" + sql + "\" holds an impossible value"};
        }
    }
    if (statement.failure()) {
        const bool is_corrupt = is_corruption(*statement.failure());
        return Error{is_corrupt ? std::errc::illegal_byte_sequence : std::errc::io_error,
                     "state file " + path + ": " + statement.failure()->message};
    }
    return Done{};
}

WideInteger wide(const SqliteStatement& row, int first) {
    return WideInteger{row.column_int(first), unsigned_id(row.column_int(first + 1))};
}

/// "high low high low ...", as state.counted has its numbers.
std::string text_of(const std::vector<WideInteger>& numbers) {
    std::string text;
    for (const WideInteger& number : numbers) {
        text += (text.empty() ? "" : " ") + std::to_string(number.high) + " " + std::to_string(number.low);
    }
    return text;
}

/// False when it is no such text.
bool read_numbers(const std::string& text, std::vector<WideInteger>& into) {
    const char* at = text.data();
    const char* const end = at + text.size();
    while (at != end) {
        WideInteger number;
        const auto high = std::from_chars(at, end, number.high);
        if (high.ec != std::errc{} || high.ptr == end || *high.ptr != ' ') {
            return false;
        }
        const auto low = std::from_chars(high.ptr + 1, end, number.low);
        if (low.ec != std::errc{} || (low.ptr != end && (*low.ptr != ' ' || low.ptr + 1 == end))) {
            return false;
        }
        into.push_back(number);
        at = low.ptr == end ? end : low.ptr + 1;
    }
    return true;
}

// Table `counted`: which list of CountedUsageState a row is of.
constexpr std::int64_t part_rules = 0;
constexpr std::int64_t part_usage = 1;
constexpr std::int64_t part_history = 2;

bool read_counted(const SqliteStatement& row, CountedUsageState& into) {
    PayerNumbers payer{row.column_text(1), {}};
    if (!read_numbers(row.column_text(2), payer.numbers)) {
        return false;
    }
    const std::int64_t part = row.column_int(0);
    if (part == part_rules) {
        for (const WideInteger& number : payer.numbers) {
            into.rules.push_back(number.high);
        }
    } else {
        if (part == part_usage) {
            into.usage.push_back(std::move(payer));
        } else {
            into.history.push_back(std::move(payer));
        }
    }
    return part >= part_rules && part <= part_history;
}

RunningRow running_row(const SqliteStatement& row, int first) {
    return RunningRow{row.column_text(first), row.column_int(first + 1), at(row.column_int(first + 2))};
}

}  // namespace

Status StateStore::read_all() {
    saved_ = SavedState{};
    SavedState& s = saved_;
    Status status = each(db_, path_, "SELECT key, value FROM meta", [&s](SqliteStatement& row) {
        set_meta(s, row.column_text(0), row.column_text(1));
        return true;
    });
    const auto next = [&](const char* sql, auto row) {
        if (status) {
            status = each(db_, path_, sql, row);
        }
    };
    next("SELECT revision, time_us, author, reason, toml FROM tree_revision ORDER BY revision",
         [&s](SqliteStatement& row) {
             s.revisions.push_back({row.column_int(0), at(row.column_int(1)), row.column_text(2), row.column_text(3),
                                    row.column_text(4)});
             return s.revisions.back().revision > 0;
         });
    next("SELECT path, weighted_high, weighted_low, charged_high, charged_low, rate FROM ledger",
         [&s](SqliteStatement& row) {
             s.ledger.payers.push_back({row.column_text(0), wide(row, 1), wide(row, 3), row.column_int(5)});
             return row.column_int(5) >= 0;
         });
    next("SELECT path, rate, time_us FROM charge ORDER BY rowid", [&s](SqliteStatement& row) {
        s.charges.push_back({row.column_text(0), row.column_int(1), at(row.column_int(2))});
        return true;
    });
    next("SELECT part, path, numbers FROM counted ORDER BY part, path",
         [&s](SqliteStatement& row) { return read_counted(row, s.counted); });
    next(
        "SELECT path, rate, start_us, prepaid_us, cores, gpus, committed_us, is_end, end_us FROM counted_event ORDER "
        "BY rowid",
        [&s](SqliteStatement& row) {
            CountedRow event{row.column_text(0), {}, {}};
            event.job.charge = {unassociated, row.column_int(1), at(row.column_int(2)), Duration{row.column_int(3)}};
            event.job.holds = {row.column_int(4), row.column_int(5), Duration{row.column_int(6)}};
            if (row.column_int(7) != 0) {
                event.ended = at(row.column_int(8));
            }
            s.counted_events.push_back(std::move(event));
            return row.column_int(3) >= 0 && row.column_int(6) >= 0;
        });
    next(
        "SELECT job, path, cores, start_us, rate, prepaid_us, gpus, committed_us, submit_us, alloc_us, told_until_us "
        "FROM running",
        [&s](SqliteStatement& row) {
            const std::uint64_t id = unsigned_id(row.column_int(0));
            RunningRow& running = s.running[id];
            running = running_row(row, 1);
            running.run = {id, at(row.column_int(8)), at(row.column_int(9))};
            running.bill = {row.column_int(4), Duration{row.column_int(5)}, row.column_int(6),
                            Duration{row.column_int(7)}};
            running.told_until = at(row.column_int(10));
            return row.column_int(2) >= 0 && row.column_int(4) >= 0 && row.column_int(5) >= 0 &&
                   row.column_int(6) >= 0 && row.column_int(7) >= 0;
        });
    next("SELECT job, submit_us, alloc_us, end_us FROM charged", [&s](SqliteStatement& row) {
        s.charged[{unsigned_id(row.column_int(0)), at(row.column_int(1)), at(row.column_int(2))}] =
            at(row.column_int(3));
        return true;
    });
    next("SELECT child, job, path, cores, start_us, inside, rate, told_until_us FROM reported",
         [&s](SqliteStatement& row) {
             RunningRow& reported = s.reported[{unsigned_id(row.column_int(0)), unsigned_id(row.column_int(1))}];
             reported = running_row(row, 2);
             reported.inside = unsigned_id(row.column_int(5));
             reported.bill.rate = row.column_int(6);
             reported.told_until = at(row.column_int(7));
             return row.column_int(3) >= 0 && row.column_int(6) >= 0;
         });
    next("SELECT child, instance, seq_acked, applied_until_us, ignored_until_us FROM downlink",
         [&s](SqliteStatement& row) {
             s.downlinks[unsigned_id(row.column_int(0))] = {row.column_text(1), unsigned_id(row.column_int(2)),
                                                            at(row.column_int(3)), at(row.column_int(4))};
             return true;
         });
    next(
        "SELECT child, job, path, cores, start_us, inside, rate, told_until_us, end_us, instance, seq_acked, "
        "applied_until_us FROM closed",
        [&s](SqliteStatement& row) {
            ClosedRow& closed = s.closed[{unsigned_id(row.column_int(0)), unsigned_id(row.column_int(1))}];
            closed.job = running_row(row, 2);
            closed.job.inside = unsigned_id(row.column_int(5));
            closed.job.bill.rate = row.column_int(6);
            closed.job.told_until = at(row.column_int(7));
            closed.end = at(row.column_int(8));
            closed.downlink = {row.column_text(9), unsigned_id(row.column_int(10)), at(row.column_int(11)), {}};
            return row.column_int(3) > 0 && row.column_int(6) >= 0;
        });
    next("SELECT seq, is_start, job, user, account, cores, time_us, inside FROM uplink", [&s](SqliteStatement& row) {
        s.uplink[unsigned_id(row.column_int(0))] = {row.column_int(1) != 0,
                                                    unsigned_id(row.column_int(2)),
                                                    row.column_text(3),
                                                    row.column_text(4),
                                                    row.column_int(5),
                                                    at(row.column_int(6)),
                                                    unsigned_id(row.column_int(7))};
        return row.column_int(0) > 0;
    });
    next("SELECT job, value, submit_us FROM site_value", [&s](SqliteStatement& row) {
        s.site[unsigned_id(row.column_int(0))] = {row.column_double(1), at(row.column_int(2))};
        return std::isfinite(row.column_double(1));
    });
    return status;
}

namespace {

/// Puts the rows of one batch into their tables; stops at the first failure.
class Writer {
  public:
    explicit Writer(SqliteDb& db) : db_(db) {}
    const std::optional<SqliteFailure>& failure() const { return failure_; }

    void run(SqliteStatement& statement) {
        if (!failure_ && !statement.run()) {
            failure_ = statement.failure();
        }
    }
    void execute(const char* sql) {
        SqliteStatement statement = db_.prepare(sql);
        run(statement);
    }
    /// One INSERT for each row.
    template <typename Rows, typename Bind>
    void put_all(const Rows& rows, const char* sql, Bind bind) {
        if (rows.empty() || failure_) {
            return;
        }
        SqliteStatement statement = db_.prepare(sql);
        for (const auto& row : rows) {
            bind(statement, row);
            run(statement);
        }
    }
    /// One INSERT or, for an empty optional, one DELETE for each entry of a map.
    template <typename Rows, typename BindKey, typename BindValue>
    void put_or_delete(const Rows& rows, const char* put_sql, const char* delete_sql, BindKey bind_key,
                       BindValue bind_value) {
        if (rows.empty() || failure_) {
            return;
        }
        SqliteStatement put = db_.prepare(put_sql);
        SqliteStatement remove = db_.prepare(delete_sql);
        for (const auto& [key, value] : rows) {
            bind_key(value ? put : remove, key);
            if (value) {
                bind_value(put, *value);
            }
            run(value ? put : remove);
        }
    }

  private:
    SqliteDb& db_;
    std::optional<SqliteFailure> failure_;
};

void write_counted(Writer& writer, const CountedUsageState& counted) {
    writer.execute("DELETE FROM counted");
    writer.execute("DELETE FROM counted_event");
    if (counted.rules.empty()) {
        return;
    }
    PayerNumbers rules;
    for (const std::int64_t number : counted.rules) {
        rules.numbers.push_back({number, 0});
    }
    const auto put = [&writer](std::int64_t part, const std::vector<PayerNumbers>& rows) {
        writer.put_all(rows, "INSERT INTO counted VALUES (?,?,?)", [part](SqliteStatement& s, const PayerNumbers& row) {
            s.bind(part).bind(row.path).bind(text_of(row.numbers));
        });
    };
    put(part_rules, {rules});
    put(part_usage, counted.usage);
    put(part_history, counted.history);
}

void write_ledger(Writer& writer, const StateBatch& batch) {
    const auto put_meta = [](SqliteStatement& s, const auto& entry) { s.bind(entry.first).bind(entry.second); };
    constexpr const char* meta_sql = "INSERT OR REPLACE INTO meta VALUES (?,?)";
    if (batch.meta) {
        writer.put_all(meta_texts(*batch.meta), meta_sql, put_meta);
    }
    if (batch.checkpoint) {
        writer.execute("DELETE FROM ledger");
        writer.execute("DELETE FROM charge");
        const std::map<std::string, std::string> frame{
            {"half_life_us", std::to_string(batch.checkpoint->half_life.count())},
            {"frame", std::to_string(batch.checkpoint->frame)},
            {"since_us", std::to_string(us(batch.checkpoint->since))}};
        writer.put_all(frame, meta_sql, put_meta);
        writer.put_all(batch.checkpoint->payers, "INSERT INTO ledger VALUES (?,?,?,?,?,?)",
                       [](SqliteStatement& s, const PayerState& payer) {
                           s.bind(payer.path).bind(payer.weighted.high).bind(signed_id(payer.weighted.low));
                           s.bind(payer.charged.high).bind(signed_id(payer.charged.low)).bind(payer.rate);
                       });
    }
    if (batch.checkpoint) {
        write_counted(writer, batch.counted);
    }
    writer.put_all(batch.counted_events, "INSERT INTO counted_event VALUES (?,?,?,?,?,?,?,?,?)",
                   [](SqliteStatement& s, const CountedRow& row) {
                       const ChargedJob& charge = row.job.charge;
                       s.bind(row.path).bind(charge.rate).bind(us(charge.started)).bind(charge.requested.count());
                       s.bind(row.job.holds.slots).bind(row.job.holds.gpus).bind(row.job.holds.committed.count());
                       s.bind(std::int64_t{row.ended.has_value()}).bind(us(row.ended.value_or(Instant{})));
                   });
    writer.put_all(batch.charges, "INSERT INTO charge VALUES (?,?,?)", [](SqliteStatement& s, const ChargeRow& row) {
        s.bind(row.path).bind(row.rate).bind(us(row.time));
    });
}

}  // namespace

Status StateStore::write_rows(const StateBatch& batch) {
    Writer writer(db_);
    const auto bind_id = [](SqliteStatement& s, std::uint64_t id) { s.bind(signed_id(id)); };
    const auto bind_place = [](SqliteStatement& s, const RunningRow& row) {
        s.bind(row.path).bind(row.cores).bind(us(row.start));
    };
    write_ledger(writer, batch);
    writer.put_all(batch.revisions, "INSERT INTO tree_revision VALUES (?,?,?,?,?)",
                   [](SqliteStatement& s, const TreeRevision& row) {
                       s.bind(row.revision).bind(us(row.time)).bind(row.author).bind(row.reason).bind(row.toml);
                   });
    writer.put_or_delete(batch.running, "INSERT OR REPLACE INTO running VALUES (?,?,?,?,?,?,?,?,?,?,?)",
                         "DELETE FROM running WHERE job=?", bind_id,
                         [&bind_place](SqliteStatement& s, const RunningRow& row) {
                             bind_place(s, row);
                             s.bind(row.bill.rate).bind(row.bill.prepaid.count()).bind(row.bill.gpus);
                             s.bind(row.bill.committed.count()).bind(us(row.run.submit)).bind(us(row.run.alloc));
                             s.bind(us(row.told_until));
                         });
    writer.put_or_delete(
        batch.charged, "INSERT OR REPLACE INTO charged VALUES (?,?,?,?)",
        "DELETE FROM charged WHERE job=? AND submit_us=? AND alloc_us=?",
        [](SqliteStatement& s, const JobRun& run) {
            s.bind(signed_id(run.id)).bind(us(run.submit)).bind(us(run.alloc));
        },
        [](SqliteStatement& s, Instant end) { s.bind(us(end)); });
    writer.put_or_delete(
        batch.reported, "INSERT OR REPLACE INTO reported VALUES (?,?,?,?,?,?,?,?)",
        "DELETE FROM reported WHERE child=? AND job=?",
        [](SqliteStatement& s, const ReportedKey& key) { s.bind(signed_id(key.first)).bind(signed_id(key.second)); },
        [&bind_place](SqliteStatement& s, const RunningRow& row) {
            bind_place(s, row);
            s.bind(signed_id(row.inside)).bind(row.bill.rate).bind(us(row.told_until));
        });
    writer.put_or_delete(batch.downlinks, "INSERT OR REPLACE INTO downlink VALUES (?,?,?,?,?)",
                         "DELETE FROM downlink WHERE child=?", bind_id, [](SqliteStatement& s, const DownlinkRow& row) {
                             s.bind(row.instance).bind(signed_id(row.seq_acked)).bind(us(row.applied_until));
                             s.bind(us(row.ignored_until));
                         });
    writer.put_or_delete(
        batch.closed, "INSERT OR REPLACE INTO closed VALUES (?,?,?,?,?,?,?,?,?,?,?,?)",
        "DELETE FROM closed WHERE child=? AND job=?",
        [](SqliteStatement& s, const ReportedKey& key) { s.bind(signed_id(key.first)).bind(signed_id(key.second)); },
        [&bind_place](SqliteStatement& s, const ClosedRow& row) {
            bind_place(s, row.job);
            s.bind(signed_id(row.job.inside)).bind(row.job.bill.rate).bind(us(row.job.told_until));
            s.bind(us(row.end))
                .bind(row.downlink.instance)
                .bind(signed_id(row.downlink.seq_acked))
                .bind(us(row.downlink.applied_until));
        });
    writer.put_all(
        batch.uplink, "INSERT OR REPLACE INTO uplink VALUES (?,?,?,?,?,?,?,?)",
        [](SqliteStatement& s, const auto& entry) {
            const UplinkRow& row = entry.second;
            s.bind(signed_id(entry.first)).bind(std::int64_t{row.is_start}).bind(signed_id(row.job));
            s.bind(row.user).bind(row.account).bind(row.cores).bind(us(row.time)).bind(signed_id(row.inside));
        });
    writer.put_or_delete(batch.site, "INSERT OR REPLACE INTO site_value VALUES (?,?,?)",
                         "DELETE FROM site_value WHERE job=?", bind_id,
                         [](SqliteStatement& s, const SiteRow& row) { s.bind(row.value).bind(us(row.submit)); });
    if (batch.uplink_acked != 0) {
        writer.execute(("DELETE FROM uplink WHERE seq<=" + std::to_string(batch.uplink_acked)).c_str());
    }
    if (writer.failure()) {
        return Error{std::errc::io_error, "state file " + path_ + ": cannot write: " + writer.failure()->message};
    }
    return Done{};
}

}  // namespace weir::priority
