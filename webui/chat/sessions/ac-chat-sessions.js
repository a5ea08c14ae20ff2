import {LitElement, css, html, nothing} from 'lit';
import {repeat} from 'lit/directives/repeat.js';
import {endedChats} from './ended-chats.js';
import {sessionList, waitingIn} from './session-list.js';
import {confirm} from '../../ui/overlay/confirm.js';
import {Localized, formatDay, t} from '../../base/i18n.js';
import {isComposing} from '../../base/input-method.js';
import {Listening} from '../../base/subscriptions.js';
import {SteadyItems} from '../../base/steady-items.js';
import {href, navigate} from '../../base/router.js';
import {base, buttons, fields} from '../../ui/styles.js';
import {toastError} from '../../ui/toasts.js';
import '../../ui/ac-icon.js';

/** @typedef {import('./session-list.js').Session} Session */

const MORE_PX = 300;

/** The list of chats, by day, with a search in their titles and messages. */
export class AcChatSessions extends Localized(LitElement) {
  static properties = {
    selected: {},
    _renaming: {state: true},
  };

  static styles = [base, buttons, fields, css`
    :host { display: flex; flex-direction: column; min-height: 0; height: 100%; background: var(--ac-bg); }
    .top { display: grid; gap: var(--ac-space-2); padding: var(--ac-space-3); }
    .top input { width: 100%; }
    .new { justify-content: flex-start; }
    .list { flex: 1; min-height: 0; overflow: auto; padding: 0 var(--ac-space-2) var(--ac-space-4); scrollbar-width: thin; position: relative; }
    h2 { position: sticky; top: 0; z-index: 1; padding: var(--ac-space-3) var(--ac-space-2) var(--ac-space-1); background: var(--ac-bg); font-size: var(--ac-text-xs); font-weight: var(--ac-weight-medium); color: var(--ac-text-muted); letter-spacing: 0; }
    .session { position: relative; display: flex; align-items: center; min-height: 2.25rem; border-radius: var(--ac-radius-m); }
    .session:hover, .session:focus-within { background: var(--ac-hover); }
    .session.current { background: var(--ac-surface); box-shadow: 0 0 0 1px var(--ac-border); }
    .session a { flex: 1; min-width: 0; display: flex; align-items: center; gap: var(--ac-space-2); padding: var(--ac-space-2); color: var(--ac-text); text-decoration: none; border-radius: var(--ac-radius-m); }
    .session a:focus-visible { outline-offset: -2px; }
    .session a > span:first-child { flex: 1; min-width: 0; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
    .mark { display: inline-flex; flex: none; color: var(--ac-accent); }
    .mark.waits { color: var(--ac-warn); }
    .mark.failed { color: var(--ac-danger); }
    .mark.done { color: var(--ac-ok); }
    .tools { display: none; flex: none; padding-inline-end: var(--ac-space-1); }
    .tools button { color: var(--ac-text-muted); min-height: 1.75rem; }
    .session:is(:hover, :focus-within) .tools { display: flex; }
    @media (hover: none) { .session.current .tools { display: flex; } }
    form { flex: 1; padding: 2px; }
    form input { width: 100%; }
    .none { padding: var(--ac-space-5) var(--ac-space-3); color: var(--ac-text-muted); text-align: center; font-size: var(--ac-text-s); }
  `];

  constructor() {
    super();
    this.selected = '';
    this._renaming = '';
    new Listening(this, () => [sessionList.subscribe(() => this.requestUpdate()), endedChats.subscribe(() => this.requestUpdate())]);
    // a chat that is used moves to the top
    this._steady = new SteadyItems(this, () => this.renderRoot.querySelectorAll('li'));
  }

  connectedCallback() {
    super.connectedCallback();
    void sessionList.load();
  }

  updated() {
    // the user changes the list by searching
    if (sessionList.query) this._steady.accept();
  }

  render() {
    return html`
      <div class="top">
        <a class="button new" href="#/chats"><ac-icon name="plus"></ac-icon>${t('chat.new')}</a>
        <input type="search" .value=${sessionList.query} placeholder=${t('chat.search')} aria-label=${t('chat.search')} @input=${this._onSearch}>
      </div>
      <nav class="list" aria-label=${t('chat.list')} @scroll=${this._onScroll}>${this._renderList()}</nav>
      <p class="visually-hidden" id="keys">${t('chat.listKeys')}</p>`;
  }

  _renderList() {
    const {sessions, isLoaded, error, query} = sessionList;
    if (error && !sessions.length) return html`<p class="none" role="alert">${t('chat.listFailed')} <button class="small" @click=${() => sessionList.load()}>${t('ui.again')}</button></p>`;
    if (!isLoaded) return nothing;
    if (!sessions.length) return html`<p class="none">${query ? t('chat.noneFound', {query}) : t('chat.none')}</p>`;
    return repeat(byDay(sessions), ([day]) => day, ([day, own]) => html`
      <h2>${day}</h2>
      <ul>${repeat(own, ({sessionId}) => sessionId, (session) => html`<li data-id=${session.sessionId}>${this._renderSession(session)}</li>`)}</ul>`);
  }

