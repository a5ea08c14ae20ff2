/** The context that is sent with a message: the page adds none; other clients, such as the browser extension, replace this file. */

/**
 * Return additional fields of the message: the page that the user views, and the tools that this client runs.
 * @param {string} _sessionId
 * @returns {Promise<{currentPageInfo?: object, browserTools?: object[]}>}
 */
export async function contextOf(_sessionId) {
  return {};
}
