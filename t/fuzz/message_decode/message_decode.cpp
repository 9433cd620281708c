// SPDX-License-Identifier: LGPL-3.0-only
// Fuzz target of the message decoder and of the frames around it.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "broker/api/message.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    const auto msg = weir::broker::decode({reinterpret_cast<const char*>(data), size});
    if (msg) {
        // What was accepted must encode to a message that is accepted and encodes to the same bytes.
        const std::string once = weir::broker::encode(**msg);
        const auto again = weir::broker::decode(once);
        if (!again || weir::broker::encode(**again) != once) {
            std::abort();
        }
        (void)weir::broker::payload_json(**msg);
    }
    return 0;
}
