import {LitElement, css, html} from 'lit';
import {client} from '../client/client.js';
import {Localized, t} from '../base/i18n.js';
import {Listening} from '../base/subscriptions.js';
import {base} from './styles.js';

/** State of the connection to the server. */
export class AcConnection extends Localized(LitElement) {
  static styles = [base, css`
    p { display: flex; align-items: center; gap: var(--ac-space-2); color: var(--ac-text-muted); font-size: var(--ac-text-s); }
    .dot { width: 0.5rem; height: 0.5rem; border-radius: 50%; background: var(--ac-warn); flex: none; }
    .open .dot { background: var(--ac-ok); }
    .lost { color: var(--ac-danger); }
    .lost .dot { background: none; box-shadow: inset 0 0 0 2px var(--ac-danger); }
  `];

  constructor() {
    super();
    new Listening(this, () => [client.on('connection', () => this.requestUpdate())]);
  }

  render() {
    const state = client.connection;
    return html`<p role="status" class=${state}><span class="dot"></span>${t(`ui.connection.${state}`)}</p>`;
  }
}

customElements.define('ac-connection', AcConnection);
