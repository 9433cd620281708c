// SPDX-License-Identifier: LGPL-3.0-only
#include <flux/core.h>

#include <catch2/catch.hpp>
#include <cerrno>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "broker/api/plugin_arg.hpp"

namespace {

struct DestroyPlugin {
    void operator()(flux_plugin_t* p) const { flux_plugin_destroy(p); }
    void operator()(flux_plugin_arg_t* a) const { flux_plugin_arg_destroy(a); }
};
using Plugin = std::unique_ptr<flux_plugin_t, DestroyPlugin>;
using Args = std::unique_ptr<flux_plugin_arg_t, DestroyPlugin>;

int note_topic(flux_plugin_t*, const char* topic, flux_plugin_arg_t*, void* data) {
    static_cast<std::vector<std::string>*>(data)->push_back(topic);
    return 0;
}
int fail(flux_plugin_t*, const char*, flux_plugin_arg_t*, void*) {
    return -1;
}

}  // namespace

TEST_CASE("plugin: the first handler whose glob matches is called") {
    const Plugin p(flux_plugin_create());
    std::vector<std::string> seen;
    const flux_plugin_handler table[] = {
        {"job.state.*", note_topic, &seen}, {"job.state.run", fail, nullptr}, {nullptr, nullptr, nullptr}};
    REQUIRE(flux_plugin_register(p.get(), "test", table) == 0);
    CHECK(std::string(flux_plugin_get_name(p.get())) == "test");
    CHECK(flux_plugin_call(p.get(), "job.state.run", nullptr) == 1);
    CHECK(flux_plugin_call(p.get(), "job.new", nullptr) == 0);
    CHECK(seen == std::vector<std::string>{"job.state.run"});
    CHECK(flux_plugin_match_handler(p.get(), "job.new") == nullptr);
}

TEST_CASE("plugin: a failing handler is a failed call") {
    const Plugin p(flux_plugin_create());
    REQUIRE(flux_plugin_add_handler(p.get(), "job.new", fail, nullptr) == 0);
    CHECK(flux_plugin_call(p.get(), "job.new", nullptr) == -1);
}

TEST_CASE("plugin: aux items are replaced and freed once") {
    static int freed = 0;
    freed = 0;
    const auto count = [](void*) { ++freed; };
    {
        const Plugin p(flux_plugin_create());
        int a = 0;
        int b = 0;
        REQUIRE(flux_plugin_aux_set(p.get(), "k", &a, count) == 0);
        REQUIRE(flux_plugin_aux_set(p.get(), "k", &b, count) == 0);
        CHECK(freed == 1);
        CHECK(flux_plugin_aux_get(p.get(), "k") == &b);
        CHECK(flux_plugin_aux_get(p.get(), "other") == nullptr);
    }
    CHECK(freed == 2);
}

TEST_CASE("plugin: configuration") {
    const Plugin p(flux_plugin_create());
    int n = 0;
    CHECK(flux_plugin_conf_unpack(p.get(), "{s:i}", "n", &n) == -1);
    CHECK(flux_plugin_set_conf(p.get(), "{\"n\":") == -1);
    CHECK(std::string(flux_plugin_strerror(p.get())).find("parse error") != std::string::npos);
    REQUIRE(flux_plugin_set_conf(p.get(), "{\"n\":7}") == 0);
    CHECK(flux_plugin_conf_unpack(p.get(), "{s:i}", "n", &n) == 0);
    CHECK(n == 7);
    CHECK(std::string(flux_plugin_get_conf(p.get())) == "{\"n\":7}");
}

TEST_CASE("plugin: a file that cannot be loaded says why") {
    const Plugin p(flux_plugin_create());
    CHECK(flux_plugin_load_dso(p.get(), "/nonexistent/x.so") == -1);
    CHECK(std::string(flux_plugin_strerror(p.get())) == "/nonexistent/x.so: No such file or directory");
    CHECK(flux_plugin_load_dso(p.get(), "/etc/passwd") == -1);
    CHECK(std::string(flux_plugin_strerror(p.get())).find("dlopen: ") == 0);
}

TEST_CASE("plugin arguments: packing adds, REPLACE starts afresh") {
    const Args args(flux_plugin_arg_create());
    REQUIRE(flux_plugin_arg_pack(args.get(), FLUX_PLUGIN_ARG_OUT, "{s:i}", "a", 1) == 0);
    REQUIRE(flux_plugin_arg_pack(args.get(), FLUX_PLUGIN_ARG_OUT, "{s:i s:s}", "a", 2, "b", "x") == 0);
    char* text = nullptr;
    REQUIRE(flux_plugin_arg_get(args.get(), FLUX_PLUGIN_ARG_OUT, &text) == 0);
    CHECK(std::string(text) == "{\"a\":2,\"b\":\"x\"}");
    std::free(text);
    REQUIRE(flux_plugin_arg_set(args.get(), FLUX_PLUGIN_ARG_OUT | FLUX_PLUGIN_ARG_REPLACE, "{\"c\":3}") == 0);
    int c = 0;
    CHECK(flux_plugin_arg_unpack(args.get(), FLUX_PLUGIN_ARG_OUT, "{s:i}", "c", &c) == 0);
    CHECK(c == 3);
    CHECK(flux_plugin_arg_unpack(args.get(), FLUX_PLUGIN_ARG_OUT, "{s:i}", "a", &c) == -1);
    CHECK(std::string(flux_plugin_arg_strerror(args.get())).find("a") != std::string::npos);
    CHECK(flux_plugin_arg_get(args.get(), FLUX_PLUGIN_ARG_IN, &text) == -1);
    CHECK(errno == ENOENT);
}

