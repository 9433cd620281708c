// SPDX-License-Identifier: LGPL-3.0-only
// The lines of a log: read ahead by a thread, inflated, cut in pieces; the fast way to read integers against the plain.
#include <stdlib.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <charconv>
#include <cstring>
#include <memory>

#include "libsched/sim/read_ahead.hpp"
#include "libsched/sim/swf.hpp"
#include "t/unit/draws.hpp"

using namespace weir;
using Catch::Matchers::EndsWith;

namespace {

LineReader::Source text_source(const std::string& text, std::size_t piece) {
    auto at = std::make_shared<std::size_t>(0);
    return [text, at, piece](char* into, std::size_t size) -> Result<std::size_t> {
        const std::size_t count = std::min({piece, size, text.size() - *at});
        std::memcpy(into, text.data() + *at, count);
        *at += count;
        return count;
    };
}

/// A file that goes with the test.
class Scratch {
  public:
    explicit Scratch(const std::string& bytes) {
        const int fd = mkstemp(path_);
        REQUIRE(fd >= 0);
        REQUIRE(write(fd, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()));
        close(fd);
    }
    ~Scratch() { unlink(path_); }
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;
    std::string path() const { return path_; }
    std::string bytes() const {
        std::string all(1 << 20, '\0');
        FILE* file = std::fopen(path_, "rb");
        all.resize(std::fread(all.data(), 1, all.size(), file));
        std::fclose(file);
        return all;
    }

