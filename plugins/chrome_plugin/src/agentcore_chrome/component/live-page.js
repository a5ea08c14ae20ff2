/** The live view of one page, with controls to take it over. Each module defines it under its own tag. */
import {LitElement, css, html, nothing} from 'lit';
import {badges, base, buttons, fields} from 'agentcore/styles.js';
import {PageSocket} from './page-socket.js';
import {textsFor} from './texts.js';

const BUTTONS = /** @type {const} */ (['left', 'middle', 'right']);

const SAID_AFTER_MS = 500; // usually a page is taken over at once

const isHandBack = (/** @type {KeyboardEvent} */ event) => event.key === 'Escape' && event.shiftKey;

export class LivePage extends LitElement {
  static properties = {
    client: {attribute: false},
    target: {},
    resourceId: {attribute: false},
    _state: {state: true},
    _status: {state: true},
    _wants: {state: true},
    _isLate: {state: true},
  };

  static styles = [base, buttons, fields, badges, css`
    /* it fills its frame, whose height is known to no percentage */
    :host { display: flex; flex-direction: column; position: absolute; inset: 0; background: var(--ac-surface-sunken); }
    .bar {
      display: flex; flex-wrap: wrap; align-items: center; gap: var(--ac-space-2); padding: var(--ac-space-2) var(--ac-space-3);
      background: var(--ac-surface); border-bottom: 1px solid var(--ac-border);
    }
    form { flex: 1 1 14rem; display: flex; gap: var(--ac-space-2); min-width: 0; }
    input { flex: 1; min-width: 0; }
    form input { text-overflow: ellipsis; }
    .dialog { background: var(--ac-warn-soft); }
    canvas.stale { opacity: 0.5; }
    .dialog p { flex: 1 1 12rem; overflow-wrap: anywhere; }
    .stage { flex: 1; min-height: 12rem; position: relative; display: grid; place-items: start center; padding: var(--ac-space-3); overflow: auto; }
    canvas { max-width: 100%; max-height: 100%; background: #fff; border-radius: var(--ac-radius-s); box-shadow: var(--ac-shadow-m); }
    canvas.driven { outline: 2px solid var(--ac-accent); outline-offset: 2px; cursor: default; touch-action: none; }
    canvas.driven:focus-visible { outline-width: 3px; }
    .empty { position: absolute; inset: 0; display: grid; place-content: center; justify-items: center; gap: var(--ac-space-3); text-align: center; padding: var(--ac-space-4); }
    .hint { padding: var(--ac-space-1) var(--ac-space-3); }
  `];

  constructor() {
    super();
    /** @type {any} */
    this.client = null;
    this.target = '';
    this.resourceId = '';
    /** @type {import('./page-socket.js').PageState | null} */
    this._state = null;
    /** `lost`: the image is frozen until the connection is back. @type {'connecting' | 'live' | 'lost' | 'gone'} */
    this._status = 'connecting';
    /** @type {PageSocket | null} */
    this._socket = null;
    this._opened = '';
    /** @type {any} */
    this._control = null;
    /** The user wants to drive; stays set while another user drives, and after a lost connection. */
    this._wants = false;
    /** The page was requested, but is not taken over yet. */
    this._isAsked = false;
    this._isLate = false;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this._timer = undefined;
    this._held = new Set();
    // also from the address field and the buttons
    this.addEventListener('keydown', (event) => {
      if (this._wants && isHandBack(event)) this._giveBack();
    });
  }

  connectedCallback() {
    super.connectedCallback();
    this._control = this.client.liveControl();
    this._endControl = this._control.subscribe(() => this.requestUpdate());
    this.client.on('locale', () => this.requestUpdate());
    this.client.on('connection', (/** @type {string} */ connection) => { if (connection === 'open') this._socket?.retry(); });
    this.client.on(`${this.client.name}.changed`, () => { if (this._status === 'gone') this._connect(); });
    if (this.hasUpdated) this._connect();
  }

