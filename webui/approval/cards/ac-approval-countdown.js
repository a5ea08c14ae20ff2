import {LitElement, css, html} from 'lit';
import '../../ui/ac-icon.js';
import {Localized, t} from '../../base/i18n.js';
import {Listening} from '../../base/subscriptions.js';
import {base} from '../../ui/styles.js';
import {waiting} from './pending-requests.js';

const TICK_MS = 1000;
const SOON_MS = 60_000;

/** Time left until a request expires; reloads the list then. */
export class AcApprovalCountdown extends Localized(LitElement) {
  static properties = {until: {attribute: false}};

  static styles = [base, css`
    :host { display: inline-flex; align-items: center; gap: var(--ac-space-1); color: var(--ac-text-muted); font-size: var(--ac-text-s); font-variant-numeric: tabular-nums; white-space: nowrap; }
    :host(.soon) { color: var(--ac-danger); }
  `];

  constructor() {
    super();
    this.until = 0;
    new Listening(this, () => {
      const timer = setInterval(() => this._tick(), TICK_MS);
      return [() => clearInterval(timer)];
    });
  }

  render() {
    const seconds = Math.max(0, Math.ceil(waiting.leftMs(this.until) / 1000));
    const time = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
    return html`<ac-icon name="clock"></ac-icon><span class="visually-hidden">${t('approval.expiresIn')} </span><span role="timer" aria-live="off">${time}</span>`;
  }

  _tick() {
    const leftMs = waiting.leftMs(this.until);
    this.classList.toggle('soon', leftMs < SOON_MS);
    if (leftMs < 0 && leftMs > -2 * TICK_MS) void waiting.load();
    this.requestUpdate();
  }
}

customElements.define('ac-approval-countdown', AcApprovalCountdown);
