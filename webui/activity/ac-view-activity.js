import {LitElement, css, html, nothing} from 'lit';
import {CallLog} from './call-log.js';
import {Localized, formatNumber, t} from '../base/i18n.js';
import {Listening} from '../base/subscriptions.js';
import {href, navigate} from '../base/router.js';
import {base, buttons} from '../ui/styles.js';
import {sessionList} from '../chat/sessions/session-list.js';
import {columns} from './ac-call-row.js';
import './ac-running-calls.js';
import '../ui/ac-empty.js';
import '../ui/ac-error-card.js';
import './ac-filter-bar.js';
import '../ui/ac-icon.js';
import '../ui/ac-virtual-list.js';
import './ac-view-call.js';
import '../base/later-strings.js';

/** @typedef {import('./call-log.js').CallFilter} CallFilter */

/** Filter names in the address and in the server query. @type {[string, keyof CallFilter][]} */
const IN_ADDRESS = [['tool', 'tool'], ['module', 'module'], ['session', 'session_id'], ['client', 'client'], ['outcome', 'outcome'], ['q', 'q'], ['kind', 'kind']];
/** The value in the address for entries of every kind; without one, the list has calls only, one row each. */
const EVERYTHING = 'all';
const ROW_REM = 2.25;
const TALL_ROW_REM = 3.5;
const NARROW_REM = 38;
const SESSIONS = 50;

/** The live call log, with one call open beside it. */
export class AcViewActivity extends Localized(LitElement) {
  static properties = {
    path: {attribute: false},
    query: {attribute: false},
    _isPaused: {state: true},
    _isAtTop: {state: true},
    _isNarrow: {state: true},
  };

  static styles = [base, buttons, columns, css`
    :host { height: 100%; container: activity / inline-size; }
    .split { display: grid; grid-template-columns: minmax(0, 1fr); height: 100%; min-height: 0; }
    .split.open { grid-template-columns: minmax(0, 1fr) clamp(22rem, 40%, 34rem); }
    .record { display: flex; flex-direction: column; min-height: 0; container: calls / inline-size; }
    header { display: grid; gap: var(--ac-space-4); padding: var(--ac-space-5) var(--ac-space-4) var(--ac-space-4); border-bottom: 1px solid var(--ac-border); }
    .title { display: flex; align-items: center; gap: var(--ac-space-2) var(--ac-space-4); min-height: var(--ac-control); }
    h1 { font-size: var(--ac-text-xl); }
    .title .muted { flex: 1; font-variant-numeric: tabular-nums; }
    .dot { width: 0.5rem; height: 0.5rem; border-radius: 50%; background: var(--ac-ok); }
    .paused .dot { background: var(--ac-warn); }
    .list { position: relative; flex: 1; min-height: 0; display: flex; flex-direction: column; background: var(--ac-surface); }
    .heads { flex: none; height: 2rem; border-bottom: 1px solid var(--ac-border); background: var(--ac-bg); color: var(--ac-text-muted); font-size: var(--ac-text-xs); font-weight: var(--ac-weight-medium); }
    .heads.columns { padding-inline-end: calc(var(--ac-space-4) + 0.6rem); }
    ac-virtual-list { flex: 1; min-height: 0; scrollbar-gutter: stable; scrollbar-width: thin; }
    .new { position: absolute; z-index: 2; top: 2.5rem; left: 50%; translate: -50% 0; border-radius: 999px; box-shadow: var(--ac-shadow-m); }
    ac-error-card { margin: var(--ac-space-4); }
    footer { display: flex; flex: none; flex-wrap: wrap; align-items: center; gap: var(--ac-space-2) var(--ac-space-3); padding: var(--ac-space-2) var(--ac-space-4); border-top: 1px solid var(--ac-border); color: var(--ac-text-muted); font-size: var(--ac-text-s); }
    footer p { flex: 1; }
    footer [role=alert] { color: var(--ac-danger); }
    footer progress { width: 8rem; accent-color: var(--ac-accent); }
    ac-view-call { position: relative; min-height: 0; overflow: auto; border-inline-start: 1px solid var(--ac-border); background: var(--ac-bg); }
    @container activity (max-width: 56rem) {
      .split.open { grid-template-columns: minmax(0, 1fr); }
      .split.open .record { display: none; }
      ac-view-call { border-inline-start: 0; }
    }
    @container calls (max-width: 38rem) { .heads { display: none; } header { padding: var(--ac-space-4) var(--ac-space-3) var(--ac-space-3); } .new { top: var(--ac-space-2); } }
  `];

