// The drawing of a graph. Which triples are shown and how they are marked is the caller's.

import { cytoscape, html, useEffect, useLayoutEffect, useRef } from "./lib.js";
import { plain } from "./text.js";

/** Marks are told apart by a sign in the label and by the line, never by colour alone. */
const SIGNS = { fresh: "+", cited: "★", removed: "✕", pending: "✕", only: "◆" };
const LABEL = 26;
const NODE_FONT = 12;
const EDGE_FONT = 10.5;
const LARGE = 300;
const SLICE = 400; // elements that are added or restyled before the browser gets its turn

const isWide = (char) => /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\uff00-\uff60\p{Emoji_Presentation}]/u.test(char);

/** Width of a label in pixels at a font size; the same on every machine. */
function labelWidth(text, size) {
  let width = 0;
  for (const char of plain(text, LABEL)) width += isWide(char) ? 1.08 : 0.575;
  return width * size;
}

/** Width of an entity's box in pixels. */
const boxWidth = (spelling) => Math.round(20 + labelWidth(spelling, NODE_FONT));

/** Width of the name on an edge in pixels, with the longest of signs. */
const nameWidth = (predicate) => labelWidth(`+ ★ ${predicate}`, EDGE_FONT);

/** Cytoscape's view of a run's graph; its elements only ever grow. */
class Drawing {
  constructor(holder, chosen) {
    this.holder = holder;
    this.moved = false; // by the user: from then on, the view is theirs
    this.large = false; // has so many edges that drawing them takes long
    this.lines = 0; // how many those are
    this.known = new Set(); // ids of elements that are there or to come
    this.coming = [];
    this.changes = [];
    this.bounds = { x1: Infinity, y1: Infinity, x2: -Infinity, y2: -Infinity };
    this.cy = cytoscape({
      container: holder,
      style: styleSheet(holder, false),
      autoungrabify: true,
      autounselectify: true,
      boxSelectionEnabled: false,
      minZoom: 0.03,
      maxZoom: 3,
    });
    this.find();
    this.cy.on("tap", "edge", (event) => chosen.triple(event.target.data("triple")));
    this.cy.on("tap", "node", (event) => chosen.entity(event.target.data("entity")));
    this.cy.on("dragpan scrollzoom pinchzoom", () => (this.moved = true));
    this.cy.on("resize", () => this.moved || this.fit());
    this.cy.on("viewport", () => this.nameSoon());
  }

  /** Takes in what the document has and the drawing lacks; the next `mark` begins to add it. */
  grow(run, positions) {
    const boxes = [];
    const lines = [];
    const isNew = (id) => !this.known.has(id) && this.known.add(id);
    for (const [id, [from, to]] of Object.entries(run.edges)) {
      if (!positions.has(from) || !positions.has(to) || !isNew(`t:${id}`)) continue;
      for (const name of [from, to]) {
        if (!isNew(`e:${name}`)) continue;
        const spelling = run.entities[name] ?? name;
        const label = plain(spelling, LABEL);
        const data = { id: `e:${name}`, entity: name, name: label, label, width: boxWidth(spelling) };
        boxes.push({ group: "nodes", data, classes: "hidden", position: { ...positions.get(name) } });
      }
      const name = plain(run.triples[id].predicate, LABEL);
      const data = { id: `t:${id}`, triple: id, name, label: name, source: `e:${from}`, target: `e:${to}` };
      lines.push({ group: "edges", data, classes: "hidden" });
    }
    if (!lines.length) return;
    const first = !this.lines;
    this.lines += lines.length;
    // Before what is new is styled the first time: that takes long enough.
    if (!this.large && this.lines > LARGE) {
      this.large = true;
      this.paint();
    }
    this.coming.push(...boxes, ...lines);
    boxes.forEach(({ position, data }) => this.include(position, data.width / 2));
    const { x1, y1, x2, y2 } = this.bounds;
    const seen = this.cy.extent();
    const outside = x1 < seen.x1 || x2 > seen.x2 || y1 < seen.y1 || y2 > seen.y2;
    if (!this.moved && (outside || first)) this.fit();
  }

  /** @param {Map<string, string[]>} marks of each triple to show */
  mark(marks, selected) {
    this.wanted = { marks, selected };
    this.changes = null;
    this.work();
  }

  /** Adds what is to come, then marks it, in slices: a large graph freezes nothing. */
  work() {
    clearTimeout(this.working);
    const added = this.coming.splice(0, SLICE);
    if (added.length) this.cy.add(added);
    if (!this.coming.length) {
      if (added.length) this.find();
      this.changes ??= this.findChanges();
      const marked = this.changes.splice(0, SLICE - added.length);
      this.cy.batch(() => marked.forEach((change) => setMarks(change)));
    }
    const busy = this.coming.length > 0 || this.changes.length > 0;
    this.holder.ariaBusy = String(busy);
    if (busy) this.working = setTimeout(() => this.work());
    else this.nameSoon();
  }

