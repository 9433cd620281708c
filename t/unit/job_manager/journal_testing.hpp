// SPDX-License-Identifier: LGPL-3.0-only
// What the tests of the job journal share: a folder of their own, and journals as text and as lines.
#pragma once

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "broker/services/job-manager/journal/job_store.hpp"
#include "t/unit/job_manager/testing.hpp"

namespace weir::broker::jobs::testing {

struct TempDir {
    std::string path;
    TempDir() {
        char name[] = "/tmp/weir-job-store-XXXXXX";
        path = ::mkdtemp(name);
    }
    ~TempDir() { (void)!std::system(("rm -rf " + path).c_str()); }
};

inline std::string journal_of(const Job& job) {
    JournalWriter writer;
    writer.begin(0, 0);
    writer.add(job);
    return writer.text();
}
inline std::string journal_of(Life& life) {
    return journal_of(life.job);
}

inline std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) {
        lines.push_back(line);
    }
    return lines;
}

inline std::string joined(const std::vector<std::string>& lines) {
    std::string text;
    for (const std::string& line : lines) {
        text += line + "\n";
    }
    return text;
}

/// The text of the flush after these lines: it says that they were synced.
inline std::string next_flush(std::size_t lines) {
    JournalWriter writer;
    writer.go_on(lines);
    Life life(99);
    life.to_sched();
    writer.add(life.job);
    return writer.text();
}

inline std::string file_text(const std::string& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
}

inline void append_all(JobStore& store, const Job& job) {
    for (const std::string& line : lines_of(job.eventlog)) {
        store.append(job, line);
    }
}

}  // namespace weir::broker::jobs::testing
