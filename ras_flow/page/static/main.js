// The page's frame: address, theme, errors, and work under way.

import { html, render, useEffect, useRef, useState } from "./lib.js";
import { ask, getRun, live, ownDocument, setToken } from "./api.js";
import { keep, kept } from "./kept.js";
import { Help, keys } from "./keys.js";
import { doubted } from "./model.js";
import { RunView } from "./run.js";
import { RunList } from "./runs.js";
import { Text, plain } from "./text.js";

/** The address says what is shown, so that it can be sent, reloaded and gone back from. */
function readAddress() {
  const given = new URLSearchParams(location.hash.slice(1));
  const number = (name) => (/^\d+$/.test(given.get(name) ?? "") ? Number(given.get(name)) : undefined);
  return { run: given.get("run"), branch: number("branch"), step: number("step"), compare: number("compare") };
}

function useAddress() {
  const [address, setAddress] = useState(readAddress);
  useEffect(() => {
    const read = () => setAddress(readAddress());
    addEventListener("hashchange", read);
    return () => removeEventListener("hashchange", read);
  }, []);
  const latest = useRef();
  latest.current = address;
  /** Changes the address, if it is still at the run `from` which that was meant. */
  const navigate = (changes, from = latest.current.run) => {
    if (latest.current.run !== from) return;
    const next = { ...latest.current, ...changes };
    const kept = Object.entries(next).filter(([, value]) => value !== undefined && value !== null);
    // One goes back to another branch or view, not through every step.
    const turned = ["run", "branch", "compare"].some((name) => next[name] !== latest.current[name]);
    history[turned ? "pushState" : "replaceState"](null, "", `#${new URLSearchParams(kept)}`);
    latest.current = next;
    setAddress(next);
  };
  return [address, navigate];
}

const systemDark = matchMedia("(prefers-color-scheme: dark)");

function useTheme() {
  const [chosen, choose] = useState(document.documentElement.dataset.theme);
  const [system, setSystem] = useState(systemDark.matches ? "dark" : "light");
  useEffect(() => {
    const change = () => setSystem(systemDark.matches ? "dark" : "light");
    systemDark.addEventListener("change", change);
    return () => systemDark.removeEventListener("change", change);
  }, []);
  const theme = chosen ?? system;
  const toggle = () => {
    const next = theme === "dark" ? "light" : "dark";
    document.documentElement.dataset.theme = next;
    keep("theme", next);
    choose(next);
  };
  return [theme, toggle];
}

const keptTheme = kept("theme");
if (keptTheme === "dark" || keptTheme === "light") document.documentElement.dataset.theme = keptTheme;

/** The document of a run, kept up to date while a run is at work. */
function useRun(id, working, fail) {
  const [run, setRun] = useState(ownDocument);
  const wanted = useRef(id);
  wanted.current = id;
  const loading = useRef(null);
  // One request at a time, and one more where something changed meanwhile.
  const refresh = async () => {
    if (!wanted.current) return;
    if (loading.current) loading.current.again = true;
    else loading.current = { again: false, done: load().finally(() => (loading.current = null)) };
    await loading.current.done;
  };
  const load = async () => {
    do {
      if (loading.current) loading.current.again = false;
      const asked = wanted.current;
      try {
        const found = await getRun(asked);
        if (asked === wanted.current) setRun(found);
      } catch (error) {
        if (asked === wanted.current) throw error;
      }
    } while (loading.current?.again);
  };
  useEffect(() => {
    if (ownDocument) return;
    setRun(null);
    if (id) refresh().catch(fail);
  }, [id]);
  const current = run?.branches.find((branch) => branch.number === run.current);
  // One that waits for a person may be answered elsewhere.
  const atWork = Boolean(id && current && current.status !== "finished" && !working);
  useEffect(() => {
    if (!atWork || ownDocument) return;
    const abort = new AbortController();
    (async () => {
      for await (const event of live(id, abort.signal)) await refresh();
    })().catch((error) => error.name === "AbortError" || fail(error));
    return () => abort.abort();
  }, [id, atWork]);
  return [run?.run === id || ownDocument ? run : null, refresh];
}

