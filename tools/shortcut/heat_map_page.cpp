// The HTML page of a heat map: data and a script in one file, nothing from anywhere else.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "shortcut/plot.hpp"

namespace shortcut::cli {
namespace {

constexpr std::string_view kHead = R"(<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>Shortcut sweep</title>
<style>
body{font:14px/1.45 sans-serif;margin:24px;color:#222;background:#fff}
h1{font-size:20px;margin:0 0 4px}
p{margin:0 0 12px;color:#555}
label{margin-right:14px}
#tip{position:fixed;display:none;background:#222;color:#fff;padding:6px 9px;border-radius:4px;
white-space:pre;pointer-events:none;font-size:13px}
svg text{font-size:12px;fill:#222}
svg text.axis{font-size:14px;font-weight:bold}
rect.cell:hover{stroke:#d62728;stroke-width:2}
</style></head><body>
<h1 id="title"></h1><p id="subtitle"></p>
<div><label><input type="radio" name="by" value="value" checked> <span id="valuename"></span></label>
<label><input type="radio" name="by" value="group"> what is chosen</label></div>
<div id="map"></div><div id="tip"></div>
<script>
const data = )";

constexpr std::string_view kTail = R"(;
const make = (name, attributes, text) => {
  const e = document.createElementNS('http://www.w3.org/2000/svg', name);
  for (const k in attributes) e.setAttribute(k, attributes[k]);
  if (text !== undefined) e.textContent = text;
  return e;
};
const ramp = [[247,251,255],[198,219,239],[107,174,214],[33,113,181],[8,48,107]];
const colour = t => {
  const p = Math.max(0, Math.min(1, t)) * (ramp.length - 1), i = Math.min(ramp.length - 2, Math.floor(p));
  return 'rgb(' + ramp[i].map((c, k) => Math.round(c + (ramp[i + 1][k] - c) * (p - i))).join(',') + ')';
};
const palette = ['#4e79a7','#f28e2b','#59a14f','#e15759','#b07aa1','#76b7b2','#edc948','#9c755f','#bab0ac'];
const groups = [...new Set(data.cells.map(c => c.group))];
const nx = data.x.ticks.length, ny = data.y.ticks.length;
const values = data.cells.map(c => c.value), low = Math.min(...values), high = Math.max(...values);
const span = high > low ? high - low : 1;
document.getElementById('title').textContent = data.title;
document.getElementById('subtitle').textContent = data.subtitle;
document.getElementById('valuename').textContent = data.value;
const tip = document.getElementById('tip');
function paint(by) {
  const left = 110, top = 14, size = Math.max(8, Math.min(44, Math.floor(640 / nx))), tall = Math.max(8, Math.min(44, Math.floor(460 / ny)));
  const w = nx * size, h = ny * tall, side = left + w + 36;
  const svg = make('svg', {width: side + 250, height: Math.max(top + h + 84, top + groups.length * 22 + 30)});
  data.cells.forEach((c, i) => {
    const r = make('rect', {class: 'cell', x: left + (i % nx) * size, y: top + (ny - 1 - Math.floor(i / nx)) * tall, width: size, height: tall,
      fill: by === 'value' ? colour((c.value - low) / span) : palette[groups.indexOf(c.group) % palette.length]});
    r.onmousemove = e => {
      tip.textContent = c.hover; tip.style.display = 'block';
      tip.style.left = Math.min(e.clientX + 14, innerWidth - tip.offsetWidth - 8) + 'px'; tip.style.top = e.clientY + 14 + 'px';
    };
    r.onmouseleave = () => { tip.style.display = 'none'; };
    svg.append(r);
  });
  svg.append(make('rect', {x: left, y: top, width: w, height: h, fill: 'none', stroke: '#333', 'pointer-events': 'none'}));
  const pick = (n, most) => {
    const every = Math.ceil(n / most), shown = [];
    for (let i = 0; i < n; i += every) {
      if (i > 0 && n - 1 - i < every) i = n - 1;
      shown.push(i);
    }
    return shown;
  };
  for (const i of pick(nx, w / 70)) svg.append(make('text', {x: left + (i + .5) * size, y: top + h + 18, 'text-anchor': 'middle'}, data.x.ticks[i]));
  for (const i of pick(ny, h / 18)) svg.append(make('text', {x: left - 8, y: top + h - (i + .5) * tall + 4, 'text-anchor': 'end'}, data.y.ticks[i]));
  svg.append(make('text', {class: 'axis', x: left + w / 2, y: top + h + 48, 'text-anchor': 'middle'}, data.x.title));
  svg.append(make('text', {class: 'axis', x: 0, y: 0, 'text-anchor': 'middle', transform: `translate(22 ${top + h / 2}) rotate(-90)`}, data.y.title));
  if (by === 'value') {
    const n = 60, bar = Math.min(h, 300);
    for (let i = 0; i < n; i++) svg.append(make('rect', {x: side, y: top + bar * (1 - (i + 1) / n), width: 18, height: bar / n + .6, fill: colour(i / (n - 1))}));
    for (let i = 0; i <= 4; i++) svg.append(make('text', {x: side + 24, y: top + bar * (1 - i / 4) + (i === 4 ? 10 : 4)}, (low + span * i / 4).toFixed(2) + ' ' + data.unit));
    svg.append(make('text', {x: side, y: top + bar + 22}, data.value));
  } else {
    groups.forEach((g, i) => {
      svg.append(make('rect', {x: side, y: top + i * 22, width: 14, height: 14, fill: palette[i % palette.length]}));
      svg.append(make('text', {x: side + 20, y: top + i * 22 + 12}, g));
    });
  }
  document.getElementById('map').replaceChildren(svg);
}
document.querySelectorAll('input[name=by]').forEach(e => { e.onchange = () => paint(e.value); });
paint('value');
</script></body></html>
)";

}  // namespace

std::string heat_map_page(const HeatMap& map, const std::vector<std::string>& groups,
                          std::string_view subtitle) {
  nlohmann::ordered_json data{{"title", map.title},
                              {"subtitle", subtitle},
                              {"value", map.value_title},
                              {"unit", "x"},
                              {"x", {{"title", map.x.title}, {"ticks", map.x.ticks}}},
                              {"y", {{"title", map.y.title}, {"ticks", map.y.ticks}}}};
  for (std::size_t i = 0; i < map.cells.size(); ++i) {
    data["cells"].push_back(
        {{"value", map.cells[i].value}, {"group", groups[i]}, {"hover", map.cells[i].hover}});
  }
  std::string json = data.dump();
  for (std::size_t i = json.find("</"); i != std::string::npos; i = json.find("</", i + 3)) {
    json.insert(i + 1, "\\");
  }
  return std::string(kHead) + json + std::string(kTail);
}

}  // namespace shortcut::cli
