// SPDX-License-Identifier: LGPL-3.0-only
// What the builtin services read of requests: the first byte chooses (x jobspec and R to execute, r R of a parent,
// b base64, d duration, i idset, h hostlist, k KVS keys a line, u bytes that must become UTF-8).
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "broker/services/exec_spec.hpp"
#include "broker/services/job_output.hpp"
#include "broker/services/kvs_store.hpp"
#include "broker/services/resource_inventory.hpp"
#include "libfairshare/base/base64.hpp"
#include "libfairshare/base/check.hpp"
#include "libfairshare/base/fsd.hpp"
#include "libfairshare/base/hostlist.hpp"
#include "libfairshare/base/id_set.hpp"
#include "libfairshare/base/json/json.hpp"

using weir::Json;
using namespace weir::broker;

namespace {

void try_json(char kind, const Json& value) {
    if (kind == 'x') {
        (void)read_exec_spec(value.at("jobspec"), value.at("R"));
    } else if (const auto inventory = inventory_from_r(value)) {
        const auto again = inventory_from_r(inventory->to_r());
        WEIR_CHECK(inventory->nodes.empty() || again.has_value());
        WEIR_CHECK(inventory->numbered_from_zero().core_count() == inventory->core_count());
    }
}

void try_keys(std::string_view text) {
    KvsStore store;
    while (!text.empty()) {
        const std::string_view line = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(line.size() + 1, text.size()));
        const std::string_view key = line.empty() ? line : line.substr(1);
        if (!line.empty() && line[0] == '-') {
            store.unlink(key);
        } else if (store.put(key, line, !line.empty() && line[0] == '+')) {
            WEIR_CHECK(store.lookup(key).has_value());
        }
        (void)store.list(key);
        WEIR_CHECK(KvsStore::normal(KvsStore::normal(key)) == KvsStore::normal(key));
    }
}

void try_text(char kind, std::string_view text) {
    if (kind == 'b') {
        if (const auto bytes = weir::base64_decode(text)) {
            WEIR_CHECK(*weir::base64_decode(weir::base64_encode(*bytes)) == *bytes);
        }
    } else if (kind == 'd') {
        (void)weir::parse_fsd(text);
    } else if (kind == 'i') {
        if (const auto ids = weir::IdSet::parse(text)) {
            const auto again = weir::IdSet::parse(ids->encode());
            WEIR_CHECK(again && *again == *ids);
        }
    } else if (kind == 'h') {
        if (const auto hosts = weir::hostlist_decode(text)) {
            (void)weir::hostlist_encode(*hosts);
        }
    } else if (kind == 'k') {
        try_keys(text);
    } else if (kind == 'u') {
        const std::string valid = to_utf8(std::string(text));
        WEIR_CHECK(to_utf8(valid) == valid);
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) {
        return 0;
    }
    const char kind = static_cast<char>(data[0]);
    const std::string_view rest(reinterpret_cast<const char*>(data) + 1, size - 1);
    if (kind == 'x' || kind == 'r') {
        if (const Json value = Json::parse_payload(rest)) {
            try_json(kind, value);
        }
    } else {
        try_text(kind, rest);
    }
    return 0;
}
