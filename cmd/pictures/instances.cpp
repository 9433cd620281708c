// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the layout of picture 5.
#include "cmd/pictures/instances.hpp"

#include <algorithm>

#include "cmd/common/text.hpp"
#include "cmd/report/svg.hpp"

namespace weir::cmd {
namespace {

constexpr double boxes_width = 940, own_height = 64, boxes_gap = 8, narrowest = 160;
constexpr int levels_max = 3;

double part_busy(const InstanceBox& box) {
    return box.cores > 0 ? static_cast<double>(box.cores_busy.value_or(0)) / static_cast<double>(box.cores) : 0;
}

std::string state_words(const InstanceBox& box) {
    return !box.problem.empty() ? box.problem
                                : (box.cores_busy ? fixed(part_busy(box) * 100, 0) + " % busy, " : "") +
                                      grouped(box.waiting) + " waiting";
}

std::string all_words(const InstanceBox& box) {
    std::string words = box.name + ", " + grouped(box.cores) + " cores: " + state_words(box);
    for (const InstanceBox& child : box.children) {
        words += "; in it " + all_words(child);
    }
    return words;
}

int levels_of(const InstanceBox& box, int level = 1) {
    int deepest = level;
    for (const InstanceBox& child : box.children) {
        deepest = level < levels_max ? std::max(deepest, levels_of(child, level + 1)) : level;
    }
    return deepest;
}

struct BoxPlace {
    double x, y, width, height;
    int level;
    const std::string& link;
};

void draw_box(Svg& svg, const InstanceBox& box, const BoxPlace& place);

/// The greatest children side by side, no narrower than their words need.
void draw_boxes_in(Svg& svg, const InstanceBox& box, const BoxPlace& place) {
    std::vector<InstanceBox> shown = box.children;
    std::stable_sort(shown.begin(), shown.end(),
                     [](const InstanceBox& a, const InstanceBox& b) { return a.cores > b.cores; });
    const double room = place.width - 2 * boxes_gap;
    const auto most = static_cast<std::size_t>(std::max(1., (room + boxes_gap) / (narrowest + boxes_gap)));
    shown.resize(std::min(shown.size(), most));
    double cores = 0;
    for (const InstanceBox& child : shown) {
        cores += static_cast<double>(child.cores);
    }
    const double free =
        room - boxes_gap * static_cast<double>(shown.size() - 1) - narrowest * static_cast<double>(shown.size());
    double x = place.x + boxes_gap;
    for (const InstanceBox& child : shown) {
        const double part =
            cores > 0 ? static_cast<double>(child.cores) / cores : 1 / static_cast<double>(shown.size());
        const double wide = narrowest + std::max(0., free) * part;
        draw_box(svg, child,
                 {x, place.y + own_height, wide, place.height - own_height - boxes_gap, place.level + 1, place.link});
        x += wide + boxes_gap;
    }
}

void draw_box(Svg& svg, const InstanceBox& box, const BoxPlace& place) {
    svg.open({{"instance", box.name},
              {"cores", std::to_string(box.cores)},
              {"busy", box.cores_busy ? std::to_string(*box.cores_busy) : ""},
              {"waiting", std::to_string(box.waiting)},
              {"running", std::to_string(box.running)}},
             box.name + ": " + state_words(box));
    const std::string colour = box.problem.empty() ? "s0" : "s1";
    const auto letters = static_cast<std::size_t>(std::max(4., (place.width - 16) / 7.2));
    const bool has_link = !place.link.empty() && !box.way.empty();
    if (has_link) {
        svg.open_link(place.link + box.way, "Into " + box.name + ": " + state_words(box));
    }
    svg.rect({place.x, place.y, place.width, place.height}, "box " + colour);
    svg.rect({place.x, place.y, place.width * std::clamp(part_busy(box), 0., 1.), 6}, "bar " + colour);
    svg.text(place.x + 8, place.y + 22, clipped(box.name + ", " + grouped(box.cores) + " cores", letters), "bold");
    svg.text(place.x + 8, place.y + 38, clipped(state_words(box), letters + 2), "faint");
    const std::size_t all = box.children.size();
    const auto room = static_cast<std::size_t>(std::max(1., (place.width - boxes_gap) / (narrowest + boxes_gap)));
    const std::size_t hidden = place.level < levels_max ? all - std::min(all, room) : all;
    svg.text(
        place.x + 8, place.y + 53,
        clipped(grouped(box.running) + " running" + (hidden > 0 ? ", " + std::to_string(hidden) + " more inside" : ""),
                letters + 2),
        "faint");
    if (has_link) {
        svg.close_link();
    }
    if (place.level < levels_max && all > 0) {
        draw_boxes_in(svg, box, place);
    }
    svg.close();
}

}  // namespace

std::string instances_picture(const InstanceBox& top, const std::string& link) {
    const int levels = levels_of(top);
    const double height = own_height * levels + boxes_gap * (levels - 1);
    Svg svg("instances", boxes_width, height + 12, "Instances inside instances", all_words(top) + ".");
    draw_box(svg, top, {6, 6, boxes_width - 12, height, 1, link});
    return svg.str();
}

}  // namespace weir::cmd
