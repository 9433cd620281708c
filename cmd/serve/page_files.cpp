// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see page_files.hpp.
#include "cmd/serve/page_files.hpp"

#include <zlib.h>

#include "cmd/common/sha256.hpp"
#include "cmd/report/svg.hpp"

// The assembler reads the files; WEIR_PAGE_BUILT is their folder.
#define WEIR_PAGE_FILE(symbol, name)                                                                  \
    asm(".pushsection .rodata\n.global " #symbol "_begin\n.global " #symbol "_end\n" #symbol          \
        "_begin:\n.incbin \"" WEIR_PAGE_BUILT "/" name "\"\n" #symbol "_end:\n.byte 0\n.popsection"); \
    extern "C" const char symbol##_begin[], symbol##_end[]

WEIR_PAGE_FILE(weir_page_html, "index.html.gz");
WEIR_PAGE_FILE(weir_page_script, "page.js.gz");
WEIR_PAGE_FILE(weir_page_style, "page.css.gz");

namespace weir::cmd {
namespace {

/// A bar beyond its tick.
constexpr const char* icon =
    "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 16 16\"><rect y=\"4\" width=\"14\" height=\"8\" "
    "fill=\"#d55e00\"/><rect x=\"8\" y=\"1\" width=\"2\" height=\"14\" fill=\"#888\"/></svg>";

PageFile page_file(const std::string& path, const std::string& type, std::string gzip) {
    PageFile file;
    file.path = path;
    file.type = type;
    file.etag = '"' + sha256_of(gzip).substr(0, 32) + '"';
    file.gzip = std::make_shared<const std::string>(std::move(gzip));
    return file;
}

}  // namespace

std::string gzipped(const std::string& text) {
    z_stream stream{};
    constexpr int gzip_format = 16 + MAX_WBITS;
    if (deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, gzip_format, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
        return {};
    }
    std::string out(deflateBound(&stream, text.size()), '\0');
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
    stream.avail_in = static_cast<uInt>(text.size());
    stream.next_out = reinterpret_cast<Bytef*>(out.data());
    stream.avail_out = static_cast<uInt>(out.size());
    const bool is_done = deflate(&stream, Z_FINISH) == Z_STREAM_END;
    out.resize(is_done ? stream.total_out : 0);
    (void)deflateEnd(&stream);
    return out;
}

std::string gunzipped(const std::string& gzip, std::size_t bytes_max) {
    z_stream stream{};
    constexpr int gzip_format = 16 + MAX_WBITS;
    if (inflateInit2(&stream, gzip_format) != Z_OK) {
        return {};
    }
    std::string out(bytes_max, '\0');
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(gzip.data()));
    stream.avail_in = static_cast<uInt>(gzip.size());
    stream.next_out = reinterpret_cast<Bytef*>(out.data());
    stream.avail_out = static_cast<uInt>(out.size());
    const bool is_done = inflate(&stream, Z_FINISH) == Z_STREAM_END;
    out.resize(is_done ? stream.total_out : 0);
    (void)inflateEnd(&stream);
    return out;
}

const std::vector<PageFile>& page_files() {
    static const std::vector<PageFile> files = {
        page_file("/", "text/html; charset=utf-8", {weir_page_html_begin, weir_page_html_end}),
        page_file("/page.js", "text/javascript; charset=utf-8", {weir_page_script_begin, weir_page_script_end}),
        page_file("/page.css", "text/css; charset=utf-8", {weir_page_style_begin, weir_page_style_end}),
        page_file("/icon.svg", "image/svg+xml", gzipped(icon)),
        page_file("/pictures.css", "text/css; charset=utf-8", gzipped(picture_style())),
    };
    return files;
}

}  // namespace weir::cmd
