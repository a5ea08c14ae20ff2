import {LitElement, css, html} from 'lit';
import {Localized, locale, t} from '../../base/i18n.js';
import {Listening} from '../../base/listening.js';
import {theme} from '../../base/theme.js';
import {base} from '../../ui/styles.js';
import {client} from '../../client/client.js';
import {approvalOrigin, approvals} from './pending.js';

/** A frame is no higher than this, whatever it says; what is longer scrolls inside of it. */
const LONGEST_PX = 30_000;
const FIRST_PX = 160;
/** So often a frame looks whether it was moved; half a second without is what the buttons in it wait for. */
const PLACE_MS = 100;
const MOVED_PX = 2;

/** Where the approval view shows one call, or all that waits. @param {string} callId  empty: all */
export function approvalAddress(callId) {
  return `${approvalOrigin}/${callId ? `?call=${encodeURIComponent(callId)}` : ''}`;
}

/**
 * The approval view in a frame, as high as what it shows. Nothing of this page reaches into it: the frame is of another
 * origin, which is told the page's look and what still waits, and tells its height and whether somebody is logged in.
 * @fires ac-sized {height: number}  it shows what it is for, and has the height of it
 * @fires ac-log-in-needed {isNeeded: boolean}  whether nobody is logged in to the approval view in this browser
 */
export class AcApprovalFrame extends Localized(LitElement) {
  static properties = {callId: {attribute: false}};

  static styles = [base, css`
    :host { display: block; min-width: 0; scroll-margin-top: var(--ac-space-8); }
    iframe { display: block; width: 100%; border: 0; height: var(--frame-height); max-height: var(--ac-frame-max-height, none); background: var(--ac-surface); color-scheme: inherit; }
  `];

  constructor() {
    super();
    /** The only call that it shows; empty: all that waits and stands in no chat that is in view. */
    this.callId = '';
    this._height = FIRST_PX;
    /** Whether the view is in the frame: before, it is an empty document of this page. */
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
    // its own policy forbids style attributes
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

  /** What scrolls or grows may bring the buttons under a finger: they start over. */
  _lookForMoves() {
    if (!this._isThere || document.hidden) return;
    const {left, top} = this.getBoundingClientRect();
    const hasMoved = Math.hypot(left - this._place.left, top - this._place.top) > MOVED_PX;
    this._place = {left, top};
    if (hasMoved) this._tell(true);
  }

  /** What the frame is told; it believes nothing of it but what can do no harm. */
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