  disconnectedCallback() {
    clearTimeout(this._timer);
    this._socket?.close();
    this._endControl?.();
    this._control?.close();
    this._opened = '';
    super.disconnectedCallback();
  }

  /** @param {Map<string, unknown>} changed */
  updated(changed) {
    if ((changed.has('target') || changed.has('resourceId')) && this._id !== this._opened) this._connect();
  }

  get _id() {
    return this.target || this.resourceId;
  }

  get _drives() {
    return this._status === 'live' && this._state?.driver === 'you' && this._control?.isGranted;
  }

  get _isShown() {
    return this._status === 'live' || this._status === 'lost';
  }

  render() {
    const texts = textsFor(this.client);
    return html`
      ${this.target ? nothing : html`<h1 class="visually-hidden">${this._state?.title || this._state?.url || texts.picture}</h1>`}
      ${this._bar(texts)}
      <ac-live-control .control=${this._control} @ac-ask-control=${this._takeOver}></ac-live-control>
      ${this._waiting(texts)}
      ${this._state?.dialog ? this._dialog(texts, this._state.dialog) : nothing}
      <div class="stage">
        <canvas part="picture" width="1280" height="720" tabindex=${this._drives ? 0 : -1} role=${this._drives ? 'application' : 'img'}
          class=${`${this._drives ? 'driven' : ''} ${this._status === 'lost' ? 'stale' : ''}`} aria-label=${`${texts.picture}: ${this._state?.title || this._state?.url || ''}`}
          ?hidden=${!this._isShown}
          @mousemove=${this._mouse} @mousedown=${this._mouse} @mouseup=${this._mouse} @wheel=${this._wheel}
          @contextmenu=${this._prevent} @keydown=${this._key} @keyup=${this._key} @paste=${this._paste}
          @blur=${this._releaseKeys}></canvas>
        ${this._isShown ? nothing : this._away(texts)}
      </div>
      ${this._drives ? html`<p class="hint">${texts.hint}</p>` : nothing}`;
  }

  /** @param {ReturnType<typeof textsFor>} texts */
  _bar(texts) {
    const button = (/** @type {string} */ type, /** @type {string} */ icon, /** @type {string} */ label) => html`
      <button class="quiet icon" aria-label=${label} title=${label} ?disabled=${!this._drives} @click=${() => this._send({type})}>
        <ac-icon name=${icon}></ac-icon>
      </button>`;
    const who = this._drives ? texts.driverYou : this._state?.driver === 'other' ? texts.driverOther : texts.driverAgent;
    return html`
      <div class="bar">
        ${button('back', 'arrow-left', texts.back)} ${button('forward', 'arrow-right', texts.forward)} ${button('reload', 'refresh-cw', texts.reload)}
        <form @submit=${this._navigate}>
          <input name="url" aria-label=${texts.address} autocomplete="off" spellcheck="false" placeholder="https://"
            .value=${this._state && this._state.url !== 'about:blank' ? this._state.url : ''}>
        </form>
        <span class="badge ${this._drives ? 'accent' : ''}" role="status">${who}</span>
        <button class=${this._drives ? 'primary' : ''} ?disabled=${!this._isShown || this._control?.state === 'waiting'}
          @click=${this._switchDriver}>${this._drives ? texts.giveBack : this._waitsForPage ? texts.dontWait : texts.take}</button>
      </div>`;
  }

  /** True while the user may drive, but waits until the page is free. */
  get _waitsForPage() {
    return this._wants && !this._drives && this._control?.isGranted;
  }

  /** @param {ReturnType<typeof textsFor>} texts */
  _waiting(texts) {
    if (this._status === 'lost') return html`<ac-waiting for="connection"></ac-waiting>`;
    if (!this._waitsForPage) return nothing;
    if (this._state?.driver === 'other') return html`<ac-waiting for="turn">${texts.waitsForOther}</ac-waiting>`;
    return this._isLate ? html`<ac-waiting for="turn">${texts.waitsForCall}</ac-waiting>` : nothing;
  }

