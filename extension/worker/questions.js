/**
 * Questions to the user during a call, such as whether a password field may be filled. They are shown in the panel of the
 * tab's window or, if none is open, in a small window of their own. Only documents of the extension can answer; no answer
 * means no.
 */
import {Stored} from './stored.js';

/**
 * @typedef {object} Question
 * @property {string} id
 * @property {string} kind  `password`, `oneTimeCode`, `payment`
 * @property {string} label  of the field
 * @property {string} origin  of the site
 * @property {number} tabId
 * @property {'panel' | 'window'} where
 */

/** The type of the message that asks panels whether they are in a window. */
export const PANEL_IN = 'isPanelInWindow';
const DOCUMENT = 'panel/question.html';
const SIZE = {width: 440, height: 320};
/** The interval between checks that the panel with a question is still open. */
const LOOK_MS = 1000;

/** @type {Stored<Question[]>} */
const questions = new Stored('questions', []);
/** Pending questions, by id: they end with the worker, as does the call that asks. @type {Map<string, (answer: boolean) => void>} */
const waiting = new Map();

/** Delete the questions of an earlier worker, as no call waits for their answers any more. */
export function dropQuestions() {
  return questions.change((known) => known.splice(0));
}

/** Return true if any question is pending. */
export function isAsking() {
  return waiting.size > 0;
}

/**
 * Ask the user, and wait for the answer.
 * @param {{kind: string, label: string, origin: string, tabId: number, signal?: AbortSignal}} question
 * @returns {Promise<boolean>}  false also if it is withdrawn, or its window is closed
 */
export async function askPerson({kind, label, origin, tabId, signal}) {
  const id = crypto.randomUUID();
  /** @type {(answer: boolean) => void} */
  let answer = () => {};
  /** @type {Promise<boolean>} */
  const answered = new Promise((resolve) => { answer = resolve; });
  waiting.set(id, answer);
  const withdraw = () => answer(false);
  signal?.addEventListener('abort', withdraw, {once: true});
  if (signal?.aborted) withdraw();
  const shown = show({id, kind, label, origin, tabId, where: 'panel'}, answer).catch((error) => {
    console.error(error);
    answer(false); // what cannot be asked is not allowed
    return async () => {};
  });
  try {
    return await answered;
  } finally {
    waiting.delete(id);
    signal?.removeEventListener('abort', withdraw);
    await questions.change((known) => replace(known, id));
    await (await shown)();
  }
}

/** Handle an answer. @param {string} id @param {boolean} isAllowed */
export function takeAnswer(id, isAllowed) {
  waiting.get(id)?.(isAllowed);
}

/**
 * Show a question in the panel, or in a window.
 * @param {Question} question @param {(answer: boolean) => void} answer
 * @returns {Promise<() => Promise<void>>}  the function to remove it
 */
async function show(question, answer) {
  const {windowId} = await chrome.tabs.get(question.tabId).catch(() => ({windowId: chrome.windows.WINDOW_ID_NONE}));
  if (!(await isPanelOpen(windowId))) return showWindow(question, answer);
  await questions.change((known) => known.push(question));
  /** @type {Promise<() => Promise<void>> | null} */
  let window = null;
  const looking = setInterval(async () => {
    if (window === null && !(await isPanelOpen(windowId)) && waiting.has(question.id)) {
      clearInterval(looking);
      window = showWindow(question, answer);
    }
  }, LOOK_MS);
  return async () => {
    clearInterval(looking);
    await (await window)?.();
  };
}

/** @param {Question} question @param {(answer: boolean) => void} answer @returns {Promise<() => Promise<void>>} */
async function showWindow(question, answer) {
  await questions.change((known) => replace(known, question.id, {...question, where: 'window'}));
  const url = `${chrome.runtime.getURL(DOCUMENT)}?id=${question.id}`;
  const opened = await chrome.windows.create({url, type: 'popup', focused: true, ...SIZE}).catch(() => undefined);
  const windowId = opened?.id;
  if (windowId === undefined) {
    answer(false);
    return async () => {};
  }
  /** @param {number} closed */
  const onRemoved = (closed) => {
    if (closed === windowId) answer(false);
  };
  chrome.windows.onRemoved.addListener(onRemoved);
  return async () => {
    chrome.windows.onRemoved.removeListener(onRemoved);
    await chrome.windows.remove(windowId).catch(() => {}); // the user may have closed it
  };
}

/** Return true if a panel that shows questions is open in a window. The panel itself answers, as the browser does not report its window. @param {number} windowId */
async function isPanelOpen(windowId) {
  return (await chrome.runtime.sendMessage({type: PANEL_IN, windowId}).catch(() => false)) === true;
}

/** @param {Question[]} known @param {string} id  the question to remove @param {Question[]} others  its replacement */
function replace(known, id, ...others) {
  known.splice(0, known.length, ...known.filter((each) => each.id !== id), ...others);
}