  constructor() {
    super();
    /** @type {string[]} */
    this.path = [];
    this.query = new URLSearchParams();
    this._isPaused = false;
    this._isAtTop = true;
    this._isNarrow = false;
    this._log = new CallLog();
    this._shown = '';
    this._sizes = new ResizeObserver(([{contentRect}]) => { this._isNarrow = contentRect.width <= NARROW_REM * remPx(); });
    new Listening(this, () => {
      this._log.start();
      return [sessionList.subscribe(() => this.requestUpdate()), this._log.subscribe(() => this.requestUpdate()), () => this._log.stop(), () => { this._shown = ''; }];
    });
  }

  /** What the server is asked for. @returns {CallFilter} */
  get _wanted() {
    const {kind = 'call', ...filter} = this._filter;
    return kind === EVERYTHING ? filter : {...filter, kind};
  }

  /** What the address says. @returns {CallFilter} */
  get _filter() {
    return Object.fromEntries(IN_ADDRESS.flatMap(([name, key]) => {
      const value = this.query.get(name);
      return value ? [[key, value]] : [];
    }));
  }

  willUpdate() {
    const filter = this._wanted;
    const wanted = `?${JSON.stringify(filter)}`;
    if (this.isConnected && wanted !== this._shown) {
      this._shown = wanted;
      void this._log.show(filter);
      this._list?.toTop();
    }
    this._log.pause(this._isPaused || !this._isAtTop);
  }

  firstUpdated() {
    if (!sessionList.isLoaded) void sessionList.load(); // titles of chats
    this._sizes.observe(/** @type {Element} */ (this.renderRoot.querySelector('.record')));
  }

  get _list() {
    return /** @type {import('../ui/ac-virtual-list.js').AcVirtualList | null} */ (this.renderRoot.querySelector('ac-virtual-list'));
  }

  render() {
    const log = this._log;
    const isOpen = this.path.length > 0;
    return html`
      <div class="split ${isOpen ? 'open' : ''}">
        <section class="record" aria-label=${t('activity.title')}>
          <header>
            <div class="title">
              <h1>${t('activity.title')}</h1>
              <span class="muted" role="status">${log.isLoaded && !log.error ? this._count() : nothing}</span>
              <button class="small ${this._isPaused ? 'paused' : ''}" aria-pressed=${this._isPaused} @click=${() => { this._isPaused = !this._isPaused; }}>
                <ac-icon name=${this._isPaused ? 'play' : 'pause'}></ac-icon>${t(this._isPaused ? 'activity.resume' : 'activity.pause')}
              </button>
            </div>
            <ac-filter-bar .filter=${this._filter} .sessions=${this._sessions()} @ac-filter=${this._onFilter}></ac-filter-bar>
          </header>
          <ac-running-calls></ac-running-calls>
          ${this._body()}
        </section>
        ${isOpen ? html`<ac-view-call .callId=${this.path[0]} .back=${this._address([])}></ac-view-call>` : nothing}
      </div>`;
  }

  _count() {
    const key = Object.keys(this._filter).length ? 'activity.countFiltered' : 'activity.count';
    return t(key, {n: this._log.count});
  }

  _body() {
    const log = this._log;
    const isEmpty = log.count + log.heldBack === 0;
    if (log.error && isEmpty) return this._failed(log.error);
    if (log.isLoaded && isEmpty) return html`${Object.keys(this._filter).length || log.hasOlder ? this._noMatch() : this._empty()}${this._renderOlder()}`;
    return html`
      ${log.error ? this._failed(log.error) : nothing}
      <div class="list">
        <div class="heads columns" aria-hidden="true">
          <span class="outcome">${t('activity.columnOutcome')}</span><span class="tool">${t('activity.columnTool')}</span>
          <span class="arguments">${t('activity.columnArguments')}</span><span class="session">${t('activity.columnSession')}</span>
          <span class="by">${t('activity.columnBy')}</span><span class="duration end">${t('activity.columnDuration')}</span>
          <span class="time end">${t('activity.columnTime')}</span>
        </div>
        ${log.heldBack || log.hasMore ? html`
          <button class="new small primary" @click=${this._showNew}>
            <ac-icon name="arrow-up"></ac-icon>${log.hasMore ? t('activity.newRowsMany') : t('activity.newRows', {n: log.heldBack})}
          </button>` : nothing}
        <ac-virtual-list .count=${log.count} .rowHeight=${remPx() * (this._isNarrow ? TALL_ROW_REM : ROW_REM)} label=${t('activity.list')}
          .keyOf=${this._keyOf} .renderRow=${this._renderRow} .selected=${this._selected()}
          .version=${log.version} @ac-open=${this._onOpen} @ac-scroll=${this._onScroll}></ac-virtual-list>
      </div>
      ${this._renderOlder()}`;
  }

