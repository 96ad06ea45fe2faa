// The page's API; see ras_flow/page/. In a self-contained file the document is in the page itself.

const embedded = document.getElementById("run");
/** @type {import("./model.js").RunDocument|null} */
const ownDocument = embedded ? JSON.parse(embedded.textContent) : null;

class ApiError extends Error {
  constructor(message, status) {
    super(message);
    this.status = status;
  }
}

const getToken = () => sessionStorage.getItem("ras-flow-token");

/** Keeps a token for this tab. */
function setToken(token) {
  sessionStorage.setItem("ras-flow-token", token);
}

/** The link's token goes out of the address at once, so that it is in no bookmark or screenshot. */
function takeToken() {
  const hash = new URLSearchParams(location.hash.slice(1));
  if (!hash.has("token")) return false;
  setToken(hash.get("token"));
  hash.delete("token");
  history.replaceState(null, "", `#${hash}`);
  return true;
}
takeToken();
// A link that is pasted over the page loads nothing: it only changes the address behind the #.
addEventListener("hashchange", () => takeToken() && location.reload());

// A run that is opened in a new tab has no token; another tab of this page gives it.
const tabs = new BroadcastChannel("ras-flow");
tabs.addEventListener("message", ({ data }) => data.wanted && getToken() && tabs.postMessage({ token: getToken() }));

/** Returns whether another tab had a token that this one had not. */
function askTabs() {
  const had = getToken();
  return new Promise((resolve) => {
    const late = setTimeout(() => resolve(false), 300);
    const take = ({ data }) => {
      if (!data.token || data.token === had) return;
      clearTimeout(late);
      tabs.removeEventListener("message", take);
      setToken(data.token);
      resolve(true);
    };
    tabs.addEventListener("message", take);
    tabs.postMessage({ wanted: true });
  });
}

async function request(path, { body, signal } = {}, again = true) {
  const headers = {};
  const token = getToken();
  if (token) headers.Authorization = `Bearer ${token}`;
  if (body) headers["Content-Type"] = "application/json";
  const method = body ? "POST" : "GET";
  let response;
  try {
    response = await fetch(`api/${path}`, { method, headers, signal, body: body && JSON.stringify(body) });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new ApiError("The server does not answer. Is it still running?", 0);
  }
  if (response.ok) return response;
  if (response.status === 401 && again && (await askTabs())) return request(path, { body, signal }, false);
  const said = await response.json().catch(() => ({}));
  const message = typeof said.error === "string" ? said.error : `The server answered ${response.status}.`;
  throw new ApiError(message, response.status);
}

/** Where something is asked of a run, whose id may hold slashes and the names of such things. */
const ofRun = (asked, id) => `${asked}/${encodeURIComponent(id)}`;

async function listRuns(filter, signal) {
  const response = await request(`runs?${new URLSearchParams(filter)}`, { signal });
  return response.json();
}

/** What a new question may be asked of: indexes with their settings, models and tasks. */
const getChoices = async (signal) => (await request("choices", { signal })).json();

const getRun = async (id, signal) => (await request(ofRun("runs", id), { signal })).json();

/** Yields the events of a streamed answer; an error among them is thrown. */
async function* events(path, options) {
  const response = await request(path, options);
  let rest = "";
  for await (const chunk of chunks(response.body.pipeThrough(new TextDecoderStream()))) {
    const blocks = (rest + chunk).split(/\r?\n\r?\n/);
    rest = blocks.pop();
    for (const block of blocks) {
      const data = block.split(/\r?\n/).filter((line) => line.startsWith("data:"));
      if (!data.length) continue; // a comment that keeps the connection open
      const event = JSON.parse(data.map((line) => line.slice(5)).join("\n"));
      if (event.type === "error") throw new ApiError(event.message, 0);
      yield event;
    }
  }
}

// Not every browser can iterate over a stream.
async function* chunks(stream) {
  const reader = stream.getReader();
  const next = () =>
    reader.read().catch((error) => {
      if (error.name === "AbortError") throw error;
      throw new ApiError("The connection broke off. Every step so far is stored; load the page again.", 0);
    });
  try {
    for (let read = await next(); !read.done; read = await next()) yield read.value;
  } finally {
    reader.cancel().catch(() => {});
  }
}

const fork = (id, checkpoint, edits) => events(ofRun("fork", id), { body: { checkpoint, edits } });
/** Without edits an unfinished branch goes on; with a list of them, empty or not, the review of a step is answered. */
const resume = (id, branch, edits, checkpoint) => events(ofRun("resume", id), { body: { branch, edits, checkpoint } });
const ask = (question, settings, system) => events("runs", { body: { question, settings, ...(system && { system }) } });
const live = (id, signal) => events(ofRun("live", id), { signal });

/** Saves an export as a file; by fetch, because a link cannot send the token. */
async function download(id, branch, format) {
  const response = await request(`${ofRun("export", id)}?format=${format}&branch=${branch}`);
  const link = document.createElement("a");
  link.href = URL.createObjectURL(await response.blob());
  const named = /filename="?([\w.-]+)"?/.exec(response.headers.get("Content-Disposition") ?? "");
  link.download = named?.[1] ?? `run.${format}`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

export { ask, download, fork, getChoices, getRun, listRuns, live, ownDocument, resume, setToken };