  /** Keeps what a step asks for often, and what takes milliseconds to find. */
  find() {
    this.entities = this.cy.nodes();
    this.triples = this.cy.edges();
  }

  /** The elements whose marks are not those that are wanted: restyling is what stepping costs. */
  findChanges() {
    const { marks, selected } = this.wanted;
    const entities = new Map();
    const changes = [];
    const compare = (element, classes, isSelected) => {
      const wanted = classes ? [...classes, ...(isSelected ? ["selected"] : [])].join(" ") : "hidden";
      if (element.scratch("marks") !== wanted) changes.push({ element, classes, wanted });
    };
    this.triples.forEach((edge) => {
      const id = edge.data("triple");
      const classes = marks.get(id);
      compare(edge, classes, id === selected);
      for (const end of classes ? [edge.data("source"), edge.data("target")] : []) {
        const all = entities.get(end) ?? { fresh: true, gone: true };
        all.fresh &&= classes.includes("fresh");
        all.gone &&= classes.includes("removed");
        all.cited ||= classes.includes("cited");
        all.only = (all.only ?? true) && classes.includes("only");
        all.selected ||= id === selected;
        entities.set(end, all);
      }
    });
    this.entities.forEach((node) => {
      const all = entities.get(node.id());
      const classes = all && [
        ...(all.gone ? ["removed"] : []),
        ...(all.fresh ? ["fresh"] : []),
        ...(all.cited ? ["cited"] : []),
        ...(all.only ? ["only"] : []),
      ];
      compare(node, classes, all?.selected);
    });
    return changes;
  }

  /** In a large graph, only what is seen from near has its name drawn: names are what is slow. */
  nameSoon() {
    clearTimeout(this.naming);
    if (!this.large) return;
    this.naming = setTimeout(() => {
      const { x1, y1, x2, y2 } = this.cy.extent();
      const near = this.cy.zoom() > 0.38;
      // From afar there is nothing to look through but what has a name from before.
      const elements = near ? this.cy.elements().not(".hidden") : this.cy.elements(".named");
      this.cy.batch(() =>
        elements.forEach((element) => {
          const { x, y } = near ? (element.isNode() ? element.position() : element.midpoint()) : {};
          element.toggleClass("named", near && x > x1 && x < x2 && y > y1 && y < y2);
        }),
      );
    }, 120);
  }

  /** Pans as little as needed for a triple to be seen. */
  reveal(triple) {
    const edge = this.cy.getElementById(`t:${triple}`);
    if (edge.empty() || edge.hasClass("hidden")) return;
    const { x1, y1, x2, y2 } = edge.connectedNodes().renderedBoundingBox();
    const [width, height] = [this.cy.width(), this.cy.height()];
    if (x1 < 0 || y1 < 0 || x2 > width || y2 > height) {
      this.cy.panBy({ x: width / 2 - (x1 + x2) / 2, y: height / 2 - (y1 + y2) / 2 });
    }
  }

  /** Widens what `fit` shows by a box. */
  include({ x, y }, half) {
    const { x1, y1, x2, y2 } = this.bounds;
    this.bounds = { x1: Math.min(x1, x - half), x2: Math.max(x2, x + half), y1: Math.min(y1, y - 13), y2: Math.max(y2, y + 13) };
  }

  /** Shows the places of all steps and branches, also of those not shown now: nothing jumps. */
  fit() {
    const { x1, y1, x2, y2 } = this.bounds;
    const [width, height] = [this.cy.width(), this.cy.height()];
    if (x1 > x2 || !width) return;
    const zoom = Math.min(1.15, (width - 28) / (x2 - x1), (height - 36) / (y2 - y1));
    this.moved = false;
    this.cy.viewport({ zoom, pan: { x: width / 2 - (zoom * (x1 + x2)) / 2, y: height / 2 - (zoom * (y1 + y2)) / 2 } });
  }

  zoom(factor) {
    this.moved = true;
    const middle = { x: this.cy.width() / 2, y: this.cy.height() / 2 };
    this.cy.zoom({ level: this.cy.zoom() * factor, renderedPosition: middle });
  }

  pan(x, y) {
    this.moved = true;
    this.cy.panBy({ x, y });
  }

  destroy() {
    clearTimeout(this.working);
    clearTimeout(this.naming);
    this.cy.destroy();
  }

  paint() {
    this.cy.style(styleSheet(this.holder, this.large));
  }
}

function setMarks({ element, classes, wanted }) {
  element.scratch("marks", wanted);
  element.classes(wanted);
  const signs = (classes ?? []).map((name) => SIGNS[name]).filter(Boolean);
  const signed = element.isEdge() || classes?.includes("removed") ? signs : [];
  const label = [...signed, element.data("name")].join(" ");
  if (label !== element.data("label")) element.data("label", label);
}

