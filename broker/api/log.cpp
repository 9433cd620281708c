// SPDX-License-Identifier: LGPL-3.0-only
// Owns: flux_log: one line of RFC 5424 text a log.append request, not answered. Must not know where logs go.
#include <syslog.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <ctime>
#include <string>

#include "broker/api/clock.hpp"
#include "broker/api/handle_state.hpp"

namespace {

std::string format(const char* fmt, va_list ap) {
    char buffer[512];
    va_list again;
    va_copy(again, ap);
    const int n = vsnprintf(buffer, sizeof buffer, fmt, ap);
    std::string text(buffer, n > 0 ? std::min<size_t>(static_cast<size_t>(n), sizeof buffer - 1) : 0);
    if (n >= static_cast<int>(sizeof buffer)) {
        text.resize(static_cast<size_t>(n) + 1);
        vsnprintf(text.data(), text.size(), fmt, again);
        text.resize(static_cast<size_t>(n));
    }
    va_end(again);
    return text;
}

/// 2026-01-31T12:00:00.123456Z on the scaled clock.
std::string timestamp() {
    const double now = weir::broker::clock_now();
    const auto seconds = static_cast<time_t>(std::floor(now));
    const int micros = static_cast<int>((now - static_cast<double>(seconds)) * 1e6);
    tm broken{};
    gmtime_r(&seconds, &broken);
    char date[32];
    strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%S", &broken);
    char text[48];
    snprintf(text, sizeof text, "%s.%06dZ", date, micros);
    return text;
}

/// "<pri>1 time host app procid - - "; the host is the broker's rank. Flux writes severity * 8 + facility % 8 where RFC
/// 5424 has facility * 8 + severity, and its log service reads it so; with LOG_USER (8) the facility vanishes.
std::string header(flux_t* h, int level) {
    const char* rank = flux_attr_get(h, "rank");
    const std::string app = h->log_app_name.empty() ? program_invocation_short_name : h->log_app_name;
    return "<" + std::to_string(LOG_PRI(level) << 3) + ">1 " + timestamp() + " " + (rank != nullptr ? rank : "-") +
           " " + app + " " + std::to_string(getpid()) + " - - ";
}

int send_lines(flux_t* h, int level, const std::string& text) {
    const std::string head = header(h, level);
    size_t begin = 0;
    do {
        const size_t end = std::min(text.find_first_of("\r\n", begin), text.size());
        if (end > begin || text.empty()) {
            const auto msg = weir::broker::make_request("log.append", nullptr);
            msg->set_payload(head + text.substr(begin, end - begin));
            if (h->send(*msg, false) < 0) {
                return -1;
            }
        }
        begin = end + 1;
    } while (begin < text.size());
    return 0;
}

}  // namespace

extern "C" int flux_log(flux_t* h, int level, const char* fmt, ...) {
    const int saved = errno;
    va_list ap;
    va_start(ap, fmt);
    const std::string text = format(fmt, ap);
    va_end(ap);
    if (h == nullptr) {
        static constexpr const char* names[] = {"emerg", "alert", "crit", "err", "warning", "notice", "info", "debug"};
        std::fprintf(stderr, "%s: %s\n", names[LOG_PRI(level)], text.c_str());
    } else if (send_lines(h, level, text) < 0) {
        return -1;
    }
    errno = saved;
    return 0;
}
