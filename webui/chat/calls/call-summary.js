/** The summary of a call from its tool. */

/** @param {Pick<import('../conversation/items.js').ChatCall, 'words'>} call @returns {string[]} a line for each step; none: its tool provides no summary */
export const wordsOf = ({words}) => (words ? words.split('\n') : []);

/** Call `handler` when the summaries of calls change: never in the page. @type {(handler: () => void) => () => void} */
export const onWords = () => () => {};
