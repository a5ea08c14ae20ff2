/** Fills rich text and code editors: their text is managed by a script of the page and changes only through simulated user input. */
import {focused, holds, its} from './native-properties.js';
import {CODE_EDITOR} from './kinds.js';
import {turn, until} from './chunked-work.js';
import {Refusal, done} from './reply.js';

/** The time limit for an editor to show the inserted text. */
const SHOWN_MS = 1500;

/** Return true if an element belongs to an editor that renders its own text. @param {Element} element */
export function isCodeEditor(element) {
  return its(element).closest(CODE_EDITOR) !== null;
}

/**
 * Replace the whole text of an editor.
 * @param {Element} element @param {string} value @param {string} label @returns {Promise<import('./reply.js').Reply>}
 */
export async function edit(element, value, label) {
  const code = its(element).closest(CODE_EDITOR);
  if (code) return editCode(code, value, label);
  const host = /** @type {HTMLElement} */ (element);
  host.scrollIntoView({block: 'nearest', behavior: 'instant'});
  for (const insert of waysFor(value)) {
    await selectAll(host);
    insert(host, value);
    if (await until(() => plain(host.innerText) === plain(value), SHOWN_MS)) return done('filled', {label});
  }
  throw new Refusal('notTaken', {label});
}

/**
 * Return the ways to insert a text, in order. Editors react to different events; the second way is for those that ignore the first.
 * @param {string} value @returns {((host: HTMLElement, value: string) => void)[]}
 */
function waysFor(value) {
  if (!value) return [insertLines, remove];
  return value.includes('\n') ? [paste, insertLines] : [insertLines, paste];
}

/** Normalise text so that it can be compared with the text shown in an editor. @param {string} text */
function plain(text) {
  return text.replace(/[\u200b\ufeff]/g, '').replace(/\s+/g, ' ').trim();
}

/** @param {HTMLElement} host */
async function selectAll(host) {
  host.focus({preventScroll: true});
  await turn();
  const range = document.createRange();
  range.selectNodeContents(host);
  const selection = its(document).getSelection();
  selection?.removeAllRanges();
  selection?.addRange(range);
  // editors process the selection change asynchronously, and would otherwise insert at the old position
  await turn();
  await turn();
}

/** Insert text as if it was typed. @param {HTMLElement} host @param {string} value */
function insertLines(host, value) {
  if (!value) {
    its(document).execCommand('delete');
    return;
  }
  value.split(/\r\n|\r|\n/).forEach((line, index) => {
    if (index) its(document).execCommand('insertParagraph');
    if (line) its(document).execCommand('insertText', false, line);
  });
}

/** Delete the selection as if by the Backspace key. @param {HTMLElement} host */
function remove(host) {
  host.dispatchEvent(new InputEvent('beforeinput', {bubbles: true, cancelable: true, composed: true, inputType: 'deleteContentBackward'}));
}

/** Insert text as if it was pasted. @param {Element} target @param {string} value */
function paste(target, value) {
  const clipboardData = new DataTransfer();
  clipboardData.setData('text/plain', value);
  target.dispatchEvent(new ClipboardEvent('paste', {bubbles: true, cancelable: true, composed: true, clipboardData}));
}

/** @param {Element} editor @param {string} value @param {string} label */
async function editCode(editor, value, label) {
  const input = editor.querySelector('.native-edit-context, textarea.inputarea, textarea');
  const lines = editor.querySelector('.view-lines');
  if (!(input instanceof HTMLElement) || !(lines instanceof HTMLElement)) throw new Refusal('notTaken', {label});
  input.focus({preventScroll: true});
  if (!(await until(() => holds(editor, focused()), SHOWN_MS))) throw new Refusal('notTaken', {label});
  const isApple = /mac/i.test(navigator.platform);
  const all = {key: 'a', code: 'KeyA', keyCode: 65, ctrlKey: !isApple, metaKey: isApple, bubbles: true, cancelable: true, composed: true};
  input.dispatchEvent(new KeyboardEvent('keydown', all));
  await turn();
  paste(input, value);
  // long texts are rendered only as far as they are visible
  const start = plain(value).slice(0, 200);
  const isShown = () => {
    const shown = plain(lines.innerText);
    return start ? shown.startsWith(start.slice(0, Math.max(1, Math.min(start.length, shown.length)))) && shown !== '' : shown === '';
  };
  if (!(await until(isShown, SHOWN_MS))) throw new Refusal('notTaken', {label});
  return done('filled', {label});
}
