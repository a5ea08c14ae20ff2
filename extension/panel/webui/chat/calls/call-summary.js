/** Summaries of calls: those of the tool, or the panel's own for page tools. */
import {doesInPage, linesOf} from '../../../panel/calls/describe.js';
import {knownElements} from '../../../panel/calls/known-elements.js';

/** @param {import('../conversation/items.js').ChatCall} call @returns {string[]} a line for each step; empty if there is no summary */
export function wordsOf({words, kind, toolName, arguments: args}) {
  if (words) return words.split('\n');
  return kind === 'client' && doesInPage(toolName) ? linesOf(toolName, args, knownElements.inView) : [];
}

/** Call `handler` when summaries change. @param {() => void} handler @returns {() => void} the unsubscribe function */
export const onWords = (handler) => knownElements.subscribe(handler);
