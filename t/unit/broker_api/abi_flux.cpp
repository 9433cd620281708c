// SPDX-License-Identifier: LGPL-3.0-only
// The ABI as flux-core's own headers declare it. Compiled only where they are installed.
#include <flux/core.h>
#include <flux/jobtap.h>

#include "t/unit/broker_api/abi_list.hpp"

AbiList abi_of_flux();
AbiList abi_of_flux() {
    return abi_all();
}
