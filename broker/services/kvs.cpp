// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the service "kvs": the subset of the KVS protocol that schedulers and job tools use: commit of values with or
// without append, of directories and of links, unlinking of a key or a whole directory, lookup of values,
// directories and links, namespaces. In memory.
// Must not know what is stored.
// Source: flux-core libkvs (kvs.commit, kvs.lookup, kvs.namespace-*), RFC 11.
#include <unistd.h>

#include <cstdio>
#include <map>
#include <utility>
#include <variant>
#include <vector>

#include "broker/services/kvs_store.hpp"
#include "broker/services/service.hpp"
#include "broker/services/services.hpp"
#include "libfairshare/base/base64.hpp"
#include "libfairshare/base/json/kvs_value.hpp"

namespace weir::broker {
namespace {

constexpr json_int_t flag_readdir = 1;
constexpr json_int_t flag_readlink = 2;
constexpr json_int_t flag_treeobj = 16;
constexpr json_int_t flag_append = 32;
constexpr int links_max = 10;    ///< on the way to one key, as in a stock Flux
constexpr int levels_max = 100;  ///< of a directory that is read as a whole

Json directory(Json entries) {
    Json json = Json::object();
    json.set("ver", 1).set("type", "dir").set("data", std::move(entries));
    return json;
}

Error bad_request(const std::string& right) {
    return {std::errc::protocol_error, right};
}

Json symlink(const KvsLink& link) {
    Json data = Json::object(), json = Json::object();
    data.set("target", link.target);
    if (!link.space.empty()) {
        data.set("namespace", link.space);
    }
    json.set("ver", 1).set("type", "symlink").set("data", std::move(data));
    return json;
}

/// The directory with all that is in it, at any level, so that it can be copied. EFBIG: it has too many levels.
Result<Json> tree_of(const KvsStore& store, const std::string& key, int levels = 1) {
    const auto entries = store.list(key);
    if (!entries) {
        return entries.error();
    }
    if (levels > levels_max) {
        return Error{std::errc::file_too_large, "key " + key + " is in too many directories"};
    }
    Json data = Json::object();
    for (const auto& entry : *entries) {
        const std::string path = key + "." + entry.name;
        auto value = entry.link     ? Result<Json>(symlink(*entry.link))
                     : entry.is_dir ? tree_of(store, path, levels + 1)
                                    : Result<Json>(kvs_value(*store.lookup(path)));
        if (!value) {
            return value;
        }
        data.set(entry.name.c_str(), std::move(*value));
    }
    return directory(std::move(data));
}

/// Of a commit.
struct Operation;
struct Unlinking {};
struct NewDirectory {
    std::vector<Operation> inside;  ///< the keys are names in it
};
struct NewValue {
    std::string bytes;
    bool append = false;
};
using Written = std::variant<Unlinking, NewDirectory, KvsLink, NewValue>;

/// One write of a commit, decoded.
struct Operation {
    std::string key;
    Written written;
};

/// A key, all links on the way to it followed.
struct KvsPlace {
    KvsStore* store;
    std::string key;
};

Result<Written> written_in(const std::string& key, const Json& dirent, bool append);

/// The depth is bounded by that of a JSON text.
Result<Written> directory_in(const std::string& key, json_t* data) {
    NewDirectory made;
    const char* name = nullptr;
    json_t* dirent = nullptr;
    json_object_foreach(data, name, dirent) {
        if (KvsStore::normal(name) != name || std::string_view(name).find('.') != std::string_view::npos) {
            return bad_request("key " + key + ": a name in a directory is not empty and has no dot");
        }
        auto written = written_in(key + "." + name, Json::ref(dirent), false);
        if (!written) {
            return written;
        }
        made.inside.push_back({name, std::move(*written)});
    }
    return Written(std::move(made));
}

Result<Written> written_in(const std::string& key, const Json& dirent, bool append) {
    const std::string type = dirent.string_at("type").value_or("none");
    const Json data = dirent.at("data");
    if (type == "dir" && json_is_object(data.get())) {
        return directory_in(key, data.get());
    }
    if (const auto target = data ? data.string_at("target") : std::nullopt; type == "symlink" && target) {
        return Written(KvsLink{*target, data.string_at("namespace").value_or("")});
    }
    const auto text = dirent.string_at("data");
    const auto bytes = type == "val" && text ? base64_decode(*text) : Result<std::string>(Error{});
    if (!bytes) {
        return Error{std::errc::not_supported, "key " + key + ": a treeobj of type " + type +
                                                   ": weir-broker leaves it out, for values are kept in memory, not by "
                                                   "content; it takes val with base64 data, symlink and dir"};
    }
    return Written(NewValue{*bytes, append});
}

Result<Operation> read_operation(const Json& op) {
    const auto key = op.string_at("key");
    const Json dirent = op.at("dirent");
    if (!key || !dirent) {
        return bad_request("each operation of kvs.commit is {key:s, flags:i, dirent:treeobj or null}");
    }
    if (json_is_null(dirent.get())) {
        return Operation{*key, Unlinking{}};
    }
    auto written = written_in(*key, dirent, (op.integer_at("flags").value_or(0) & flag_append) != 0);
    return written ? Result<Operation>(Operation{*key, std::move(*written)}) : written.error();
}

Status carry_out(KvsStore& store, const Operation& operation) {
    if (const auto* value = std::get_if<NewValue>(&operation.written)) {
        return store.put(operation.key, value->bytes, value->append);
    }
    if (const auto* link = std::get_if<KvsLink>(&operation.written)) {
        return store.make_link(operation.key, *link);
    }
    if (const auto* made = std::get_if<NewDirectory>(&operation.written)) {
        Status done = store.make_dir(operation.key);
        for (std::size_t i = 0; done && i < made->inside.size(); ++i) {
            done = carry_out(store, {operation.key + "." + made->inside[i].key, made->inside[i].written});
        }
        return done;
    }
    store.unlink(operation.key);
    return Done{};
}

class Kvs {
  public:
    explicit Kvs(flux_t* h) : h_(h) { stores_["primary"]; }

