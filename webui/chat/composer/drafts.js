/** Drafts that are not sent, stored while the tab is open; and the initial choices of a new chat. */

const PREFIX = 'agentcore.chatDraft.';
const CHOICES = 'agentcore.chatChoices';
const LIMIT_CHARS = 200_000;

/** @param {string} sessionId  `''`: a new chat */
export function draftOf(sessionId) {
  return sessionStorage.getItem(PREFIX + sessionId) ?? '';
}

/** @param {string} sessionId @param {string} text */
export function keepDraft(sessionId, text) {
  if (!text) return sessionStorage.removeItem(PREFIX + sessionId);
  try {
    if (text.length <= LIMIT_CHARS) sessionStorage.setItem(PREFIX + sessionId, text);
  } catch {
    // the storage is full: the draft only exists in the page
  }
}

/** @typedef {{agentId?: string, model?: string, mode?: string, host?: string}} Choices */

/** Return the choices for a new chat: the last agent and model, and the mode that was chosen for new chats. The host is chosen each time. @returns {Choices} */
export function lastChoices() {
  try {
    return JSON.parse(localStorage.getItem(CHOICES) ?? '{}');
  } catch {
    return {}; // written by another version of the page
  }
}

/** @param {Choices} choices */
export function keepChoices({agentId, model, mode}) {
  localStorage.setItem(CHOICES, JSON.stringify({agentId, model, mode}));
}
