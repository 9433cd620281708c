// SPDX-License-Identifier: LGPL-3.0-only
// Reading workload logs, from the file to jobs: allocations a line and, for the record, lines a second.
//
//     log_read_bench FOLDER [ROUNDS]
//
// A line a log, the best of so many rounds (10): lines; allocations in a whole reading, buffers and threads included;
// seconds and lines a second, of the wall's clock since inflating goes on beside parsing; seconds of CPU. Then the same
// for all logs one after the other, the machine's figure. Exits with 1 when lines cost allocations: more than one in
// a hundred lines beyond the hundred that opening a file takes.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <new>
#include <string>
#include <vector>

#include "libsched/sim/swf.hpp"

namespace fs = std::filesystem;

namespace {

std::atomic<std::uint64_t> allocations{0};

struct Reading {
    std::uint64_t lines = 0, allocations = 0;
    double seconds = 0, cpu_seconds = 0;
};

bool read_log(const fs::path& path, Reading& best, int rounds) {
    for (int round = 0; round < rounds; ++round) {
        const std::uint64_t allocated = allocations;
        const std::clock_t cpu = std::clock();
        const auto begin = std::chrono::steady_clock::now();
        std::uint64_t lines = 0;
        {
            auto reader = weir::SwfReader::open(path.string(), {});
            while (reader) {
                const auto job = reader->next();
                if (!job) {
                    std::printf("[fail] %s\n", job.error().message.c_str());
                    return false;
                }
                if (!*job) {
                    break;
                }
            }
            lines = reader ? reader->lines().line() : 0;
        }
        const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
        if (round == 0 || seconds < best.seconds) {
            best = {lines, allocations - allocated, seconds, static_cast<double>(std::clock() - cpu) / CLOCKS_PER_SEC};
        }
    }
    return true;
}

void print(const char* name, const Reading& reading) {
    std::printf("%-26s%9llu%12llu%9.4f%9.4f%12.0f\n", name, static_cast<unsigned long long>(reading.lines),
                static_cast<unsigned long long>(reading.allocations), reading.seconds, reading.cpu_seconds,
                static_cast<double>(reading.lines) / reading.seconds);
}

}  // namespace

void* operator new(std::size_t size) {
    ++allocations;
    void* memory = std::malloc(size);
    if (memory == nullptr) {
        throw std::bad_alloc();
    }
    return memory;
}
void operator delete(void* memory) noexcept {
    std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
    std::free(memory);
}

int main(int argc, char** argv) {
    if (argc < 2) {
        std::fprintf(stderr, "usage: log_read_bench FOLDER [ROUNDS]\n");
        return 2;
    }
    const int rounds = argc > 2 ? std::max(std::atoi(argv[2]), 1) : 10;
    std::vector<fs::path> logs;
    if (fs::is_directory(argv[1])) {
        for (const auto& entry : fs::directory_iterator(argv[1])) {
            if (entry.path().string().find(".swf") != std::string::npos) {
                logs.push_back(entry.path());
            }
        }
    }
    if (logs.empty()) {
        std::printf("[skip] no logs in %s\n", argv[1]);
        return 0;
    }
    std::sort(logs.begin(), logs.end());
    std::printf("%-26s%9s%12s%9s%9s%12s\n", "log", "lines", "allocations", "s", "CPU s", "lines/s");
    int failures = 0;
    Reading all;
    for (const fs::path& log : logs) {
        Reading best;
        if (!read_log(log, best, rounds)) {
            failures++;
            continue;
        }
        print(log.filename().c_str(), best);
        all = {all.lines + best.lines, all.allocations + best.allocations, all.seconds + best.seconds,
               all.cpu_seconds + best.cpu_seconds};
        if (best.allocations > 100 + best.lines / 100) {
            std::printf("[fail] %s: lines cost allocations\n", log.c_str());
            failures++;
        }
    }
    print("all", all);
    return failures > 0 ? 1 : 0;
}
