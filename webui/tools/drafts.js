/** Form input per tool, stored while the tab is open, so that it survives reloads and navigation. */

/**
 * @typedef {object} Draft
 * @property {Record<string, any>} args
 * @property {string} [sessionId]
 * @property {number} [timeoutMs]
 * @property {string} [host]  host on another machine
 */

const PREFIX = 'agentcore.draft.';
const LIMIT_CHARS = 500_000;

/**
 * @param {string} tool
 * @returns {Draft | null}
 */
export function draftOf(tool) {
  try {
    return JSON.parse(sessionStorage.getItem(PREFIX + tool) ?? 'null');
  } catch {
    return null; // written by another version of the page
  }
}

/**
 * Store a draft. To open a tool with given arguments, store them here first, then navigate to `#/tools/NAME`.
 * @param {string} tool
 * @param {Draft} draft  Without secrets.
 */
export function keepDraft(tool, draft) {
  const text = JSON.stringify(draft);
  try {
    if (text.length <= LIMIT_CHARS) sessionStorage.setItem(PREFIX + tool, text);
  } catch {
    // the browser's storage is full: the draft remains in the page only
  }
}

/** Store an example as a draft, unless the user has a draft already. @param {string} tool @param {Record<string, unknown>} args */
export function keepExample(tool, args) {
  if (Object.keys(args).length && !draftOf(tool)) keepDraft(tool, {args});
}

/** @param {string} tool */
export function dropDraft(tool) {
  sessionStorage.removeItem(PREFIX + tool);
}