/** Cytoscape knows no CSS variables: they are read from an element that has them. */
function styleSheet(holder, large) {
  const bold = large ? 3 : 1; // a large graph is seen from afar
  const probe = holder.appendChild(document.createElement("i"));
  const color = (name) => {
    probe.style.color = `var(--${name})`;
    return getComputedStyle(probe).color;
  };
  const colors = Object.fromEntries(
    ["text", "dim", "edge", "node", "surface", "accent", "new", "cited", "gone", "only"].map((name) => [name, color(name)]),
  );
  const font = getComputedStyle(holder).fontFamily;
  probe.remove();
  const lines = (color) => ({
    color, "line-color": color, "target-arrow-color": color, "mid-target-arrow-color": color,
  });
  const marked = (mark, color, extra = {}) => [
    {
      selector: `edge.${mark}`,
      style: { ...lines(color), width: 2.8 * bold, "font-weight": "bold", "z-index": 5, ...extra },
    },
    { selector: `node.${mark}`, style: { "border-color": color, "border-width": 2.5 * bold } },
  ];
  // A step changes hundreds of edges of a large graph: each property of each takes its time.
  const fresh = large
    ? [
        { selector: "edge.fresh", style: { "line-color": colors.new, "mid-target-arrow-color": colors.new, width: 4 } },
        { selector: "node.fresh", style: { "border-color": colors.new } },
      ]
    : marked("fresh", colors.new);
  const halo = { "underlay-color": colors.accent, "underlay-opacity": 0.35, "underlay-padding": 6 };
  // No names, and no arrows that have none: what 2,000 edges need to be drawn in no time.
  const quick = { "curve-style": "haystack", "haystack-radius": 0, label: "" };
  const gone = { "line-style": "dashed", "line-dash-pattern": [6, 5], "text-opacity": 0.9, opacity: 0.85 };
  return [
    {
      selector: "node",
      style: {
        shape: "round-rectangle", width: "data(width)", height: 26, label: "data(label)", color: colors.text,
        "background-color": colors.node, "border-width": 1, "border-color": colors.edge, "font-family": font,
        "font-size": NODE_FONT, "text-valign": "center", "min-zoomed-font-size": 4.5, "overlay-opacity": 0, "z-index": 10,
      },
    },
    {
      selector: "edge",
      style: {
        "curve-style": "bezier", width: 1.4, "line-color": colors.edge, "target-arrow-shape": "triangle",
        "target-arrow-color": colors.edge, "mid-target-arrow-color": colors.edge, "arrow-scale": 0.9,
        label: "data(label)", "font-size": EDGE_FONT, "font-family": font, color: colors.dim, "text-rotation": "autorotate", "min-zoomed-font-size": 5,
        "text-background-color": colors.surface, "text-background-opacity": 0.85, "text-background-padding": 2,
        "control-point-step-size": 34, "overlay-opacity": 0,
      },
    },
    ...(large ? [{ selector: "node", style: { label: "", "border-width": 2 } }, { selector: "edge", style: quick }] : []),
    ...fresh,
    ...marked("cited", colors.cited),
    ...marked("only", colors.only),
    { selector: "edge.fresh.cited", style: { "line-style": "solid", width: 3.6 * bold } },
    ...marked("removed", colors.gone, gone),
    { selector: "node.removed", style: { "border-style": "dashed", opacity: 0.7 } },
    { selector: "edge.pending", style: { ...gone, ...lines(colors.gone) } },
    { selector: "edge.selected", style: { ...halo, width: 4 * bold, "z-index": 20, "font-size": 12 } },
    { selector: "node.selected", style: halo },
    {
      selector: ".named, .selected, .cited, .removed, .pending",
      style: { label: "data(label)", ...(large && { "mid-target-arrow-shape": "triangle" }) },
    },
    { selector: ".hidden", style: large ? { visibility: "hidden" } : { display: "none" } },
  ];
}

/**
 * @param {object} props
 * @param {Map<string, string[]>} props.marks triples to show, with their marks
 * @param {{triple: (id: string) => void, entity: (name: string) => void}} props.chosen
 * @param {{current: Drawing|null}} [props.handle] gets the drawing, for keys and buttons
 */
function GraphView({ run, positions, version, marks, selected, chosen, theme, label, handle }) {
  const holder = useRef();
  const drawing = useRef();
  const latest = useRef();
  latest.current = chosen;
  useLayoutEffect(() => {
    const now = {
      triple: (id) => latest.current.triple(id),
      entity: (name) => latest.current.entity(name),
    };
    drawing.current = new Drawing(holder.current, now);
    if (handle) handle.current = drawing.current;
    return () => drawing.current.destroy();
  }, []);
  useLayoutEffect(() => drawing.current.grow(run, positions), [run, version]);
  useLayoutEffect(() => drawing.current.mark(marks, selected), [marks, selected, run, version]);
  useEffect(() => selected && drawing.current.reveal(selected), [selected]);
  useEffect(() => drawing.current.paint(), [theme]);
  return html`<div class="canvas" ref=${holder} tabindex="0" role="application" aria-label=${label}
    aria-keyshortcuts="ArrowUp ArrowDown Enter + - 0"></div>`;
}

export { GraphView, boxWidth, nameWidth };
