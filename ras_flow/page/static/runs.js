// The start: stored runs, a filter, and a new question.

import { html, useEffect, useState } from "./lib.js";
import { listRuns } from "./api.js";
import { AskForm } from "./ask.js";
import { keys } from "./keys.js";
import { doubted, stopped } from "./model.js";
import { Text } from "./text.js";

const TIMES = { "1h": "the last hour", "1d": "the last day", "7d": "the last week", "30d": "the last 30 days" };
const MOST = 1000; // The API lists no more at once.

function RunList({ ask, busy, fail }) {
  const [filter, setFilter] = useState({ limit: "100" });
  const [{ runs, stop_reasons: reasons }, setFound] = useState({ runs: null, stop_reasons: [] });
  useEffect(() => {
    const abort = new AbortController();
    const given = Object.fromEntries(Object.entries(filter).filter(([, value]) => value));
    const timer = setTimeout(() => {
      listRuns(given, abort.signal).then(setFound, (error) => error.name === "AbortError" || fail(error));
    }, runs ? 200 : 0);
    return () => (clearTimeout(timer), abort.abort());
  }, [filter]);
  keys({ "/": () => document.querySelector("input[type=search]").focus() });
  const set = (name) => (event) => setFilter({ ...filter, [name]: event.target.value });
  return html`<main class="start">
    <${AskForm} ask=${ask} busy=${busy} fail=${fail} />
    <div class="filters">
      <input type="search" placeholder="Filter runs ( / )" aria-label="Filter runs" onInput=${set("text")} />
      <select aria-label="Stop reason" onChange=${set("stop_reason")}><option value="">any stop reason</option>
        ${reasons.map((reason) => html`<option>${reason}</option>`)}</select>
      <select aria-label="Asked in" onChange=${set("since")}><option value="">any time</option>
        ${Object.entries(TIMES).map(([since, name]) => html`<option value=${since}>${name}</option>`)}</select>
    </div>
    ${runs === null ? html`<p class="quiet">Loading …</p>` : html`<ul class="runs" aria-label="Runs">
      ${runs.map((run) => html`<li key=${run.id}><a href=${`#${new URLSearchParams({ run: run.id })}`}>
        <span class="question"><${Text} value=${run.question} /></span>
        <span class="meta"><span class="chip">${stopped(run) ?? (run.waits ? "waits for you" : "not finished")}</span>
          <time datetime=${run.started}>${new Date(run.started).toLocaleString()}</time><code><${Text} value=${run.id} /></code></span>
        ${run.answer && html`<span class="found ${doubted(run) ? "unsupported" : ""}"><${Text} value=${run.answer} />
          ${doubted(run) && html` <span class="chip unsupported">not supported</span>`}</span>`}
      </a></li>`)}
    </ul>`}
    ${runs?.length === Number(filter.limit) && filter.limit < MOST && html`<button
      onClick=${() => setFilter({ ...filter, limit: String(10 * filter.limit) })}>Show more</button>`}
    ${runs?.length === MOST && html`<p class="quiet">These are the newest ${MOST}. Filter them to find older ones.</p>`}
    ${runs?.length === 0 && html`<p class="quiet">No run fits. Ask a question above, or: ras-flow ask "…" --docs FOLDER</p>`}
  </main>`;
}

export { RunList };