    Status start() {
        using T = Kvs;
        const flux_msg_handler_spec table[] = {
            {FLUX_MSGTYPE_REQUEST, "kvs.commit", on_message<T, &T::commit>, 0},
            {FLUX_MSGTYPE_REQUEST, "kvs.lookup", on_message<T, &T::lookup>, 0},
            {FLUX_MSGTYPE_REQUEST, "kvs.getroot", on_message<T, &T::getroot>, 0},
            {FLUX_MSGTYPE_REQUEST, "kvs.namespace-create", on_message<T, &T::namespace_create>, 0},
            {FLUX_MSGTYPE_REQUEST, "kvs.namespace-remove", on_message<T, &T::namespace_remove>, 0},
            {FLUX_MSGTYPE_REQUEST, "kvs.namespace-list", on_message<T, &T::namespace_list>, 0},
            {FLUX_MSGTYPE_REQUEST, "kvs.stats-get", on_message<T, &T::stats>, FLUX_ROLE_USER},
            FLUX_MSGHANDLER_TABLE_END,
        };
        return handlers_.add(h_, table, this);
    }

  private:
    Result<KvsStore*> store_of(const Json& payload) {
        return store_named(payload.string_at("namespace").value_or("primary"));
    }

    Result<KvsStore*> store_named(const std::string& name) {
        const auto it = stores_.find(name);
        if (it == stores_.end()) {
            return Error{std::errc::not_supported, "there is no KVS namespace " + name};
        }
        return &it->second;
    }

    /// \return ELOOP for too many links.
    Result<KvsPlace> followed(KvsPlace place, bool with_last) {
        for (int links = 0; links <= links_max; links++) {
            const auto step = place.store->step(place.key, with_last);
            if (!step) {
                return place;
            }
            const auto store =
                step->link.space.empty() ? Result<KvsStore*>(place.store) : store_named(step->link.space);
            if (!store) {
                return store.error();
            }
            place = {*store, step->link.target + step->rest};
        }
        return Error{std::errc::too_many_symbolic_link_levels, "key " + place.key + ": links lead on and on"};
    }

    Status apply(const Json& payload) {
        const auto store = store_of(payload);
        if (!store) {
            return store.error();
        }
        const Json ops = payload.at("ops");
        if (!json_is_array(ops.get())) {
            return bad_request("kvs.commit takes {namespace:s, flags:i, ops:[...]}");
        }
        std::vector<std::pair<KvsStore*, Operation>> todo;
        std::size_t i = 0;
        json_t* op = nullptr;
        json_array_foreach(ops.get(), i, op) {  // all are checked before any is done
            auto operation = read_operation(Json::ref(op));
            if (!operation) {
                return operation.error();
            }
            auto place = followed({*store, operation->key}, false);
            if (!place) {
                return place.error();
            }
            operation->key = place->key;
            const auto* value = std::get_if<NewValue>(&operation->written);
            const auto present = place->store->lookup(operation->key);
            if (value != nullptr && value->append && !present && present.error().code == std::errc::is_a_directory) {
                return present.error();
            }
            todo.emplace_back(place->store, std::move(*operation));
        }
        for (const auto& [into, operation] : todo) {
            if (auto done = carry_out(*into, operation); !done) {
                return done;
            }
        }
        (*store)->commit();
        return Done{};
    }

