// SPDX-License-Identifier: LGPL-3.0-only
// Owns: writing of KVS values and commits.
#include "libfairshare/base/json/kvs_value.hpp"

#include "libfairshare/base/base64.hpp"

namespace weir {
namespace {

Json operation(std::string_view key, Json dirent) {
    Json json = Json::object();
    json.set("key", key).set("flags", 0).set("dirent", std::move(dirent));
    return json;
}

}  // namespace

Json kvs_value(std::string_view bytes) {
    Json json = Json::object();
    json.set("ver", 1).set("type", "val").set("data", base64_encode(bytes));
    return json;
}

Json kvs_put(std::string_view key, std::string_view bytes) {
    return operation(key, kvs_value(bytes));
}

Json kvs_unlink(std::string_view key) {
    return operation(key, Json::own(json_null()));
}

Json kvs_commit(Json operations) {
    Json json = Json::object();
    json.set("namespace", "primary").set("flags", 0).set("ops", std::move(operations));
    return json;
}

}  // namespace weir
