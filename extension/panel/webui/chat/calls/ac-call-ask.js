import {LitElement, css, html, nothing} from 'lit';
import {waiting} from '../../approval/cards/pending-requests.js';
import {route} from '../../base/router.js';
import {Localized, t} from '../../base/i18n.js';
import {Listening} from '../../base/subscriptions.js';
import {base, buttons} from '../../ui/styles.js';
import '../../approval/cards/ac-approval-call.js';
import '../../../panel/calls/ac-client-ask.js';

/** Return true if a pending call is shown in full where its approval is requested. */
export const showsWhole = (/** @type {import('../conversation/items.js').ChatCall} */ _call) => true;

/** Shows a pending call in its card. The panel has its own key, so the user decides right here. */
export class AcCallAsk extends Localized(LitElement) {
  static properties = {call: {attribute: false}};

  static styles = [base, buttons, css`
    :host { display: block; border-top: 1px solid var(--ac-border); }
    p { padding: var(--ac-space-3); background: var(--ac-warn-soft); }
  `];

  constructor() {
    super();
    /** @type {import('../conversation/items.js').ChatCall | null} */
    this.call = null;
    new Listening(this, () => [waiting.subscribe(() => this.requestUpdate())]);
  }

  render() {
    if (!this.call) return nothing;
    if (this.call.kind === 'client') return html`<ac-client-ask .call=${this.call} .sessionId=${route().path[1] ?? ''}></ac-client-ask>`;
    const waits = waiting.calls.find(({callId}) => callId === this.call?.callId);
    if (waits) return html`<ac-approval-call .call=${waits}></ac-approval-call>`;
    return html`<p role="status">${t('chat.waitsForYou')}</p>`;
  }
}
customElements.define('ac-call-ask', AcCallAsk);