  /** @param {ReturnType<typeof textsFor>} texts @param {{type: string, message: string}} dialog */
  _dialog(texts, dialog) {
    const answer = (/** @type {boolean} */ accept) => () => {
      const field = /** @type {HTMLInputElement | null} */ (this.renderRoot.querySelector('.dialog input'));
      void this._answer(dialog, {type: 'dialog', accept, ...(field ? {text: field.value} : {})});
    };
    return html`
      <div class="bar dialog" role="alertdialog" aria-label=${dialog.type}>
        <p>${dialog.message}</p>
        ${dialog.type === 'prompt' ? html`<input aria-label=${texts.reply}>` : nothing}
        <button class="primary" @click=${answer(true)}>${texts.accept}</button>
        <button @click=${answer(false)}>${texts.dismiss}</button>
      </div>`;
  }

  /** @param {ReturnType<typeof textsFor>} texts */
  _away(texts) {
    if (this._status === 'connecting') return html`<div class="empty muted" role="status">${texts.connecting}</div>`;
    return html`
      <div class="empty">
        <h2>${texts.gone}</h2><p class="muted">${texts.goneText}</p>
        <button @click=${this._connect}>${texts.again}</button>
      </div>`;
  }

  _connect() {
    this._socket?.close();
    this._opened = this._id;
    if (!this._id) return;
    this._status = 'connecting';
    this._state = null;
    this._wants = this._isAsked = false;
    this._socket = new PageSocket(this.client, this._id, {
      onState: (state) => this._follow(state),
      onPicture: (picture, size) => this._draw(picture, size),
      onError: (error) => {
        // the page is taken over when the other user hands it back
        if (error.type !== 'page_is_driven') this.client.toast(textsFor(this.client).failed, error);
      },
      onLost: () => {
        this._isAsked = false;
        if (this._isShown) this._status = 'lost';
      },
      onEnd: () => { this._status = 'gone'; this._state = null; this._wants = false; },
    });
  }

  /** @param {import('./page-socket.js').PageState} state */
  _follow(state) {
    const had = this._state?.driver === 'you';
    this._state = state;
    if (this._status === 'lost') this._status = 'live';
    if (state.driver !== null) this._isAsked = false;
    if (state.driver === 'you' && !had) void this._focusPicture();
    this._askForPage();
  }

  /** Take the page over once no other user drives it. */
  _askForPage() {
    if (!this._wants || this._isAsked || this._state?.driver !== null || !this._control?.isGranted) return;
    this._isAsked = true;
    this._isLate = false;
    clearTimeout(this._timer);
    this._timer = setTimeout(() => { this._isLate = true; }, SAID_AFTER_MS);
    this._send({type: 'take'});
  }

  _giveBack() {
    this._wants = this._isAsked = false;
    this._send({type: 'giveBack'});
  }

  async _focusPicture() {
    await this.updateComplete;
    this.renderRoot.querySelector('canvas')?.focus();
  }

  /** @param {ImageBitmap} picture @param {{width: number, height: number}} size */
  _draw(picture, size) {
    const canvas = this.renderRoot.querySelector('canvas');
    if (!canvas) return;
    if (canvas.width !== picture.width || canvas.height !== picture.height) Object.assign(canvas, {width: picture.width, height: picture.height});
    canvas.getContext('2d')?.drawImage(picture, 0, 0);
    picture.close();
    this._size = size;
    this._status = 'live';
  }

  _switchDriver() {
    if (this._drives || this._waitsForPage) this._giveBack();
    else void this._takeOver();
  }

  /** Take the page over once a user has allowed this page to act, and no other user drives it. */
  async _takeOver() {
    this._wants = true;
    if (await this._mayAct()) this._askForPage();
    else this._wants = false;
  }

