// SPDX-License-Identifier: LGPL-3.0-only
// Owns: how Slurm writes things down: Key=Value words, times, TRES lists. Must not know what they mean.
#pragma once
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "libfairshare/base/time.hpp"

namespace weir::oracle {

using Words = std::map<std::string, std::string, std::less<>>;

/// The Key=Value words of each line that has any, keys as written.
std::vector<Words> lines_of_words(std::string_view text);
/// All of them as one record, as slurm.conf is read: a later line wins.
Words all_words(std::string_view text);
/// The value, or `otherwise`.
std::string word(const Words& words, std::string_view key, std::string_view otherwise = "");
double number_word(const Words& words, std::string_view key, double otherwise);

std::vector<std::string> split(std::string_view text, char separator);

/// "minutes", "[days-]hours:minutes:seconds", "minutes:seconds", "days-hours[:minutes[:seconds]]"; INFINITE and
/// UNLIMITED are 2^32-1 minutes, as Slurm stores them. Throws for anything else.
Duration slurm_duration(std::string_view text);
/// "2026-11-21T09:06:02", read as UTC; anything that does not begin with a digit ("Unknown") is `otherwise`.
Instant slurm_instant(std::string_view text, Instant otherwise);

/// "cpu=1,mem=62.50G,gres/gpu=2": names in lower case, memory in MiB, in the order written.
std::vector<std::pair<std::string, double>> tres_list(std::string_view text);

}  // namespace weir::oracle
