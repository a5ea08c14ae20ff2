/** The advice of modules on what to set up, except for what the user has dismissed in this browser. */
import {moduleList} from '../client/module-list.js';

const KEY = 'agentcore.adviceAway';
const SHOWN = 3;

/** @typedef {(typeof moduleList.advised)[number]} Advice */

/** Return the advice to show, limited to as much as users will read. @returns {Advice[]} */
export function advice() {
  const away = putAway();
  return moduleList.advised.filter((each) => !away.includes(keyOf(each))).slice(0, SHOWN);
}

/** Dismiss an entry until its text changes. @param {Advice} each */
export function putAdviceAway(each) {
  localStorage.setItem(KEY, JSON.stringify([...putAway(), keyOf(each)].slice(-50)));
}

/** @returns {string[]} */
function putAway() {
  try {
    const kept = JSON.parse(localStorage.getItem(KEY) ?? '[]');
    return Array.isArray(kept) ? kept : [];
  } catch {
    return []; // not written by us: something else uses this key
  }
}

/** @param {Advice} each */
function keyOf({module, subject, said}) {
  return `${module.name}/${subject}/${said}`;
}
