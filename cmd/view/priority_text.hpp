// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the priority of a pending job with reasons: the requests for it, and its text.
#pragma once
#include <jansson.h>

#include <cstdint>
#include <string>

#include "cmd/common/client.hpp"
#include "cmd/common/terminal.hpp"

namespace weir::cmd {

/// job-priority.explain's answer, and in `scheduler` why the job waits. Of a job that the parent gave its priority this
/// is the parent's answer, where it can be asked; `here` is then `id`. Errors: ENOENT for a job that is not pending.
Result<Json> explained_job(Client& client, std::uint64_t id);
/// Its terms, the jobs ahead of it, sentences.
std::string priority_text(const json_t* answer, const Screen& screen);

}  // namespace weir::cmd
