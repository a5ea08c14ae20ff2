/** What a person has filled in for a tool, kept while the tab is open: a reload or a look elsewhere takes nothing away. */

/**
 * @typedef {object} Draft
 * @property {Record<string, any>} args
 * @property {string} [sessionId]
 * @property {number} [timeoutMs]
 * @property {string} [host]  on another machine
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
 * Keep a draft. Whoever leads a person to a tool with arguments keeps them here first, then goes to `#/tools/NAME`.
 * @param {string} tool
 * @param {Draft} draft  Without secrets.
 */
export function keepDraft(tool, draft) {
  const text = JSON.stringify(draft);
  try {
    if (text.length <= LIMIT_CHARS) sessionStorage.setItem(PREFIX + tool, text);
  } catch {
    // the browser's room is full: the draft lives on in the page
  }
}

/** Keep an example as a draft, unless there is one of the person's own. @param {string} tool @param {Record<string, unknown>} args */
export function keepExample(tool, args) {
  if (Object.keys(args).length && !draftOf(tool)) keepDraft(tool, {args});
}

/** @param {string} tool */
export function dropDraft(tool) {
  sessionStorage.removeItem(PREFIX + tool);
}
