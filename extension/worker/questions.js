/**
 * Questions to the person in the middle of a call, such as whether a field for a password may be filled. They are asked
 * in the panel of the tab's window, or, where none is open, in a small window of their own. Only documents of the
 * extension answer; no answer is a no.
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

/** What the worker asks of panels. */
export const PANEL_IN = 'isPanelInWindow';
const DOCUMENT = 'panel/question.html';
const SIZE = {width: 440, height: 320};
/** How soon it is seen that the panel was closed over a question. */
const LOOK_MS = 1000;

/** @type {Stored<Question[]>} */
const questions = new Stored('questions', []);
/** The waiting ones, by id: they end with the worker, as the call does that asks. @type {Map<string, (answer: boolean) => void>} */
const waiting = new Map();

/** Nobody waits for the answers to what a worker asked that has ended. */
export function dropQuestions() {
  return questions.change((known) => known.splice(0));
}

/** Whether anything is being asked. */
export function isAsking() {
  return waiting.size > 0;
}

/**
 * Ask the person, and wait for the answer.
 * @param {{kind: string, label: string, origin: string, tabId: number, signal?: AbortSignal}} question
 * @returns {Promise<boolean>}  false as well where it is withdrawn, or its window is closed
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

/** Take an answer. @param {string} id @param {boolean} isAllowed */
export function takeAnswer(id, isAllowed) {
  waiting.get(id)?.(isAllowed);
}

/**
 * Show a question where the person looks.
 * @param {Question} question @param {(answer: boolean) => void} answer
 * @returns {Promise<() => Promise<void>>}  the way to take it away
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
    await chrome.windows.remove(windowId).catch(() => {}); // the person has closed it
  };
}

/** Whether a panel is open in a window that shows questions: it says so itself, for the browser tells no window of it. @param {number} windowId */
async function isPanelOpen(windowId) {
  return (await chrome.runtime.sendMessage({type: PANEL_IN, windowId}).catch(() => false)) === true;
}

/** @param {Question[]} known @param {string} id  of the question that goes @param {Question[]} others  what comes for it */
function replace(known, id, ...others) {
  known.splice(0, known.length, ...known.filter((each) => each.id !== id), ...others);
}