TEST_CASE("plugin arguments: a deferred value is made once, and only when asked for") {
    const Args args(flux_plugin_arg_create());
    REQUIRE(flux_plugin_arg_pack(args.get(), FLUX_PLUGIN_ARG_IN, "{s:i}", "id", 7) == 0);
    int made = 0;
    weir::broker::plugin_arg_defer(args.get(), [&made] {
        ++made;
        return json_pack("{s:{s:s}}", "jobspec", "queue", "debug");
    });
    int id = 0;
    const char* queue = nullptr;
    SECTION("plain values do not make it") {
        CHECK(flux_plugin_arg_unpack(args.get(), FLUX_PLUGIN_ARG_IN, "{s:i}", "id", &id) == 0);
        CHECK(id == 7);
        CHECK(flux_plugin_arg_unpack(args.get(), FLUX_PLUGIN_ARG_OUT, "{s:i}", "id", &id) == -1);
        CHECK(made == 0);
    }
    SECTION("a format that names it gets it, beside the plain ones") {
        for (int i = 0; i < 2; ++i) {
            REQUIRE(flux_plugin_arg_unpack(args.get(), FLUX_PLUGIN_ARG_IN, "{s:i s:{s:s}}", "id", &id, "jobspec",
                                           "queue", &queue) == 0);
            CHECK(id == 7);
            CHECK(std::string(queue) == "debug");
        }
        CHECK(made == 1);
    }
    SECTION("an optional key finds it") {
        const char* format = "{s?{s?s}}";
        REQUIRE(flux_plugin_arg_unpack(args.get(), FLUX_PLUGIN_ARG_IN, format, "jobspec", "queue", &queue) == 0);
        CHECK(std::string(queue) == "debug");
    }
    SECTION("the whole has it") {
        json_t* all = nullptr;
        REQUIRE(flux_plugin_arg_unpack(args.get(), FLUX_PLUGIN_ARG_IN, "o", &all) == 0);
        CHECK(json_object_size(all) == 2);
        char* text = nullptr;
        REQUIRE(flux_plugin_arg_get(args.get(), FLUX_PLUGIN_ARG_IN, &text) == 0);
        CHECK(std::string(text) == R"({"id":7,"jobspec":{"queue":"debug"}})");
        std::free(text);
    }
    SECTION("a key that is nowhere is an error") {
        CHECK(flux_plugin_arg_unpack(args.get(), FLUX_PLUGIN_ARG_IN, "{s:i}", "none", &id) == -1);
        CHECK(std::string(flux_plugin_arg_strerror(args.get())).find("none") != std::string::npos);
    }
}

TEST_CASE("plugin arguments: they serve another call unless IN was added to or kept") {
    const Args args(flux_plugin_arg_create());
    REQUIRE(flux_plugin_arg_pack(args.get(), FLUX_PLUGIN_ARG_IN, "{s:i}", "id", 7) == 0);
    json_t* in = weir::broker::plugin_arg_seal(args.get());
    REQUIRE(flux_plugin_arg_pack(args.get(), FLUX_PLUGIN_ARG_OUT, "{s:i}", "priority", 3) == 0);
    weir::broker::plugin_arg_defer(args.get(), [] { return json_pack("{s:i}", "more", 1); });
    int value = 0;
    SECTION("nothing of the call before is left") {
        CHECK(weir::broker::plugin_arg_renew(args.get()));
        CHECK(flux_plugin_arg_unpack(args.get(), FLUX_PLUGIN_ARG_OUT, "{s:i}", "priority", &value) == -1);
        CHECK(flux_plugin_arg_unpack(args.get(), FLUX_PLUGIN_ARG_IN, "{s:i}", "more", &value) == -1);
        CHECK(flux_plugin_arg_unpack(args.get(), FLUX_PLUGIN_ARG_IN, "{s:i}", "id", &value) == 0);
        CHECK(json_object_size(weir::broker::plugin_arg_out(args.get())) == 0);
    }
    SECTION("what was deferred is an addition once it was made") {
        REQUIRE(flux_plugin_arg_unpack(args.get(), FLUX_PLUGIN_ARG_IN, "{s:i}", "more", &value) == 0);
        CHECK_FALSE(weir::broker::plugin_arg_renew(args.get()));
    }
    SECTION("a plugin may add") {
        REQUIRE(flux_plugin_arg_pack(args.get(), FLUX_PLUGIN_ARG_IN, "{s:i}", "id", 8) == 0);
        CHECK_FALSE(weir::broker::plugin_arg_renew(args.get()));
    }
    SECTION("a plugin may keep IN") {
        json_incref(in);
        CHECK_FALSE(weir::broker::plugin_arg_renew(args.get()));
        json_decref(in);
    }
    SECTION("a plugin may keep OUT: the next call has its own") {
        json_t* out = json_incref(const_cast<json_t*>(weir::broker::plugin_arg_out(args.get())));
        CHECK(weir::broker::plugin_arg_renew(args.get()));
        CHECK(weir::broker::plugin_arg_out(args.get()) != out);
        CHECK(json_object_size(out) == 1);
        json_decref(out);
    }
}
