import {LitElement, css, html, nothing} from 'lit';
import {Localized, t} from '../base/i18n.js';
import {base, buttons, cards, code, fields} from '../ui/styles.js';
import '../ui/ac-command.js';
import '../ui/ac-copy.js';
import {CLIENTS} from './client-configs.js';

/** Instructions for connecting a client: by one command, or by hand. The page creates no key. */
export class AcConnectClient extends Localized(LitElement) {
  static properties = {
    address: {},
    _chosen: {state: true},
  };

  static styles = [base, buttons, cards, code, fields, css`
    .card { display: grid; grid-template-columns: minmax(0, 1fr); gap: var(--ac-space-3); padding: var(--ac-space-4); }
    .which { display: flex; flex-wrap: wrap; align-items: center; gap: var(--ac-space-2); }
    ac-command { width: 100%; max-width: 34rem; }
    details > :not(summary) { margin-top: var(--ac-space-2); }
    summary { cursor: pointer; width: fit-content; }
    .block { position: relative; }
    .block ac-copy { position: absolute; inset: var(--ac-space-1) var(--ac-space-1) auto auto; background: var(--ac-surface-sunken); border-radius: var(--ac-radius-m); }
    pre.code { padding-inline-end: var(--ac-space-7); }
    p { max-width: 42rem; }
  `];

  constructor() {
    super();
    this.address = '';
    this._chosen = CLIENTS[0].id;
  }

  render() {
    const chosen = CLIENTS.find(({id}) => id === this._chosen) ?? CLIENTS[0];
    const block = chosen.block(this.address, t('clients.keyHere'));
    return html`
      <div class="card">
        <div class="which">
          <label for="which">${t('clients.which')}</label>
          <select id="which" @change=${(/** @type {Event} */ event) => { this._chosen = /** @type {HTMLSelectElement} */ (event.target).value; }}>
            ${CLIENTS.map(({id, title}) => html`<option value=${id} ?selected=${id === chosen.id}>${title}</option>`)}
          </select>
        </div>
        <p>${t('clients.byCommand', {name: chosen.title})}</p>
        <ac-command command=${`agentcore connect ${chosen.id}`}></ac-command>
        <details>
          <summary>${t('clients.byHand')}</summary>
          <p class="muted">${t('clients.byHandText')}</p>
          ${this.address ? html`
            <div class="block">
              <pre class="code" tabindex="0" role="group" aria-label=${t('clients.byHand')}><code>${block}</code></pre>
              <ac-copy .value=${block} label=${t('clients.copyBlock')}></ac-copy>
            </div>` : nothing}
        </details>
      </div>`;
  }
}

customElements.define('ac-connect-client', AcConnectClient);
