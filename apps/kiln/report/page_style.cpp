// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "report/page.hpp"

namespace kiln::cli {

// Colours are variables, so that one page has a light and a dark theme and prints on white.
const std::string_view page_style = R"css(
:root {
  --ground: #ffffff; --panel: #f7f6f4; --ink: #22211f; --faint: #6b6863; --rule: #dedbd6;
  --c0: #b0431f; --c1: #31628f; --c2: #2c7d6b; --c3: #77559c; --c4: #94701a; --c5: #a83a66;
  --c6: #a09c95;
}
@media screen and (prefers-color-scheme: dark) {
  :root:not([data-theme="light"]) {
    --ground: #191817; --panel: #22211f; --ink: #e9e6e1; --faint: #a29d95; --rule: #3a3835;
    --c0: #e98157; --c1: #7fb0df; --c2: #6cc3ae; --c3: #b898dd; --c4: #d3ad52; --c5: #e58bb0;
    --c6: #78746d;
  }
}
@media screen {
  :root[data-theme="dark"] {
    --ground: #191817; --panel: #22211f; --ink: #e9e6e1; --faint: #a29d95; --rule: #3a3835;
    --c0: #e98157; --c1: #7fb0df; --c2: #6cc3ae; --c3: #b898dd; --c4: #d3ad52; --c5: #e58bb0;
    --c6: #78746d;
  }
}
* { box-sizing: border-box; }
html { color-scheme: light dark; scroll-padding-top: 3rem; }
:root[data-theme="light"] { color-scheme: light; }
:root[data-theme="dark"] { color-scheme: dark; }
body {
  margin: 0; background: var(--ground); color: var(--ink);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif;
}
nav {
  position: sticky; top: 0; z-index: 2; display: flex; gap: 1rem; align-items: center;
  justify-content: space-between; padding: .4rem max(1rem, calc((100% - 1120px) / 2));
  background: var(--ground); border-bottom: 1px solid var(--rule); font-size: 13px;
}
nav span { display: flex; gap: 1.1rem; overflow-x: auto; white-space: nowrap; }
nav a { color: var(--faint); text-decoration: none; }
nav a:hover, nav a:focus { color: var(--c0); }
nav button {
  flex: none; font: inherit; color: var(--faint); background: none; cursor: pointer;
  border: 1px solid var(--rule); border-radius: 4px; padding: .1rem .6rem;
}
main, footer { max-width: 1152px; margin: 0 auto; padding: 0 1rem; }
footer { color: var(--faint); font-size: 13px; padding-bottom: 2rem; }
h1 { font-size: 1.75rem; line-height: 1.2; margin: 1.6rem 0 .2rem; overflow-wrap: anywhere; }
h2 { font-size: 1.15rem; margin: 2.2rem 0 .8rem; }
h3 { font-size: 1rem; margin: 1.4rem 0 .5rem; }
.subtitle { margin: 0 0 1.2rem; color: var(--faint); overflow-wrap: anywhere; }
.tiles { display: grid; grid-template-columns: repeat(auto-fill, minmax(158px, 1fr));
  margin: 0 0 1rem; padding: 0 1px 1px 0; }
.tile { border: 1px solid var(--rule); margin: 0 -1px -1px 0; padding: .6rem .8rem; min-width: 0;
  overflow-wrap: anywhere; }
.tile .name { display: block; color: var(--faint); font-size: 13px; }
.tile b { display: block; font-size: 1.2rem; font-weight: 600; font-variant-numeric: tabular-nums; }
.tile small { color: var(--faint); }
.tile.first b { color: var(--c0); }
.advice { margin: .8rem 0; padding-left: 1.1rem; }
.advice li { margin: .3rem 0; max-width: 80ch; }
.bad { color: var(--c0); font-weight: 600; }
pre, code { font: 13px/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
pre { margin: .5rem 0; padding: .6rem .8rem; background: var(--panel); overflow-x: auto;
  white-space: pre-wrap; overflow-wrap: anywhere; }
.figures { display: grid; gap: 1.4rem 2rem;
  grid-template-columns: repeat(auto-fill, minmax(min(100%, 430px), 1fr)); }
.figures.small { grid-template-columns: repeat(auto-fill, minmax(min(100%, 300px), 1fr)); }
figure { margin: 0; min-width: 0; }
figcaption { font-weight: 600; font-size: 14px; }
.legend { display: flex; flex-wrap: wrap; gap: .1rem 1rem; font-size: 13px; color: var(--faint); }
.key i { display: inline-block; width: 14px; height: 3px; margin: 0 .4rem .22rem 0;
  background: var(--c); }
.key i.wide { height: 9px; margin-bottom: 0; opacity: .35; }
.key i.dashed { height: 0; background: none; border-top: 2px dashed var(--faint); }
.note { color: var(--faint); font-size: 13px; margin: .2rem 0 .6rem; max-width: 80ch; }
.c0 { --c: var(--c0); } .c1 { --c: var(--c1); } .c2 { --c: var(--c2); } .c3 { --c: var(--c3); }
.c4 { --c: var(--c4); } .c5 { --c: var(--c5); } .c6 { --c: var(--c6); }
svg.chart { display: block; width: 100%; height: auto; font-family: inherit; touch-action: pan-y; }
.line { fill: none; stroke: var(--c); stroke-width: 1.7; stroke-linejoin: round; }
.line.thin { stroke-width: 1; }
.mark { fill: var(--c); }
.band { fill: var(--c); fill-opacity: .2; stroke: var(--c); stroke-opacity: .5; stroke-width: .6; }
.mark.thin { fill-opacity: .5; }
.grid { stroke: var(--rule); stroke-width: 1; }
.axis, .cross { stroke: var(--faint); stroke-width: 1; }
.rule { stroke: var(--faint); stroke-width: 1.2; stroke-dasharray: 5 4; }
.label { fill: var(--faint); font-variant-numeric: tabular-nums; }
.title { fill: var(--ink); }
.scroll { overflow-x: auto; }
.scroll svg { display: block; min-width: 520px; width: 100%; max-width: 900px; height: auto; }
.scroll svg.map { min-width: 0; width: auto; max-width: none; font-family: inherit; }
.wide { overflow-x: auto; margin: 0 0 1.2rem; }
table { border-collapse: collapse; font-size: 14px; }
th, td { text-align: left; padding: .25rem 1.1rem .25rem 0; border-bottom: 1px solid var(--rule);
  vertical-align: top; }
td { overflow-wrap: anywhere; min-width: 3.2rem; }
th { color: var(--faint); font-weight: 500; white-space: nowrap; }
.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
summary { cursor: pointer; }
summary h2, summary h3 { display: inline-block; margin: 1rem 0 .5rem; }
#tip { position: fixed; z-index: 3; pointer-events: none; max-width: 20rem; padding: .3rem .6rem;
  background: var(--ink); color: var(--ground); font-size: 13px; border-radius: 4px;
  white-space: pre-line; font-variant-numeric: tabular-nums; }
@media print {
  :root, :root[data-theme="dark"] { color-scheme: light; }
  nav, #tip { display: none; }
  figure, .tile, tr { break-inside: avoid; }
  .figures { grid-template-columns: 1fr 1fr; }
  h2 { break-after: avoid; }
  main { max-width: none; }
}
)css";

}  // namespace kiln::cli
