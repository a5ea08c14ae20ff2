/** What goes with a message beside what the person says: the page has nothing more; a client elsewhere has a file of its own for this one. */

/**
 * Fields of the message: the page that the person looks at, and the tools that this client carries out.
 * @param {string} _sessionId
 * @returns {Promise<{currentPageInfo?: object, browserTools?: object[]}>}
 */
export async function contextOf(_sessionId) {
  return {};
}
