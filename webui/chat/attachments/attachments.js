/** The attachments of the next message of a chat: uploaded as they are added, stored until the message is sent. */
import {Store} from '../../base/store.js';
import {upload} from '../../client/upload.js';

/**
 * @typedef {import('../../client/upload.js').Uploaded} Uploaded
 * @typedef {object} Attachment
 * @property {string} key
 * @property {string} name
 * @property {string} mime
 * @property {number} bytes
 * @property {'sending' | 'done' | 'failed'} state
 * @property {number} progress  up to 1
 * @property {string} artifactId  empty: it is not uploaded yet
 * @property {string} url  of an image's preview, while the page is open; empty: none
 * @property {Blob | null} file  null: it was added before the page was loaded
 * @property {AbortController} ending
 * @property {import('../../client/client.js').ApiError | null} error
 * @typedef {{key: string, values: Record<string, any>}} Problem  the key of a text in `chat.attach.*`
 */

export const FILES = 10;
export const FILE_BYTES = 32 * 1024 * 1024;
const PREFIX = 'agentcore.chatAttached.';

let made = 0;

export class Attachments extends Store {
  /** @param {string} sessionId  `''`: a new chat */
  constructor(sessionId) {
    super();
    this._key = PREFIX + sessionId;
    /** @type {Attachment[]} */
    this.items = stored(this._key).map((one) => newAttachment({...one, state: 'done', progress: 1}));
    /** @type {Problem | null} Why a file was not added. */
    this.problem = null;
  }

  get isSending() {
    return this.items.some(({state}) => state === 'sending');
  }

  get hasFailed() {
    return this.items.some(({state}) => state === 'failed');
  }

  /** Add files, up to the limits. @param {Iterable<File>} files */
  add(files) {
    this.problem = null;
    for (const file of files) {
      if (file.size > FILE_BYTES) this.problem = {key: 'tooLarge', values: {name: file.name, size: file.size}};
      else if (this.items.length >= FILES) this.problem = {key: 'tooMany', values: {n: FILES}};
      else this._send(newAttachment({name: file.name || 'file', mime: file.type, bytes: file.size, file, url: previewOf(file)}));
    }
    this.notify();
  }

  /** @param {string} key */
  remove(key) {
    const [gone] = this.items.filter((one) => one.key === key);
    gone?.ending.abort();
    if (gone) forgetPreviews([gone]);
    this.problem = null;
    this._keep(this.items.filter((one) => one.key !== key));
  }

  /** Upload a file again. @param {string} key */
  retry(key) {
    const failed = this.items.find((one) => one.key === key);
    if (failed?.file) this._send({...failed, state: 'sending', progress: 0, error: null, ending: new AbortController()});
  }

  /** Remove all attachments and return them, for a message. @returns {Attachment[]} */
  take() {
    const taken = this.items;
    this.problem = null;
    this._keep([]);
    return taken;
  }

  /** Put back the attachments of a message that was not sent. @param {Attachment[]} taken */
  putBack(taken) {
    this._keep([...taken, ...this.items]);
  }

  /** @param {Attachment} one */
  async _send(one) {
    const at = this.items.findIndex(({key}) => key === one.key);
    this.items = at < 0 ? [...this.items, one] : this.items.with(at, one);
    this.notify();
    try {
      const {artifactId, name, mime, bytes} = await upload(/** @type {Blob} */ (one.file), one.name, (progress) => this._change(one.key, {progress}), one.ending.signal);
      this._change(one.key, {state: 'done', artifactId, name, mime, bytes});
    } catch (error) {
      this._change(one.key, {state: 'failed', error: /** @type {Attachment['error']} */ (error)});
    }
  }

  /** @param {string} key @param {Partial<Attachment>} values */
  _change(key, values) {
    this._keep(this.items.map((one) => (one.key === key ? {...one, ...values} : one)));
  }

  /** @param {Attachment[]} items */
  _keep(items) {
    this.items = items;
    const done = items.filter(({state}) => state === 'done').map(({artifactId, name, mime, bytes}) => ({artifactId, name, mime, bytes}));
    if (done.length) sessionStorage.setItem(this._key, JSON.stringify(done));
    else sessionStorage.removeItem(this._key);
    this.notify();
  }
}

/** @type {Map<string, Attachments>} */
const known = new Map();

/** Return the attachments of the next message of a chat. @param {string} sessionId  `''`: a new chat */
export function attachmentsOf(sessionId) {
  const there = known.get(sessionId) ?? new Attachments(sessionId);
  known.set(sessionId, there);
  return there;
}

/** How long the preview of a sent file can still be loaded, in ms: its image may be shown but not loaded yet. */
const PREVIEW_MS = 60_000;

/** Release the previews of files that were sent. @param {Attachment[]} sent */
export function forgetPreviews(sent) {
  for (const {url} of sent) if (url) setTimeout(() => URL.revokeObjectURL(url), PREVIEW_MS);
}

/** True if files of this type are shown as images. @param {string} mime */
export const isPicture = (mime) => /^image\/(png|jpeg|gif|webp)$/.test(mime);

/** @param {Partial<Attachment>} values @returns {Attachment} */
function newAttachment(values) {
  return {key: `a${++made}`, name: '', mime: '', bytes: 0, state: 'sending', progress: 0, artifactId: '', url: '', file: null, error: null, ending: new AbortController(), ...values};
}

/** @param {File} file */
const previewOf = (file) => (isPicture(file.type) ? URL.createObjectURL(file) : '');

/** @param {string} key @returns {Uploaded[]} */
function stored(key) {
  try {
    return JSON.parse(sessionStorage.getItem(key) ?? '[]');
  } catch {
    return []; // written by another version of the page
  }
}
