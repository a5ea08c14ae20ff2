import {LitElement, css, html, nothing} from 'lit';
import {Localized, t} from '../base/i18n.js';
import {Listening} from '../base/subscriptions.js';
import {onLook} from '../base/shown-theme.js';
import {client} from '../client/client.js';
import {base, buttons} from '../ui/styles.js';
import {toastError} from '../ui/toasts.js';
import '../ui/ac-icon.js';
import './ac-view-note.js';
import './ac-view-question.js';
import {fitHeight, hostContext} from './view-context.js';
import {toolResult} from './tool-result.js';
import {ViewHost} from './view-host.js';

/** @typedef {{address: string, permissions: string[], hasBorder: boolean | null, calls: Record<string, string>}} View */
/** @typedef {{toolName: string, arguments: Record<string, any>, state: string, result?: import('../client/client.js').Envelope | null}} Call */
/** @typedef {{id: string, send: (message: {text: string}) => Promise<void>}} Chat  the chat that a view is in */

const START_MS = 20_000;
const TEARDOWN_MS = 1_000;
const FIRST_PX = 120;
/** Maximum number of open views; opening another one closes the oldest. */
const OPEN_VIEWS = 6;
/** @type {Set<AcToolView>} */
const open = new Set();

/**
 * View of a tool: a cross-origin frame, which cannot access this page and receives this one call only.
 * @fires ac-chat-wanted {take: (chat: Chat) => void}  The element that has the chat answers; without a chat there is no view.
 */
export class AcToolView extends Localized(LitElement) {
  static properties = {
    call: {attribute: false},
    _view: {state: true},
    _isReady: {state: true},
    _ended: {state: true},
    _question: {state: true},
    _note: {state: true},
    _canWiden: {state: true},
    _isWide: {state: true},
  };

  static styles = [base, buttons, css`
    :host { display: block; min-width: 0; }
    /* what fills the window leaves its place in the chat as it is */
    .place { box-sizing: content-box; height: var(--view-height); border-top: 1px solid var(--ac-border); }
    .place.plain { border-top: 0; }
    dialog { position: relative; box-sizing: border-box; width: 100%; height: 100%; max-width: none; max-height: none; margin: 0; padding: 0; border: 0; overflow: hidden; background: none; color: inherit; }
    dialog:modal { position: fixed; inset: 0; display: flex; flex-direction: column; width: 100vw; height: 100dvh; background: var(--ac-surface); color: var(--ac-text); }
    .bar { display: none; align-items: center; gap: var(--ac-space-3); padding: var(--ac-space-2) var(--ac-space-3); border-bottom: 1px solid var(--ac-border); background: var(--ac-surface-sunken); }
    :modal .bar { display: flex; }
    .bar p { flex: 1; min-width: 0; margin: 0; overflow-wrap: anywhere; font-weight: var(--ac-weight-medium); }
    iframe { display: block; flex: 1; min-height: 0; width: 100%; height: 100%; border: 0; background: var(--ac-surface); color-scheme: inherit; }
    .loading { position: absolute; inset: 0; display: flex; align-items: center; justify-content: center; gap: var(--ac-space-2); color: var(--ac-text-muted); font-size: var(--ac-text-s); pointer-events: none; }
    .end { display: flex; flex-wrap: wrap; align-items: center; gap: var(--ac-space-2) var(--ac-space-3); padding: var(--ac-space-2) var(--ac-space-3); border-top: 1px solid var(--ac-border); color: var(--ac-text-muted); font-size: var(--ac-text-s); }
    .end p { flex: 1 1 14rem; min-width: 0; }
    .close { display: flex; justify-content: flex-end; padding: 0 var(--ac-space-2) var(--ac-space-1); }
  `];

