// The steps of a branch: what each did and what it cost.

import { html, useEffect, useRef } from "./lib.js";
import { nameOf, summarize, tokensOf } from "./model.js";
import { plain } from "./text.js";

const seconds = (value) => (value < 10 ? value.toFixed(1) : Math.round(value)) + " s";
const count = (value) => value.toLocaleString("en");
const counted = (value, thing) => `${count(value)} ${thing}${value === 1 ? "" : "s"}`;

function Timeline({ steps, index, go, forkedAt, branch }) {
  const current = useRef();
  useEffect(() => {
    // The list alone: on a phone the page around it would scroll, too.
    const [step, list] = [current.current?.getBoundingClientRect(), current.current?.closest(".timeline")];
    const { top, bottom } = list?.getBoundingClientRect() ?? {};
    if (step?.top < top) list.scrollTop -= top - step.top;
    if (step?.bottom > bottom) list.scrollTop += step.bottom - bottom;
  }, [index]);
  const longest = Math.max(...steps.map((step) => step.usage?.seconds ?? 0), 0.001);
  return html`<ol class="timeline" aria-label="Steps of branch ${branch.number}">
    ${steps.map((step, at) => {
      const firstOfHop = step.hop !== null && step.hop !== steps[at - 1]?.hop && step.kind === "node";
      return html`<li key=${step.checkpoint}>
        ${firstOfHop && html`<div class="hop">hop ${step.hop}</div>`}
        <button
          ref=${at === index ? current : null} class="step ${step.kind}"
          aria-current=${at === index ? "step" : null} onClick=${() => go(at)}
          title=${plain(summarize(step), 300)}
        >
          <span class="number">${at}</span>
          <span class="name">${nameOf(step)}</span>
          <span class="cost">
            ${tokensOf(step.usage) > 0 && html`<span>${count(tokensOf(step.usage))} tok</span>`}
            ${step.usage && html`<span>${seconds(step.usage.seconds)}</span>`}
          </span>
          <bdi class="summary">${plain(summarize(step), 90)}</bdi>
          ${step.usage && html`<span class="bar" style=${{ width: `${(100 * step.usage.seconds) / longest}%` }}></span>`}
        </button>
        ${at === forkedAt && html`<div class="forked">↳ from here on, branch ${branch.number} is its own</div>`}
      </li>`;
    })}
  </ol>`;
}

export { Timeline, count, counted, seconds };
