import {LitElement, css, html, nothing} from 'lit';
import {repeat} from 'lit/directives/repeat.js';
import {Localized, t} from '../../webui/base/i18n.js';
import {Listening} from '../../webui/base/subscriptions.js';
import {base} from '../../webui/ui/styles.js';
import '../../webui/ui/ac-icon.js';
import '../../webui/approval/cards/ac-approval-call.js';
import {waiting} from '../../webui/approval/cards/pending-requests.js';

/** Pending calls outside the chat in view, as far as the panel's key may decide on them. */
export class AcPanelTray extends Localized(LitElement) {
  static properties = {sessionId: {attribute: false}};

  static styles = [base, css`
    details { border-bottom: 1px solid var(--ac-border); background: var(--ac-warn-soft); }
    summary { display: flex; align-items: center; gap: var(--ac-space-2); padding: var(--ac-space-2) var(--ac-space-3); font-size: var(--ac-text-s); font-weight: var(--ac-weight-medium); cursor: pointer; outline-offset: -2px; }
    summary::-webkit-details-marker { display: none; }
    summary ac-icon { color: var(--ac-warn); }
    summary span { flex: 1; min-width: 0; }
    summary > ac-icon:last-child { color: var(--ac-text-muted); transition: rotate var(--ac-motion); }
    details[open] summary > ac-icon:last-child { rotate: 180deg; }
    .list { display: grid; grid-template-columns: minmax(0, 1fr); gap: var(--ac-space-2); max-height: min(60dvh, max(12rem, 100dvh - 26rem)); overflow: auto; padding: 0 var(--ac-space-2) var(--ac-space-2); }
  `];

  constructor() {
    super();
    this.sessionId = '';
    new Listening(this, () => [waiting.subscribe(() => this.requestUpdate())]);
  }

  render() {
    const calls = waiting.calls.filter(({sessionId}) => !this.sessionId || sessionId !== this.sessionId);
    if (!calls.length) return nothing;
    return html`
      <details>
        <summary><ac-icon name="circle-help"></ac-icon><span role="status">${t('panel.waitElsewhere', {n: calls.length})}</span><ac-icon name="chevron-down"></ac-icon></summary>
        <div class="list">${repeat(calls, ({callId}) => callId, (call) => html`<ac-approval-call .call=${call}></ac-approval-call>`)}</div>
      </details>`;
  }
}
customElements.define('ac-panel-tray', AcPanelTray);
