import {LitElement, css, html, nothing} from 'lit';
import {waiting} from '../../approval/cards/waiting.js';
import {route} from '../../base/router.js';
import {Localized, t} from '../../base/i18n.js';
import {Listening} from '../../base/listening.js';
import {base, buttons} from '../../ui/styles.js';
import '../../approval/cards/ac-approval-call.js';
import '../../../panel/calls/ac-client-ask.js';

/** Whether a call that waits is shown whole where it is asked about. */
export const showsWhole = (/** @type {import('../conversation/items.js').ChatCall} */ _call) => true;

/** A call that waits, in its card: the panel has a key of its own, with which a person decides right here. */
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