  /** Answer a dialog, if the same one is still open when the page may act. @param {object} dialog @param {object} message */
  async _answer(dialog, message) {
    const asked = JSON.stringify(dialog);
    if (await this._mayAct() && JSON.stringify(this._state?.dialog) === asked) this._send(message);
  }

  async _mayAct() {
    try {
      return await this._control.request();
    } catch (error) {
      this.client.toast(textsFor(this.client).failed, error);
      return false;
    }
  }

  /** @param {SubmitEvent} event */
  _navigate(event) {
    event.preventDefault();
    const url = String(new FormData(/** @type {HTMLFormElement} */ (event.currentTarget)).get('url') ?? '').trim();
    if (!url) return;
    if (!this._drives) return void this._visit(url);
    this._send({type: 'navigate', url});
    this.renderRoot.querySelector('canvas')?.focus();
  }

  /** Open a URL through a tool, as any caller does. @param {string} url */
  async _visit(url) {
    const result = await this.client.call(...this.visit(url));
    if (!result.ok) this.client.toast(textsFor(this.client).failed, result.error);
  }

  /** Return the tool that opens a URL, and its arguments. @param {string} url @returns {[string, Record<string, unknown>]} */
  visit(url) {
    return ['browser_navigate', {resourceId: this.resourceId, url}];
  }

  /** @param {object} message */
  _send(message) {
    this._socket?.send(message);
  }

  /** Convert a position in the image to pixels of the page's viewport. @param {MouseEvent} event */
  _place({offsetX, offsetY, currentTarget}) {
    const canvas = /** @type {HTMLCanvasElement} */ (currentTarget);
    const size = this._size ?? {width: canvas.width, height: canvas.height};
    const clamp = (/** @type {number} */ value, /** @type {number} */ most) => Math.max(0, Math.min(most, value));
    return {
      x: clamp((offsetX / canvas.clientWidth) * size.width, size.width),
      y: clamp((offsetY / canvas.clientHeight) * size.height, size.height),
    };
  }

  /** @param {MouseEvent} event */
  _mouse(event) {
    if (!this._drives) return;
    event.preventDefault();
    if (event.type === 'mousedown') /** @type {HTMLElement} */ (event.currentTarget).focus();
    const type = {mousemove: 'mouseMove', mousedown: 'mouseDown', mouseup: 'mouseUp'}[event.type];
    const clickCount = Math.max(1, Math.min(3, event.detail));
    this._send({type, ...this._place(event), button: BUTTONS[event.button] ?? 'left', clickCount});
  }

  /** @param {WheelEvent} event */
  _wheel(event) {
    if (!this._drives) return;
    event.preventDefault();
    const lines = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 32 : 1;
    this._send({type: 'wheel', ...this._place(event), deltaX: event.deltaX * lines, deltaY: event.deltaY * lines});
  }

  /** @param {KeyboardEvent} event */
  _key(event) {
    if (!this._drives || event.isComposing) return;
    if (isHandBack(event)) return;
    const isPaste = (event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'v';
    if (isPaste || event.key === 'Dead' || event.key === 'Process' || event.key === 'Unidentified') return;
    event.preventDefault();
    if (event.type === 'keydown') this._held.add(event.key); else this._held.delete(event.key);
    this._send({type: event.type === 'keydown' ? 'keyDown' : 'keyUp', key: event.key});
  }

  /** @param {ClipboardEvent} event */
  _paste(event) {
    const text = event.clipboardData?.getData('text/plain');
    if (this._drives && text) this._send({type: 'text', text});
    event.preventDefault();
  }

  _releaseKeys() {
    for (const key of this._held) this._send({type: 'keyUp', key});
    this._held.clear();
  }

  /** @param {Event} event */
  _prevent(event) {
    if (this._drives) event.preventDefault();
  }
}
