/** Runs the actions of a call in order, each in the frame that contains its element. */
import {describe, nameIn, wordsOf} from './descriptions.js';
import {FrameGone, FrameSilent, ask, askAll, framesOf} from './frames.js';
import {PageError} from './page-error.js';
import {text} from './strings.js';

/**
 * @typedef {import('./arguments.js').Action} Action
 * @typedef {import('./descriptions.js').Described} Described
 * @typedef {import('./frames.js').Frame} Frame
 * @typedef {{kind: string, label: string}} Name
 * @typedef {import('./strings.js').Language} Language
 * @typedef {{kind: string, label: string, origin: string}} Question
 * @typedef {{success: boolean, message: string}} Step
 * @typedef {{id: string, desc: string}} Element
 * @typedef {{ok: boolean, key: string, values: Record<string, string | number>, opened?: string, elements?: Element[]}} Reply
 */

const NEEDS_TARGET = new Set(['fill', 'click', 'select', 'check']);
/** The maximum number of matches named in a reply. */
const SHOWN = 10;
const NEEDS_VALUE = new Set(['fill', 'select']);

/** Replies that end a call, by key, with the reply for the actions that are then skipped. @type {Record<string, Reply>} */
const ENDS = {secretRefused: refused('afterRefusal'), pageLeft: refused('pageLeft'), interrupted: refused('pageLeft')};

/** The actions of one call in one tab. */
export class Actions {
  /**
   * @param {number} tabId @param {Language} language
   * @param {(question: Question) => Promise<boolean>} confirm  called before a secret field is filled
   * @param {AbortSignal | undefined} signal
   */
  constructor(tabId, language, confirm, signal) {
    this._tabId = tabId;
    this._language = language;
    this._confirm = confirm;
    this._signal = signal;
    /** The document in which the call started. @type {string | undefined} */
    this._page = undefined;
  }

  /** @param {Action[]} actions @returns {Promise<{success: boolean, results: Step[], summary: string, elements?: Element[]}>} `elements`: those that refusals name */
  async run(actions) {
    /** @type {Step[]} */
    const results = [];
    /** @type {Element[]} */
    const elements = [];
    /** @type {Reply | null} */
    let end = null;
    for (const action of actions) {
      /** @type {Reply} */
      const reply = end ?? await this._next(action).catch((error) => {
        // the call fails as a whole only if no action has completed; otherwise the completed ones are reported
        if (!(error instanceof PageError) || !results.length || this._signal?.aborted) throw error;
        return refused(error.type === 'interrupted' ? 'interrupted' : 'pageLeft');
      });
      end ??= ENDS[reply.key] ?? null;
      elements.push(...reply.elements ?? []);
      results.push({success: reply.ok, message: text(this._language, reply.key, reply.values)});
    }
    const succeeded = results.filter(({success}) => success).length;
    const failed = results.length - succeeded;
    const summary = text(this._language, 'summary', {count: results.length, succeeded, failed});
    return {success: failed === 0, results, summary, ...(elements.length ? {elements} : {})};
  }

  /** @param {Action} action @returns {Promise<Reply>} */
  async _next(action) {
    if (this._signal?.aborted) throw this._aborted();
    const frames = await framesOf(this._tabId, this._language, this._signal).catch((error) => {
      throw this._signal?.aborted ? this._aborted() : error;
    });
    this._page ??= frames[0].documentId;
    // what the model knows of the page refers to the document in which the call started
    return frames[0].documentId === this._page ? this._one(action, frames) : refused('pageLeft');
  }

  /** @param {Action} action @param {Frame[]} frames @returns {Promise<Reply>} */
  async _one(action, frames) {
    const {target, params} = action;
    const isEmpty = !target.elementId && !target.selector && !target.description;
    if (isEmpty && NEEDS_TARGET.has(action.action)) return refused('needsTarget');
    if (NEEDS_VALUE.has(action.action) && params.value === undefined) return refused('needsValue');
    if (isEmpty) return this._inSelection(action, frames);
    const found = await this._find(action, frames);
    if ('ok' in found) return found;
    return this._act(found.frame, {act: {action: action.action, params}, id: found.id});
  }

  /** Perform an action without a target, in the frame with the selection if it needs one. @param {Action} action @param {Frame[]} frames @returns {Promise<Reply>} */
  async _inSelection({action, params}, frames) {
    const request = {act: {action, params}, id: null};
    if (action === 'scroll') return this._act(frames[0], request);
    if (params.value && action !== 'read') return this._firstOf(frames, request);
    const selected = (await askAll(frames, () => ({type: 'selectedText'}), this._language)).find(({answer}) => answer.text);
    return selected ? this._act(selected.frame, request) : refused('noSelection');
  }