  constructor() {
    super();
    /** @type {Call | null} */
    this.call = null;
    /** @type {View | null} */
    this._view = null;
    this._isReady = false;
    /** Reason why the view is not shown; empty otherwise. */
    this._ended = '';
    /** @type {{kind: 'link' | 'message', text: string} | null} */
    this._question = null;
    this._canWiden = this._isWide = false;
    this._note = ''; // context that the view offers to the model
    this._decide = (/** @type {boolean} */ _isYes) => {};
    /** @type {ViewHost | null} */
    this._host = null;
    /** @type {Chat | null} */
    this._chat = null;
    this._height = this._wantedHeight = FIRST_PX;
    this._toldEnd = '';
    this._toldContext = '';
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this._timer = undefined;
    new Listening(this, () => {
      const listen = (/** @type {MessageEvent} */ event) => this._onMessage(event);
      const tell = () => this._tellContext();
      const size = new ResizeObserver(tell);
      size.observe(this);
      window.addEventListener('message', listen);
      window.addEventListener('resize', tell);
      return [
        onLook(tell), () => size.disconnect(), () => window.removeEventListener('message', listen), () => window.removeEventListener('resize', tell),
        // a view that fills the window must not cover a pending approval
        client.on('approval.requested', () => this._widen(false)),
      ];
    });
  }

  connectedCallback() {
    super.connectedCallback();
    if (!this._view && !this._ended) void this._load();
  }

  disconnectedCallback() {
    this._stop();
    super.disconnectedCallback();
  }

  render() {
    if (this._ended) return this._renderEnd();
    if (!this._view) return nothing;
    const {address, permissions, hasBorder} = this._view;
    const tool = this.call?.toolName ?? '';
    return html`
      <div class="place ${hasBorder === false ? 'plain' : ''}">
        <dialog open aria-label=${t('views.frame', {tool})} @cancel=${this._onCancel}>
          <div class="bar"><p>${t('views.frame', {tool})}</p><button class="small" @click=${() => this._widen(false)}>${t('views.narrow')}</button></div>
          <iframe src=${address} sandbox="allow-scripts allow-same-origin allow-forms" allow=${permissions.join('; ')} loading="lazy"
            title=${t('views.frame', {tool})} @load=${this._onLoad}></iframe>
          ${this._isReady ? nothing : html`<p class="loading">${t('views.loading')}</p>`}
        </dialog>
      </div>
      ${this._question ? html`<ac-view-question .question=${this._question} .tool=${tool} @ac-answer=${(/** @type {CustomEvent} */ event) => this._decide(event.detail.isYes)}></ac-view-question>` : nothing}
      ${this._note ? html`<ac-view-note .text=${this._note} .tool=${tool} @ac-insert=${() => { this._note = ''; }}></ac-view-note>` : nothing}
      <div class="close">
        ${this._canWiden ? html`<button class="quiet small icon" title=${t('views.widen')} aria-label=${t('views.widen')} @click=${() => this._widen(true)}><ac-icon name="app-window"></ac-icon></button>` : nothing}
        <button class="quiet small icon" title=${t('views.close')} aria-label=${t('views.close')} @click=${() => this._close()}><ac-icon name="x"></ac-icon></button>
      </div>`;
  }

  _renderEnd() {
    return html`
      <div class="end" role="status">
        <p>${this._ended === 'closed' ? t('views.closed') : t('views.failed', {why: t(`views.${this._ended}`)})}</p>
        <button class="small" @click=${() => void this._load()}>${t('views.again')}</button>
      </div>`;
  }

  updated() {
    // the page's policy forbids style attributes
    if (!this._question) this._height = this._wantedHeight; // do not move an open question
    /** @type {HTMLElement | null} */ (this.renderRoot.querySelector('.place'))?.style.setProperty('--view-height', `${this._height}px`);
    this._tellEnd();
  }

  get _frame() {
    return this.renderRoot.querySelector('iframe');
  }

  async _load() {
    this.dispatchEvent(new CustomEvent('ac-chat-wanted', {detail: {take: (/** @type {Chat} */ chat) => { this._chat = chat; }}, bubbles: true, composed: true}));
    if (!this._chat || !this.call) return;
    try {
      const view = await client.get(`/api/sessions/${encodeURIComponent(this._chat.id)}/views/${encodeURIComponent(this.call.toolName)}`);
      if (this.isConnected) this._begin(view);
    } catch {
      this._ended = ''; // there is no view (any more): the result in the card is enough
    }
  }

