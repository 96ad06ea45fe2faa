// The vendored libraries, which are classic scripts, as a module.
//
// Every module here has its imports first and one `export { … };` last: the exporter of
// self-contained files relies on that form, see ras_flow/page/export.py.

const { h, render } = globalThis.preact;
const { useEffect, useLayoutEffect, useMemo, useRef, useState } = globalThis.preactHooks;
const { cytoscape, d3 } = globalThis;
const html = globalThis.htm.bind(h);

export { cytoscape, d3, html, render, useEffect, useLayoutEffect, useMemo, useRef, useState };
