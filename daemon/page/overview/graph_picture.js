// SPDX-License-Identifier: Apache-2.0
// Draws the boxes and lines of a graph that is laid out.
import { visible } from "../script/names.js";
import { element, shape } from "../shared/elements.js";
import { kindClass, kindMark, kindWord } from "../shared/kinds.js";
import { threads } from "../shared/numbers.js";
import { shortName } from "./model.js";

const EDGE = 2; // left and right of the picture
const LABELLED = 14; // lines with numbers on a full picture
const LEAST_ROOM = 44; // pixels between boxes for a number
const LETTER = 6.6; // width of one, on average

// Sizes for a width and so many boxes.
export function sizesFor(columns, width) {
  const tallest = Math.max(...columns.map((column) => column.length));
  const dense = tallest > 9;
  const boxWidth = Math.round(Math.max(96, Math.min(180, (width / columns.length) * 0.66)));
  const boxHeight = dense ? 26 : 40;
  const room = Math.max(26, (width - 2 * EDGE - boxWidth) / Math.max(1, columns.length - 1) - boxWidth);
  const distance = boxWidth + Math.min(room, 200);
  const gap = dense ? 8 : 22;
  return {
    dense,
    boxWidth,
    boxHeight,
    distance,
    gap,
    width: Math.max(width, distance * (columns.length - 1) + boxWidth + 2 * EDGE),
    height: Math.max(180, tallest * (boxHeight + gap) + 36),
  };
}

function placesOf(columns, sizes) {
  const places = new Map();
  columns.forEach((column, c) => {
    const used = column.length * (sizes.boxHeight + sizes.gap) - sizes.gap;
    column.forEach((name, i) =>
      places.set(name, {
        x: EDGE + c * sizes.distance,
        y: (sizes.height - used) / 2 + i * (sizes.boxHeight + sizes.gap),
      }),
    );
  });
  return places;
}

function thicknessOf(edges) {
  const most = Math.max(...edges.map((edge) => edge.threads), 1);
  return (edge) => Math.max(1.2, 13 * Math.sqrt(edge.threads / most));
}

// Where lines begin and end on the sides of boxes: beside each other, in the order of their other
// ends. `end`: "from" or "to".
function offsetsOf(edges, end, places, sizes, thick) {
  const other = end === "from" ? "to" : "from";
  const byBox = new Map();
  for (const edge of edges) byBox.set(edge[end], [...(byBox.get(edge[end]) ?? []), edge]);
  const offsets = new Map();
  for (const list of byBox.values()) {
    const inOrder = [...list].sort((a, b) => places.get(a[other]).y - places.get(b[other]).y);
    const all = inOrder.reduce((sum, edge) => sum + thick(edge), 0);
    const scale = Math.min(1, (sizes.boxHeight - 8) / all);
    let y = (sizes.boxHeight - all * scale) / 2;
    for (const edge of inOrder) {
      offsets.set(edge, y + (thick(edge) * scale) / 2);
      y += thick(edge) * scale;
    }
  }
  return offsets;
}

// A line; its number stands on it. `hint`: shown beside the pointer.
function lineOfEdge(edge, path, width, hint) {
  const tell = (event) =>
    hint.show(event, [
      [`${shortName(edge.from)} waits for ${shortName(edge.to)}`],
      [
        element("span", {}, kindMark(edge.for), kindWord(edge.for)),
        element("b", {}, `${threads(edge.threads)} threads`),
      ],
    ]);
  return shape("path", {
    class: `link ${kindClass(edge.for)}`,
    d: path,
    "stroke-width": width.toFixed(1),
    pointermove: tell,
    pointerleave: () => hint.hide(),
  });
}

function drawForward(edges, places, sizes, thick, hint) {
  const begins = offsetsOf(edges, "from", places, sizes, thick);
  const ends = offsetsOf(edges, "to", places, sizes, thick);
  const lines = new Map();
  const labels = [];
  const labelled = new Set(sizes.dense ? edges.slice(0, LABELLED) : edges);
  for (const edge of edges) {
    const [a, b] = [places.get(edge.from), places.get(edge.to)];
    const [x1, y1, x2, y2] = [a.x + sizes.boxWidth, a.y + begins.get(edge), b.x, b.y + ends.get(edge)];
    const bend = Math.max(14, Math.min(90, (x2 - x1) / 2));
    lines.set(
      edge,
      lineOfEdge(edge, `M${x1} ${y1}C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}`, thick(edge), hint),
    );
    if (!labelled.has(edge) || edge.threads < 0.05 || x2 - x1 < LEAST_ROOM) continue;
    const isShort = x2 - x1 <= sizes.distance;
    const at =
      sizes.dense || !isShort ? [x1 + 8, y1 + 4, "start"] : [(x1 + x2) / 2, (y1 + y2) / 2 + 4, "middle"];
    labels.push(
      shape("text", { class: "amount", x: at[0], y: at[1], "text-anchor": at[2] }, threads(edge.threads)),
    );
  }
  return { lines, labels };
}

