// SPDX-License-Identifier: LGPL-3.0-only
// Owns: reading the two tables and the tree that one names.
#include "cmd/sim/policy_file.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>

#include "cmd/common/sha256.hpp"
#include "cmd/common/text.hpp"
#include "cmd/sim/policy_settings_json.hpp"
#include "libfairshare/base/json/json.hpp"
#include "libfairshare/base/nearest_name.hpp"
#include "libfairshare/base/text/text_file.hpp"
#include "libfairshare/base/text/toml_json.hpp"
#include "libfairshare/toml/share_tree_toml.hpp"
#include "libsched/sim/priority_order.hpp"

namespace weir::cmd {
namespace {

/// The text, which is noted as a source of `file`.
Result<std::string> text_of(const std::string& path, PolicyFile& file) {
    auto text = read_text_file(path);
    if (!text) {
        return Error{std::errc::no_such_file_or_directory, path + ": " + text.error().message + "."};
    }
    file.source.files.push_back({path, sha256_of(*text)});
    return text;
}

/// Other than that of submission.
bool has_order(const PolicyFile& file) {
    return file.settings && file.settings->policy != PolicyKind::fcfs;
}

/// All that is in force, [sim] and [weir].
std::string settings_text(const PolicyFile& file, const json_t* weir) {
    Json out = Json::object(), sim = Json::object();
    sim.set("scheduler", name_of(file.scheduler));
    if (file.settings && !file.tree) {
        sim.set("shares", file.has_groups ? "groups" : "users");
    }
    if (!file.site_path.empty()) {
        sim.set("site-values", file.site_path);
    }
    if (has_order(file) && !file.partitions && !file.queues.named.empty()) {
        sim.set("queues", queues_json(file.queues));
    }
    if (has_order(file) && !file.partitions && !file.queues.otherwise.empty()) {
        sim.set("default-queue", file.queues.otherwise);
    }
    out.set("sim", std::move(sim));
    if (file.settings) {
        out.set("weir", settings_in_force(file.settings->policy, weir));
    }
    if (file.partitions) {
        out.set("partitions", settings_json(*file.partitions));
    }
    return out.dump(JSON_COMPACT | JSON_SORT_KEYS);  // equal settings are equal text
}

/// Of [sim], for read_site_partitions().
constexpr std::array<std::string_view, 4> partition_keys{"link-delay", "report-interval", "queues", "default-queue"};

/// [sim], key by key; complaints one a line.
class SimTable {
  public:
    explicit SimTable(const TomlPlaces& places) : places_(places) {}

    void read(const json_t* table, PolicyFile& into) {
        const char* key = nullptr;
        json_t* value = nullptr;
        json_object_foreach(const_cast<json_t*>(table), key, value) {  // it only walks
            read_key(key, value, into);
        }
    }
    const std::string& complaints() const { return complaints_; }

  private:
    void read_key(const std::string& key, json_t* value, PolicyFile& into) {
        if (key == "scheduler") {
            const auto policy = policy_named(json_is_string(value) ? json_string_value(value) : "");
            if (!json_is_string(value)) {
                complain(key, value, "must be the name of a scheduler in quotes, such as \"easy\"");
            } else if (policy) {
                into.scheduler = *policy;
            } else {
                complain(key, value, policy.error().message);
            }
        } else if (key == "cores") {
            if (json_is_integer(value) && json_integer_value(value) > 0 && json_integer_value(value) <= 0xFFFFFFFFLL) {
                into.cores = json_integer_value(value);
            } else {
                complain(key, value, "must be a whole number from 1 to 4294967295");
            }
        } else if (key == "name") {
            if (json_is_string(value) && json_string_length(value) > 0 && json_string_length(value) <= 40) {
                into.name = json_string_value(value);
            } else {
                complain(key, value, "must be text of 1 to 40 characters in quotes");
            }
        } else if (key == "shares") {
            const std::string name = json_is_string(value) ? json_string_value(value) : "";
            if (name == "users" || name == "groups") {
                into.has_groups = name == "groups";
            } else {
                complain(key, value, "must be \"users\" or \"groups\", which have equal shares without a tree");
            }
        } else if (key == "site-values") {
            if (json_is_string(value) && json_string_length(value) > 0) {
                into.site_path = json_string_value(value);
            } else {
                complain(key, value, "must be a file's name in quotes: its lines are a job's number and its value");
            }
        } else if (std::find(partition_keys.begin(), partition_keys.end(), key) == partition_keys.end()) {
            complain(key, value,
                     "unknown key; the keys of [sim] are scheduler, cores, name, shares and site-values, and for "
                     "partitions link-delay, report-interval, queues and default-queue");
        }
    }
    void complain(const std::string& key, json_t* value, const std::string& right) {
        complaints_ += (complaints_.empty() ? "" : "\n") + places_.of("sim." + key) + "[sim] " + key + " = " +
                       Json::ref(value).dump() + ": " + right;
    }

