// SPDX-License-Identifier: LGPL-3.0-only
// Fuzz target of the message decoder and of the frames around it. With libFuzzer (WEIR_FUZZ=ON) it searches; without,
// it is a program that replays the files of a folder, which ctest does with the corpus beside it.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
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

#ifndef WEIR_LIBFUZZER
int main(int argc, char** argv) {
    int count = 0;
    for (const auto& entry : std::filesystem::directory_iterator(argc == 2 ? argv[1] : ".")) {
        std::ifstream file(entry.path(), std::ios::binary);
        const std::string bytes((std::istreambuf_iterator<char>(file)), {});
        // A copy of exactly the input's size, so that a sanitizer sees any byte read beyond it.
        const auto exact = std::make_unique<uint8_t[]>(bytes.size());
        std::copy(bytes.begin(), bytes.end(), exact.get());
        LLVMFuzzerTestOneInput(exact.get(), bytes.size());
        std::printf("[ok] %s\n", entry.path().filename().c_str());
        ++count;
    }
    return count > 0 ? 0 : 1;
}
#endif