  /** @param {Session} session */
  _renderSession(session) {
    const {sessionId, title} = session;
    const isCurrent = sessionId === this.selected;
    const name = title || t('chat.untitled');
    if (this._renaming === sessionId) return html`<div class="session current">${this._renderForm(session)}</div>`;
    return html`
      <div class="session ${isCurrent ? 'current' : ''}">
        <a href=${href(['chats', sessionId])} aria-current=${isCurrent ? 'page' : nothing} title=${name} aria-describedby="keys" aria-keyshortcuts="F2 Delete" @keydown=${(/** @type {KeyboardEvent} */ event) => this._onKey(event, session)} @dblclick=${() => this._rename(sessionId)}><span dir="auto">${name}</span>${mark(session)}</a>
        <span class="tools">
          <button class="quiet small icon" tabindex="-1" aria-label=${t('chat.renameNamed', {name})} title=${t('chat.rename')} @click=${() => this._rename(sessionId)}><ac-icon name="pencil"></ac-icon></button>
          <button class="quiet small icon" tabindex="-1" aria-label=${t('chat.deleteNamed', {name})} title=${t('chat.delete')} @click=${() => this._delete(session)}><ac-icon name="trash-2"></ac-icon></button>
        </span>
      </div>`;
  }

  /** @param {Session} session */
  _renderForm({sessionId, title}) {
    return html`
      <form @submit=${(/** @type {Event} */ event) => this._keepTitle(event, sessionId)}>
        <input aria-label=${t('chat.rename')} maxlength="200" .value=${title} @keydown=${this._onRenameKey} @blur=${(/** @type {Event} */ event) => this._keepTitle(event, sessionId)}>
      </form>`;
  }

  /** @param {string} sessionId */
  async _rename(sessionId) {
    this._renaming = sessionId;
    await this.updateComplete;
    /** @type {HTMLInputElement | null} */ (this.renderRoot.querySelector('form input'))?.select();
  }

  /** Handle the keys of a chat, which is one stop of the Tab key. @param {KeyboardEvent} event @param {Session} session */
  _onKey(event, session) {
    if (event.key === 'F2') void this._rename(session.sessionId);
    else if (event.key === 'Delete') void this._delete(session);
    else return;
    event.preventDefault();
  }

  /** @param {KeyboardEvent} event */
  _onRenameKey(event) {
    if (event.key !== 'Escape' || isComposing(event)) return;
    const id = this._renaming;
    this._renaming = '';
    void this._focusLink(id);
  }

  /** @param {Event} event @param {string} sessionId */
  async _keepTitle(event, sessionId) {
    event.preventDefault();
    if (this._renaming !== sessionId) return; // cancelled by Escape, or already submitted
    const title = /** @type {HTMLInputElement} */ (this.renderRoot.querySelector('form input')).value.trim();
    this._renaming = '';
    if (event.type === 'submit') void this._focusLink(sessionId);
    if (!title || title === sessionList.find(sessionId)?.title) return;
    try {
      await sessionList.change(sessionId, {title});
    } catch (error) {
      toastError(t('chat.renameFailed'), error);
    }
  }

  /** Focus a chat again after its field is gone. @param {string} sessionId */
  async _focusLink(sessionId) {
    await this.updateComplete;
    /** @type {HTMLElement | null} */ (this.renderRoot.querySelector(`a[href="${href(['chats', sessionId])}"]`))?.focus();
  }

  /** @param {Session} session */
  async _delete({sessionId, title, isRunning}) {
    const text = isRunning ? `${t('chat.deleteText')} ${t('chat.deleteRunning')}` : t('chat.deleteText');
    if (!(await confirm({heading: t('chat.deleteNamed', {name: title || t('chat.untitled')}), text, action: t('chat.delete'), isDangerous: true}))) return;
    try {
      await sessionList.remove(sessionId);
      if (sessionId === this.selected) navigate('#/chats', {replace: true});
    } catch (error) {
      toastError(t('chat.deleteFailed'), error);
    }
  }

  /** @param {Event} event */
  _onSearch(event) {
    sessionList.search(/** @type {HTMLInputElement} */ (event.target).value.trim());
  }

  /** @param {Event} event */
  _onScroll(event) {
    const {scrollTop, scrollHeight, clientHeight} = /** @type {HTMLElement} */ (event.target);
    if (scrollHeight - scrollTop - clientHeight < MORE_PX) void sessionList.loadMore();
  }
}
customElements.define('ac-chat-sessions', AcChatSessions);

/** @param {Session[]} sessions @returns {[string, Session[]][]} */
function byDay(sessions) {
  /** @type {Map<string, Session[]>} */
  const days = new Map();
  for (const session of sessions) {
    const day = formatDay(session.lastUsedAt);
    days.set(day, [...days.get(day) ?? [], session]);
  }
  return [...days];
}

/** @param {Session} session */
function mark(session) {
  const waits = waitingIn(session);
  if (waits) return html`<span class="mark waits" title=${t('chat.waits', {n: waits})}><ac-icon name="circle-help"></ac-icon><span class="visually-hidden">${t('chat.waits', {n: waits})}</span></span>`;
  if (session.isRunning) return html`<span class="mark" title=${t('chat.working')}><ac-icon name="loader-circle"></ac-icon><span class="visually-hidden">${t('chat.working')}</span></span>`;
  const ended = endedChats.stateOf(session.sessionId);
  if (ended) return html`<span class="mark ${ended}" title=${t(`chat.ended.${ended}`)}><ac-icon name=${ended === 'failed' ? 'circle-alert' : 'circle-check'}></ac-icon><span class="visually-hidden">${t(`chat.ended.${ended}`)}</span></span>`;
  return nothing;
}