    const TomlPlaces& places_;
    std::string complaints_;
};

/// [weir], unless it has only [weir.route], which is no order of the queue.
const json_t* with_order(const json_t* weir) {
    const bool is_route = json_object_size(weir) == 1 && json_object_get(weir, "route") != nullptr;
    return is_route ? nullptr : weir;
}

/// A file that a key of the policy file names. Error: begins with `key`, the key's place and value.
Result<std::string> named_text(const std::string& path, const std::string& key, PolicyFile& file) {
    auto text = text_of(path, file);
    return text ? text : Error{text.error().code, key + ": " + text.error().message};
}

std::string beside(const PolicyFile& file, const std::string& name) {
    return (std::filesystem::path(file.path).parent_path() / name).string();
}

Status read_tree(const TomlPlaces& places, PolicyFile& file) {
    if (!file.settings->is_share_tree_named) {
        return Done{};
    }
    const std::string& name = file.settings->share_tree;
    file.tree_path = beside(file, name);
    const auto text =
        named_text(file.tree_path, places.of("weir.share-tree") + "[weir] share-tree = \"" + name + "\"", file);
    if (!text) {
        return text.error();
    }
    auto tree = parse_share_tree(*text, file.tree_path);
    if (const auto* bad = std::get_if<Diagnostics>(&tree)) {
        return Error{std::errc::invalid_argument, to_string(*bad)};
    }
    file.tree = std::move(std::get<ShareTree>(tree));
    return Done{};
}

Status read_site_values(const TomlPlaces& places, PolicyFile& file) {
    if (file.site_path.empty()) {
        return Done{};
    }
    const std::string path = beside(file, file.site_path);
    const auto text =
        named_text(path, places.of("sim.site-values") + "[sim] site-values = \"" + file.site_path + "\"", file);
    if (!text) {
        return text.error();
    }
    auto values = SiteValues::read(*text, path);
    if (!values) {
        return values.error();
    }
    file.site = std::make_shared<const SiteValues>(std::move(*values));
    return Done{};
}

/// [[partition]], and what [sim] says of them and of queues. Complaints, one a line.
std::string read_partitions(const json_t* document, const TomlPlaces& places, PolicyFile& file) {
    auto site = read_site_partitions(document, places);
    if (!site) {
        return site.error().message;
    }
    file.queues = site->queues;
    if (!site->partitions.empty()) {
        file.partitions = std::move(*site);
    }
    return "";
}

void note_partitions(const json_t* sim, PolicyFile& file) {
    if (file.partitions) {
        file.warnings.insert(file.warnings.end(), file.partitions->warnings.begin(), file.partitions->warnings.end());
        return;
    }
    for (const std::string_view key : partition_keys) {
        const bool is_name = key == "queues" || key == "default-queue";  // by which an order knows queues too
        if (json_object_get(sim, key.data()) != nullptr && !(is_name && has_order(file))) {
            file.warnings.push_back("[sim] " + std::string(key) + " has no effect without [[partition]]" +
                                    (is_name ? " or an order of the queue in [weir]." : "."));
        }
    }
}

/// Tables with a name that is nearly one of a policy. Others may be of the configuration of an instance.
std::vector<std::string> mistyped_tables(const json_t* document, const TomlPlaces& places) {
    static constexpr std::array<std::string_view, 3> known{"weir", "sim", "partition"};
    std::vector<std::string> warnings;
    const char* name = nullptr;
    json_t* value = nullptr;
    json_object_foreach(const_cast<json_t*>(document), name, value) {  // it only walks
        const std::string nearest = nearest_name(name, known);
        if (!nearest.empty() && nearest != name) {
            warnings.push_back(places.of(name) + "[" + name + "] has no effect: unknown here; did you mean [" +
                               nearest + "]?");
        }
    }
    return warnings;
}

/// Settings without effect, each with the file.
std::vector<std::string> warnings_of(const json_t* document, const TomlPlaces& places, const PolicyFile& file) {
    std::vector<std::string> warnings = mistyped_tables(document, places);
    for (const std::string& warning : file.warnings) {
        warnings.push_back(file.path + ": " + warning);
    }
    return warnings;
}

}  // namespace

LogNames log_names(const PolicyFile& file, const LogNames& log) {
    LogNames names = log;
    for (const auto& [name, id] : file.settings ? file.settings->users : std::map<std::string, std::uint32_t>{}) {
        names.users[id] = name;
    }
    for (const auto& [number, name] : file.queues.named) {
        names.queues.named[number] = name;
    }
    names.queues.otherwise = file.queues.otherwise;
    return names;
}

LogShares log_shares(const PolicyFile& file, const LogNames& log) {
    if (!file.tree) {
        return file.has_groups ? LogShares::of_groups() : LogShares::of_users();
    }
    const LogNames names = log_names(file, log);
    return LogShares(*file.tree, names.users, names.accounts);
}

Result<std::unique_ptr<QueueOrder>> queue_order(const PolicyFile& file, std::int64_t cores, const LogNames& log) {
    return make_priority_order(*file.settings, cores, log_shares(file, log), file.site, log_names(file, log));
}

namespace {

/// The log's name of a job's account; empty: none.
std::string named_account(const LogNames& names, const SimJob& job) {
    const bool is_named = job.group > 0 && job.group <= names.accounts.size();
    return is_named ? names.accounts[job.group - 1] : job.group > 0 ? names.of_account(job).back() : "";
}

/// The path of the account that is charged, as LogShares finds it, but the tree stays as it is: several threads ask.
std::string charged_account(const ShareTree& tree, const LogNames& names, const SimJob& job) {
    if (const std::string name = named_account(names, job); !name.empty()) {
        if (const auto named = tree.account(name)) {
            return tree.path(*named);
        }
    }
    const bool has_name = names.users.contains(job.user);
    const auto payer = tree.association("", has_name ? names.users.at(job.user) : "u" + std::to_string(job.user));
    return payer ? tree.path(payer->account) : "";
}

/// At any level.
bool do_rules_name_accounts(const std::vector<SimPartition>& partitions) {
    return std::any_of(partitions.begin(), partitions.end(), [](const SimPartition& one) {
        return !one.rules.accounts.empty() || do_rules_name_accounts(one.partitions);
    });
}

}  // namespace

Result<SimTree> tree_of(const PolicyFile& file, const Policy& scheduler, std::int64_t cores, const LogNames& log) {
    auto tree = tree_of(*file.partitions, scheduler, cores, log.queues);
    if (!tree) {
        return Error{tree.error().code, file.path + ": " + tree.error().message};
    }
    if (!do_rules_name_accounts(tree->partitions)) {
        return tree;  // nobody asks for accounts, and a name that the tree does not have takes long
    }
    tree->account_of = [names = log_names(file, log), shares = file.tree](const SimJob& job) {
        return shares ? charged_account(*shares, names, job) : named_account(names, job);
    };
    return tree;
}

std::string read_name(const std::string& name) {
    std::string read;
    for (const char c : printable(name)) {
        const bool is_blank = c == ' ';
        if (!is_blank || (!read.empty() && read.back() != ' ')) {
            read += c;
        }
    }
    return !read.empty() && read.back() == ' ' ? read.substr(0, read.size() - 1) : read;
}

Result<PolicyFile> read_policy_file(const std::string& path) {
    PolicyFile file;
    file.path = path;
    file.name = std::filesystem::path(path).stem().string();
    const auto text = text_of(path, file);
    if (!text) {
        return text.error();
    }
    TomlPlaces places;
    const auto document = toml_to_json(*text, path, &places);
    if (!document) {
        return document.error();
    }
    const Json owned = Json::own(*document);
    const json_t* sim = json_object_get(owned.get(), "sim");
    const json_t* weir = with_order(json_object_get(owned.get(), "weir"));
    if (!json_is_object(sim) && weir == nullptr && json_object_get(owned.get(), "partition") == nullptr) {
        std::string mistyped;
        for (const std::string& warning : mistyped_tables(owned.get(), places)) {
            mistyped += warning + "\n";
        }
        return Error{std::errc::invalid_argument,
                     mistyped + path +
                         ": no policy: write a table [sim] with the scheduler (scheduler = \"easy\"), a table [weir] "
                         "with the order of the queue, tables [[partition]], or all of them."};
    }
    SimTable table(places);
    table.read(sim, file);
    std::string complaints = table.complaints();
    if (weir != nullptr) {
        auto settings =
            config::read_settings(weir, {}, [&](const std::string& key) { return places.of("weir." + key); });
        if (settings) {
            file.settings = std::move(*settings);
        } else {
            complaints += (complaints.empty() ? "" : "\n") + settings.error().message;
        }
    }
    const std::string of_partitions = read_partitions(owned.get(), places, file);
    complaints += (complaints.empty() || of_partitions.empty() ? "" : "\n") + of_partitions;
    if (!complaints.empty()) {
        return Error{std::errc::invalid_argument, complaints};
    }
    if (auto read = read_site_values(places, file); !read) {
        return read.error();
    }
    if (file.settings) {
        if (auto read = read_tree(places, file); !read) {
            return read.error();
        }
        file.warnings = policy_warnings(*file.settings, log_facts(file.site != nullptr));
    }
    note_partitions(sim, file);
    file.warnings = warnings_of(owned.get(), places, file);
    file.source.settings = settings_text(file, weir);
    return file;
}

}  // namespace weir::cmd
