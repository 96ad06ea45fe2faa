// One run: timeline, graph and details of a step; edits, forks and reviews; or two branches.

import { html, useEffect, useMemo, useRef, useState } from "./lib.js";
import { download, fork, resume } from "./api.js";
import { Compare } from "./compare.js";
import { AnswerPanel, PassagesPanel, StepPanel, TriplesPanel } from "./details.js";
import { EditPanel } from "./edits.js";
import { GraphView, boxWidth, nameWidth } from "./graph.js";
import { keys } from "./keys.js";
import { Layout } from "./layout.js";
import { branchOf, citedIn, doubted, graphAt, nameOf, statedIn, stepsOf, summarize, titleOf } from "./model.js";
import { Text, plain } from "./text.js";
import { Timeline } from "./timeline.js";

const FORMATS = { json: "JSON", graphml: "GraphML", jsonld: "JSON-LD", turtle: "Turtle", html: "one HTML file" };

/** Grows the layout with the document; `version` counts the times that it grew. */
function useLayout(run) {
  const layout = useRef(null);
  const [version, setVersion] = useState(0);
  layout.current ??= new Layout();
  useEffect(() => {
    const width = (name) => boxWidth(run.entities[name] ?? name);
    const edges = Object.entries(run.edges).map(([id, [from, to]]) => {
      return { from, to, name: nameWidth(run.triples[id].predicate) };
    });
    let alive = true;
    layout.current.extend(edges, width).then(() => alive && setVersion((old) => old + 1));
    return () => (alive = false);
  }, [run]);
  return { positions: layout.current.positions, version };
}

/** Which triples a step shows, and how: what it removed and added first. */
function useMarks(run, branch, index, edits) {
  return useMemo(() => {
    const { present, fresh, removed } = graphAt(run, branch, index);
    const cited = citedIn(branch);
    const triples = new Set(edits.filter((edit) => edit.op === "drop_triple").map((edit) => edit.triple));
    const passages = new Set(edits.filter((edit) => edit.op === "drop_passage").map((edit) => edit.passage));
    const drops = (id) => {
      const stated = statedIn(run, branch, id);
      return triples.has(id) || (passages.size && stated.length && stated.every((each) => passages.has(each)));
    };
    const marks = new Map();
    for (const id of [...removed, ...fresh, ...present]) {
      const gone = removed.has(id) && !present.has(id);
      marks.set(id, [
        ...(gone ? ["removed"] : []), ...(cited.has(id) ? ["cited"] : []),
        ...(fresh.has(id) && !gone ? ["fresh"] : []), ...(drops(id) ? ["pending"] : []),
      ]);
    }
    return marks;
  }, [run, branch, index, edits]);
}

/**
 * @param {object} props
 * @param {import("./model.js").RunDocument} props.run
 * @param {boolean} props.editable whether there is a server to send edits to
 * @param {(title: string, stream: AsyncIterable<object>) => Promise<object|null>} props.work
 */
