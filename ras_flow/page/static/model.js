// What can be read from a run's document; pure functions. The types are those of
// ras_flow/runs/document.py and ras_flow/edits.py.

/** @typedef {{subject: string, predicate: string, object: string, passages: string[]}} Triple */
/** @typedef {{id: string, title: string, text: string, source?: string}} Passage */
/** @typedef {{role: string, calls: number, input_tokens: number, output_tokens: number, seconds: number}} Usage */
/** @typedef {{index: number, hop: number, label: string|null, subquery: string, raw: string, problem?: string, error?: string}} Plan */
/** @typedef {{index: number, subquery: string, passages: string[], scores: number[], failed?: string[], dropped?: string[]}} Hop */
/**
 * @typedef {object} Step
 * @property {string} checkpoint
 * @property {"question"|"node"|"edit"|"replay"} kind
 * @property {string} node
 * @property {number|null} hop
 * @property {string} time
 * @property {Usage|null} usage
 * @property {string[]} next
 * @property {Plan|null} plan
 * @property {string[]} passages
 * @property {string[]} added
 * @property {string[]} removed
 * @property {{title: string, lines: string[]}[]} sections what is new in what its system adds
 * @property {object|null} review
 */
/**
 * @typedef {object} Branch
 * @property {number} number
 * @property {{branch: number, step: number}|null} forked_from
 * @property {string} question
 * @property {string[]} steps
 * @property {"finished"|"paused"|"unfinished"} status
 * @property {string|null} stop_reason
 * @property {string} answer
 * @property {{triple: string, passages: string[], title: string, source: string, sentence: string}[]} citations
 * @property {boolean} supported
 * @property {string} support
 * @property {Hop[]} hops
 * @property {Plan[]} plans
 * @property {string[][]} hop_triples
 * @property {Object<string, string[]>} stated_in
 * @property {string[]} warnings
 * @property {Object<string, unknown>} settings
 * @property {[string, string, string][]} open
 * @property {{title: string, lines: string[]}[]} sections
 */
/**
 * @typedef {object} RunDocument
 * @property {string} run
 * @property {{name: string, stop_reasons: Object<string, string>, edits: Object<string, string[]>, operations: Object<string, string[]>}} system
 * @property {string} question
 * @property {string} started
 * @property {number} current
 * @property {Branch[]} branches
 * @property {Object<string, Step>} steps
 * @property {Object<string, Passage>} passages
 * @property {Object<string, Triple>} triples
 * @property {Object<string, [string, string]>} edges
 * @property {Object<string, string>} entities
 * @property {Object<string, Object<string, [number, number]>>} evidence
 */

/** @returns {Branch} the branch of that number, or the current one */
function branchOf(document, number) {
  const find = (wanted) => document.branches.find((branch) => branch.number === wanted);
  return find(number) ?? find(document.current) ?? document.branches.at(-1);
}

/** @returns {Step[]} */
const stepsOf = (document, branch) => branch.steps.map((id) => document.steps[id]);

/** @returns {{present: Set<string>, fresh: Set<string>, removed: Set<string>}} triples after a step */
function graphAt(document, branch, index) {
  const present = new Set();
  const steps = stepsOf(document, branch).slice(0, index + 1);
  for (const step of steps) {
    for (const id of step.removed) present.delete(id);
    for (const id of step.added) present.add(id);
  }
  const { added = [], removed = [] } = steps.at(-1) ?? {};
  return { present, fresh: new Set(added), removed: new Set(removed) };
}

const citedIn = (branch) => new Set(branch.citations.map((citation) => citation.triple));

/** Where a triple came into a branch: the step, and the hop whose subquery found it. */
function originOf(document, branch, triple) {
  const steps = stepsOf(document, branch);
  const index = steps.findIndex((step) => step.added.includes(triple));
  const byHand = steps[index]?.kind === "edit" || Boolean(steps[index]?.node.startsWith("review_"));
  const found = branch.hop_triples.findIndex((ids) => ids.includes(triple));
  const number = byHand ? null : found >= 0 ? found : (steps[index]?.hop ?? null);
  return { index, step: steps[index], byHand, hop: branch.hops[number] ?? null };
}

/** The passages of a branch that state a triple; of one that it has no more, other branches' too. */
function statedIn(document, branch, triple) {
  const stated = branch.stated_in[triple] ?? document.triples[triple].passages;
  return stated.filter((passage) => branch.hops.some((hop) => hop.passages.includes(passage)));
}

/** Where a passage states a triple, in characters; undefined where no sentence does. */
function spanOf(document, triple, passage) {
  const spans = document.evidence[triple] ?? {};
  // A passage may be called "constructor", which every object has.
  return Object.hasOwn(spans, passage) ? spans[passage] : undefined;
}

/** The passages that a branch had after a step, by the hops that brought them. */
function passagesAt(document, branch, index) {
  return stepsOf(document, branch)
    .slice(0, index + 1)
    .filter((step) => step.passages.length)
    .map((step) => ({ step, hop: branch.hops.find((hop) => hop.index === step.hop), ids: step.passages }));
}

/** Tokens, calls and seconds by role. */
function usageOf(document, branch) {
  const roles = new Map();
  for (const { usage } of stepsOf(document, branch)) {
    if (!usage) continue;
    const sum = roles.get(usage.role) ?? { calls: 0, input_tokens: 0, output_tokens: 0, seconds: 0 };
    for (const key of Object.keys(sum)) sum[key] += usage[key];
    roles.set(usage.role, sum);
  }
  return roles;
}

/** One line on what a step did; text of models in it is still raw. */
function summarize(step) {
  const changes = [
    step.added.length && `+${step.added.length}`,
    step.removed.length && `−${step.removed.length}`,
  ].filter(Boolean);
  const grown = changes.length ? `${changes.join(" ")} triples` : "";
  if (step.review) return "waits for you";
  if (step.plan) return step.plan.label ? `[${step.plan.label}] ${step.plan.subquery}` : "not usable";
  if (step.passages.length) return `${step.passages.length} passage${step.passages.length === 1 ? "" : "s"}`;
  return grown || (step.kind === "edit" ? "edited" : "");
}

const nameOf = (step) => (step.kind === "node" ? step.node : step.kind);

/** Returns a passage's title, or else its source, or else its id. */
const passageName = (document, id) => document.passages[id].title || document.passages[id].source || id;

const tokensOf = (usage) => (usage ? usage.input_tokens + usage.output_tokens : 0);

/** Triples that only one of two branches has in the end. */
function differences(document, a, b) {
  const [inA, inB] = [a, b].map((branch) => graphAt(document, branch, branch.steps.length - 1).present);
  return { inA, inB, onlyA: inA.difference(inB), onlyB: inB.difference(inA) };
}

/** Why a run or a branch stopped searching: its planner's word, which says nothing of the answer. */
const stopped = ({ stop_reason: reason }) => reason && `stopped: ${reason}`;

/** Whether an answer states what the documents do not support: "The documents do not say." states nothing. */
const doubted = ({ answer, supported }) => Boolean(answer) && !supported && answer !== "The documents do not say.";

/** How a branch is called in choices. */
function titleOf(branch) {
  const from = branch.forked_from;
  const origin = from ? ` · from ${from.branch} after step ${from.step}` : "";
  return `Branch ${branch.number}${origin}`;
}

export {
  branchOf, citedIn, differences, doubted, graphAt, nameOf, originOf, passageName, passagesAt,
  spanOf, statedIn, stepsOf, stopped, summarize, titleOf, tokensOf, usageOf,
};
