// SPDX-License-Identifier: LGPL-3.0-only
// The ABI as our <flux/core.h> declares it.
#include <flux/core.h>
#include <flux/jobtap.h>

#include "t/unit/broker_api/abi_list.hpp"

AbiList abi_of_ours();
AbiList abi_of_ours() {
    return abi_all();
}
