/**
 * The call log as a list that can be read in the middle while rows are added at its top.
 *
 * Rows are counted downwards from a fixed anchor row, in pages that are loaded when they scroll into view. Newer rows are
 * above the anchor, and are loaded a few times a second at most, however many calls end. With a filter, rows that the server has
 * moved to files are below the last page: they are searched when the user asks for it, step by step, and can be stopped.
 */
import {Soon} from '../base/throttle.js';
import {Store} from '../base/store.js';
import {ApiError, client} from '../client/client.js';

/**
 * @typedef {object} CallRow  A row of the call log, as returned by `/api/calls`.
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
/** @typedef {{tool?: string, module?: string, session_id?: string, client?: string, outcome?: string, q?: string, kind?: string}} CallFilter */

const PAGE_ROWS = 200;
const PAGES_KEPT = 60;
const NEWER_ROWS = 1000;
/** Maximum number of rows above the anchor; at this limit they are merged into the pages below it. */
const NEWER_KEPT = 5000;
/** Delay before pages are loaded, so that pages passed by fast scrolling are skipped. */
const SETTLE_MS = 60;

export class CallLog extends Store {
  constructor() {
    super();
    /** @type {CallFilter} */
    this.filter = {};
    this.isLoaded = false;
    /** Incremented with every change. */
    this.version = 0;
    /** @type {unknown} */
    this.error = null;
    /** True while new rows are held back, so that the visible rows do not move. */
    this.isPaused = false;
    /** @type {CallRow[]} newest last */
    this._newer = [];
    this._shownNewer = 0;
    /** True if more rows arrived while paused than can be held back; the excess is not loaded. */
    this._hasGap = false;
    this._anchor = 0;
    this._below = 0;
    /** @type {Map<number, CallRow[] | 'wanted' | 'loading'>} */
    this._pages = new Map();
    /** Matching rows found in files so far, newest first. @type {CallRow[]} */
    this._older = [];
    /** The files have been searched down to this row; null: to their end, or there are none. @type {number | null} */
    this._olderNext = null;
    this._olderFrom = 1;
    /** True while files are searched. */
    this.isSearching = false;
    /** @type {unknown} Why the search of the files ended. */
    this.searchError = null;
    this._generation = 0;
    this._isCatchingUp = false;
    /** Number of `reload` requests in flight. */
    this._reloads = 0;
    /** True if an event arrived that responses in flight may not include. */
    this._isBehind = false;
    this._catchingUp = new Soon(() => void this._catchUp());
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this._settleTimer = undefined;
    /** @type {(() => void)[]} */
    this._ends = [];
  }

  /** Start following the call log. */
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

  /** Number of rows to show. */
  get count() {
    return this._shownNewer + this._below + this._older.length;
  }

  /** True if there are files left to search. */
  get hasOlder() {
    return this._olderNext !== null;
  }

  /** The part of the files that was searched, from 0 to 1. */
  get searched() {
    return 1 - (this._olderNext ?? 1) / Math.max(1, this._olderFrom);
  }

  /** Search the files until a page of rows is found, everything is searched, or `stopSearch` is called. */
  async searchOlder() {
    if (this.isSearching) return;
    const generation = this._generation;
    const enough = this._older.length + PAGE_ROWS;
    this.isSearching = true;
    this.searchError = null;
    this.notify();
    try {
      while (this.isSearching && this._olderNext !== null && this._older.length < enough) {
        const {calls, next} = await this._get({before: this._olderNext, limit: PAGE_ROWS});
        if (generation !== this._generation) return;
        this._older = [...this._older, ...calls];
        this._olderNext = next;
        this.notify();
      }
    } catch (error) {
      if (generation !== this._generation) return;
      this.searchError = error;
    }
    this.stopSearch();
  }

  stopSearch() {
    this.isSearching = false;
    this.notify();
  }

  /** Number of rows that are held back. */
  get heldBack() {
    return this._newer.length - this._shownNewer;
  }

