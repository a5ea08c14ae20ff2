/** What modules would have a person set up, but for what this person has put away in this browser. */
import {moduleList} from '../client/module-list.js';

const KEY = 'agentcore.adviceAway';
const SHOWN = 3;

/** @typedef {(typeof moduleList.advised)[number]} Advice */

/** What is shown, most at a time so many that they are read. @returns {Advice[]} */
export function advice() {
  const away = putAway();
  return moduleList.advised.filter((each) => !away.includes(keyOf(each))).slice(0, SHOWN);
}

/** Have one not shown again, for as long as it says the same. @param {Advice} each */
export function putAdviceAway(each) {
  localStorage.setItem(KEY, JSON.stringify([...putAway(), keyOf(each)].slice(-50)));
}

/** @returns {string[]} */
function putAway() {
  try {
    const kept = JSON.parse(localStorage.getItem(KEY) ?? '[]');
    return Array.isArray(kept) ? kept : [];
  } catch {
    return []; // somebody else's text under this name
  }
}

/** @param {Advice} each */
function keyOf({module, subject, said}) {
  return `${module.name}/${subject}/${said}`;
}
