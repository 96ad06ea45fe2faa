// What stands beside the graph: the step, a triple's way from passage to answer, and the answer.

import { html, useState } from "./lib.js";
import { citedIn, doubted, nameOf, originOf, passageName, passagesAt, spanOf, statedIn, stopped, usageOf } from "./model.js";
import { Text, findNames } from "./text.js";
import { count, counted, seconds } from "./timeline.js";

const SHOWN = 60; // rows of a list before one asks for more

/** A triple in one line; `marks` are those of the graph. */
function TripleText({ triple, marks = [] }) {
  const signs = [["fresh", "+", "new in this step"], ["cited", "★", "cited by the answer"], ["removed", "✕", "removed"],
    ["pending", "✕", "to be dropped"], ["only", "◆", "only in this branch"]];
  return html`<span class="triple">
    ${signs.filter(([name]) => marks.includes(name)).map(([name, sign, title]) =>
      html`<span class="sign ${name}" title=${title} role="img" aria-label=${title}>${sign}</span>`)}
    <${Text} value=${triple.subject} /><span class="predicate"><${Text} value=${triple.predicate} /></span>
    <${Text} value=${triple.object} />
  </span>`;
}

function TripleButton({ view, id, marks }) {
  const triple = view.run.triples[id];
  return html`<button class="row" aria-pressed=${view.selected === id} onClick=${() => view.select(id)}>
    <${TripleText} triple=${triple} marks=${marks ?? view.marks.get(id)} />
  </button>`;
}

function TripleRows({ view, ids, empty = "None." }) {
  const [limit, setLimit] = useState(SHOWN);
  if (!ids.length) return html`<p class="quiet">${empty}</p>`;
  return html`<ul class="rows">
    ${ids.slice(0, limit).map((id) => html`<li key=${id}><${TripleButton} view=${view} id=${id} /></li>`)}
    ${ids.length > limit && html`<li><button class="more" onClick=${() => setLimit(Infinity)}>
      Show all ${count(ids.length)}</button></li>`}
  </ul>`;
}

