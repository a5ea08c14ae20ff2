/** The context menu, with which the user sends content of a page to the chat. The content is stored in `storage.session` until the panel takes it. */

/**
 * @typedef {object} Pending
 * @property {'selection' | 'link' | 'picture' | 'page'} kind
 * @property {string} [text]  the selected text
 * @property {string} [url]  of the link, the image or the page
 * @property {string} [picture]  the image as a `data:` URL, if the page may be read
 * @property {string} pageUrl
 * @property {string} title  of the page
 * @property {number} windowId  the window whose panel takes it
 * @property {number} at  milliseconds since 1970
 */

/** @type {Record<string, {kind: Pending['kind'], context: `${chrome.contextMenus.ContextType}`, title: string}>} */
const ITEMS = {
  'send-selection': {kind: 'selection', context: 'selection', title: 'menuSelection'},
  'send-link': {kind: 'link', context: 'link', title: 'menuLink'},
  'send-picture': {kind: 'picture', context: 'image', title: 'menuPicture'},
  'send-page': {kind: 'page', context: 'page', title: 'menuPage'},
};
/** The maximum length of an image's stored `data:` URL; larger images are passed by their own URL. */
const PICTURE_CHARS = 2_000_000;

/** Create the menu; the browser persists it. */
export async function makeMenus() {
  await chrome.contextMenus.removeAll();
  for (const [id, {context, title}] of Object.entries(ITEMS)) {
    chrome.contextMenus.create({
      id, contexts: [context], title: chrome.i18n.getMessage(title), documentUrlPatterns: ['http://*/*', 'https://*/*'],
    });
  }
}

/** Store the selected content and open the panel for it. @param {chrome.contextMenus.OnClickData} info @param {chrome.tabs.Tab} [tab] */
export async function sendToChat(info, tab) {
  const item = ITEMS[info.menuItemId];
  if (!item || tab?.id === undefined) return;
  // first, as the browser opens a panel only while the click is being handled
  const opened = chrome.sidePanel.open({windowId: tab.windowId});
  const picture = item.kind === 'picture' ? await drawn(tab.id, info) : undefined;
  /** @type {Pending} */
  const pending = {
    kind: item.kind, pageUrl: info.pageUrl ?? tab.url ?? '', title: tab.title ?? '', windowId: tab.windowId, at: Date.now(),
    ...(item.kind === 'selection' ? {text: info.selectionText ?? ''} : {url: addressOf(item.kind, info, tab)}),
    ...(picture ? {picture} : {}),
  };
  await chrome.storage.session.set({pending});
  await opened;
}

/** @param {Pending['kind']} kind @param {chrome.contextMenus.OnClickData} info @param {chrome.tabs.Tab} tab */
function addressOf(kind, info, tab) {
  if (kind === 'link') return info.linkUrl ?? '';
  if (kind === 'picture') return info.srcUrl ?? '';
  return info.pageUrl ?? tab.url ?? '';
}

/** Return the image as the page shows it, without requesting it from a server. @param {number} tabId @param {chrome.contextMenus.OnClickData} info */
async function drawn(tabId, {srcUrl = '', frameId = 0}) {
  if (srcUrl.startsWith('data:image/')) return srcUrl.length <= PICTURE_CHARS ? srcUrl : undefined;
  const target = {tabId, frameIds: [frameId]};
  const results = await chrome.scripting.executeScript({target, func: drawPicture, args: [srcUrl, PICTURE_CHARS]}).catch(() => []);
  return results[0]?.result ?? undefined;
}

/** Draw the image; runs in the page, in an isolated world. @param {string} source @param {number} limit @returns {string | null} */
function drawPicture(source, limit) {
  const picture = [...document.images].find((each) => each.currentSrc === source && each.naturalWidth > 0);
  if (!picture) return null;
  const canvas = document.createElement('canvas');
  canvas.width = picture.naturalWidth;
  canvas.height = picture.naturalHeight;
  try {
    canvas.getContext('2d')?.drawImage(picture, 0, 0);
    const address = canvas.toDataURL('image/png');
    return address.length <= limit ? address : null;
  } catch {
    return null; // a cross-origin image, which the page itself may not read
  }
}
