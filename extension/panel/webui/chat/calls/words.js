/** What a call does, in words: those of its tool, or the panel's own for what is done in the page beside it. */
import {doesInPage, linesOf} from '../../../panel/calls/describe.js';
import {knownElements} from '../../../panel/calls/known-elements.js';

/** @param {import('../conversation/items.js').ChatCall} call @returns {string[]} a line for each step; none: there is nothing to say */
export function wordsOf({words, kind, toolName, arguments: args}) {
  if (words) return words.split('\n');
  return kind === 'client' && doesInPage(toolName) ? linesOf(toolName, args, knownElements.inView) : [];
}

/** Call `handler` when something else is to be said of calls. @param {() => void} handler @returns {() => void} the way to end it */
export const onWords = (handler) => knownElements.subscribe(handler);
