// Two branches side by side: the same places, the same view, what differs marked.

import { html, useEffect, useMemo, useRef, useState } from "./lib.js";
import { TripleText } from "./details.js";
import { GraphView } from "./graph.js";
import { citedIn, differences, doubted, stepsOf, stopped, titleOf, tokensOf } from "./model.js";
import { Text, plain } from "./text.js";
import { count, seconds } from "./timeline.js";

const SHOWN = 100; // triples of a branch before one asks for more

function marksOf(present, only, cited) {
  return new Map([...present].map((id) => [
    id, [...(only.has(id) ? ["only"] : []), ...(cited.has(id) ? ["cited"] : [])],
  ]));
}

function Side({ run, branch, other, choose, children }) {
  const usages = stepsOf(run, branch).map((step) => step.usage).filter(Boolean);
  const sum = (of) => usages.reduce((total, usage) => total + of(usage), 0);
  const same = branch.answer === other.answer;
  return html`<section class="side" aria-label=${titleOf(branch)}>
    <header>
      <select aria-label="Branch on this side" value=${branch.number}
        onChange=${(event) => choose(Number(event.target.value))}>
        ${run.branches.map((each) => html`<option value=${each.number}>${titleOf(each)}</option>`)}</select>
      <span class="chip">${stopped(branch) ?? branch.status}</span>
      <span class="quiet">${count(sum(tokensOf))} tokens, ${seconds(sum((usage) => usage.seconds))}</span>
    </header>
    <p class="answer ${same ? "" : "differs"}">${same ? "= " : "≠ "}<${Text} value=${branch.answer || "no answer yet"} />
      ${doubted(branch) && html` <span class="chip unsupported">not supported</span>`}</p>
    ${children}
  </section>`;
}

/** @param {{open: (branch: number, triple: string) => void}} props what leads back to one branch */
function Compare({ run, a, b, choose, positions, version, theme, open }) {
  const [selected, select] = useState(null);
  const [limit, setLimit] = useState(SHOWN);
  const [left, right] = [useRef(), useRef()];
  const { inA, inB, onlyA, onlyB } = useMemo(() => differences(run, a, b), [run, a, b]);
  const marksA = useMemo(() => marksOf(inA, onlyA, citedIn(a)), [inA]);
  const marksB = useMemo(() => marksOf(inB, onlyB, citedIn(b)), [inB]);
  useEffect(() => follow(left.current, right.current), []);
  const chosen = { triple: select, entity: () => {} };
  const shared = { run, positions, version, selected, chosen, theme };
  const hops = Array.from({ length: Math.max(a.hops.length, b.hops.length) }, (_, at) => [a.hops[at], b.hops[at]]);
  const names = [...new Set([...Object.keys(a.settings), ...Object.keys(b.settings)])];
  const setting = (branch, name) => name in branch.settings ? JSON.stringify(branch.settings[name]) : "default";
  const changed = names.filter((name) => setting(a, name) !== setting(b, name));
  const list = (branch, ids) => html`<div>
    <h3>◆ Only in branch ${branch.number} <span class="chip">${count(ids.size)}</span></h3>
    <ul class="rows" aria-label="Only in branch ${branch.number}">${[...ids].slice(0, limit).map((id) => html`<li key=${id}>
      <button class="row" aria-pressed=${selected === id} onClick=${() => select(id)}
        onDblClick=${() => open(branch.number, id)}>
        <${TripleText} triple=${run.triples[id]}
          marks=${["only", ...(citedIn(branch).has(id) ? ["cited"] : [])]} /></button></li>`)}
      ${ids.size > limit && html`<li><button class="more" onClick=${() => setLimit(Infinity)}>
        Show all ${count(ids.size)}</button></li>`}</ul>
    ${ids.size === 0 && html`<p class="quiet">None.</p>`}
  </div>`;
  const places = selected && [inA.has(selected) && a.number, inB.has(selected) && b.number].filter(Boolean);
  return html`<main class="compare">
    <${Side} run=${run} branch=${a} other=${b} choose=${(number) => choose(number, number === b.number ? a.number : b.number)}>
      <${GraphView} ...${shared} marks=${marksA} handle=${left}
        label=${`Graph of branch ${a.number}: ${inA.size} triples, ${onlyA.size} only here`} /></${Side}>
    <${Side} run=${run} branch=${b} other=${a} choose=${(number) => choose(number === a.number ? b.number : a.number, number)}>
      <${GraphView} ...${shared} marks=${marksB} handle=${right}
        label=${`Graph of branch ${b.number}: ${inB.size} triples, ${onlyB.size} only here`} /></${Side}>
    <div class="differences">
      ${selected && html`<div class="picked" role="status"><${TripleText} triple=${run.triples[selected]} />
        ${places.map((number) => html` <button class="small"
          onClick=${() => open(number, selected)}>Show in branch ${number}</button>`)}</div>`}
      <table class="chains"><thead>
        <tr><th>hop</th><th></th><th>branch ${a.number}</th><th>branch ${b.number}</th></tr></thead>
      <tbody>
        ${hops.map(([one, two], at) => {
          const same = one?.subquery === two?.subquery;
          return html`<tr class=${same ? "" : "differs"}><td>${at}</td><td
            title=${same ? "the same" : "different"}>${same ? "=" : "≠"}</td>
            ${[one, two].map((hop) => html`<td>${hop ? html`<${Text} value=${hop.subquery} />` : html`<span
              class="quiet">no such hop</span>`}</td>`)}</tr>`;
        })}
        ${changed.map((name) => html`<tr class="differs"><td>${name}</td><td>≠</td>
          <td>${plain(setting(a, name))}</td><td>${plain(setting(b, name))}</td></tr>`)}
      </tbody></table>
      <div class="lists">${list(a, onlyA)}${list(b, onlyB)}</div>
      <div class="lists">${sections(a, b)}${sections(b, a)}</div>
    </div>
  </main>`;
}

/** What a branch's system adds to it, as far as the other branch differs. */
function sections(branch, other) {
  const known = new Set(other.sections.flatMap(({ title, lines }) => lines.map((line) => `${title}\n${line}`)));
  const own = branch.sections.map(({ title, lines }) => [title, lines.filter((line) => !known.has(`${title}\n${line}`))]);
  return html`<div>${own.filter(([, lines]) => lines.length).map(([title, lines]) => html`<h3>
    <${Text} value=${title} /> of branch ${branch.number}</h3>
    <ul class="rows">${lines.map((line) => html`<li><${Text} value=${line} /></li>`)}</ul>`)}</div>`;
}

/** Makes two drawings show the same part of the plane. */
function follow(one, two) {
  let busy = false;
  const copy = (from, to) => () => {
    if (busy) return;
    busy = true;
    to.moved = from.moved;
    to.cy.viewport({ zoom: from.cy.zoom(), pan: { ...from.cy.pan() } });
    busy = false;
  };
  one.cy.on("viewport", copy(one, two));
  two.cy.on("viewport", copy(two, one));
}

export { Compare };
