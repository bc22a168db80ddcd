// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "report/page.hpp"

namespace kiln::cli {

// Tips, the switch between themes, and folded parts that open for the printer. Everything that the
// page says is there without it.
const std::string_view page_script = R"js(
"use strict";
(() => {
  const root = document.documentElement;
  document.getElementById("theme").addEventListener("click", () => {
    const dark = root.dataset.theme ? root.dataset.theme === "dark"
                                    : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
  });
  addEventListener("beforeprint", () => {
    for (const part of document.querySelectorAll("details")) part.open = true;
  });
  const tip = document.getElementById("tip");
  const hide = (svg) => {
    tip.hidden = true;
    svg.querySelector(".cross")?.remove();
  };
  const cross = (svg, x, y) => {
    svg.querySelector(".cross")?.remove();
    const mark = document.createElementNS("http://www.w3.org/2000/svg", "circle");
    mark.setAttribute("class", "cross");
    mark.setAttribute("fill", "none");
    mark.setAttribute("cx", x);
    mark.setAttribute("cy", y);
    mark.setAttribute("r", 5);
    svg.append(mark);
  };
  for (const svg of document.querySelectorAll("svg[data-tips]")) {
    const tips = JSON.parse(svg.dataset.tips);
    const both = svg.dataset.near === "point";
    const show = (event) => {
      const box = svg.getBoundingClientRect();
      const scale = svg.viewBox.baseVal.width / box.width;
      const x = (event.clientX - box.left) * scale, y = (event.clientY - box.top) * scale;
      let best = null, least = both ? 400 : Infinity;
      for (const one of tips) {
        const dx = one[0] - x, dy = both ? one[1] - y : 0;
        if (dx * dx + dy * dy < least) {
          least = dx * dx + dy * dy;
          best = one;
        }
      }
      if (!best) return hide(svg);
      cross(svg, best[0], best[1]);
      tip.textContent = best[2];
      tip.hidden = false;
      const left = box.left + best[0] / scale + 12, top = box.top + best[1] / scale + 12;
      tip.style.left = Math.max(4, Math.min(left, innerWidth - tip.offsetWidth - 8)) + "px";
      tip.style.top = Math.max(4, Math.min(top, innerHeight - tip.offsetHeight - 8)) + "px";
    };
    svg.addEventListener("pointermove", show);
    svg.addEventListener("pointerdown", show);
    svg.addEventListener("pointerleave", () => hide(svg));
  }
})();
)js";

}  // namespace kiln::cli
