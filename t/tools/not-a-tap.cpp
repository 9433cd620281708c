// SPDX-License-Identifier: LGPL-3.0-only
// A DSO without flux_plugin_init: the plugin host must refuse it.
extern "C" __attribute__((visibility("default"))) int answer() {
    return 42;
}
