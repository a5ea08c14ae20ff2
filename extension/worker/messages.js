/** Requests from the extension's documents to the worker. Pages, content scripts and other extensions get no answer. */

/**
 * @typedef {{ok: true, value: any} | {ok: false, error: {type: string, message: string}}} Reply
 * @typedef {Record<string, (request: any) => unknown>} Handlers  by `request.type`; an exception becomes the error of the reply
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
 * Return true if the sender is a document of this extension. A content script has the extension's id too, but the page's URL.
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
