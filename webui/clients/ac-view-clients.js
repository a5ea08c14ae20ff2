import {LitElement, css, html, nothing} from 'lit';
import {repeat} from 'lit/directives/repeat.js';
import {Localized, t} from '../base/i18n.js';
import {Listening} from '../base/subscriptions.js';
import {Soon} from '../base/throttle.js';
import {client} from '../client/client.js';
import {base, buttons, cards, views} from '../ui/styles.js';
import {confirm} from '../ui/overlay/confirm.js';
import {toast, toastError} from '../ui/toasts.js';
import '../ui/ac-empty.js';
import '../ui/ac-error-card.js';
import './ac-client-row.js';
import './ac-connect-client.js';
import '../base/later-strings.js';

/** @typedef {import('./ac-client-row.js').KnownClient} KnownClient */

/** The clients that have a key: those that call tools over MCP, and other paired ones; and how to connect one. */
export class AcViewClients extends Localized(LitElement) {
  static properties = {
    path: {attribute: false},
    query: {attribute: false},
    _found: {state: true},
    _error: {state: true},
    _revoking: {state: true},
  };

  static styles = [base, buttons, cards, views, css`
    .view-head .muted { max-width: 42rem; }
    section + section { margin-top: var(--ac-space-6); }
    h2 { display: flex; gap: var(--ac-space-2); margin-bottom: var(--ac-space-2); font-size: var(--ac-text-m); }
    h2 span { font-weight: normal; }
    .card { overflow: hidden; }
    ac-client-row + ac-client-row { border-top: 1px solid var(--ac-border); }
  `];

  constructor() {
    super();
    /** @type {string[]} */
    this.path = [];
    this.query = new URLSearchParams();
    /** @type {{clients: KnownClient[], address: string} | null} */
    this._found = null;
    /** @type {unknown} */
    this._error = null;
    this._revoking = '';
    const soon = new Soon(() => void this._load()); // calls come in bursts
    new Listening(this, () => {
      void this._load();
      return [
        client.on('approvers.changed', () => void this._load()),
        client.on('clients.changed', soon.ask),
        client.on('call.*', soon.ask),
        client.on('approval.*', soon.ask),
        client.on('connection', (connection) => { if (connection === 'open') void this._load(); }),
        soon.end,
      ];
    });
  }

  render() {
    const clients = this._found?.clients ?? [];
    const agents = clients.filter(({kind}) => kind === 'mcp');
    const paired = clients.filter(({kind}) => kind !== 'mcp');
    return html`
      <header class="view-head">
        <div class="titles"><h1>${t('clients.title')}</h1><p class="muted">${t('clients.subtitle')}</p></div>
      </header>
      ${this._error && !this._found ? this._failed() : nothing}
      ${this._found ? html`
        ${agents.length ? this._group(t('clients.agents'), agents) : this._none()}
        <section aria-labelledby="connect">
          <h2 id="connect">${t('clients.connect')}</h2>
          <ac-connect-client .address=${this._found.address}></ac-connect-client>
        </section>
        ${paired.length ? this._group(t('clients.paired'), paired) : nothing}` : nothing}`;
  }

  /** @param {string} heading @param {KnownClient[]} clients */
  _group(heading, clients) {
    return html`
      <section aria-label=${heading}>
        <h2>${heading} <span class="muted">${clients.length}</span></h2>
        <div class="card">${repeat(clients, ({name}) => name, (known) => html`
          <ac-client-row .known=${known} .isBusy=${this._revoking === known.name} @ac-revoke=${this._revoke}></ac-client-row>`)}</div>
      </section>`;
  }

  _none() {
    return html`<section class="card"><ac-empty icon="plug" heading=${t('clients.none')}>${t('clients.noneText')}</ac-empty></section>`;
  }

  _failed() {
    return html`
      <ac-error-card heading=${t('clients.notLoaded')} .error=${this._error}>
        <button slot="actions" @click=${() => this._load()}>${t('ui.again')}</button>
      </ac-error-card>`;
  }

  async _load() {
    try {
      this._found = await client.get('/api/clients');
      this._error = null;
    } catch (error) {
      this._error = error;
    }
  }

  /** @param {CustomEvent<{name: string}>} event */
  async _revoke({detail: {name}}) {
    const question = {heading: t('clients.revokeHeading', {name}), text: t('clients.revokeText'), action: t('clients.revoke'), isDangerous: true};
    if (!await confirm(question)) return;
    this._revoking = name;
    try {
      await client.del(`/api/approvers/${encodeURIComponent(name)}`);
      toast(t('clients.revoked', {name}));
      await this._load();
    } catch (error) {
      toastError(t('clients.notRevoked', {name}), error);
    } finally {
      this._revoking = '';
    }
  }
}

customElements.define('ac-view-clients', AcViewClients);
