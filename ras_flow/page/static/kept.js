// What the browser keeps for the next visit. A file, or a browser that keeps nothing, may refuse.

/** @returns {string|null} */
function kept(name) {
  try {
    return localStorage.getItem(`ras-flow-${name}`);
  } catch {
    return null;
  }
}

function keep(name, value) {
  try {
    localStorage.setItem(`ras-flow-${name}`, value);
  } catch { /* it then holds until the page is closed */ }
}

export { keep, kept };
