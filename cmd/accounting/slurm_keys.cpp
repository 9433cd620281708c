// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see slurm_keys.hpp.
#include "cmd/accounting/slurm_keys.hpp"

#include <algorithm>
#include <limits>

#include "cmd/accounting/accounting_row.hpp"
#include "cmd/common/text.hpp"

namespace weir::cmd {
namespace {

enum class KeyUse { shares, default_account, partition, own, group, group_resources, silent, none };

struct SlurmKey {
    std::string_view name;
    KeyUse use = KeyUse::none;
    LimitKind kind = LimitKind::running_jobs;
    std::uint64_t unit = 1;
    const char* why = "";
};
constexpr const char* node_why = "nodes_max is near, but counts a node once for each job on it";
constexpr const char* minutes_why = "usage_max is near, but ends no running job";
constexpr const char* size_why = "a share tree has no limit on the size of one job";

/// Without those that a share tree has no place for and that need no explanation.
constexpr std::array<SlurmKey, 19> slurm_keys{{
    {"fairshare", KeyUse::shares},
    {"defaultaccount", KeyUse::default_account},
    {"partition", KeyUse::partition},
    {"maxjobs", KeyUse::own, LimitKind::running_jobs},
    {"maxsubmitjobs", KeyUse::own, LimitKind::active_jobs},
    {"maxwalldurationperjob", KeyUse::own, LimitKind::wall_time, 60},
    {"maxwall", KeyUse::own, LimitKind::wall_time, 60},
    {"grpjobs", KeyUse::group, LimitKind::running_jobs},
    {"grpsubmitjobs", KeyUse::group, LimitKind::active_jobs},
    {"grpcpus", KeyUse::group, LimitKind::cores},
    {"grptres", KeyUse::group_resources, LimitKind::cores},
    {"grpnodes", KeyUse::none, LimitKind::nodes, 1, node_why},
    {"grptresmins", KeyUse::none, LimitKind::usage, 1, minutes_why},
    {"grpcpumins", KeyUse::none, LimitKind::usage, 1, minutes_why},
    {"maxtresperjob", KeyUse::none, LimitKind::cores, 1, size_why},
    {"maxcpusperjob", KeyUse::none, LimitKind::cores, 1, size_why},
    {"maxnodesperjob", KeyUse::none, LimitKind::nodes, 1, size_why},
    {"description", KeyUse::silent},
    {"organization", KeyUse::silent},
}};

SlurmKey slurm_key(const std::string& name) {
    const auto* found =
        std::find_if(slurm_keys.begin(), slurm_keys.end(), [&name](const SlurmKey& key) { return key.name == name; });
    return found == slurm_keys.end() ? SlurmKey{} : *found;
}

class SettingsReader {
  public:
    SettingsReader(const DumpLine& line, const std::string& file) : line_(line), file_(file) {}

    Result<SlurmSettings> read() {
        for (const DumpField& field : line_.fields) {
            if (const Status read = read_field(field); !read) {
                return read.error();
            }
        }
        return std::move(made_);
    }

  private:
    static constexpr std::int64_t parent_shares = 0x7fffffff;  // how the dump writes FairShare=parent
    static constexpr std::int64_t number_max = std::numeric_limits<std::uint32_t>::max();

    Error mistake(const std::string& text, const std::string& what) const {
        return table_error(dump_place(file_, line_.number) + ": " + in_quotes(text) + " is wrong: " + what);
    }

    Status read_field(const DumpField& field) {
        const SlurmKey key = slurm_key(field.key);
        const bool is_of_user = key.use == KeyUse::default_account || key.use == KeyUse::partition;
        if (key.use == KeyUse::none || (is_of_user && line_.title != DumpTitle::user)) {
            made_.remarks.push_back({std::string(field.text), key.why});
            return Done{};
        }
        switch (key.use) {
            case KeyUse::shares:
                return read_shares(field);
            case KeyUse::default_account:
                made_.default_account = in_small_letters(field.value);
                return Done{};
            case KeyUse::partition:
                made_.partition = field.value;
                return Done{};
            case KeyUse::own:
            case KeyUse::group:
                return read_limit(key, field.value, std::string(field.text));
            case KeyUse::group_resources:
                return read_resources(key, field);
            case KeyUse::silent:
            case KeyUse::none:
                return Done{};
        }
        return Done{};
    }

    Status read_shares(const DumpField& field) {
        const auto number = parse_integer(field.value, 0, parent_shares);
        made_.shares_parent = number ? *number == parent_shares : in_small_letters(field.value) == "parent";
        if (!number && !made_.shares_parent) {
            return mistake(std::string(field.text), "give a whole number from 0 to 2147483647, or parent");
        }
        made_.shares = made_.shares_parent ? 1 : *number;
        return Done{};
    }

    Status read_limit(const SlurmKey& key, std::string_view value, const std::string& text) {
        if (value == "-1") {
            return Done{};
        }
        const auto number = parse_integer(value, 0, number_max);
        if (!number) {
            return mistake(text, key.kind == LimitKind::wall_time
                                     ? "give whole minutes, as sacctmgr dump does"
                                     : "give a whole number from 0 to 4294967295, or -1 for no limit");
        }
        const auto kind = static_cast<std::size_t>(key.kind);
        SlurmLimits& into = key.use == KeyUse::own ? made_.own : made_.group;
        into.values[kind] = static_cast<std::uint64_t>(*number) * key.unit;
        into.texts.emplace_back(kind, text);
        return Done{};
    }

    /// "cpu=64,node=4,gres/gpu:a100=8".
    Status read_resources(const SlurmKey& key, const DumpField& field) {
        const std::string name(field.text.substr(0, field.key.size()));
        for (std::size_t begin = 0, end = 0; begin <= field.value.size(); begin = end + 1) {
            end = std::min(field.value.find(',', begin), field.value.size());
            const std::string_view item = field.value.substr(begin, end - begin);
            const std::size_t sign = item.find('=');
            if (sign == std::string_view::npos) {
                return mistake(std::string(field.text), "write resources as cpu=64,mem=100G");
            }
            const std::string resource = in_small_letters(item.substr(0, sign));
            const std::string text = name + "=" + std::string(item);
            if (resource != "cpu") {
                made_.remarks.push_back({text, resource == "node" ? node_why : ""});
            } else if (const Status read = read_limit(key, item.substr(sign + 1), text); !read) {
                return read;
            }
        }
        return Done{};
    }

    const DumpLine& line_;
    const std::string& file_;
    SlurmSettings made_;
};

}  // namespace

Result<SlurmSettings> slurm_settings(const DumpLine& line, const std::string& file) {
    return SettingsReader(line, file).read();
}

}  // namespace weir::cmd
