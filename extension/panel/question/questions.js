/** Questions to the user before a secret field is filled, asked by this panel's own calls. */
import {Store} from '../../webui/base/store.js';

/** @typedef {{id: string, kind: string, label: string, origin: string, tabId?: number, answer: (isAllowed: boolean) => void}} Asked */

class Questions extends Store {
  constructor() {
    super();
    /** Oldest first. @type {Asked[]} */
    this.own = [];
  }
}

export const questions = new Questions();

/** Ask in this panel. @param {{kind: string, label: string, origin: string, signal: AbortSignal}} question @returns {Promise<boolean>} false also if the call ends */
export function askHere({kind, label, origin, signal}) {
  /** @type {(isAllowed: boolean) => void} */
  let answer = () => {};
  /** @type {Promise<boolean>} */
  const answered = new Promise((resolve) => { answer = resolve; });
  const asked = {id: crypto.randomUUID(), kind, label, origin, answer};
  questions.own = [...questions.own, asked];
  questions.notify();
  const withdraw = () => answer(false);
  signal.addEventListener('abort', withdraw, {once: true});
  if (signal.aborted) withdraw();
  return answered.finally(() => {
    signal.removeEventListener('abort', withdraw);
    questions.own = questions.own.filter((each) => each !== asked);
    questions.notify();
  });
}
