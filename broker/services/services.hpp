/* SPDX-License-Identifier: LGPL-3.0-only
 * Owns: the entry points of the builtin modules. Each has the shape of mod_main (RFC 5) and is written against the
 * public Flux C API alone: the broker that hosts them is none of their business. */
#pragma once
#include <flux/core.h>

extern "C" {
int kvs_mod_main(flux_t* h, int argc, char** argv);
int resource_mod_main(flux_t* h, int argc, char** argv);
int job_manager_mod_main(flux_t* h, int argc, char** argv);
int job_exec_mod_main(flux_t* h, int argc, char** argv);
}
