// SPDX-License-Identifier: LGPL-3.0-only
// Owns: job ids as text: decimal, hex, dothex, kvs and f58 (RFC 19). Must not know jobs. The word and emoji forms of
// flux-core are refused (EPROTO when asked for, EINVAL when read).
#include <flux/core.h>
#include <langinfo.h>
#include <strings.h>

#include <cctype>
#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

namespace {

constexpr std::string_view f58_digits = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
constexpr std::string_view f58_prefix = "\xc6\x92";  // U+0192, a florin sign, in UTF-8
constexpr std::string_view f58_ascii_prefix = "f";
constexpr size_t f58_digits_max = 12;

int fail_jobid(int errnum) {
    errno = errnum;
    return -1;
}

bool can_show_florin() {
    return MB_CUR_MAX > 1 && std::strcmp(nl_langinfo(CODESET), "UTF-8") == 0 &&
           std::getenv("FLUX_F58_FORCE_ASCII") == nullptr;
}

std::string to_f58(flux_jobid_t id, bool is_plain) {
    std::string digits;
    do {
        digits.insert(digits.begin(), f58_digits[id % f58_digits.size()]);
        id /= f58_digits.size();
    } while (id > 0);
    return std::string(!is_plain && can_show_florin() ? f58_prefix : f58_ascii_prefix) + digits;
}

std::string to_dothex(flux_jobid_t id) {
    char text[24];
    snprintf(text, sizeof text, "%04x.%04x.%04x.%04x", static_cast<unsigned>(id >> 48 & 0xffff),
             static_cast<unsigned>(id >> 32 & 0xffff), static_cast<unsigned>(id >> 16 & 0xffff),
             static_cast<unsigned>(id & 0xffff));
    return text;
}

int from_dothex(const char* text, flux_jobid_t* id) {
    unsigned part[4];
    int end = 0;
    if (sscanf(text, "%4x.%4x.%4x.%4x%n", &part[0], &part[1], &part[2], &part[3], &end) != 4 || text[end] != '\0') {
        return fail_jobid(EINVAL);
    }
    *id = 0;
    for (const unsigned p : part) {
        *id = *id << 16 | p;
    }
    return 0;
}

int from_f58(std::string_view digits, flux_jobid_t* id) {
    if (digits.empty() || digits.size() > f58_digits_max) {
        return fail_jobid(EINVAL);
    }
    uint64_t value = 0;
    for (const char c : digits) {
        const size_t digit = f58_digits.find(c);
        uint64_t scaled = 0;
        if (digit == std::string_view::npos || __builtin_mul_overflow(value, f58_digits.size(), &scaled) ||
            __builtin_add_overflow(scaled, digit, &value)) {
            return fail_jobid(EINVAL);
        }
    }
    *id = value;
    return 0;
}

int from_number(const char* text, flux_jobid_t* id) {
    const bool is_hex = std::strncmp(text, "0x", 2) == 0;
    char* end = nullptr;
    errno = 0;
    const unsigned long long value = std::strtoull(text, &end, is_hex ? 16 : 10);
    if (errno != 0) {
        return -1;
    }
    while (std::isspace(static_cast<unsigned char>(*end)) != 0) {
        ++end;
    }
    if (*end != '\0' || end == text || std::isdigit(static_cast<unsigned char>(*text)) == 0) {
        return fail_jobid(EINVAL);
    }
    *id = value;
    return 0;
}

int copy_out(const std::string& text, char* buf, size_t size) {
    if (text.size() >= size) {
        return fail_jobid(EOVERFLOW);
    }
    std::memcpy(buf, text.c_str(), text.size() + 1);
    return 0;
}

}  // namespace

extern "C" {

int flux_job_id_parse(const char* s, flux_jobid_t* id) {
    if (s == nullptr || id == nullptr || *s == '\0') {
        return fail_jobid(EINVAL);
    }
    while (std::isspace(static_cast<unsigned char>(*s)) != 0) {
        ++s;
    }
    if (std::strncmp(s, "job.", 4) == 0) {
        s += 4;
    }
    const std::string_view text = s;
    // Dothex may begin with "f" as well, so the dot decides first.
    if (text.find('.') != std::string_view::npos) {
        return from_dothex(s, id);
    }
    for (const auto prefix : {f58_prefix, f58_ascii_prefix}) {
        if (text.substr(0, prefix.size()) == prefix) {
            return from_f58(text.substr(prefix.size()), id);
        }
    }
    return from_number(s, id);
}

int flux_job_id_encode(flux_jobid_t id, const char* type, char* buf, size_t bufsz) {
    if (buf == nullptr) {
        return fail_jobid(EINVAL);
    }
    const auto is = [type](const char* name) { return strcasecmp(type, name) == 0; };
    char number[32];
    if (type == nullptr || is("dec")) {
        snprintf(number, sizeof number, "%" PRIu64, id);
        return copy_out(number, buf, bufsz);
    }
    if (is("hex")) {
        snprintf(number, sizeof number, "0x%" PRIx64, id);
        return copy_out(number, buf, bufsz);
    }
    if (is("dothex")) {
        return copy_out(to_dothex(id), buf, bufsz);
    }
    if (is("kvs")) {
        return copy_out("job." + to_dothex(id), buf, bufsz);
    }
    if (is("f58") || is("f58plain")) {
        return copy_out(to_f58(id, is("f58plain")), buf, bufsz);
    }
    return fail_jobid(EPROTO);
}

int flux_job_kvs_key(char* buf, int bufsz, flux_jobid_t id, const char* key) {
    if (buf == nullptr || bufsz <= 0) {
        return fail_jobid(EINVAL);
    }
    const std::string text = "job." + to_dothex(id) + (key != nullptr ? std::string(".") + key : "");
    return copy_out(text, buf, static_cast<size_t>(bufsz)) < 0 ? -1 : static_cast<int>(text.size());
}

}  // extern "C"
