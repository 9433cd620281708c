// SPDX-License-Identifier: LGPL-3.0-only
// Owns: nothing. The target of the test programs' precompiled headers needs a source (t/CMakeLists.txt).
