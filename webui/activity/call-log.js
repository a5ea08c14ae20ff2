/**
 * The record of calls as a list that is looked at in the middle while rows are added at its top.
 *
 * Rows are counted from a fixed one downwards, in pages that are loaded when they come into view; what is newer stands
 * above, and is loaded a few times a second at most, however many calls end.
 */
import {Soon} from '../base/soon.js';
import {Store} from '../base/store.js';
import {client} from '../client/client.js';

/**
 * @typedef {object} CallRow  A row of the record, as `/api/calls` gives it.
 * @property {number} seq
 * @property {number} time_ms
 * @property {string} call_id
 * @property {string} tool
 * @property {'call' | 'decision' | 'notice'} kind
 * @property {string | null} parent_call_id
 * @property {string} module
 * @property {string} session_id
 * @property {string} principal_kind
 * @property {string} principal_id
 * @property {string} arguments_digest
 * @property {string} decision
 * @property {string} decided_by
 * @property {string} outcome
 * @property {number | null} duration_ms
 * @property {string | null} resource_id
 * @property {string} arguments
 */
/** @typedef {{tool?: string, module?: string, session_id?: string, client?: string, outcome?: string, q?: string}} CallFilter */

const PAGE_ROWS = 200;
const PAGES_KEPT = 60;
const NEWER_ROWS = 1000;
/** Rows above the fixed one that are kept; beyond, they become part of what is below it. */
const NEWER_KEPT = 5000;
/** Fast scrolling passes pages that nobody looks at. */
const SETTLE_MS = 60;

export class CallLog extends Store {
  constructor() {
    super();
    /** @type {CallFilter} */
    this.filter = {};
    this.isLoaded = false;
    /** Grows with every change. */
    this.version = 0;
    /** @type {unknown} */
    this.error = null;
    /** Whether rows that come are kept back, so that what is looked at stays where it is. */
    this.isPaused = false;
    /** @type {CallRow[]} newest last */
    this._newer = [];
    this._shownNewer = 0;
    /** Whether rows came while others were kept back that nobody has loaded. */
    this._hasGap = false;
    this._anchor = 0;
    this._below = 0;
    /** @type {Map<number, CallRow[] | 'wanted' | 'loading'>} */
    this._pages = new Map();
    this._generation = 0;
    this._isCatchingUp = false;
    /** Answers to `reload` that are on their way. */
    this._reloads = 0;
    /** Whether something happened meanwhile that they may not tell of. */
    this._isBehind = false;
    this._catchingUp = new Soon(() => void this._catchUp());
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this._settleTimer = undefined;
    /** @type {(() => void)[]} */
    this._ends = [];
  }

  /** Begin to follow the record. */
  start() {
    this._ends = [
      client.on('call.finished', () => this._catchUpSoon()),
      client.on('settings.changed', () => this._catchUpSoon()),
      client.on('events.reset', () => void this.reload()),
      client.on('connection', (connection) => { if (connection === 'open') this._catchUpSoon(); }),
    ];
  }

  stop() {
    for (const end of this._ends) end();
    this._catchingUp.end();
    clearTimeout(this._settleTimer);
    this._generation += 1;
  }

  /** How many rows there are to show. */
  get count() {
    return this._shownNewer + this._below;
  }

  /** How many rows came since rows are kept back. */
  get heldBack() {
    return this._newer.length - this._shownNewer;
  }

  /** Whether more came since than can be kept back. */
  get hasMore() {
    return this._hasGap;
  }

  /** Rows that are here, the newest first. @param {number} limit */
  loaded(limit) {
    const first = this._pages.get(0);
    return [...this._newer.slice(-limit).reverse(), ...(Array.isArray(first) ? first : [])].slice(0, limit);
  }

  /** The place of a call among the rows that are here; -1 when it is not. @param {string} callId */
  placeOf(callId) {
    for (let at = this._shownNewer - 1; at >= 0; at--) if (isOf(this._newer[at], callId)) return this._shownNewer - 1 - at;
    for (const [number, page] of this._pages) {
      const at = Array.isArray(page) ? page.findIndex((row) => isOf(row, callId)) : -1;
      if (at >= 0) return this._shownNewer + number * PAGE_ROWS + at;
    }
    return -1;
  }

  /** @param {CallFilter} filter */
  show(filter) {
    this.filter = filter;
    return this.reload();
  }

  /** Load from the newest row on. */
  async reload() {
    const generation = ++this._generation;
    this._reloads += 1;
    try {
      const {calls, total} = await this._get({limit: PAGE_ROWS, total: true});
      if (generation !== this._generation) return;
      this._fix(calls, total);
      this.error = null;
    } catch (error) {
      if (generation !== this._generation) return;
      this.error = error;
    } finally {
      this._reloads -= 1;
      if (this._isBehind) this._catchUpSoon();
    }
    this.isLoaded = true;
    this.notify();
  }

  /** Keep back what comes, or show what was kept back. @param {boolean} isPaused */
  pause(isPaused) {
    if (isPaused === this.isPaused) return;
    this.isPaused = isPaused;
    if (!isPaused && this._hasGap) return void this.reload();
    if (!isPaused) this._release();
    this.notify();
  }

