// Edits wait in a list until they are sent, with a fork or as the answer to a review.

import { html, useState } from "./lib.js";
import { TripleText } from "./details.js";
import { nameOf, passageName, passagesAt } from "./model.js";
import { Text, plain } from "./text.js";

const POINTS = { before_retrieval: "before it retrieves", after_merge: "after the merge", before_answer: "before it answers" };

/** Edits that have a place of their own on the page. */
const PLACED = ["drop_triple", "drop_passage", "add_triple", "subquery", "plan", "model"];

/** Whether a name can be offered as it is: one that is cut, or spelled out, is another entity's. */
const isPlain = (name) => plain(name, name.length) === name;

/** An edit in words. */
function EditText({ run, edit }) {
  switch (edit.op) {
    case "drop_triple":
      return html`drop <${TripleText} triple=${run.triples[edit.triple]} />`;
    case "add_triple":
      return html`add <${TripleText} triple=${edit} />`;
    case "drop_passage":
      return html`drop the passage <${Text} value=${passageName(run, edit.passage)} />`;
    case "subquery":
      return html`ask instead: <${Text} value=${edit.text} />`;
    case "plan":
      return html`plan instead: <${Text} value=${edit.text} />`;
    case "model":
      return html`${edit.role}: <${Text} value=${edit.name} />`;
    default:
      return html`<${Text} value=${JSON.stringify(edit)} />`;
  }
}

/** A small form whose fields become an edit. */
function EditForm({ title, op, fields, hint, add, children }) {
  const submit = (event) => {
    event.preventDefault();
    const given = [...new FormData(event.target)].map(([name, value]) => [name, value.trim()]);
    const { passage, ...edit } = Object.fromEntries(given);
    add({ op, ...edit, ...(passage ? { passages: [passage] } : {}) });
    event.target.reset();
  };
  return html`<form class="edit" onSubmit=${submit} aria-label=${title}>
    <h4>${title}</h4>
    <div class="fields">
      ${children}
      ${fields.map((name) => html`<input name=${name} required placeholder=${hint ?? name} aria-label=${name}
        list=${["subject", "object"].includes(name) ? "entities" : null} autocomplete="off" />`)}
      <button>Add</button>
    </div>
  </form>`;
}

/**
 * @param {object} props
 * @param {object|null} props.review what the run asks, if it waits at this step
 * @param {boolean} props.busy whether a run is at work for this page
 */
function EditPanel({ view, edits, setEdits, review, busy, fork, resume }) {
  const { run, step, index, branch } = view;
  const [every, setEvery] = useState(false);
  const { edits: fittingAt, operations } = run.system;
  const fitting = fittingAt[step.next[0] ?? ""] ?? [];
  // A node of another graph may ask anything, and allow nothing by name.
  const offered = !every && Array.isArray(review?.allowed) ? review.allowed : fitting;
  const allowed = (op) => offered.includes(op);
  const add = (edit) => setEdits([...edits, edit]);
  const known = new Set(passagesAt(run, branch, index).flatMap(({ ids }) => ids));
  const sent = edits.length === 1 ? "1 edit" : `${edits.length} edits`;
  return html`<section>
    ${review && html`<div class="review">
      <h2>The run waits ${POINTS[review.point] ?? ""}</h2>
      ${review.subquery && html`<blockquote><${Text} value=${review.subquery} /></blockquote>`}
      ${review.problem && html`<p class="problem"><${Text} value=${review.problem} /></p>`}
    </div>`}
    <h2>${review ? "Your edits" : `Edit from step ${index}`} <span class="chip">${nameOf(step)}</span></h2>
    ${edits.length
      ? html`<ol class="pending" aria-label="Pending edits">${edits.map((edit, at) => html`<li>
          <span><${EditText} run=${run} edit=${edit} /></span>
          <button class="small" aria-label="Undo edit ${at + 1}"
            onClick=${() => setEdits(edits.toSpliced(at, 1))}>Undo</button>
        </li>`)}</ol>`
      : html`<p class="quiet">Nothing is changed yet. Drop triples and passages where they are shown, or:</p>`}
    <div class="actions">
      ${review && html`<button class="primary" disabled=${busy} onClick=${() => resume(edits)}>
        ${edits.length ? `Go on with ${sent}` : "Approve and go on"}</button>`}
      <button class=${review ? "" : "primary"} disabled=${busy || !(step.next.length || edits.length)}
        onClick=${() => fork(step, edits)}>
        ${edits.length ? `Fork from step ${index} with ${sent}` : `Replay from step ${index}`}</button>
      ${branch.status === "unfinished" && index === view.steps.length - 1 && !edits.length && html`
        <button disabled=${busy} onClick=${() => resume()}>Resume the run</button>`}
    </div>
    ${!step.next.length && html`<p class="quiet">The run is over after this step: with edits it answers again; to replay, go back.</p>`}
    <p class="quiet">A fork is a new branch. The branches that are there stay as they are.</p>
    ${allowed("subquery") && html`<${EditForm} title="Ask something else next" op="subquery" fields=${["text"]}
      hint="a subquery" add=${add} />`}
    ${allowed("plan") && html`<${EditForm} title="Plan in the planner's place" op="plan" fields=${["text"]}
      hint="[SUBQ] …, [SUFFICIENT] or [NO_RETRIEVAL]" add=${add} />`}
    ${allowed("add_triple") && html`<${EditForm} title="Add a triple" op="add_triple"
      fields=${["subject", "predicate", "object"]} add=${add}>
      <select name="passage" aria-label="passage"><option value="">no passage states it</option>
        ${[...known].map((id) => html`<option
          value=${id}>${plain(passageName(run, id), 60)}</option>`)}</select>
    </${EditForm}>
    <datalist id="entities">${Object.values(run.entities).filter(isPlain).slice(0, 500).map((name) => html`<option
      value=${name} />`)}</datalist>`}
    ${allowed("model") && html`<${EditForm} title="Another model" op="model" fields=${["name"]}
      hint="provider:model or local:NAME" add=${add}>
      <select name="role" aria-label="role">${run.system.roles.map((role) => html`<option>${role}</option>`)}</select>
    </${EditForm}>`}
    ${offered.filter((op) => operations[op] && !PLACED.includes(op)).map((op) => html`<${EditForm}
      key=${op} title=${op} op=${op} fields=${operations[op]} add=${add} />`)}
    ${review && !every && html`<p><button class="link"
      onClick=${() => setEvery(true)}>Show edits that only a fork can make</button></p>`}
  </section>`;
}

export { EditPanel };