/** A progress event in words. */
function describe(event) {
  switch (event.type) {
    case "forked": return "a branch of its own begins";
    case "plan": return `plan: ${event.label ? `[${event.label}] ${event.subquery}` : `not usable: ${event.problem}`}`;
    case "passages": return `${event.passages.length} passages`;
    case "extracted": return `${event.triples} triples from ${event.passages} passages`;
    case "graph": return `${event.new.length} new triples, ${event.triples} in all`;
    case "answer": return `answer: ${event.answer || "none"}${doubted(event) ? " (not supported by the documents)" : ""}`;
    case "warning": return `warning: ${event.message}`;
    case "review": return "waits for you";
    case "done": return "done";
    default: {
      const { type, ...fields } = event;
      return `${type}: ${JSON.stringify(fields)}`;
    }
  }
}

function App() {
  const [address, navigate] = useAddress();
  const [theme, toggleTheme] = useTheme();
  const [help, setHelp] = useState(false);
  const [error, setError] = useState(null);
  const [progress, setProgress] = useState(null);
  const working = Boolean(progress?.working);
  const [run, refresh] = useRun(address.run, working, setError);
  useEffect(() => setError(null), [address.run]);
  useEffect(() => (document.title = run ? plain(`${run.question} · ras-flow`, 100) : "ras-flow runs"), [run]);

  /** Follows streamed work to its end; returns its last event, or null where it failed. */
  const work = async (title, stream) => {
    setError(null);
    setProgress({ title, lines: [], working: true });
    let last = null;
    try {
      for await (const event of stream) {
        last = event;
        if (event.type === "run") navigate({ run: event.run, branch: undefined, step: undefined, compare: undefined }, address.run);
        setProgress((old) => ({ ...old, lines: [...old.lines, describe(event)] }));
        refresh().catch(setError);
      }
      return last;
    } catch (failure) {
      setError(failure);
      return null;
    } finally {
      setProgress((old) => ({ ...old, working: false }));
      // Also after a failure: what was done before it is stored.
      await refresh().catch(() => {});
    }
  };

  keys({ "?": () => setHelp(true), t: toggleTheme });
  const id = ownDocument?.run ?? address.run;
  const enter = (event) => {
    event.preventDefault();
    setToken(new FormData(event.target).get("token"));
    location.reload();
  };
  return html`
    <header class="top">
      ${ownDocument
        ? html`<span class="home">ras-flow</span>`
        : html`<a class="home" href="#" aria-label="All runs">ras-flow</a>`}
      ${id && html`<code class="run-id"><${Text} value=${id} /></code>`}
      <span class="space"></span>
      <button aria-label="Light or dark" title="Light or dark (t)"
        onClick=${toggleTheme}>${theme === "dark" ? "☀" : "☾"}</button>
      <button aria-label="Keys" title="Keys (?)" onClick=${() => setHelp(true)}>?</button>
    </header>
    ${error && html`<div class="error" role="alert"><span><${Text} value=${error.message} /></span>
      ${error.status === 401 && html`<form onSubmit=${enter}><input name="token" type="password" required
        aria-label="Token" placeholder="token" /><button>Enter</button></form>`}
      <button class="small" aria-label="Dismiss the error" onClick=${() => setError(null)}>✕</button></div>`}
    ${progress && html`<div class="progress ${progress.working ? "working" : ""}" role="status">
      <strong>${progress.title}</strong> <${Text} value=${progress.lines.at(-1) ?? "…"} />
      ${!progress.working && html`<button class="small" aria-label="Dismiss"
        onClick=${() => setProgress(null)}>✕</button>`}</div>`}
    ${run
      ? html`<${RunView} key=${run.run} run=${run} editable=${!ownDocument} work=${work} busy=${working} theme=${theme}
          address=${address} navigate=${(changes) => navigate(changes, address.run)} fail=${setError} />`
      : address.run
        ? html`<p class="placing">${error ? "" : "Loading the run …"}</p>`
        : html`<${RunList} ask=${(...asked) => work("New run", ask(...asked))} busy=${working} fail=${setError} />`}
    ${help && html`<${Help} close=${() => setHelp(false)} />`}`;
}

render(html`<${App} />`, document.getElementById("page"));
