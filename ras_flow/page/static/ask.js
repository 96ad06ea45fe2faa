// A new question: of which documents or graph, and which model. The server says what may be chosen.

import { html, useEffect, useState } from "./lib.js";
import { getChoices } from "./api.js";
import { keep, kept } from "./kept.js";
import { plain } from "./text.js";

const OWN = "the server's own"; // where a remote graph does not tell its settings

/** What was chosen last, as far as the server still offers it. */
function lastChoice({ indexes, graphs, models, tasks, systems, free }) {
  const last = Object.fromEntries(new URLSearchParams(kept("asked") ?? ""));
  const one = (sources, name) => (sources.find((source) => source.name === name) ?? sources[0])?.name;
  return {
    indexes: one(indexes, last.indexes),
    graphs: one(graphs, last.graphs),
    system: one(systems, last.system),
    model: free || models.includes(last.model) ? (last.model ?? "") : "",
    task: tasks.includes(last.task) ? last.task : "",
  };
}

/** @param {{ask: (question: string, settings: object, system?: string) => void}} props */
function AskForm({ ask, busy, fail }) {
  const [choices, setChoices] = useState(null);
  const [chosen, choose] = useState({});
  useEffect(() => {
    const abort = new AbortController();
    const take = (found) => (setChoices(found), choose(lastChoice(found)));
    getChoices(abort.signal).then(take, (error) => error.name === "AbortError" || fail(error));
    return () => abort.abort();
  }, []);
  const { models, tasks, systems, roles: known, own, free } = choices ??
    { models: [], tasks: [], systems: [], roles: [], own: {}, free: false };
  const system = systems.find(({ name }) => name === chosen.system);
  const roles = system?.roles ?? known;
  const of = system?.of ?? "indexes"; // or "graphs"
  const sources = choices?.[of] ?? [];
  const set = (name) => (event) => choose({ ...chosen, [name]: event.target.value });
  const submit = (event) => {
    event.preventDefault();
    keep("asked", String(new URLSearchParams(chosen)));
    const model = chosen.model.trim();
    ask(new FormData(event.target).get("question"), {
      ...sources.find(({ name }) => name === chosen[of]).settings,
      ...Object.fromEntries(model ? roles.map((role) => [role, model]) : []),
      ...(chosen.task && { task: chosen.task }),
    }, system === systems[0] ? undefined : system?.name);
  };
  const select = (label, name, names, first, title) => html`<label title=${title}>${label}
    <select value=${chosen[name]} onChange=${set(name)}>
      ${first && html`<option value="">${plain(first, 60)}</option>`}
      ${names.map((each) => html`<option value=${each}>${plain(each, 100)}</option>`)}</select></label>`;
  return html`<form class="ask" onSubmit=${submit} aria-label="Ask">
    <input name="question" required placeholder="Ask a question …" aria-label="Question" autocomplete="off" />
    <button class="primary" disabled=${busy || !sources.length}>Ask</button>
    <div class="of">
      ${select(of === "graphs" ? "Knowledge graph" : "Documents", of, sources.map(({ name }) => name))}
      ${free
        ? html`<label>Model <input list="models" value=${chosen.model} onInput=${set("model")} placeholder=${own.model}
            autocomplete="off" /></label><datalist id="models">${models.map((name) => html`<option value=${name} />`)}</datalist>`
        : select("Model", "model", models, own.model || OWN)}
      ${systems.length > 1 && select("System", "system", systems.map(({ name }) => name), "", system?.about)}
      ${select("Task", "task", tasks.filter((name) => name !== own.task), own.task || "default")}
    </div>
    ${choices && !sources.length && html`<p class="quiet">There is nothing to ask. Make it with:
      ${of === "graphs" ? "ras-flow kg build KG FILES" : "ras-flow index build INDEX DOCS"}</p>`}
  </form>`;
}

export { AskForm };