  private:
    char path_[32] = "/tmp/weir-log-XXXXXX";
};

std::string lines_of(int count) {
    std::string text;
    for (int i = 0; i < count; i++) {
        text += "line " + std::to_string(i) + "\n";
    }
    return text;
}

/// The integers that a field may be, by the library alone.
std::optional<std::int64_t> plain_integer(const std::string& word) {
    std::int64_t value = 0;
    const auto [after, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    return error == std::errc{} && after == word.data() + word.size() ? std::optional(value) : std::nullopt;
}

}  // namespace

// Kills: a piece given back to the thread before it is read to its end; the end of one piece lost when the next is
// full.
TEST_CASE("read ahead: the bytes of the source, in order, in whatever pieces they are asked for") {
    draw::property("read ahead equals the source", [] {
        const std::string text = lines_of(draw::in_range(0, 4000));
        auto source = read_ahead(text_source(text, draw::in_range<std::size_t>(1, 5000)));
        const std::size_t wanted = draw::in_range<std::size_t>(1, 5000);
        std::string got, piece(wanted, '\0');
        while (const std::size_t count = *source(piece.data(), wanted)) {
            got.append(piece, 0, count);
        }
        RC_ASSERT(got == text);
        RC_ASSERT(*source(piece.data(), wanted) == 0U);
    });
}

TEST_CASE("read ahead: an error comes after all that was read before it, and stays") {
    auto reads = std::make_shared<int>(0);
    auto source = read_ahead([reads](char* into, std::size_t) -> Result<std::size_t> {
        if (++*reads > 20) {
            return Error{std::errc::io_error, "no more"};
        }
        *into = 'x';
        return std::size_t{1};
    });
    char byte = 0;
    for (int i = 0; i < 20; i++) {
        REQUIRE(*source(&byte, 1) == 1U);
    }
    CHECK(source(&byte, 1).error().message == "no more");
    CHECK(source(&byte, 1).error().message == "no more");
}

TEST_CASE("read ahead: an endless source can be left in the middle") {
    auto source = read_ahead([](char* into, std::size_t size) -> Result<std::size_t> {
        std::memset(into, 'x', size);
        return size;
    });
    char byte = 0;
    CHECK(*source(&byte, 1) == 1U);
}

TEST_CASE("lines: a gzip file and a plain one give the same lines and tell how far they are") {
    const std::string text = lines_of(50000);
    Scratch plain(text);
    Scratch gzip("");
    gzFile file = gzopen(gzip.path().c_str(), "wb");
    REQUIRE(gzwrite(file, text.data(), static_cast<unsigned>(text.size())) == static_cast<int>(text.size()));
    gzclose(file);
    for (const std::string& path : {plain.path(), gzip.path()}) {
        auto reader = LineReader::open(path, 100);
        REQUIRE(reader.has_value());
        for (int i = 0; i < 50000; i++) {
            REQUIRE(**reader->next() == "line " + std::to_string(i));
        }
        CHECK_FALSE(reader->next()->has_value());
        CHECK(reader->part_read() == 1.);
        CHECK(reader->line() == 50000);
    }
}

TEST_CASE("lines: a gzip file that is cut off anywhere is an error that says so, never a shorter log") {
    const std::string text = lines_of(3000);
    Scratch whole("");
    gzFile file = gzopen(whole.path().c_str(), "wb");
    REQUIRE(gzwrite(file, text.data(), static_cast<unsigned>(text.size())) == static_cast<int>(text.size()));
    gzclose(file);
    const std::string bytes = whole.bytes();
    // Below two bytes it cannot be told from a plain file.
    for (const std::size_t length :
         {bytes.size() - 1, bytes.size() - 8, bytes.size() - 9, bytes.size() / 2, std::size_t{12}}) {
        Scratch cut(bytes.substr(0, length));
        auto reader = LineReader::open(cut.path(), 100);
        REQUIRE(reader.has_value());
        auto line = reader->next();
        while (line && *line) {
            line = reader->next();
        }
        REQUIRE_FALSE(line.has_value());
        CHECK(line.error().message.find("the gzip stream ends too early") != std::string::npos);
    }
}

// Mutant: libsched/sim/inflated_file.cpp: behind_ += left_; => behind_ = left_;
// Mutant: libsched/sim/inflated_file.cpp: is_padding_ = is_padding_ && !has_data; => is_padding_ = !has_data;
TEST_CASE("lines: gzip members stand one after the other, zero bytes fill the last block, all else is an error") {
    const std::string text = lines_of(30000);
    Scratch first("");
    gzFile file = gzopen(first.path().c_str(), "wb");
    REQUIRE(gzwrite(file, text.data(), static_cast<unsigned>(text.size())) == static_cast<int>(text.size()));
    gzclose(file);
    const std::string member = first.bytes();
    const auto lines_in = [](const std::string& bytes) -> Result<int> {
        Scratch log(bytes);
        auto reader = LineReader::open(log.path(), 100);
        REQUIRE(reader.has_value());
        int lines = 0;
        auto line = reader->next();
        for (; line && *line; line = reader->next()) {
            lines++;
        }
        return line ? Result<int>(lines) : line.error();
    };
    CHECK(*lines_in(member + member + member) == 90000);
    CHECK(*lines_in(member + std::string(512, '\0')) == 30000);  // as tapes fill their blocks
    CHECK(*lines_in(member + std::string(300'000, '\0')) == 30000);
    const auto refusal = [&](const std::string& rest) { return lines_in(member + rest).error().message; };
    CHECK_THAT(refusal("\x1f"), EndsWith(": after line 30000: 1 byte behind the gzip stream is no gzip member"));
    CHECK_THAT(refusal("1 2 3\n"), EndsWith(": 6 bytes behind the gzip stream are no gzip member"));
    CHECK_THAT(refusal(std::string(300'000, '\0') + "x" + std::string(200'000, '\0')),
               EndsWith(": 500001 bytes behind the gzip stream are no gzip member"));
    CHECK_THAT(refusal(member + "\x1f\x8a"), EndsWith(": 2 bytes behind the gzip stream are no gzip member"));
    CHECK(*lines_in("1") == 1);
    CHECK(*lines_in("") == 0);
    for (const std::size_t at : {member.size() - 8, member.size() - 4, member.size() / 2}) {  // checksum, length, data
        std::string broken = member;
        broken[at] ^= 0x55;
        CHECK(lines_in(broken).error().message.find("broken gzip stream") != std::string::npos);
    }
    CHECK(lines_in(member + member.substr(0, 100)).error().message.find("ends too early") != std::string::npos);
}

// Kills: the eight bytes read past a word near the line's end; a word of eight digits taken for seven; a sign lost; a
// byte above '9' taken for a digit.
TEST_CASE("swf: every field is read as the standard library reads it") {
    draw::property("a word in any field", [] {
        const int digits = draw::element(0, 1, 2, 3, 5, 6, 7, 8, 9, 17, 18, 19, 20);
        std::string word = draw::element<std::string>("", "-", "--", "+");
        for (int i = 0; i < digits; i++) {
            word += static_cast<char>('0' + draw::in_range(0, 10));
        }
        if (draw::in_range(0, 4) == 0) {
            word.insert(draw::in_range<std::size_t>(0, word.size() + 1), 1, draw::arbitrary<char>());
        }
        const auto is_plain = [](char c) { return c != ' ' && c != '\t' && c != '\r' && c != '\n'; };
        RC_PRE(!word.empty() && std::all_of(word.begin(), word.end(), is_plain));
        const auto field = draw::element<std::size_t>(0, 1, 4, 8, 14, 15, 16, 17);
        std::string line;
        for (std::size_t i = 0; i < 18; i++) {
            line += (i > 0 ? " " : "") + (i == field ? word : "7");
        }
        const std::string beyond = line + "77 77 77 77";  // what is read past the end would change the number
        const auto job = parse_swf_line(std::string_view(beyond).substr(0, line.size()));
        const auto expected = plain_integer(word);
        RC_ASSERT(job.has_value() == expected.has_value());
        if (expected) {
            std::int64_t fields[18];
            std::memcpy(fields, &*job, sizeof fields);
            RC_ASSERT(fields[field] == *expected);
        }
    });
}