  /** The row at a place, the newest first; null while it is not here yet. @param {number} index @returns {CallRow | null} */
  at(index) {
    if (index < this._shownNewer) return this._newer[this._shownNewer - 1 - index];
    const place = index - this._shownNewer;
    const page = this._pages.get(Math.floor(place / PAGE_ROWS));
    if (Array.isArray(page)) return page[place % PAGE_ROWS] ?? null;
    if (place < this._below) this._want(Math.floor(place / PAGE_ROWS));
    return null;
  }

  /** @param {CallRow[]} calls @param {number} total */
  _fix(calls, total) {
    this._hasGap = false;
    this._newer = [];
    this._shownNewer = 0;
    this._below = total;
    this._anchor = (calls[0]?.seq ?? 0) + 1;
    this._pages = new Map([[0, calls]]);
  }

  /** What is newer becomes part of the pages; no row changes its place. */
  _release() {
    this._shownNewer = this._newer.length;
    if (this._newer.length < NEWER_KEPT) return;
    const newest = this._newer.toReversed();
    this._pages = new Map();
    for (let at = 0; at + PAGE_ROWS <= newest.length; at += PAGE_ROWS) {
      this._pages.set(at / PAGE_ROWS, newest.slice(at, at + PAGE_ROWS));
    }
    this._below += newest.length;
    this._anchor = newest[0].seq + 1;
    this._newer = [];
    this._shownNewer = 0;
  }

  /** @param {number} page */
  _want(page) {
    const state = this._pages.get(page);
    if (state === 'loading') return;
    // what was wanted before and is not any more is out of view: the last request counts
    this._pages.delete(page);
    this._pages.set(page, 'wanted');
    clearTimeout(this._settleTimer);
    this._settleTimer = setTimeout(() => this._loadWanted(), SETTLE_MS);
  }

  _loadWanted() {
    const wanted = [...this._pages].filter(([, page]) => page === 'wanted').map(([number]) => number);
    for (const page of wanted) this._pages.delete(page);
    for (const page of wanted.slice(-2)) void this._loadPage(page);
  }

  /** @param {number} page */
  async _loadPage(page) {
    const generation = this._generation;
    const pages = this._pages;
    pages.set(page, 'loading');
    try {
      const {calls} = await this._get({before: this._anchor, skip: page * PAGE_ROWS, limit: PAGE_ROWS});
      if (generation !== this._generation || pages !== this._pages) return;
      pages.delete(page);
      pages.set(page, calls);
      this._forgetFarPages(page);
    } catch (error) {
      pages.delete(page);
      if (generation !== this._generation) return;
      this.error = error;
    }
    this.notify();
  }

  /** @param {number} near */
  _forgetFarPages(near) {
    if (this._pages.size <= PAGES_KEPT) return;
    const far = [...this._pages.keys()].sort((one, other) => Math.abs(other - near) - Math.abs(one - near));
    for (const page of far.slice(0, this._pages.size - PAGES_KEPT)) this._pages.delete(page);
  }

  _catchUpSoon() {
    this._isBehind = true;
    if (this._reloads === 0) this._catchingUp.ask();
  }

  async _catchUp() {
    if (this._isCatchingUp) return this._catchUpSoon();
    if (this._hasGap || this._reloads > 0) return;
    this._isBehind = false;
    this._isCatchingUp = true;
    const generation = this._generation;
    try {
      const {calls} = await this._get({after: this._newest, limit: NEWER_ROWS});
      if (generation !== this._generation) return;
      const isTooMuch = calls.length === NEWER_ROWS || (this.isPaused && this._newer.length > NEWER_KEPT);
      if (!isTooMuch) this._add(calls);
      else if (this.isPaused) this._hasGap = true; // somebody reads in the middle: begin anew after that
      else void this.reload();
    } catch {
      // the connection's own state tells that the server is away, and its return tries this again
    } finally {
      this._isCatchingUp = false;
    }
  }

  get _newest() {
    return this._newer.at(-1)?.seq ?? this._anchor - 1;
  }

  /** @param {CallRow[]} calls newest first */
  _add(calls) {
    if (calls.length === 0) return;
    this._newer.push(...calls.toReversed());
    if (!this.isPaused) this._release();
    this.notify();
  }

  /** @param {Record<string, unknown>} page @returns {Promise<{calls: CallRow[], total: number}>} */
  _get(page) {
    const given = Object.entries({...this.filter, ...page}).filter(([, value]) => value !== undefined && value !== '');
    return client.get(`/api/calls?${new URLSearchParams(given.map(([key, value]) => [key, String(value)]))}`);
  }

  notify() {
    this.version += 1;
    super.notify();
  }
}

/** Whether a row is the one that an address names: by its call, or by its number where it has none. @param {CallRow} row @param {string} id */
export function isOf(row, id) {
  return row.call_id ? row.call_id === id : `seq-${row.seq}` === id;
}