function Facts({ of }) {
  const rows = of.filter(([, value]) => value !== null && value !== undefined && value !== "");
  return html`<dl class="facts">${rows.map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`)}</dl>`;
}

/** What a system adds to what people are shown. */
function Sections({ of }) {
  return of.map((section) => html`<h3><${Text} value=${section.title} /></h3>
    <ul class="rows">${section.lines.map((line) => html`<li><${Text} value=${line} /></li>`)}</ul>`);
}

function StepPanel({ view }) {
  const { step, branch, run, steps } = view;
  const { usage, plan } = step;
  // A branch that leaves another at its end has that one's answer among its steps.
  const answered = run.branches.find((each) => each.status === "finished" && each.steps.at(-1) === step.checkpoint);
  return html`<section>
    <h2>${nameOf(step)}${step.hop !== null && html` <span class="chip">hop ${step.hop}</span>`}</h2>
    <${Facts} of=${[
      ["step", `${view.index} of ${steps.length - 1}`],
      ["written", new Date(step.time).toLocaleString()],
      ["role", usage?.role],
      ["tokens", usage && `${count(usage.input_tokens)} in, ${count(usage.output_tokens)} out, ${counted(usage.calls, "call")}`],
      ["time", usage && seconds(usage.seconds)],
      ["next", step.next.join(", ") || (step === steps.at(-1) && branch.status === "finished" ? "nothing: the run is over" : "")],
    ]} />
    ${step.kind === "question" && html`<blockquote><${Text} value=${branch.question} /></blockquote>`}
    ${plan && html`<h3>Plan <span class="chip">${plan.label ? `[${plan.label}]` : "not usable"}</span></h3>
      ${plan.subquery && html`<blockquote><${Text} value=${plan.subquery} /></blockquote>`}
      ${(plan.problem || plan.error) && html`<p class="problem"><${Text} value=${plan.problem || plan.error} /></p>`}
      <h4>The planner's own words</h4><pre><${Text} value=${plan.raw} /></pre>`}
    ${step.passages.length > 0 && html`<h3>Passages</h3>
      ${step.passages.map((id) => html`<${PassageItem} key=${id} view=${view} id=${id} />`)}`}
    ${step.removed.length > 0 && html`<h3>Removed triples</h3><${TripleRows} view=${view} ids=${step.removed} />`}
    ${step.added.length > 0 && html`<h3>New triples <span class="chip">${count(step.added.length)}</span></h3>
      <${TripleRows} key=${step.checkpoint} view=${view} ids=${step.added} />`}
    <${Sections} of=${step.sections} />
    ${answered && html`<h3>Answer</h3><${Answer} of=${answered} />`}
  </section>`;
}

/** An answer that the documents support, and one that they do not: they never look alike. */
function Answer({ of }) {
  const kind = of.supported ? "supported" : doubted(of) ? "unsupported" : "";
  const verdict = { supported: "✓ Supported", unsupported: "✕ Not supported" }[kind];
  return html`<blockquote class="answer ${kind}"><${Text} value=${of.answer || "no answer"} /></blockquote>
    <p class="support ${kind}">${verdict && html`<strong>${verdict}</strong> `}
      ${of.support && html`<${Text} value=${of.support} />`}</p>`;
}

/** Where a passage is from; only an address of the web becomes a link. */
function Source({ of }) {
  const text = html`<${Text} value=${of} />`;
  return html`<span class="quiet source">${/^https?:\/\//.test(of)
    ? html`<a href=${of} target="_blank" rel="noopener noreferrer">${text}</a>` : text}</span>`;
}

/** A cited fact with the sentence that states it, or a cited passage. */
function Cited({ view, citation: { triple, passages, title, source, sentence } }) {
  if (!triple) {
    return passages.map((id) => html`<${PassageItem} key=${id} view=${view} id=${id}
      spans=${sentence ? findNames(view.run.passages[id].text, [sentence]) : undefined} />`);
  }
  return html`<${TripleButton} view=${view} id=${triple} marks=${["cited"]} />
    ${(sentence || title) && html`<p class="stated"><strong><${Text} value=${title} /></strong>${" "}
      <${Text} value=${sentence} /> ${source && html`<${Source} of=${source} />`}</p>`}`;
}

/** A passage; closed unless it has marked sentences, and without its text until it is opened. */
function PassageItem({ view, id, spans }) {
  const [open, setOpen] = useState(Boolean(spans));
  const passage = view.run.passages[id];
  return html`<details class="passage" open=${open} onToggle=${(event) => setOpen(event.target.open)}>
    <summary><${Text} value=${passageName(view.run, id)} /></summary>
    ${open && html`<p><${Text} value=${passage.text} marks=${spans ?? []} /></p>
    <footer>
      ${passage.source && html`<${Source} of=${passage.source} />`}
      ${view.edit && html`<button class="small"
        onClick=${() => view.edit({ op: "drop_passage", passage: id })}>Drop this passage</button>`}
    </footer>`}
  </details>`;
}

/** A triple's way: the passage that states it, the subquery that found that, the answer that used it. */
function Lineage({ view, id }) {
  const { run, branch } = view;
  const triple = run.triples[id];
  const stated = statedIn(run, branch, id);
  const { index, step, byHand, hop } = originOf(run, branch, id);
  const cited = citedIn(branch).has(id);
  const names = [triple.subject, triple.object, ...run.edges[id]];
  const dropped = (view.marks.get(id) ?? []).includes("pending");
  return html`<section class="lineage" aria-label="Lineage of the triple">
    <p class="crumbs"><button class="link" onClick=${() => view.select(null)}>← all triples</button></p>
    <h2 class="headline"><${TripleText} triple=${triple} marks=${view.marks.get(id)} /></h2>
    ${view.edit && html`<p><button class="small" disabled=${dropped}
      onClick=${() => view.edit({ op: "drop_triple", triple: id })}>${dropped ? "Will be dropped" : "Drop this triple"}</button></p>`}
    <ol class="way">
      <li><h3>Found by</h3>
        ${!step ? html`<p>Not in this branch.</p>` : byHand
          ? html`<p>Added by hand.</p>`
          : html`<blockquote><${Text} value=${hop?.subquery || "given with the question"} /></blockquote>`}
        ${step && html`<p class="quiet">${hop && `hop ${hop.index}, `}<button class="link"
          onClick=${() => view.go(index)}>step ${index}: ${nameOf(step)}</button></p>`}
      </li>
      <li><h3>Stated in</h3>
        ${stated.map((passage) => {
          const span = spanOf(run, id, passage);
          return html`<${PassageItem} key=${passage} view=${view} id=${passage} spans=${span ? [span] : []} />`;
        })}
        ${!stated.length && html`<p class="quiet">No passage.</p>`}
      </li>
      <li><h3>Used by</h3>
        ${!branch.answer ? html`<p class="quiet">There is no answer yet.</p>` : cited
          ? html`<p>★ The answer cites it:</p><blockquote><${Text} value=${branch.answer}
            marks=${findNames(branch.answer, names)} /></blockquote>`
          : html`<p class="quiet">The answer does not cite it.</p>`}
      </li>
    </ol>
  </section>`;
}

function TriplesPanel({ view }) {
  if (view.selected) return html`<${Lineage} key=${view.selected} view=${view} id=${view.selected} />`;
  const wanted = view.filter.trim().toLowerCase();
  const ids = [...view.marks.keys()].filter((id) => {
    const { subject, predicate, object } = view.run.triples[id];
    return !wanted || `${subject} ${predicate} ${object}`.toLowerCase().includes(wanted);
  });
  return html`<section>
    <input type="search" class="wide" placeholder="Filter triples ( / )" aria-label="Filter triples" value=${view.filter}
      onInput=${(event) => view.setFilter(event.target.value)} />
    <p class="quiet" role="status">${count(ids.length)} of ${count(view.marks.size)} triples at this step</p>
    <${TripleRows} key=${wanted} view=${view} ids=${ids} empty="No triple yet." />
  </section>`;
}

function PassagesPanel({ view }) {
  const groups = passagesAt(view.run, view.branch, view.index);
  if (!groups.length) return html`<p class="quiet">No passages yet.</p>`;
  return html`<section>${groups.map(({ step, hop, ids }) => html`
    <h3><span class="chip">${step.hop === null ? nameOf(step) : `hop ${step.hop}`}</span> <${Text} value=${hop?.subquery ?? ""} /></h3>
    ${ids.map((id) => html`<${PassageItem} key=${id} view=${view} id=${id} />`)}`)}</section>`;
}

function AnswerPanel({ view }) {
  const { run, branch } = view;
  const roles = [...usageOf(run, branch)];
  const total = roles.reduce((sum, [, { seconds }]) => sum + seconds, 0);
  return html`<section>
    <h2>Answer <span class="chip ${branch.status}"
      title=${run.system.stop_reasons[branch.stop_reason] ?? ""}>${stopped(branch) ?? branch.status}</span></h2>
    ${branch.status === "finished" ? html`<${Answer} of=${branch} />` : html`<p class="quiet">There is no answer yet.</p>`}
    ${branch.warnings.length > 0 && html`<h3>Warnings</h3>
      <ul class="warnings">${branch.warnings.map((text) => html`<li><${Text} value=${text} /></li>`)}</ul>`}
    <h3>${branch.supported ? "It rests on" : "Found, but not enough"}</h3>
    <ul class="rows">${branch.citations.map((citation) => html`<li key=${citation.triple || citation.passages[0]}>
      <${Cited} view=${view} citation=${citation} /></li>`)}</ul>
    ${!branch.citations.length && html`<p class="quiet">Nothing that could be named.</p>`}
    <${Sections} of=${branch.sections} />
    <h3>The chain</h3>
    <ol class="chain" start="0">${branch.hops.map((hop) => html`<li><${Text}
      value=${hop.subquery || "given with the question"} />
      <span class="quiet"> ${counted(hop.passages.length, "passage")}, ${counted(branch.hop_triples[hop.index]?.length ?? 0, "triple")}</span></li>`)}</ol>
    <h3>Tokens</h3>
    <table><thead><tr><th>role</th><th>calls</th><th>in</th><th>out</th><th>time</th></tr></thead>
      <tbody>${roles.map(([role, sum]) => html`<tr><td>${role}</td><td>${count(sum.calls)}</td><td>${count(sum.input_tokens)}</td>
        <td>${count(sum.output_tokens)}</td><td>${seconds(sum.seconds)}</td></tr>`)}</tbody>
      <tfoot><tr><td colspan="4">all</td><td>${seconds(total)}</td></tr></tfoot></table>
    <h3>Settings that are not the defaults</h3>
    <${Facts} of=${Object.entries(branch.settings).map(([name, value]) => [name, html`<${Text}
      value=${typeof value === "string" ? value : JSON.stringify(value)} />`])} />
    ${!Object.keys(branch.settings).length && html`<p class="quiet">None.</p>`}
  </section>`;
}

export { AnswerPanel, PassagesPanel, StepPanel, TripleText, TriplesPanel };
