/** What a call does, in the words of its tool. */

/** @param {Pick<import('../conversation/items.js').ChatCall, 'words'>} call @returns {string[]} a line for each step; none: its tool says nothing */
export const wordsOf = ({words}) => (words ? words.split('\n') : []);

/** Call `handler` when something else is to be said of calls. @type {(handler: () => void) => () => void} */
export const onWords = () => () => {};