// Circles bend below the boxes.
function drawBackward(edges, places, sizes, thick, hint) {
  const lines = new Map();
  for (const edge of edges) {
    const [a, b] = [places.get(edge.from), places.get(edge.to)];
    const [x1, x2] = [a.x + sizes.boxWidth * 0.3, b.x + sizes.boxWidth * 0.7];
    const [y1, y2] = [a.y + sizes.boxHeight, b.y + sizes.boxHeight];
    lines.set(
      edge,
      lineOfEdge(
        edge,
        `M${x1} ${y1}C${x1} ${y1 + 34} ${x2} ${y2 + 34} ${x2} ${y2}`,
        Math.min(6, thick(edge)),
        hint,
      ),
    );
  }
  return lines;
}

function boxText(name, node, sizes) {
  const short =
    node.kind === "device"
      ? `device ${visible(name)}`
      : node.kind === "kernel"
        ? "kernel threads"
        : shortName(name);
  const room = Math.floor((sizes.boxWidth - (sizes.dense ? 46 : 16)) / LETTER);
  const title = short.length > room ? `${short.slice(0, Math.max(1, room - 1))}…` : short;
  const words = [
    node.waits > 0 ? `waits ${threads(node.waits)}` : "",
    node.waitedFor > 0 ? `waited for ${threads(node.waitedFor)}` : "",
  ].filter(Boolean);
  const both = words.join(" · ");
  return { title, words: both.length * 5.6 > sizes.boxWidth - 18 ? words.at(-1) : both };
}

// A box; units are buttons. `node`: {kind, waits, waitedFor, isEnd, kinds}.
function drawBox(name, node, place, sizes, { isChosen, choose }) {
  const { title, words } = boxText(name, node, sizes);
  const amount = threads(Math.max(node.waits, node.waitedFor));
  const isUnit = node.kind === "unit";
  const press = (event) => {
    if (event.type === "keydown" && event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    event.stopPropagation();
    choose(name);
  };
  const box = shape(
    "g",
    {
      class: ["node", isUnit ? "" : "thing", node.isEnd ? "cause" : "", isChosen ? "chosen" : ""].join(" "),
      transform: `translate(${place.x} ${place.y})`,
      tabindex: 0,
      role: isUnit ? "button" : "img",
      // With what stands in it, so that people who speak to the page can name it.
      "aria-label": `${visible(name)} ${title} ${sizes.dense ? amount : words}`,
      click: isUnit ? press : null,
      keydown: isUnit ? press : null,
    },
    shape("title", {}, visible(name)),
    " ",
    shape("rect", { class: "box", width: sizes.boxWidth, height: sizes.boxHeight, rx: 4 }),
  );
  if (sizes.dense) {
    box.append(
      shape("text", { class: "name", x: 9, y: 17 }, title),
      " ",
      shape("text", { x: sizes.boxWidth - 8, y: 17, "text-anchor": "end" }, amount),
    );
  } else {
    box.append(
      shape("text", { class: "name", x: 10, y: 17 }, title),
      " ",
      shape("text", { x: 10, y: 32 }, words),
    );
  }
  let x = 0;
  for (const [kind, part] of node.kinds) {
    const width = sizes.boxWidth * part;
    if (width >= 0.5)
      box.append(
        shape("rect", { class: `area ${kindClass(kind)}`, x, y: sizes.boxHeight - 3, width, height: 3 }),
      );
    x += width;
  }
  return box;
}

// Returns {picture, lines, boxes}: elements by edge and by name.
export function drawGraph(plan, nodes, sizes, { hint, chosen, choose }) {
  const places = placesOf(plan.columns, sizes);
  const thick = thicknessOf([...plan.forward, ...plan.backward]);
  const { lines, labels } = drawForward(plan.forward, places, sizes, thick, hint);
  for (const [edge, line] of drawBackward(plan.backward, places, sizes, thick, hint)) lines.set(edge, line);
  const boxes = new Map();
  for (const [name, place] of places) {
    boxes.set(name, drawBox(name, nodes.get(name), place, sizes, { isChosen: name === chosen, choose }));
  }
  const picture = shape(
    "svg",
    { width: sizes.width, height: sizes.height, viewBox: `0 0 ${sizes.width} ${sizes.height}` },
    shape("g", {}, ...lines.values()),
    shape("g", {}, ...boxes.values()),
    shape("g", { class: "amounts" }, ...labels),
  );
  return { picture, lines, boxes };
}