  /** @param {View} view */
  _begin(view) {
    const {arguments: args, toolName} = /** @type {Call} */ (this.call);
    const chat = /** @type {Chat} */ (this._chat);
    [this._ended, this._toldEnd, this._note, this._wantedHeight] = ['', '', '', FIRST_PX];
    this._isReady = this._canWiden = false;
    this._host = new ViewHost({
      send: (message) => this._frame?.contentWindow?.postMessage(JSON.stringify(message), new URL(view.address).origin),
      context: () => this._context(),
      call: (name, given, signal) => client.callFromView(chat.id, toolName, name, given, signal),
      calls: Object.keys(view.calls),
      ask: (question) => this._ask(question),
      note: (text) => { this._note = text; },
      resize: (height) => { this._wantedHeight = fitHeight(height); this.requestUpdate(); },
      show: (mode) => this._show(mode),
      ready: (modes) => { clearTimeout(this._timer); this._isReady = true; this._canWiden = modes.includes('fullscreen'); },
      end: (reason) => this._end(reason),
    });
    this._host.tell('ui/notifications/tool-input', {arguments: args});
    this._view = view;
    for (const oldest of [...open].slice(0, Math.max(0, open.size + 1 - OPEN_VIEWS))) void oldest._close();
    open.add(this);
  }

  /** Notify the view of the call's outcome, once it has ended. */
  _tellEnd() {
    const {call, _host: host} = this;
    if (!call || !host || this._toldEnd === call.state) return;
    if (call.result && ['done', 'failed'].includes(call.state)) host.tell('ui/notifications/tool-result', toolResult(call.result));
    else if (['cancelled', 'interrupted', 'failed'].includes(call.state)) host.tell('ui/notifications/tool-cancelled', {reason: call.state});
    else return;
    this._toldEnd = call.state;
  }

  _context() {
    const context = hostContext({width: this._isWide ? window.innerWidth : Math.round(this.clientWidth), height: this._isWide ? this._frame?.clientHeight ?? 0 : null});
    this._toldContext = JSON.stringify(context);
    return context;
  }

  _tellContext() {
    const before = this._toldContext;
    if (!this._host?.isReady) return;
    const context = this._context();
    if (this._toldContext !== before) this._host.tell('ui/notifications/host-context-changed', context);
  }

  /** Set the display mode and return the resulting one; only a view that the user has just interacted with may fill the window. @param {unknown} mode @returns {string} */
  _show(mode) {
    const isTouched = navigator.userActivation?.isActive === true && this.shadowRoot?.activeElement === this._frame;
    if (mode !== 'fullscreen' || isTouched) this._widen(mode === 'fullscreen');
    return this._isWide ? 'fullscreen' : 'inline';
  }

  /** Fill the window, or return to the chat, without reloading the frame. @param {boolean} isWide */
  _widen(isWide) {
    const dialog = this.renderRoot.querySelector('dialog');
    if (!dialog || isWide === this._isWide) return;
    this._isWide = isWide;
    dialog.close();
    if (isWide) dialog.showModal();
    else dialog.setAttribute('open', '');
    this._tellContext();
  }

  /** @param {Event} event */
  _onCancel(event) {
    event.preventDefault();
    this._widen(false);
  }

  /** @param {MessageEvent} event */
  _onMessage({origin, source, data}) {
    if (!this._view || origin !== new URL(this._view.address).origin || source !== this._frame?.contentWindow) return;
    this._host?.take(data);
  }

  /** Start the timeout for the view to become ready. */
  _onLoad() {
    clearTimeout(this._timer);
    this._timer = setTimeout(() => { if (!this._isReady) this._end('silent'); }, START_MS);
  }

  /** @param {{kind: 'link' | 'message', text: string}} question @returns {Promise<boolean>} whether it was done */
  async _ask(question) {
    this._widen(false);
    this._question = question;
    const isYes = await new Promise((resolve) => { this._decide = resolve; });
    this._question = null;
    if (!isYes || !this._chat) return false;
    if (question.kind === 'link') {
      window.open(question.text, '_blank', 'noopener,noreferrer');
      return true;
    }
    try {
      await this._chat.send({text: question.text});
      return true;
    } catch (error) {
      toastError(t('views.sendFailed'), error);
      return false;
    }
  }

  async _close() {
    await this._host?.tearDown(TEARDOWN_MS);
    this._end('closed');
  }

  /** @param {string} reason */
  _end(reason) {
    this._stop();
    this._ended = reason;
  }

  _stop() {
    clearTimeout(this._timer);
    open.delete(this);
    this._host?.close();
    this._host = null;
    this._widen(false);
    this._view = null;
    this._decide(false);
  }
}
customElements.define('ac-tool-view', AcToolView);