    static Json root_of(const KvsStore& store) {
        const auto sequence = static_cast<json_int_t>(store.sequence());
        // A blobref by form, which clients check; it names the commit, since values are not stored by content here.
        char rootref[64];
        std::snprintf(rootref, sizeof rootref, "sha1-%040llx", static_cast<unsigned long long>(sequence));
        return Json::own(json_pack("{s:s s:I}", "rootref", rootref, "rootseq", sequence));
    }

    void commit(const flux_msg_t* msg) {
        const Json payload = payload_of(msg);
        const Status done = apply(payload);
        if (done) {
            respond(h_, msg, root_of(**store_of(payload)));
        } else {
            respond(h_, msg, done.error());
        }
    }

    Result<Json> read(const Json& payload) {
        const auto store = store_of(payload);
        const auto key = payload.string_at("key");
        const json_int_t flags = payload.integer_at("flags").value_or(0);
        if (!store) {
            return store.error();
        }
        if (!key) {
            return bad_request("kvs.lookup takes {key:s, namespace:s, flags:i}");
        }
        const bool is_link_wanted = (flags & (flag_readlink | flag_treeobj)) != 0;
        const auto place = followed({*store, *key}, !is_link_wanted);
        if (!place) {
            return place.error();
        }
        if (const auto step = place->store->step(place->key, true); step) {
            return symlink(step->link);
        }
        const auto value = place->store->lookup(place->key);
        if (value && (flags & flag_readlink) != 0) {
            return Error{std::errc::invalid_argument, "key " + *key + " is no link"};
        }
        const bool is_value = value.has_value();
        if (is_value && (flags & flag_readdir) == 0) {
            return kvs_value(*value);
        }
        if (!is_value && (flags & (flag_readdir | flag_treeobj)) == 0) {
            return value.error();
        }
        if ((flags & flag_readdir) == 0) {
            return tree_of(*place->store, place->key);
        }
        const auto entries = place->store->list(place->key);
        if (!entries) {
            return entries.error();
        }
        Json data = Json::object();
        for (const auto& entry : *entries) {
            data.set(entry.name.c_str(), entry.link     ? symlink(*entry.link)
                                         : entry.is_dir ? directory(Json::object())
                                                        : kvs_value(""));
        }
        return directory(std::move(data));
    }

    void lookup(const flux_msg_t* msg) {
        auto value = read(payload_of(msg));
        if (!value) {
            respond(h_, msg, value.error());
            return;
        }
        Json answer = Json::object();
        answer.set("val", std::move(*value));
        respond(h_, msg, answer);
    }

    void getroot(const flux_msg_t* msg) {
        const auto store = store_of(payload_of(msg));
        if (!store) {
            respond(h_, msg, store.error());
            return;
        }
        Json root = root_of(**store);
        root.set("flags", 0).set("owner", static_cast<json_int_t>(getuid()));
        respond(h_, msg, root);
    }

    void namespace_create(const flux_msg_t* msg) {
        const auto name = payload_of(msg).string_at("namespace");
        if (!name || name->empty()) {
            respond(h_, msg, bad_request("kvs.namespace-create takes {namespace:s}"));
        } else if (!stores_.emplace(*name, KvsStore()).second) {
            respond(h_, msg, Error{std::errc::file_exists, "KVS namespace " + *name + " is there already"});
        } else {
            flux_respond(h_, msg, nullptr);
        }
    }

    void namespace_remove(const flux_msg_t* msg) {
        const auto name = payload_of(msg).string_at("namespace");
        if (!name || *name == "primary") {
            respond(h_, msg,
                    Error{std::errc::invalid_argument, "kvs.namespace-remove takes {namespace:s}, and not primary"});
            return;
        }
        stores_.erase(*name);
        flux_respond(h_, msg, nullptr);
    }

    void namespace_list(const flux_msg_t* msg) {
        Json names = Json::array();
        for (const auto& [name, store] : stores_) {
            names.append(std::move(Json::object().set("namespace", name).set("owner", -1).set("flags", 0)));
        }
        Json answer = Json::object();
        answer.set("namespaces", std::move(names));
        respond(h_, msg, answer);
    }

    // Guest: reads counts of keys and bytes.
    void stats(const flux_msg_t* msg) {
        Json all = Json::object();
        for (const auto& [name, store] : stores_) {
            json_object_set_new(all.get(), name.c_str(),
                                json_pack("{s:I s:I s:I}", "keys", static_cast<json_int_t>(store.size()), "bytes",
                                          static_cast<json_int_t>(store.bytes()), "commits",
                                          static_cast<json_int_t>(store.sequence())));
        }
        respond(h_, msg, all);
    }

    flux_t* h_;
    Handlers handlers_;
    std::map<std::string, KvsStore> stores_;
};

}  // namespace
}  // namespace weir::broker

extern "C" int kvs_mod_main(flux_t* h, int, char**) {
    return weir::broker::run_service<weir::broker::Kvs>(h);
}
