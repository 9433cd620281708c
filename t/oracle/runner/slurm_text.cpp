// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see slurm_text.hpp.
#include "t/oracle/runner/slurm_text.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <stdexcept>

namespace weir::oracle {
namespace {

double decimal(std::string_view text, const char*& rest) {
    double value = 0.;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{}) {
        throw std::runtime_error{"'" + std::string{text} + "' is no number"};
    }
    rest = end;
    return value;
}

std::int64_t whole(std::string_view text) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size()) {
        throw std::runtime_error{"'" + std::string{text} + "' is no whole number"};
    }
    return value;
}

std::string lower(std::string_view text) {
    std::string out{text};
    std::transform(out.begin(), out.end(), out.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
    return out;
}

}  // namespace

std::vector<std::string> split(std::string_view text, char separator) {
    std::vector<std::string> parts;
    std::size_t from = 0;
    while (from <= text.size()) {
        const std::size_t end = std::min(text.find(separator, from), text.size());
        if (end > from) {
            parts.emplace_back(text.substr(from, end - from));
        }
        from = end + 1;
    }
    return parts;
}

std::vector<Words> lines_of_words(std::string_view text) {
    std::vector<Words> lines;
    for (const std::string& line : split(text, '\n')) {
        Words words;
        for (const std::string& word : split(line, ' ')) {
            const std::size_t equals = word.find('=');
            if (equals != std::string::npos) {
                words.insert_or_assign(word.substr(0, equals), word.substr(equals + 1));
            }
        }
        if (!words.empty()) {
            lines.push_back(std::move(words));
        }
    }
    return lines;
}

Words all_words(std::string_view text) {
    Words all;
    for (const Words& line : lines_of_words(text)) {
        for (const auto& [key, value] : line) {
            all.insert_or_assign(key, value);
        }
    }
    return all;
}

std::string word(const Words& words, std::string_view key, std::string_view otherwise) {
    const auto found = words.find(key);
    return found == words.end() ? std::string{otherwise} : found->second;
}

double number_word(const Words& words, std::string_view key, double otherwise) {
    const auto found = words.find(key);
    const char* rest = nullptr;
    return found == words.end() ? otherwise : decimal(found->second, rest);
}

Duration slurm_duration(std::string_view text) {
    using namespace std::chrono;
    if (text == "INFINITE" || text == "UNLIMITED") {
        return minutes{0xFFFFFFFFLL};
    }
    const std::size_t dash = text.find('-');
    const bool has_days = dash != std::string_view::npos;
    const auto parts = split(has_days ? text.substr(dash + 1) : text, ':');
    std::vector<std::int64_t> n;
    std::transform(parts.begin(), parts.end(), std::back_inserter(n), [](const auto& part) { return whole(part); });
    if (n.empty() || n.size() > 3) {
        throw std::runtime_error{"'" + std::string{text} + "' is no time"};
    }
    if (has_days) {
        n.resize(3);
        return hours{24 * whole(text.substr(0, dash)) + n[0]} + minutes{n[1]} + seconds{n[2]};
    }
    if (n.size() == 3) {
        return hours{n[0]} + minutes{n[1]} + seconds{n[2]};
    }
    return minutes{n[0]} + seconds{n.size() == 2 ? n[1] : 0};
}

Instant slurm_instant(std::string_view text, Instant otherwise) {
    using namespace std::chrono;
    if (text.empty() || text[0] < '0' || text[0] > '9') {
        return otherwise;
    }
    if (text.size() != 19 || text[10] != 'T') {
        throw std::runtime_error{"'" + std::string{text} + "' is no time stamp"};
    }
    const auto at = [&](std::size_t from, std::size_t count) { return whole(text.substr(from, count)); };
    const year_month_day date{year{static_cast<int>(at(0, 4))}, month{static_cast<unsigned>(at(5, 2))},
                              day{static_cast<unsigned>(at(8, 2))}};
    const auto of_day = hours{at(11, 2)} + minutes{at(14, 2)} + seconds{at(17, 2)};
    return Instant{duration_cast<Duration>(sys_days{date}.time_since_epoch() + of_day)};
}

std::vector<std::pair<std::string, double>> tres_list(std::string_view text) {
    std::vector<std::pair<std::string, double>> list;
    for (const std::string& entry : split(text, ',')) {
        const std::size_t equals = entry.find('=');
        if (equals == std::string::npos) {
            throw std::runtime_error{"'" + entry + "' is no TRES"};
        }
        const char* rest = nullptr;
        double amount = decimal(std::string_view{entry}.substr(equals + 1), rest);
        constexpr double kibi = 1024.;
        switch (*rest) {
            case 'K':
                amount /= kibi;
                break;
            case 'G':
                amount *= kibi;
                break;
            case 'T':
                amount *= kibi * kibi;
                break;
            case 'P':
                amount *= kibi * kibi * kibi;
                break;
            default:
                break;
        }
        list.emplace_back(lower(entry.substr(0, equals)), amount);
    }
    return list;
}

}  // namespace weir::oracle
