// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the headers that most files include. Precompiled by the quickstart preset alone; nobody includes this file.
#pragma once
#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>
