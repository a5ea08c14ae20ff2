/** What a person has written and not sent, kept while the tab is open; and with which choices a new chat begins. */

const PREFIX = 'agentcore.chatDraft.';
const CHOICES = 'agentcore.chatChoices';
const LIMIT_CHARS = 200_000;

/** @param {string} sessionId  `''`: the chat that is not begun */
export function draftOf(sessionId) {
  return sessionStorage.getItem(PREFIX + sessionId) ?? '';
}

/** @param {string} sessionId @param {string} text */
export function keepDraft(sessionId, text) {
  if (!text) return sessionStorage.removeItem(PREFIX + sessionId);
  try {
    if (text.length <= LIMIT_CHARS) sessionStorage.setItem(PREFIX + sessionId, text);
  } catch {
    // the browser's room is full: the draft lives on in the page
  }
}

/** @typedef {{agentId?: string, model?: string, mode?: string, host?: string}} Choices */

/** What was chosen for the last new chat: agent and model; never the approval mode or the host, which are chosen each time. @returns {Choices} */
export function lastChoices() {
  try {
    return JSON.parse(localStorage.getItem(CHOICES) ?? '{}');
  } catch {
    return {}; // written by another version of the page
  }
}

/** @param {Choices} choices */
export function keepChoices({agentId, model}) {
  localStorage.setItem(CHOICES, JSON.stringify({agentId, model}));
}
