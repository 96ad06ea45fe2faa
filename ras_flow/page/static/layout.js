// Where each entity is drawn: computed once, by forces, and never changed.

import { d3 } from "./lib.js";

const SLICE = 12; // milliseconds of work before the browser gets its turn
const STRETCH = 1.25; // labels are wide: the plane is laid out in squares and then widened

/** Positions of entities that only ever grow. The same edges in the same order give the same. */
class Layout {
  constructor() {
    /** @type {Map<string, {x: number, y: number}>} */
    this.positions = new Map();
    this.working = Promise.resolve();
  }

  /**
   * Places the entities that have no place yet; all others stay where they are.
   * @param {{from: string, to: string, name: number}[]} edges with the width of their names in pixels
   * @param {(entity: string) => number} width in pixels
   */
  extend(edges, width) {
    this.working = this.working.then(() => this.place(edges, width));
    return this.working;
  }

  async place(edges, width) {
    const nodes = new Map();
    for (const name of edges.flatMap(({ from, to }) => [from, to])) {
      if (nodes.has(name)) continue;
      const placed = this.positions.get(name);
      const fixed = placed && { fx: placed.x / STRETCH, fy: placed.y };
      nodes.set(name, { name, radius: width(name) / 2 / STRETCH + 8, ...fixed });
    }
    const fresh = [...nodes.values()].filter((node) => node.fx === undefined);
    if (!fresh.length) return;
    startNear(edges, nodes);
    const simulation = simulate([...nodes.values()], edges);
    const rounds = Math.round(Math.max(90, 500 - nodes.size / 2));
    simulation.alphaDecay(1 - Math.pow(0.001, 1 / rounds));
    let since = performance.now();
    for (let round = 0; round < rounds; round += 1) {
      simulation.tick();
      if (performance.now() - since > SLICE) {
        await new Promise((resolve) => setTimeout(resolve));
        since = performance.now();
      }
    }
    for (const { name, x, y } of fresh) {
      this.positions.set(name, { x: Math.round(x * STRETCH), y: Math.round(y) });
    }
  }
}

/** Begins new entities of a graph that has places next to a neighbour that has one. */
function startNear(edges, nodes) {
  let turn = 0;
  for (const { from, to } of edges) {
    const [a, b] = [nodes.get(from), nodes.get(to)];
    for (const [old, young] of [[a, b], [b, a]]) {
      const known = old.fx ?? old.x;
      if (known === undefined || young.fx !== undefined || young.x !== undefined) continue;
      const angle = (turn += 2.4); // about the golden angle: neighbours of one spread out
      young.x = known + 90 * Math.cos(angle);
      young.y = (old.fy ?? old.y) + 90 * Math.sin(angle);
    }
  }
}

function simulate(nodes, edges) {
  const large = nodes.length > 300;
  const links = edges.map(({ from, to, name }) => ({ source: from, target: to, name }));
  const simulation = d3
    .forceSimulation(nodes)
    .stop()
    .force("link", d3.forceLink(links).id((node) => node.name).distance(large ? 90 : roomForName))
    .force("charge", d3.forceManyBody().strength(large ? -300 : -450).distanceMax(large ? 500 : 900).theta(1))
    .force("collide", d3.forceCollide((node) => node.radius).strength(0.7))
    .force("x", d3.forceX().strength(large ? 0.06 : 0.1))
    .force("y", d3.forceY().strength(large ? 0.06 : 0.1));
  // Too slow for large graphs, where no label can be read from afar anyway.
  if (nodes.length * links.length < 40_000) simulation.force("clear", (alpha) => clearEdges(nodes, links, alpha));
  return simulation;
}

/** A distance at which an edge's name fits between the boxes at its ends, whatever its slope. */
const roomForName = ({ source, target, name }) => 14 + 0.7 * (source.radius + target.radius) + name / STRETCH;

/** Pushes entities off the edges of others, which would seem to end at them. */
function clearEdges(nodes, links, alpha) {
  if (alpha > 0.15) return; // the graph untangles first; pushed off edges, it could not
  for (const { source, target } of links) {
    const [dx, dy] = [target.x - source.x, target.y - source.y];
    const square = dx * dx + dy * dy || 1;
    for (const node of nodes) {
      if (node === source || node === target) continue;
      const along = ((node.x - source.x) * dx + (node.y - source.y) * dy) / square;
      if (along < 0 || along > 1) continue;
      const [ox, oy] = [node.x - source.x - along * dx, node.y - source.y - along * dy];
      const distance = Math.hypot(ox, oy) || 0.1;
      const short = Math.max(26, node.radius) - distance;
      if (short <= 0) continue;
      const push = (short / distance) * 0.4;
      node.vx += ox * push;
      node.vy += oy * push;
      for (const end of [source, target]) {
        end.vx -= 0.4 * ox * push;
        end.vy -= 0.4 * oy * push;
      }
    }
  }
}

export { Layout };