  /** Render the search of older entries, which are in files. */
  _renderOlder() {
    const log = this._log;
    if (!log.hasOlder && !log.searchError) return nothing;
    return html`
      <footer>
        ${log.searchError ? html`<p role="alert">${t('activity.searchFailed')} ${/** @type {Error} */ (log.searchError).message}</p>` : html`<p role="status">${log.isSearching || log.searched ? t('activity.searched', {percent: formatNumber(log.searched, {style: 'percent', maximumFractionDigits: 0})}) : t('activity.olderInFiles')}</p>`}
        ${log.isSearching ? html`<progress max="1" .value=${log.searched} aria-label=${t('activity.searching')}></progress>` : nothing}
        <button class="small" @click=${() => (log.isSearching ? log.stopSearch() : void log.searchOlder())}>
          <ac-icon name=${log.isSearching ? 'square' : 'search'}></ac-icon>${t(log.isSearching ? 'activity.stopSearch' : 'activity.searchOlder')}
        </button>
      </footer>`;
  }

  /** @param {unknown} error */
  _failed(error) {
    return html`
      <ac-error-card heading=${t('activity.failedToLoad')} .error=${error}>
        <button slot="actions" @click=${() => this._log.reload()}>${t('activity.tryAgain')}</button>
      </ac-error-card>`;
  }

  _empty() {
    return html`
      <ac-empty icon="activity" heading=${t('activity.empty')}>
        ${t('activity.emptyText')}<a slot="actions" class="button primary" href=${href(['tools'])}>${t('activity.openTools')}</a>
      </ac-empty>`;
  }

  _noMatch() {
    return html`
      <ac-empty icon="funnel" heading=${t('activity.noMatch')}>
        ${t('activity.noMatchText')}<a slot="actions" class="button" href=${href(['activity'])}>${t('activity.clearFilters')}</a>
      </ac-empty>`;
  }

  /** Return a key counted from the oldest row: it is stable when rows are added, and known before the row is loaded. @param {number} index */
  _keyOf = (index) => this._log.count - index;

  /** @param {number} index */
  _renderRow = (index) => html`<ac-call-row .call=${this._log.at(index)}></ac-call-row>`;

  /** Return the index of the open call, or -1 if it is not among the loaded rows. */
  _selected() {
    const [callId] = this.path;
    if (!callId) return -1;
    return this._log.placeOf(callId);
  }

  _sessions() {
    return [...new Set(this._log.loaded(SESSIONS * 4).map(({session_id}) => session_id))].filter(Boolean).slice(0, SESSIONS);
  }

  /** @param {string[]} path @param {CallFilter} [filter] */
  _address(path, filter = this._filter) {
    return href(['activity', ...path], Object.fromEntries(IN_ADDRESS.map(([name, key]) => [name, filter[key]])));
  }

  /** @param {CustomEvent<{filter: CallFilter}>} event */
  _onFilter({detail}) {
    navigate(this._address(this.path, detail.filter), {replace: true});
  }

  /** @param {CustomEvent<{index: number}>} event */
  _onOpen({detail}) {
    const call = this._log.at(detail.index);
    if (call) navigate(this._address([call.call_id || `seq-${call.seq}`]));
  }

  /** @param {CustomEvent<{isAtTop: boolean}>} event */
  _onScroll({detail}) {
    this._isAtTop = detail.isAtTop;
  }

  _showNew() {
    this._isPaused = false;
    this._isAtTop = true;
    this._list?.toTop();
  }
}

/** Return the size of a rem in pixels; users can change their text size. */
function remPx() {
  return parseFloat(getComputedStyle(document.documentElement).fontSize);
}

customElements.define('ac-view-activity', AcViewActivity);
