// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the JSON of the orders to the plugin. See messages_json.hpp.
#include <array>

#include "modules/job-route/messages_json.hpp"

namespace weir::route {
namespace {

constexpr std::array<const char*, 6> op_names{"give", "alloc", "start", "finish", "exception", "clean"};

}  // namespace

Json encode(const TapOp& op, const Json& R) {
    using Kind = TapOp::Kind;
    Json value = Json::object();
    value.set("id", op.id.value).set("op", op_names.at(static_cast<std::size_t>(op.kind)));
    switch (op.kind) {
        case Kind::give:
            value.set("child", op.child.value).set("queue", op.queue);
            break;
        case Kind::alloc: {
            Json weir = Json::object();
            weir.set("child", op.child.value).set("queue", op.queue).set("id", op.local.value);
            Json annotations = Json::object();
            annotations.set("weir", std::move(weir));
            value.set("R", R.share()).set("annotations", std::move(annotations));
            break;
        }
        case Kind::finish:
            value.set("status", op.status);
            break;
        case Kind::exception:
            value.set("type", op.type).set("severity", op.severity).set("note", op.note);
            break;
        case Kind::start:
        case Kind::clean:
            break;
    }
    return value;
}

}  // namespace weir::route
