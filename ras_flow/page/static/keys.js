// Keys of the page; a browser's own and those of fields are left alone.

import { html, useEffect, useLayoutEffect, useRef } from "./lib.js";

const HELP = [
  ["← →", "step back, forward"], ["Home End", "first, last step"], ["[ ]", "previous, next triple"],
  ["g", "to the graph; there ↑ ↓ choose triples, Enter goes to the details"], ["Shift + arrows", "move the graph"],
  ["+ − 0", "zoom in, out, show all"], ["1 … 5", "Step, Triples, Passages, Answer, Edit"], ["/", "filter"], ["b", "next branch"],
  ["c", "compare branches"], ["e", "edit and fork"], ["t", "light or dark"], ["Esc", "leave the triple"], ["?", "this help"],
];

/** Calls what belongs to a pressed key; `{inGraph}` only where the graph has the focus. */
function keys(actions) {
  const latest = useRef();
  latest.current = actions;
  // Not after the paint: who sees the page may press a key.
  useLayoutEffect(() => {
    const press = (event) => {
      const { target, key } = event;
      if (event.ctrlKey || event.altKey || event.metaKey || document.querySelector("dialog[open]")) return;
      if (target.closest("input, textarea, select")) {
        if (key === "Escape") target.blur();
        return;
      }
      // In a row of tabs, arrows go from tab to tab.
      if (target.role === "tab" && key.startsWith("Arrow")) return moveTab(event);
      const action = latest.current[event.shiftKey && key.startsWith("Arrow") ? `Shift+${key}` : key];
      const act = typeof action === "function" ? action : target.closest(".canvas") && action?.inGraph;
      if (!act) return;
      event.preventDefault();
      act();
    };
    document.addEventListener("keydown", press);
    return () => document.removeEventListener("keydown", press);
  }, []);
}

function moveTab(event) {
  const tabs = [...event.target.parentElement.children];
  const to = tabs.at((tabs.indexOf(event.target) + (event.key === "ArrowLeft" ? -1 : 1)) % tabs.length);
  event.preventDefault();
  to.click();
  to.focus();
}

function Help({ close }) {
  const dialog = useRef();
  useEffect(() => dialog.current.showModal(), []);
  return html`<dialog ref=${dialog} class="help" aria-label="Keys" onClose=${close}
    onClick=${(event) => event.target === dialog.current && close()}>
    <h2>Keys</h2>
    <dl>${HELP.map(([key, what]) => html`<dt><kbd>${key}</kbd></dt><dd>${what}</dd>`)}</dl>
    <form method="dialog"><button class="primary">Close</button></form>
  </dialog>`;
}

export { Help, keys };
