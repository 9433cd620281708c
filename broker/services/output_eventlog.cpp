// SPDX-License-Identifier: LGPL-3.0-only
// Owns: cutting output into entries. Must not know messages or jobs' states.
#include "broker/services/output_eventlog.hpp"

#include <cmath>
#include <utility>

#include "libfairshare/base/base64.hpp"
#include "libfairshare/base/json/text_writer.hpp"

namespace weir::broker {
namespace {

/// A line that is longer comes in pieces.
constexpr std::size_t line_bytes_max = 64 * 1024;
/// An entry of a short line is a hundred times as long as the line, and a message each.
constexpr int lines_max = 1024;

std::string time_text(double seconds) {
    const auto us = std::llround(seconds * 1e6);
    const std::string fraction = std::to_string(us % 1000000);
    return std::to_string(us / 1000000) + "." + std::string(6 - fraction.size(), '0') + fraction;
}

}  // namespace

OutputEventlog::OutputEventlog(const JobOutput& files, std::string job, std::string ranks, double begin_s)
    : files_(files), job_(std::move(job)), ranks_(std::move(ranks)), begin_s_(begin_s) {}

std::vector<std::string> OutputEventlog::paths() const {
    std::vector<std::string> paths;
    for (const Stream& stream : streams_) {
        if (files_.named_path(job_, stream.which).empty()) {
            paths.push_back(files_.path(job_, stream.which));
        }
    }
    return paths;
}

void OutputEventlog::add(double time_s, const char* name, std::string context) {
    entries_.push_back(
        ObjectText().splice("timestamp", time_text(time_s)).set("name", name).splice("context", context).text() + "\n");
}

std::string OutputEventlog::data(const Stream& stream, const std::string& bytes) const {
    ObjectText context;
    context.set("stream", stream.name).set("rank", ranks_);
    const bool is_text = bytes.find('\0') == std::string::npos && to_utf8(bytes) == bytes;
    if (is_text) {
        context.set("data", bytes);
    } else {
        context.set("encoding", "base64").set("data", base64_encode(bytes));
    }
    return context.text();
}

void OutputEventlog::announce_begin() {
    add(begin_s_, "header",
        R"({"version":1,"encoding":{"stdout":"UTF-8","stderr":"UTF-8"},"count":{"stdout":1,"stderr":1},"options":{}})");
    for (Stream& stream : streams_) {
        const std::string named = files_.named_path(job_, stream.which);
        stream.is_redirected = !named.empty();
        if (stream.is_redirected) {
            add(begin_s_, "redirect",
                ObjectText().set("stream", stream.name).set("rank", ranks_).set("path", named).text());
        }
    }
    has_begun_ = true;
}

void OutputEventlog::read(Stream& stream, bool is_over, double now_s) {
    bool is_end = false;  // of the file, as it is now
    if (!std::exchange(stream.is_cut, false)) {
        const auto part = files_.read_bytes(job_, stream.offset, stream.which);
        is_end = !part || part->is_end;
        if (part) {
            stream.offset = part->next;
            stream.rest += part->text;
        }
    }
    std::size_t begin = 0;
    for (int lines = 0;; ++lines) {
        const std::size_t newline = stream.rest.find('\n', begin);
        const bool is_whole = newline != std::string::npos;
        const std::size_t length = (is_whole ? newline + 1 : stream.rest.size()) - begin;
        if (length == 0 || (!is_whole && length <= line_bytes_max && !(is_over && is_end))) {
            break;
        }
        if (lines == lines_max) {
            stream.is_cut = true;
            break;
        }
        const std::size_t piece = std::min(length, line_bytes_max);
        add(now_s, "data", data(stream, stream.rest.substr(begin, piece)));
        begin += piece;
    }
    stream.rest.erase(0, begin);
    stream.is_read = is_end && !stream.is_cut;
}

std::vector<std::string> OutputEventlog::next(bool is_over, double now_s) {
    if (!has_begun_) {
        announce_begin();
    }
    bool is_read = true;
    for (Stream& stream : streams_) {
        if (!stream.is_redirected && !is_at_end_) {
            read(stream, is_over, now_s);
            is_read = is_read && stream.is_read;
        }
    }
    if (is_over && is_read && !is_at_end_) {
        is_at_end_ = true;
        for (const Stream& stream : streams_) {
            add(now_s, "data", ObjectText().set("stream", stream.name).set("rank", ranks_).set("eof", true).text());
        }
    }
    return std::exchange(entries_, {});
}

}  // namespace weir::broker
