// SPDX-License-Identifier: LGPL-3.0-only
// Owns: nothing; the JSON value of libsched's codecs is libfairshare's.
#pragma once
#include "libfairshare/json/json.hpp"
