// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the form in which messages to and from the KVS carry a value. Must not know what the value is.
// Source: RFC 11 (tree objects of type val), RFC 4648 (base64), flux-core's kvs.commit.
#pragma once
#include <string_view>

#include "libfairshare/base/json/json.hpp"

namespace weir {

/// {"ver": 1, "type": "val", "data": base64 of the bytes}
Json kvs_value(std::string_view bytes);
/// The operation of a commit that stores the bytes at `key`.
Json kvs_put(std::string_view key, std::string_view bytes);
/// The operation of a commit that removes `key`.
Json kvs_unlink(std::string_view key);
/// The payload of kvs.commit: these operations as one transaction in the primary namespace.
Json kvs_commit(Json operations);

}  // namespace weir
