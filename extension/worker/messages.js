/** What the extension's documents ask of the worker. Nobody else is answered: no page, no script in a page, no other extension. */

/**
 * @typedef {{ok: true, value: any} | {ok: false, error: {type: string, message: string}}} Reply
 * @typedef {Record<string, (request: any) => unknown>} Handlers  by `request.type`; what one throws is the error
 */

/** @param {Handlers} handlers */
export function answerDocuments(handlers) {
  chrome.runtime.onMessage.addListener((request, sender, reply) => {
    const handle = isOwnDocument(sender) && Object.hasOwn(handlers, request?.type) ? handlers[request.type] : null;
    if (!handle) return false;
    void answer(handle, request).then(reply);
    return true; // the reply comes later
  });
}

/**
 * Whether a document of this extension asks. A script in a page has the extension's id too, and the page's address.
 * @param {chrome.runtime.MessageSender} sender
 */
export function isOwnDocument(sender) {
  return sender.id === chrome.runtime.id && sender.url !== undefined && sender.url.startsWith(chrome.runtime.getURL(''));
}

/** @param {(request: any) => unknown} handle @param {any} request @returns {Promise<Reply>} */
async function answer(handle, request) {
  try {
    return {ok: true, value: (await handle(request)) ?? null};
  } catch (error) {
    const {type = 'internal_error', message, ...more} = /** @type {{type?: string, message: string}} */ (error);
    return {ok: false, error: {type, message: String(message), ...more}};
  }
}
