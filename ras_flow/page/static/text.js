// Text from documents and models: shown as it is, what is invisible in it made visible.

import { html, useState } from "./lib.js";

const LONGEST = 50_000; // characters that are shown before one asks for more: laying out many takes long
const MARKED = 1_000; // odd pieces that become elements of their own: many of those take long, too

// Controls, formats (zero-width and direction marks), private and unpaired characters. The two
// joiners are left alone inside emoji and the scripts that are written with them.
const ODD =
  /(?:(?![\n\t\u200c\u200d])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cs}]|(?<=^|[\p{Script=Latin}\p{N}\p{P}\p{Z}\p{C}])[\u200c\u200d])+/gu;

/** Names the characters of an odd piece: "U+202E", "U+200B ×2". */
function nameOdd(piece) {
  const names = new Map();
  for (const char of piece) {
    const name = "U+" + char.codePointAt(0).toString(16).toUpperCase().padStart(4, "0");
    names.set(name, (names.get(name) ?? 0) + 1);
  }
  const all = [...names].map(([name, count]) => (count > 1 ? `${name} ×${count}` : name));
  return all.length > 4 ? `${all.slice(0, 4).join(" ")} …` : all.join(" ");
}

/** Writes the names of odd pieces into the text itself. */
const spell = (text) => text.replace(ODD, (piece) => `⟨${nameOdd(piece)}⟩`);

/** Returns one line of plain text for places that take no elements: labels, titles, options. */
function plain(text, limit = 80) {
  // Cut first: a field may have any length.
  const head = [...String(text).slice(0, 2 * limit + 2)];
  const cut = head.length > limit || String(text).length > 2 * limit + 2;
  const line = head.slice(0, limit).join("").replace(/\s+/g, " ");
  return spell(line) + (cut ? "…" : "");
}

/** Shows text in its own direction, so that it cannot reorder what is around it. */
function Text({ value, marks = [] }) {
  const [all, setAll] = useState(false);
  const text = String(value ?? "");
  if (all || text.length <= LONGEST) return html`<bdi class="text">${pieces(text, marks)}</bdi>`;
  const showAll = (event) => {
    event.preventDefault(); // it may be in a link or a summary
    event.stopPropagation();
    setAll(true);
  };
  const head = text.slice(0, LONGEST).replace(/[\ud800-\udbff]$/, "");
  return html`<bdi class="text">${pieces(head, marks)}… <button class="link" type="button"
    onClick=${showAll}>Show all ${text.length.toLocaleString("en")} characters</button></bdi>`;
}

/** Splits text at marked spans, given in characters as Python counts them. */
function pieces(text, marks) {
  if (!marks.length) return reveal(text);
  const chars = [...text];
  const parts = [];
  let at = 0;
  for (const [from, to] of [...marks].sort((a, b) => a[0] - b[0])) {
    if (to <= at || from >= chars.length) continue;
    const start = Math.max(from, at);
    parts.push(reveal(chars.slice(at, start).join("")));
    parts.push(html`<mark>${reveal(chars.slice(start, to).join(""))}</mark>`);
    at = to;
  }
  return [...parts, reveal(chars.slice(at).join(""))];
}

function reveal(text) {
  const parts = [];
  let at = 0;
  for (const found of text.matchAll(ODD)) {
    parts.push(text.slice(at, found.index));
    const name = nameOdd(found[0]);
    parts.push(html`<span class="odd" title="invisible character">${name}</span>`);
    at = found.index + found[0].length;
    if (parts.length >= 2 * MARKED) return [...parts, spell(text.slice(at))];
  }
  return at ? [...parts, text.slice(at)] : text;
}

/** Returns where any of the names occurs in the text, as spans in characters. */
function findNames(text, names) {
  const low = [...text.toLowerCase()];
  // Lower case may have more characters ("İ"); then no position can be trusted.
  if (low.length !== [...text].length) return [];
  const folded = low.join("");
  const spans = [];
  for (const name of names) {
    const wanted = name.toLowerCase();
    const length = [...wanted].length;
    let from = 0;
    let counted = 0; // up to where `from` counts characters
    for (let at = folded.indexOf(wanted); wanted && at >= 0; at = folded.indexOf(wanted, counted)) {
      from += [...folded.slice(counted, at)].length;
      spans.push([from, from + length]);
      from += length;
      counted = at + wanted.length;
    }
  }
  return spans;
}

export { Text, findNames, plain };
