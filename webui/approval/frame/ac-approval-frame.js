import {LitElement, css, html} from 'lit';
import {Localized, locale, t} from '../../base/i18n.js';
import {Listening} from '../../base/subscriptions.js';
import {theme} from '../../base/theme.js';
import {base} from '../../ui/styles.js';
import {client} from '../../client/client.js';
import {approvalOrigin, approvals} from './pending-count.js';

/** Maximum height of a frame, whatever it reports; longer content scrolls inside it. */
const LONGEST_PX = 30_000;
const FIRST_PX = 160;
/** Interval at which a frame checks whether it moved; the buttons in it wait for half a second without movement. */
const PLACE_MS = 100;
const MOVED_PX = 2;

/** Return the address at which the approval view shows one call, or everything pending. @param {string} callId  empty: everything */
export function approvalAddress(callId) {
  return `${approvalOrigin}/${callId ? `?call=${encodeURIComponent(callId)}` : ''}`;
}

/**
 * The approval view in a frame, as high as its content. This page cannot reach into it, because the frame has another origin:
 * it receives the page's theme, language and pending calls, and reports its height and whether the user has to log in.
 * @fires ac-sized {height: number}  the content is shown, at its height
 * @fires ac-moved  the frame is somewhere else than a moment ago
 * @fires ac-log-in-needed {isNeeded: boolean}  true if the user is not logged in to the approval view in this browser
 */
export class AcApprovalFrame extends Localized(LitElement) {
  static properties = {callId: {attribute: false}};

  static styles = [base, css`
    :host { display: block; min-width: 0; scroll-margin-top: var(--ac-space-8); }
    iframe { display: block; width: 100%; border: 0; height: var(--frame-height); max-height: var(--ac-frame-max-height, none); background: var(--ac-surface); color-scheme: inherit; }
  `];

  constructor() {
    super();
    /** The only call to show; empty: everything pending that no visible chat shows. */
    this.callId = '';
    this._height = FIRST_PX;
    /** True once the view is loaded; before, the frame contains an empty document of this page. */
    this._isThere = false;
    this._isSized = false;
    this._place = {left: 0, top: 0};
    new Listening(this, () => {
      const listen = (/** @type {MessageEvent} */ event) => this._onMessage(event);
      const tell = () => this._tell();
      const look = new MutationObserver(tell);
      window.addEventListener('message', listen);
      const timer = setInterval(() => this._lookForMoves(), PLACE_MS);
      look.observe(document.documentElement, {attributeFilter: ['data-theme', 'lang']});
      return [() => clearInterval(timer), () => window.removeEventListener('message', listen), () => look.disconnect(), approvals.subscribe(tell), client.on('connection', tell)];
    });
  }

  render() {
    return html`<iframe src=${approvalAddress(this.callId)} loading="lazy" title=${t(this.callId ? 'approval.frame' : 'approval.tray')}></iframe>`;
  }

  updated() {
    // the page's own content security policy forbids style attributes
    this._frame?.style.setProperty('--frame-height', `${this._height}px`);
  }

  focus() {
    this._frame?.focus();
  }

  get _frame() {
    return this.renderRoot.querySelector('iframe');
  }

  /** @param {MessageEvent} event */
  _onMessage({origin, source, data}) {
    if (origin !== approvalOrigin || source !== this._frame?.contentWindow || data?.type !== 'agentcore.approvals') return;
    this.dispatchEvent(new CustomEvent('ac-log-in-needed', {detail: {isNeeded: data.needsLogIn === true}}));
    if (data.begins === true) {
      this._isThere = true;
      this._tell();
    }
    if (!Number.isFinite(data.height) || data.height <= 0) return;
    this._height = Math.min(Math.ceil(data.height), LONGEST_PX);
    this.requestUpdate();
    if (data.isReady === true && !this._isSized) void this._sized();
  }

  async _sized() {
    this._isSized = true;
    await this.updateComplete;
    this.dispatchEvent(new CustomEvent('ac-sized', {detail: {height: this._height}, bubbles: true, composed: true}));
  }

  /** Report movements of the frame: scrolling or growing content may bring the buttons under a finger, so they restart their delay. */
  _lookForMoves() {
    if (!this._isThere || document.hidden) return;
    const {left, top} = this.getBoundingClientRect();
    const hasMoved = Math.hypot(left - this._place.left, top - this._place.top) > MOVED_PX;
    this._place = {left, top};
    if (!hasMoved) return;
    this._tell(true);
    this.dispatchEvent(new CustomEvent('ac-moved'));
  }

  /** Send the page's state to the frame, which accepts only what can do no harm. */
  _tell(hasMoved = false) {
    if (!this._isThere) return;
    const told = {
      type: 'agentcore.page', theme: theme(), locale: locale(), isConnected: client.connection === 'open', hasMoved,
      waiting: [...approvals.calls], elsewhere: [...approvals.inChats],
    };
    this._frame?.contentWindow?.postMessage(told, approvalOrigin);
  }
}
customElements.define('ac-approval-frame', AcApprovalFrame);
