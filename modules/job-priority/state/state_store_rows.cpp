// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the mapping between rows and structs. Each table stands once: its columns, then the function that reads a row,
//   which is false when the row cannot be what we wrote, then the one that writes it. See state_store.hpp.
#include <charconv>
#include <cmath>

#include "modules/job-priority/state/meta_texts.hpp"
#include "modules/job-priority/state/named_row.hpp"
#include "modules/job-priority/state/older_names.hpp"
#include "modules/job-priority/state/state_store.hpp"

namespace weir::priority {
namespace {

// ---- meta ----

constexpr StateTable meta_table{"meta", {"key", "value"}, 1};

bool read_meta(const RowReader& row, SavedState& saved) {
    set_meta(saved, row.text("key"), row.text("value"));
    return true;
}
void write_meta(RowWriter row, const std::pair<const std::string, std::string>& entry) {
    row.text("key", entry.first).text("value", entry.second);
}

// ---- the share tree ----

constexpr StateTable revision_table{
    "tree_revision", {"revision", "time_us", "author", "reason", "toml"}, 0, "revision"};

bool read_revision(const RowReader& row, SavedState& saved) {
    saved.revisions.push_back(
        {row.integer("revision"), row.time("time_us"), row.text("author"), row.text("reason"), row.text("toml")});
    return saved.revisions.back().revision > 0;
}
void write_revision(RowWriter row, const TreeRevision& revision) {
    row.integer("revision", revision.revision).time("time_us", revision.time);
    row.text("author", revision.author).text("reason", revision.reason).text("toml", revision.toml);
}

// ---- usage ----

constexpr StateTable ledger_table{
    "ledger", {"path", "weighted_high", "weighted_low", "charged_high", "charged_low", "rate"}, 1};

bool read_ledger(const RowReader& row, SavedState& saved) {
    saved.ledger.payers.push_back({row.text("path"), row.wide("weighted_high", "weighted_low"),
                                   row.wide("charged_high", "charged_low"), row.integer("rate")});
    return row.integer("rate") >= 0;
}
void write_path(RowWriter& row, const std::string& path) {
    row.text("path", path);
}
void write_payer(RowWriter& row, const PayerState& payer) {
    row.wide("weighted_high", "weighted_low", payer.weighted);
    row.wide("charged_high", "charged_low", payer.charged).integer("rate", payer.rate);
}
void write_ledger(RowWriter row, const PayerState& payer) {
    write_path(row, payer.path);
    write_payer(row, payer);
}

/// Only files of older versions have rows here.
constexpr StateTable charge_table{"charge", {"path", "rate", "time_us"}, 0, "rowid"};

bool read_charge(const RowReader& row, SavedState& saved) {
    saved.charges.push_back({row.text("path"), row.integer("rate"), row.time("time_us")});
    return true;
}

// ---- counted usage ----

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

constexpr StateTable counted_table{"counted", {"part", "path", "numbers"}, 0, "part, path"};
// Which list of CountedUsageState a row is of.
constexpr std::int64_t part_rules = 0;
constexpr std::int64_t part_usage = 1;
constexpr std::int64_t part_history = 2;

bool read_counted(const RowReader& row, SavedState& saved) {
    PayerNumbers payer{row.text("path"), {}};
    if (!read_numbers(row.text("numbers"), payer.numbers)) {
        return false;
    }
    const std::int64_t part = row.integer("part");
    if (part == part_rules) {
        for (const WideInteger& number : payer.numbers) {
            saved.counted.rules.push_back(number.high);
        }
    } else if (part == part_usage) {
        saved.counted.usage.push_back(std::move(payer));
    } else {
        saved.counted.history.push_back(std::move(payer));
    }
    return part >= part_rules && part <= part_history;
}
void write_counted(RowWriter row, std::int64_t part, const PayerNumbers& payer) {
    row.integer("part", part).text("path", payer.path).text("numbers", text_of(payer.numbers));
}

constexpr StateTable counted_event_table{
    "counted_event",
    {"path", "rate", "start_us", "prepaid_us", "cores", "gpus", "committed_us", "is_end", "end_us"},
    0,
    "rowid"};

bool read_counted_event(const RowReader& row, SavedState& saved) {
    CountedRow event{row.text("path"), {}, {}};
    event.job.charge = {unassociated, row.integer("rate"), row.time("start_us"), row.duration("prepaid_us")};
    event.job.holds = {row.integer("cores"), row.integer("gpus"), row.duration("committed_us")};
    if (row.flag("is_end")) {
        event.ended = row.time("end_us");
    }
    saved.counted_events.push_back(std::move(event));
    return row.integer("prepaid_us") >= 0 && row.integer("committed_us") >= 0;
}
void write_counted_event(RowWriter row, const CountedRow& event) {
    const ChargedJob& charge = event.job.charge;
    row.text("path", event.path).integer("rate", charge.rate).time("start_us", charge.started);
    row.duration("prepaid_us", charge.requested).integer("cores", event.job.holds.slots);
    row.integer("gpus", event.job.holds.gpus).duration("committed_us", event.job.holds.committed);
    row.flag("is_end", event.ended.has_value()).time("end_us", event.ended.value_or(Instant{}));
}

// ---- jobs that run here ----

void write_job(RowWriter& row, std::uint64_t id) {
    row.id("job", id);
}
Bill read_bill(const RowReader& row) {
    return {.rate = row.integer("rate"),
            .prepaid = row.duration("prepaid_us"),
            .gpus = row.integer("gpus"),
            .committed = row.duration("committed_us"),
            .queue = row.text("queue"),
            .project = row.text("project")};
}
bool is_possible(const Bill& bill) {
    return bill.rate >= 0 && bill.prepaid >= Duration{} && bill.gpus >= 0 && bill.committed >= Duration{};
}
void write_bill(RowWriter& row, const Bill& bill) {
    row.text("queue", bill.queue).text("project", bill.project).integer("rate", bill.rate);
    row.duration("prepaid_us", bill.prepaid).integer("gpus", bill.gpus).duration("committed_us", bill.committed);
}
RunningRow read_place(const RowReader& row) {
    RunningRow job{row.text("path"), row.integer("cores"), row.time("start_us")};
    job.bill = read_bill(row);
    return job;
}
void write_place(RowWriter& row, const RunningRow& job) {
    row.text("path", job.path).integer("cores", job.cores).time("start_us", job.start);
    write_bill(row, job.bill);
}

constexpr StateTable running_table{"running",
                                   {"job", "path", "cores", "start_us", "queue", "project", "rate", "prepaid_us",
                                    "gpus", "committed_us", "submit_us", "alloc_us", "told_until_us"},
                                   1};

bool read_running(const RowReader& row, SavedState& saved) {
    const std::uint64_t id = row.id("job");
    RunningRow& job = saved.running[id];
    job = read_place(row);
    job.run = {id, row.time("submit_us"), row.time("alloc_us")};
    job.told_until = row.time("told_until_us");
    return job.cores >= 0 && is_possible(job.bill);
}
void write_running(RowWriter& row, const RunningRow& job) {
    write_place(row, job);
    row.time("submit_us", job.run.submit).time("alloc_us", job.run.alloc).time("told_until_us", job.told_until);
}

constexpr StateTable charged_table{"charged", {"job", "submit_us", "alloc_us", "end_us"}, 3};

bool read_charged(const RowReader& row, SavedState& saved) {
    saved.charged[{row.id("job"), row.time("submit_us"), row.time("alloc_us")}] = row.time("end_us");
    return true;
}
void write_run(RowWriter& row, const JobRun& run) {
    row.id("job", run.id).time("submit_us", run.submit).time("alloc_us", run.alloc);
}
void write_charged(RowWriter& row, Instant end) {
    row.time("end_us", end);
}

// ---- what children report ----

void write_reported_key(RowWriter& row, const ReportedKey& key) {
    row.id("child", key.first).id("job", key.second);
}
RunningRow read_reported_job(const RowReader& row) {
    RunningRow job = read_place(row);
    job.inside = row.id("inside");
    job.told_until = row.time("told_until_us");
    job.above = row.id("above");
    if (job.above == 0) {
        job.above = older_name_above(row.id("child"), row.id("job"));
    }
    return job;
}
void write_reported(RowWriter& row, const RunningRow& job) {
    write_place(row, job);
    row.id("inside", job.inside).time("told_until_us", job.told_until).id("above", job.above);
}

constexpr StateTable reported_table{"reported",
                                    {"child", "job", "path", "cores", "start_us", "queue", "project", "rate",
                                     "prepaid_us", "gpus", "committed_us", "inside", "told_until_us", "above"},
                                    2};

bool read_reported(const RowReader& row, SavedState& saved) {
    RunningRow& job = saved.reported[{row.id("child"), row.id("job")}];
    job = read_reported_job(row);
    return job.cores >= 0 && is_possible(job.bill);
}

constexpr StateTable closed_table{
    "closed",
    {"child", "job", "path", "cores", "start_us", "queue", "project", "rate", "prepaid_us", "gpus", "committed_us",
     "inside", "told_until_us", "above", "end_us", "instance", "seq_acked", "applied_until_us", "is_told"},
    2};

bool read_closed(const RowReader& row, SavedState& saved) {
    ClosedRow& closed = saved.closed[{row.id("child"), row.id("job")}];
    closed.job = read_reported_job(row);
    closed.end = row.time("end_us");
    closed.downlink = {row.text("instance"), row.id("seq_acked"), row.time("applied_until_us"), {}};
    closed.is_told = row.flag("is_told");
    return closed.job.cores > 0 && is_possible(closed.job.bill);
}
void write_closed(RowWriter& row, const ClosedRow& closed) {
    write_reported(row, closed.job);
    row.time("end_us", closed.end).text("instance", closed.downlink.instance);
    row.id("seq_acked", closed.downlink.seq_acked).time("applied_until_us", closed.downlink.applied_until);
    row.flag("is_told", closed.is_told);
}

constexpr StateTable downlink_table{
    "downlink", {"child", "instance", "seq_acked", "applied_until_us", "ignored_until_us"}, 1};

bool read_downlink(const RowReader& row, SavedState& saved) {
    saved.downlinks[row.id("child")] = {row.text("instance"), row.id("seq_acked"), row.time("applied_until_us"),
                                        row.time("ignored_until_us")};
    return true;
}
void write_child(RowWriter& row, std::uint64_t child) {
    row.id("child", child);
}
void write_downlink(RowWriter& row, const DownlinkRow& downlink) {
    row.text("instance", downlink.instance).id("seq_acked", downlink.seq_acked);
    row.time("applied_until_us", downlink.applied_until).time("ignored_until_us", downlink.ignored_until);
}

// ---- what the parent is told ----

constexpr StateTable uplink_table{"uplink",
                                  {"seq", "is_start", "job", "user", "account", "cores", "time_us", "inside", "queue",
                                   "project", "rate", "prepaid_us", "gpus", "committed_us", "qos"},
                                  1};

bool read_uplink(const RowReader& row, SavedState& saved) {
    UplinkRow& record = saved.uplink[row.id("seq")];
    record = {.is_start = row.flag("is_start"),
              .job = row.id("job"),
              .user = row.text("user"),
              .account = row.text("account"),
              .cores = row.integer("cores"),
              .time = row.time("time_us"),
              .inside = row.id("inside"),
              .bill = read_bill(row)};
    record.bill.qos = row.text("qos");
    return row.integer("seq") > 0;
}
void write_uplink(RowWriter row, const std::pair<std::uint64_t, UplinkRow>& entry) {
    const UplinkRow& record = entry.second;
    row.id("seq", entry.first).flag("is_start", record.is_start).id("job", record.job);
    row.text("user", record.user).text("account", record.account).integer("cores", record.cores);
    row.time("time_us", record.time).id("inside", record.inside);
    write_bill(row, record.bill);
    row.text("qos", record.bill.qos);
}

// ---- the site's factor ----

constexpr StateTable site_table{"site_value", {"job", "value", "submit_us"}, 1};

bool read_site(const RowReader& row, SavedState& saved) {
    saved.site[row.id("job")] = {row.number("value"), row.time("submit_us")};
    return std::isfinite(row.number("value"));
}
void write_site(RowWriter& row, const SiteRow& site) {
    row.number("value", site.value).time("submit_us", site.submit);
}

// ---- places under our limits of jobs in children ----

constexpr StateTable place_table{
    "place", {"child", "job", "user", "account", "queue", "qos", "nodes", "cores", "wall_us"}, 2};

bool read_held_place(const RowReader& row, SavedState& saved) {
    saved.places[{row.id("child"), row.id("job")}] = {row.text("user"),       row.text("account"), row.text("queue"),
                                                      row.text("qos"),        row.id("nodes"),     row.id("cores"),
                                                      row.duration("wall_us")};
    return row.integer("nodes") > 0 && row.integer("cores") > 0;
}
void write_held_place(RowWriter& row, const PlaceRow& place) {
    row.text("user", place.user).text("account", place.account).text("queue", place.queue).text("qos", place.qos);
    row.id("nodes", place.nodes).id("cores", place.cores).duration("wall_us", place.wall_time);
}

// ---- all tables ----

struct Source {
    const StateTable& table;
    bool (*read)(const RowReader& row, SavedState& saved);
};

Status read_table(SqliteDb& db, const std::string& path, const Source& source, SavedState& saved) {
    const std::string sql = source.table.select_sql();
    SqliteStatement statement = db.prepare(sql);
    while (statement.step()) {
        if (!source.read(RowReader(statement, source.table), saved)) {
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

/// Puts the rows of one batch into their tables; stops at the first failure.
class Writer {
  public:
    explicit Writer(SqliteDb& db) : db_(db) {}
    const std::optional<SqliteFailure>& failure() const { return failure_; }

    void execute(const std::string& sql) {
        SqliteStatement statement = db_.prepare(sql);
        run(statement);
    }
    /// One INSERT for each row.
    template <typename Rows, typename Write>
    void put_all(const Rows& rows, const StateTable& table, Write write) {
        if (rows.empty() || failure_) {
            return;
        }
        SqliteStatement statement = db_.prepare(table.insert_sql());
        for (const auto& row : rows) {
            write(RowWriter(statement, table), row);
            run(statement);
        }
    }
    /// One INSERT or, for an empty optional, one DELETE for each entry of a map.
    template <typename Rows, typename WriteKey, typename WriteValue>
    void put_or_delete(const Rows& rows, const StateTable& table, WriteKey write_key, WriteValue write_value) {
        if (rows.empty() || failure_) {
            return;
        }
        SqliteStatement put = db_.prepare(table.insert_sql());
        SqliteStatement remove = db_.prepare(table.delete_sql());
        for (const auto& [key, value] : rows) {
            SqliteStatement& statement = value ? put : remove;
            RowWriter row(statement, table);
            write_key(row, key);
            if (value) {
                write_value(row, *value);
            }
            run(statement);
        }
    }

  private:
    void run(SqliteStatement& statement) {
        if (!failure_ && !statement.run()) {
            failure_ = statement.failure();
        }
    }
    SqliteDb& db_;
    std::optional<SqliteFailure> failure_;
};

void put_counted(Writer& writer, const CountedUsageState& counted) {
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
        writer.put_all(rows, counted_table,
                       [part](RowWriter row, const PayerNumbers& payer) { write_counted(row, part, payer); });
    };
    put(part_rules, {rules});
    put(part_usage, counted.usage);
    put(part_history, counted.history);
}

void put_usage(Writer& writer, const StateBatch& batch) {
    if (batch.checkpoint) {
        writer.execute("DELETE FROM ledger");
        writer.execute("DELETE FROM charge");
        const std::map<std::string, std::string> frame{
            {"half_life_us", std::to_string(batch.checkpoint->half_life.count())},
            {"frame", std::to_string(batch.checkpoint->frame)},
            {"since_us", std::to_string(batch.checkpoint->since.time_since_epoch().count())}};
        writer.put_all(frame, meta_table, write_meta);
        writer.put_all(batch.checkpoint->payers, ledger_table, write_ledger);
        put_counted(writer, batch.counted);
    }
    writer.put_all(batch.counted_events, counted_event_table, write_counted_event);
    writer.put_or_delete(batch.payers, ledger_table, write_path, write_payer);
}

}  // namespace

Status StateStore::read_all() {
    static constexpr Source sources[] = {
        {meta_table, read_meta},         {revision_table, read_revision}, {ledger_table, read_ledger},
        {charge_table, read_charge},     {counted_table, read_counted},   {counted_event_table, read_counted_event},
        {running_table, read_running},   {charged_table, read_charged},   {reported_table, read_reported},
        {downlink_table, read_downlink}, {closed_table, read_closed},     {uplink_table, read_uplink},
        {site_table, read_site},         {place_table, read_held_place},
    };
    saved_ = SavedState{};
    for (const Source& source : sources) {
        if (Status done = read_table(db_, path_, source, saved_); !done) {
            return done;
        }
    }
    return Done{};
}

Status StateStore::write_rows(const StateBatch& batch) {
    Writer writer(db_);
    if (batch.meta) {
        writer.put_all(meta_texts(*batch.meta), meta_table, write_meta);
    }
    put_usage(writer, batch);
    writer.put_all(batch.revisions, revision_table, write_revision);
    writer.put_or_delete(batch.running, running_table, write_job, write_running);
    writer.put_or_delete(batch.charged, charged_table, write_run, write_charged);
    writer.put_or_delete(batch.reported, reported_table, write_reported_key, write_reported);
    writer.put_or_delete(batch.downlinks, downlink_table, write_child, write_downlink);
    writer.put_or_delete(batch.closed, closed_table, write_reported_key, write_closed);
    writer.put_all(batch.uplink, uplink_table, write_uplink);
    writer.put_or_delete(batch.site, site_table, write_job, write_site);
    writer.put_or_delete(batch.places, place_table, write_reported_key, write_held_place);
    if (batch.uplink_acked != 0) {
        writer.execute("DELETE FROM uplink WHERE seq<=" + std::to_string(batch.uplink_acked));
    }
    if (writer.failure()) {
        return Error{std::errc::io_error, "state file " + path_ + ": cannot write: " + writer.failure()->message};
    }
    return add_usage(batch.usage);
}

}  // namespace weir::priority