  /** @param {Frame[]} frames @param {Record<string, unknown>} request */
  async _firstOf(frames, request) {
    let reply = refused('notFound');
    for (const frame of frames) {
      reply = await this._act(frame, request);
      if (reply.ok) break;
    }
    return reply;
  }

  /** @param {Action} action @param {Frame[]} frames @returns {Promise<{frame: Frame, id: string} | Reply>} */
  async _find({action, target, params}, frames) {
    const words = wordsOf(target.description);
    const marks = action === 'highlight' || action === 'underline';
    if (marks && target.description && !target.elementId && !target.selector && !params.value) {
      // text of the page takes precedence over names of its elements
      const marked = await this._firstOf(frames, {act: {action, params}, id: null, text: target.description});
      if (marked.ok) return marked;
    }
    const answers = await askAll(frames, () => ({type: 'find', target, words}), this._language);
    const best = answers.reduce((first, next) => (next.answer.fit > first.answer.fit ? next : first));
    if (best.answer.stale) return this._stale(best.answer.id, best.answer.stale);
    const alike = answers.filter(({answer}) => answer.fit === best.answer.fit);
    const count = alike.reduce((sum, {answer}) => sum + answer.count, 0);
    if (count > 1 && NEEDS_TARGET.has(action)) return this._ambiguous(count, await this._describeAlike(alike));
    if (best.answer.id) return {frame: best.frame, id: best.answer.id};
    const invalid = answers.find(({answer}) => answer.invalid);
    return invalid ? refused('invalidSelector', {selector: target.selector ?? ''}) : refused('notFound');
  }

  /**
   * Describe the elements that fit alike, in all frames. A frame with one of them has not described it.
   * @param {{frame: Frame, answer: any}[]} answers @returns {Promise<Described[]>}
   */
  async _describeAlike(answers) {
    const described = await Promise.all(answers.map(({frame, answer}) => (
      answer.alike.length || !answer.id ? answer.alike : ask(frame, {type: 'describe', id: answer.id}, this._signal))));
    return described.flat();
  }

  /** @param {number} count @param {Described[]} alike @returns {Reply} */
  _ambiguous(count, alike) {
    const elements = alike.slice(0, SHOWN).map((each) => describe(each, this._language));
    const matches = elements.map(({id, desc}) => `${id} ${desc}`).join('; ') + (count > elements.length ? '; …' : '');
    return {...refused('ambiguous', {count: String(count), matches}), elements};
  }

  /** @param {string} id @param {{was: Name, now: Name}} names @returns {Reply} */
  _stale(id, {was, now}) {
    const desc = nameIn(now, this._language);
    return {...refused('stale', {was: nameIn(was, this._language), now: desc}), elements: [{id, desc}]};
  }

  /**
   * @param {Frame} frame @param {Record<string, unknown>} request @param {string} [allowed]
   * @returns {Promise<Reply>}
   */
  async _act(frame, request, allowed) {
    if (this._signal?.aborted) throw this._aborted();
    /** @type {Reply} */
    let reply;
    try {
      reply = await ask(frame, {type: 'act', ...request, allowed}, this._signal);
    } catch (error) {
      if (this._signal?.aborted) throw this._aborted();
      if (error instanceof FrameGone) throw new PageError('interrupted', text(this._language, 'interrupted'));
      if (error instanceof FrameSilent) throw new PageError('interrupted', text(this._language, 'noAnswer'));
      throw error;
    }
    if (reply.opened) await this._open(reply.opened);
    if (reply.key !== 'secret') return reply;
    const question = /** @type {Question} */ (/** @type {unknown} */ (reply.values));
    // a field that has meanwhile become another kind of secret is not the one that the user was asked about
    const isAllowed = !allowed && await this._confirm(question);
    return isAllowed ? this._act(frame, request, question.kind) : refused('secretRefused', {label: question.label});
  }

  /** @param {string} url */
  async _open(url) {
    const {windowId, index} = await chrome.tabs.get(this._tabId);
    await chrome.tabs.create({url, windowId, index: index + 1, openerTabId: this._tabId});
  }

  _aborted() {
    const reason = this._signal?.reason;
    return reason instanceof PageError ? reason : new PageError('interrupted', text(this._language, 'cancelled'));
  }
}

/** @param {string} key @param {Record<string, string>} [values] @returns {Reply} */
function refused(key, values = {}) {
  return {ok: false, key, values};
}
