// SPDX-License-Identifier: LGPL-3.0-only
// Owns: weir-oracles DIR...: reads every file below the folders, compares, prints a line a file and the totals.
// Must not know any system. Nothing is left out in silence: a file that nobody reads is a failure, and so is a value
// that no check reads and no reader leaves out on purpose; only texts beside inputs and expectations are remarks.
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "libfairshare/base/json/json.hpp"
#include "t/oracle/runner/oracle.hpp"

using namespace weir;
using namespace weir::oracle;
namespace fs = std::filesystem;

namespace {

constexpr auto readers = std::to_array<Reader>({
    {"flux-accounting", read_flux_accounting},
    {"flux-wiki", read_flux_wiki},
    {"gridengine", read_gridengine},
    {"htcondor", read_htcondor},
    {"lsf", read_lsf},
    {"moab-maui", read_moab_maui},
    {"openpbs", read_openpbs},
    {"slurm/fairshare", read_slurm_fairshare},
    {"slurm/other", read_slurm_other},
    {"slurm-documented", read_slurm_documented},
    {"slurm/sprio", read_sprio},
    {"torque-paper", read_torque_paper},
});

struct Totals {
    int files = 0, failed_files = 0, cases = 0, passed = 0, excused = 0, figures = 0, unread = 0;
};

/// Where the reader's folder begins in the path; npos where it is not a part of it.
std::size_t place_of(const Reader& reader, const std::string& path) {
    const std::string folder = "/" + std::string{reader.folder};
    std::size_t at = path.rfind(folder);
    while (at != std::string::npos) {
        const std::size_t end = at + folder.size();
        if (path[end] == '/' || (path[end] == '-' && path.find('/', end) != std::string::npos)) {
            return at + 1;
        }
        at = at == 0 ? std::string::npos : path.rfind(folder, at - 1);
    }
    return std::string::npos;
}

std::string content_of(const fs::path& file) {
    std::ifstream in{file, std::ios::binary};
    std::ostringstream text;
    text << in.rdbuf();
    if (!in) {
        throw std::runtime_error{"cannot be read"};
    }
    return text.str();
}

Value document_of(const fs::path& file) {
    const auto document = Json::parse(content_of(file));
    if (!document) {
        throw std::runtime_error{document.error().message};
    }
    return Value{document->get()};
}

void print(const Report& report) {
    constexpr int shown_max = 8;  // of one case
    std::string name;
    int shown = 0;
    for (const Report::Failure& failure : report.failures()) {
        shown = failure.name == name ? shown + 1 : 1;
        name = failure.name;
        if (shown == shown_max + 1) {
            std::printf("    %s: and more\n", name.c_str());
        }
        if (shown > shown_max) {
            continue;
        }
        std::printf("    %s%s: %s: expected %s, got %s%s%s\n", failure.record.empty() ? "FAILED " : "differs ",
                    name.c_str(), failure.what.c_str(), failure.expected.c_str(), failure.got.c_str(),
                    failure.record.empty() ? "" : ", as decided in ", failure.record.c_str());
    }
}

/// What of the file no check has read, and what is left out on purpose.
void print(const std::vector<UnreadValue>& unread, const std::vector<Report::Left>& left) {
    constexpr int shown_max = 12;
    int shown = 0;
    for (const UnreadValue& value : unread) {
        if (!value.is_remark && ++shown <= shown_max) {
            std::printf("    NOT READ %s = %s\n", value.path.c_str(), value.shown.c_str());
        }
    }
    if (shown > shown_max) {
        std::printf("    NOT READ: %d more\n", shown - shown_max);
    }
    for (const Report::Left& each : left) {
        std::printf("    left out, %d values: %s\n", each.values, each.why.c_str());
    }
}

void run(const fs::path& file, Totals& totals) {
    const std::string path = fs::absolute(file).lexically_normal().string();
    const Reader* chosen = nullptr;
    std::size_t place = std::string::npos;
    for (const Reader& reader : readers) {
        const std::size_t at = place_of(reader, path);
        if (at != std::string::npos && (chosen == nullptr || at > place)) {
            chosen = &reader;
            place = at;
        }
    }
    const std::string shown = chosen == nullptr ? file.string() : path.substr(place);
    Report report;
    std::string why;
    std::vector<UnreadValue> unread;
    try {
        if (file.extension() != ".json") {
            throw std::runtime_error{"is no .json file"};
        }
        if (chosen == nullptr) {
            throw std::runtime_error{"no reader for this folder"};
        }
        const Value document = document_of(file);
        try {
            chosen->read(&document, report);
            why = report.cases() == 0 ? "holds no case" : "";
        } catch (const std::exception& error) {
            why = error.what();
        }
        unread = unread_values(document);
    } catch (const std::exception& error) {
        why = error.what();
    }
    const auto not_read = static_cast<int>(
        std::count_if(unread.begin(), unread.end(), [](const UnreadValue& value) { return !value.is_remark; }));
    ++totals.files;
    totals.cases += report.cases();
    totals.passed += report.passed();
    totals.excused += report.excused();
    totals.figures += report.figures();
    totals.unread += not_read;
    totals.failed_files += !why.empty() || report.passed() != report.cases() || not_read > 0 ? 1 : 0;
    std::printf("%s %d/%d cases, %d figures%s%s\n", shown.c_str(), report.passed(), report.cases(), report.figures(),
                why.empty() ? "" : " FAILED: ", why.c_str());
    print(report);
    print(unread, report.left());
}

/// Every file but the READMEs, in the order of their paths.
std::vector<fs::path> files_below(const fs::path& folder) {
    std::vector<fs::path> files;
    for (const auto& entry : fs::recursive_directory_iterator{folder}) {
        if (!entry.is_directory() && entry.path().filename() != "README.md") {
            files.push_back(entry.path());
        }
    }
    std::sort(files.begin(), files.end());
    return files;
}

/// $WEIR_SHARED/oracles, else ../shared/oracles beside the source.
fs::path shared_folder() {
    if (const char* shared = std::getenv("WEIR_SHARED")) {
        return fs::path{shared} / "oracles";
    }
    const char* source = std::getenv("WEIR_SOURCE_DIR");
    return fs::path{source != nullptr ? source : "."} / "../shared/oracles";
}

}  // namespace

int main(int argc, char** argv) {
    std::vector<fs::path> folders{argv + std::min(argc, 1), argv + argc};
    if (folders.empty()) {
        std::fputs("usage: weir-oracles DIR...\n       weir-oracles --shared   ($WEIR_SHARED/oracles)\n", stderr);
        return 2;
    }
    if (folders.size() == 1 && folders.front() == "--shared") {
        folders.front() = shared_folder();
        if (!fs::is_directory(folders.front())) {
            std::printf("[skip] no oracle files in %s (set WEIR_SHARED)\n", folders.front().c_str());
            return 0;
        }
    }
    Totals totals;
    for (const fs::path& folder : folders) {
        try {
            const auto files = files_below(folder);
            if (files.empty()) {
                throw std::runtime_error{folder.string() + ": no files"};
            }
            for (const fs::path& file : files) {
                run(file, totals);
            }
        } catch (const std::exception& error) {
            std::printf("%s\n", error.what());
            ++totals.failed_files;
        }
    }
    std::printf("total %d/%d cases, %d figures in %d files, %d excused, %d values not read, %d files failed\n",
                totals.passed, totals.cases, totals.figures, totals.files, totals.excused, totals.unread,
                totals.failed_files);
    return totals.failed_files == 0 ? 0 : 1;
}
