// SPDX-License-Identifier: LGPL-3.0-only
// Runs a fuzz target over the files of a corpus folder without libFuzzer, so that every compiler's ctest runs it.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

int main(int argc, char** argv) {
    int inputs = 0;
    for (int i = 1; i < argc; i++) {
        for (const auto& entry : std::filesystem::directory_iterator(argv[i])) {
            std::ifstream file(entry.path(), std::ios::binary);
            const std::string bytes{std::istreambuf_iterator<char>(file), {}};
            // A copy of exactly the input's size, so that a sanitizer sees any byte read beyond it.
            const auto exact = std::make_unique<std::uint8_t[]>(bytes.size());
            std::copy(bytes.begin(), bytes.end(), exact.get());
            LLVMFuzzerTestOneInput(exact.get(), bytes.size());
            std::printf("[ok] %s\n", entry.path().filename().c_str());
            inputs++;
        }
    }
    return inputs > 0 ? 0 : 1;
}