  /** True if more rows arrived than can be held back. */
  get hasMore() {
    return this._hasGap;
  }

  /** Return loaded rows, newest first. @param {number} limit */
  loaded(limit) {
    const first = this._pages.get(0);
    return [...this._newer.slice(-limit).reverse(), ...(Array.isArray(first) ? first : [])].slice(0, limit);
  }

  /** Return the index of a call among the loaded rows, or -1. @param {string} callId */
  placeOf(callId) {
    for (let at = this._shownNewer - 1; at >= 0; at--) if (isOf(this._newer[at], callId)) return this._shownNewer - 1 - at;
    for (const [number, page] of this._pages) {
      const at = Array.isArray(page) ? page.findIndex((row) => isOf(row, callId)) : -1;
      if (at >= 0) return this._shownNewer + number * PAGE_ROWS + at;
    }
    const at = this._older.findIndex((row) => isOf(row, callId));
    return at < 0 ? -1 : this._shownNewer + this._below + at;
  }

  /** @param {CallFilter} filter */
  show(filter) {
    this.filter = filter;
    return this.reload();
  }

  /** Reload from the newest row. */
  async reload() {
    const generation = ++this._generation;
    this._reloads += 1;
    this.isSearching = false;
    try {
      const {calls, total, total_since: since} = await this._get({limit: PAGE_ROWS, total: true});
      if (generation !== this._generation) return;
      this._fix(calls, total);
      this._olderNext = since;
      this._olderFrom = since ?? 1;
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

  /** Hold back new rows, or show those that were held back. @param {boolean} isPaused */
  pause(isPaused) {
    if (isPaused === this.isPaused) return;
    this.isPaused = isPaused;
    if (!isPaused && this._hasGap) return void this.reload();
    if (!isPaused) this._release();
    this.notify();
  }

  /** Return the row at an index, newest first; null until it is loaded, which this requests. @param {number} index @returns {CallRow | null} */
  at(index) {
    if (index < this._shownNewer) return this._newer[this._shownNewer - 1 - index];
    const place = index - this._shownNewer;
    if (place >= this._below) return this._older[place - this._below] ?? null;
    const page = this._pages.get(Math.floor(place / PAGE_ROWS));
    if (Array.isArray(page)) return page[place % PAGE_ROWS] ?? null;
    this._want(Math.floor(place / PAGE_ROWS));
    return null;
  }

  /** @param {CallRow[]} calls @param {number} total */
  _fix(calls, total) {
    this._hasGap = false;
    this._newer = [];
    this._older = [];
    this.searchError = null;
    this._shownNewer = 0;
    this._below = total;
    this._anchor = (calls[0]?.seq ?? 0) + 1;
    this._pages = new Map([[0, calls]]);
  }

  /** Show the rows that were held back; at the limit, merge them into the pages without changing any index. */
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
    // move the page to the end: only the latest requests are loaded, since earlier ones may be out of view by now
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
      else if (this.isPaused) this._hasGap = true; // the user is reading further down: reload on resume
      else void this.reload();
    } catch (error) {
      // the connection state shows that the server is unreachable, and reconnecting retries this; other errors are shown
      if (generation === this._generation && error instanceof ApiError && error.status > 0) {
        this.error = error;
        this.notify();
      }
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

  /** @param {Record<string, unknown>} page @returns {Promise<{calls: CallRow[], total: number, next: number | null, total_since: number | null}>} */
  _get(page) {
    const given = Object.entries({...this.filter, ...page}).filter(([, value]) => value !== undefined && value !== '');
    return client.get(`/api/calls?${new URLSearchParams(given.map(([key, value]) => [key, String(value)]))}`);
  }

  notify() {
    this.version += 1;
    super.notify();
  }
}

/** Return true if an address refers to this row: by its call ID, or by its sequence number if it has no call. @param {CallRow} row @param {string} id */
export function isOf(row, id) {
  return row.call_id ? row.call_id === id : `seq-${row.seq}` === id;
}
