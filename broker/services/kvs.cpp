// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the service "kvs": the subset of the KVS protocol that schedulers and job tools use: commit of values with or
// without append, unlinking of a key or a whole directory, lookup of values and directories, namespaces. In memory.
// Must not know what is stored.
// Source: flux-core libkvs (kvs.commit, kvs.lookup, kvs.namespace-*), RFC 11.
#include <unistd.h>

#include <cstdio>
#include <map>

#include "broker/services/kvs_store.hpp"
#include "broker/services/service.hpp"
#include "broker/services/services.hpp"
#include "libfairshare/base/base64.hpp"
#include "libfairshare/base/json/kvs_value.hpp"

namespace weir::broker {
namespace {

constexpr json_int_t flag_readdir = 1;
constexpr json_int_t flag_treeobj = 16;
constexpr json_int_t flag_append = 32;

Json directory(Json entries) {
    Json json = Json::object();
    json.set("ver", 1).set("type", "dir").set("data", std::move(entries));
    return json;
}

Error bad_request(const std::string& right) {
    return {std::errc::protocol_error, right};
}

/// One write of a commit, decoded: nothing to be written means unlink.
struct Operation {
    std::string key;
    std::optional<std::string> bytes;
    bool append = false;
};

Result<Operation> read_operation(const Json& op) {
    const auto key = op.string_at("key");
    const Json dirent = op.at("dirent");
    if (!key || !dirent) {
        return bad_request("each operation of kvs.commit is {key:s, flags:i, dirent:treeobj or null}");
    }
    Operation out{*key, std::nullopt, (op.integer_at("flags").value_or(0) & flag_append) != 0};
    if (json_is_null(dirent.get())) {
        return out;
    }
    const std::string type = dirent.string_at("type").value_or("none");
    const auto data = dirent.string_at("data");
    const auto bytes = type == "val" && data ? base64_decode(*data) : Result<std::string>(Error{});
    if (!bytes) {
        return Error{std::errc::not_supported,
                     "key " + *key + ": this KVS stores treeobjs of type val with base64 data, not " + type};
    }
    out.bytes = *bytes;
    return out;
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
        const std::string name = payload.string_at("namespace").value_or("primary");
        const auto it = stores_.find(name);
        if (it == stores_.end()) {
            return Error{std::errc::not_supported, "there is no KVS namespace " + name};
        }
        return &it->second;
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
        std::vector<Operation> todo;
        std::size_t i = 0;
        json_t* op = nullptr;
        json_array_foreach(ops.get(), i, op) {  // all are checked before any is done
            auto operation = read_operation(Json::ref(op));
            if (!operation) {
                return operation.error();
            }
            const auto present = (*store)->lookup(operation->key);
            if (operation->bytes && !present && present.error().code == std::errc::is_a_directory) {
                return present.error();
            }
            todo.push_back(std::move(*operation));
        }
        for (const Operation& operation : todo) {
            if (!operation.bytes) {
                (*store)->unlink(operation.key);
            } else if (auto put = (*store)->put(operation.key, *operation.bytes, operation.append); !put) {
                return put.error();
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
        const auto value = (*store)->lookup(*key);
        const bool is_value = value.has_value();
        if (is_value && (flags & flag_readdir) == 0) {
            return kvs_value(*value);
        }
        if (!is_value && (flags & (flag_readdir | flag_treeobj)) == 0) {
            return value.error();
        }
        const auto entries = (*store)->list(*key);
        if (!entries) {
            return entries.error();
        }
        Json data = Json::object();
        for (const auto& entry : *entries) {
            data.set(entry.name.c_str(), entry.is_dir ? directory(Json::object()) : kvs_value(""));
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