function RunView({ run, editable, work, busy, theme, address, navigate, fail }) {
  const branch = branchOf(run, address.branch);
  const steps = stepsOf(run, branch);
  const last = steps.length - 1;
  const index = Math.min(address.step ?? last, last);
  const step = steps[index];
  const [tab, setTab] = useState(address.step === undefined && branch.status === "finished" ? "Answer" : "Step");
  const [selected, setSelected] = useState(null);
  const [filter, setFilter] = useState("");
  const [edits, setEdits] = useState([]);
  const pending = useRef();
  pending.current = edits;
  const finished = branch.status === "finished";
  const ended = useRef(finished);
  useEffect(() => {
    // Who followed a run to its end wants its answer.
    if (finished && !ended.current && tab === "Step" && address.step === undefined) setTab("Answer");
    ended.current = finished;
  }, [finished]);
  const { positions, version } = useLayout(run);
  const marks = useMarks(run, branch, index, edits);
  const drawing = useRef();

  // At the newest step no number is kept: a run at work then takes the page along.
  const go = (to) => navigate({ step: to >= last ? undefined : Math.max(to, 0) });
  const select = (id) => {
    setSelected(id);
    setTab("Triples");
  };
  const edit = (one) => {
    if (!edits.some((each) => JSON.stringify(each) === JSON.stringify(one))) setEdits([...edits, one]);
    setTab("Edit");
  };
  const send = async (title, stream, sent) => {
    const here = { branch: address.branch, step: address.step };
    navigate({ branch: undefined, step: undefined }); // follows the newest branch while it grows
    const done = await work(title, stream);
    if (!done) return navigate(here);
    navigate({ branch: done.branch });
    const rest = pending.current.filter((one) => !sent.includes(one)); // written meanwhile
    setEdits(rest);
    if (!rest.length) setTab("Answer");
  };
  const review = branch.status === "paused" && index === last ? step.review : null;
  const others = run.branches.filter((each) => each !== branch);
  const following = others.find((each) => each.number > branch.number) ?? others[0] ?? branch;
  const compare = () => {
    if (address.compare) navigate({ compare: undefined });
    else if (others.length) navigate({ branch: branch.number, compare: branch.forked_from?.branch ?? others[0].number });
  };
  const save = (event) => {
    event.preventDefault();
    download(run.run, branch.number, new FormData(event.target).get("format")).catch(fail);
  };
  const pick = (by) => {
    const ids = [...marks.keys()];
    const at = ids.indexOf(selected);
    if (ids.length) select(ids[at < 0 && by < 0 ? ids.length - 1 : (at + by + ids.length) % ids.length]);
  };
  const tabs = ["Step", "Triples", "Passages", "Answer", ...(editable ? ["Edit"] : [])];
  keys({
    ArrowLeft: () => go(index - 1), ArrowRight: () => go(index + 1), Home: () => go(0), End: () => go(last),
    "[": () => pick(-1), "]": () => pick(1), ArrowUp: { inGraph: () => pick(-1) }, ArrowDown: { inGraph: () => pick(1) },
    Enter: { inGraph: () => document.querySelector(".panel [role=tabpanel]")?.focus() },
    "+": () => drawing.current?.zoom(1.25), "-": () => drawing.current?.zoom(0.8), 0: () => drawing.current?.fit(),
    "Shift+ArrowLeft": () => drawing.current?.pan(60, 0), "Shift+ArrowRight": () => drawing.current?.pan(-60, 0),
    "Shift+ArrowUp": () => drawing.current?.pan(0, 60), "Shift+ArrowDown": () => drawing.current?.pan(0, -60),
    c: compare, g: () => document.querySelector(".canvas")?.focus(), e: () => editable && setTab("Edit"),
    b: () => navigate({ branch: following.number, step: undefined }),
    "/": () => (setSelected(null), setTab("Triples"), setTimeout(() => document.querySelector("input[type=search]")?.focus())),
    Escape: () => setSelected(null),
    ...Object.fromEntries(tabs.map((name, at) => [at + 1, () => setTab(name)])),
  });

  const view = { run, branch, steps, step, index, marks, selected, select, go, filter, setFilter, edit: editable ? edit : null };
  const entity = (name) => {
    setFilter(run.entities[name] ?? name);
    setSelected(null);
    setTab("Triples");
  };
  const other = address.compare && others.find((each) => each.number === address.compare);
  const bar = html`<div class="bar-branches">
    <label>Branch <select aria-label="Branch" value=${branch.number}
      onChange=${(event) => navigate({ branch: Number(event.target.value), step: undefined })}>
      ${run.branches.map((each) => html`<option
        value=${each.number}>${titleOf(each)}: ${doubted(each) ? "not supported: " : ""}${plain(each.answer || each.status, 30)}</option>`)}</select></label>
    <button onClick=${compare} disabled=${!others.length} aria-pressed=${Boolean(other)}
      aria-keyshortcuts="c">Compare</button>
    ${editable && html`<form class="export" aria-label="Export this branch" onSubmit=${save}>
      <select name="format" aria-label="Format">${Object.entries(FORMATS).map(([format, name]) => html`<option
        value=${format}>${name}</option>`)}</select><button>Export</button></form>`}
    <span class="chip ${branch.status}">${branch.status}</span>
    <span class="question" title=${plain(branch.question, 400)}><${Text} value=${branch.question} /></span>
  </div>`;
  if (other) {
    const open = (number, triple) => {
      navigate({ branch: number, step: undefined, compare: undefined });
      select(triple);
    };
    return html`${bar}<${Compare} run=${run} a=${other} b=${branch} positions=${positions} version=${version} theme=${theme}
      choose=${(a, b) => navigate({ compare: a, branch: b })} open=${open} />`;
  }
  const entities = new Set([...marks.keys()].flatMap((id) => run.edges[id])).size;
  const label = `Graph: ${marks.size} triples, ${entities} entities. The tab Triples has the same as a list.`;
  const doFork = (from, changes) => send(changes.length ? "Fork" : "Replay", fork(run.run, from.checkpoint, changes), changes);
  const panels = { Step: StepPanel, Triples: TriplesPanel, Passages: PassagesPanel, Answer: AnswerPanel };
  return html`${bar}<main class="run">
    <nav class="steps" aria-label="Timeline">
      <div class="stepper">
        <button aria-label="First step" onClick=${() => go(0)} disabled=${index === 0}>⇤</button>
        <button aria-label="Step back" onClick=${() => go(index - 1)} disabled=${index === 0}>←</button>
        <output>${index} / ${last}</output>
        <button aria-label="Step forward" onClick=${() => go(index + 1)} disabled=${index === last}>→</button>
        <button aria-label="Last step" onClick=${() => go(last)} disabled=${index === last}>⇥</button>
      </div>
      <${Timeline} steps=${steps} index=${index} go=${go} branch=${branch} forkedAt=${branch.forked_from?.step} />
    </nav>
    <div class="graph">
      ${review && html`<div class="banner" role="status">The run waits for you. <button class="primary"
        onClick=${() => setTab("Edit")}>Review …</button></div>`}
      <${GraphView} run=${run} positions=${positions} version=${version} marks=${marks} selected=${selected}
        chosen=${{ triple: select, entity }} theme=${theme} label=${label} handle=${drawing} />
      ${version === 0 && html`<p class="placing" role="status">Placing ${Object.keys(run.entities).length} entities …</p>`}
      ${version > 0 && !marks.size && html`<p class="placing">No triples at this step.</p>`}
      <div class="zoom"><button aria-label="Zoom in" onClick=${() => drawing.current.zoom(1.25)}>+</button>
        <button aria-label="Zoom out" onClick=${() => drawing.current.zoom(0.8)}>−</button>
        <button aria-label="Show all" title="Show all (0)" onClick=${() => drawing.current.fit()}>⤢</button></div>
      <p class="legend" aria-label="Legend"><span class="fresh">+ new in this step</span><span class="cited">★ cited</span>
        <span class="removed">✕ removed</span><span class="counts">${entities} entities, ${marks.size} triples</span></p>
    </div>
    <aside class="panel" aria-label="Details">
      <div role="tablist">${tabs.map((name) => html`<button role="tab" id="tab-${name}" aria-selected=${tab === name}
        aria-controls="tabpanel"
        onClick=${() => setTab(name)}>${name}${name === "Edit" && edits.length > 0 && html` <span
          class="chip">${edits.length}</span>`}</button>`)}</div>
      <div role="tabpanel" id="tabpanel" aria-labelledby="tab-${tab}" tabindex="0">
        ${tab === "Edit"
          ? html`<${EditPanel} view=${view} edits=${edits} setEdits=${setEdits} review=${review} busy=${busy} fork=${doFork}
              resume=${(changes) => send("Resume", resume(run.run, branch.number, changes, changes && step.checkpoint), changes ?? [])} />`
          : html`<${panels[tab]} view=${view} />`}
      </div>
    </aside>
    <p class="spoken" aria-live="polite">Step ${index} of ${last}: ${nameOf(step)}. ${plain(summarize(step), 200)}</p>
  </main>`;
}

export { RunView };
