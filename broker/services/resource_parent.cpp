// SPDX-License-Identifier: LGPL-3.0-only
// Owns: asking the parent instance for this instance's allocation. Must not know other sources.
#include "broker/services/resource_source.hpp"
#include "broker/services/service.hpp"

namespace weir::broker {

Result<Inventory> parent_inventory(const std::string& uri, const std::string& jobid) {
    flux_jobid_t id = 0;
    if (flux_job_id_parse(jobid.c_str(), &id) < 0) {
        return Error{std::errc::invalid_argument, "the attribute jobid is no job id: " + jobid};
    }
    flux_error_t why{};
    const std::unique_ptr<flux_t, FluxDeleter> parent(flux_open_ex(uri.c_str(), 0, &why));
    if (!parent) {
        return Error{static_cast<std::errc>(errno), "cannot connect to the parent " + uri + ": " + why.text};
    }
    const Future lookup(flux_rpc_pack(parent.get(), "job-info.lookup", FLUX_NODEID_ANY, 0, "{s:I s:[s] s:i}", "id",
                                      static_cast<json_int_t>(id), "keys", "R", "flags", 0));
    const char* text = nullptr;
    if (!lookup || flux_rpc_get_unpack(lookup.get(), "{s:s}", "R", &text) < 0) {
        const char* what = lookup ? flux_future_error_string(lookup.get()) : nullptr;
        return Error{static_cast<std::errc>(errno), "the parent does not report the allocation of " + jobid + ": " +
                                                        (what != nullptr ? what : flux_strerror(errno))};
    }
    auto inventory = inventory_from_r(Json::parse_payload(text));
    // The parent's cores may be others after a restart, but the numbers in the R of the child's jobs must stay valid.
    return inventory ? Result<Inventory>(inventory->numbered_from_zero())
                     : Result<Inventory>(Error{std::errc::protocol_error, "the parent's " + inventory.error().message});
}

}  // namespace weir::broker
