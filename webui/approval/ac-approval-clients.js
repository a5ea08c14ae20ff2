import {LitElement, css, html, nothing} from 'lit';
import {client} from '../client/client.js';
import '../ui/ac-copy.js';
import '../ui/ac-icon.js';
import {Localized, formatTime, t} from '../base/i18n.js';
import {Listening} from '../base/subscriptions.js';
import {badges, base, buttons, fields} from '../ui/styles.js';
import {visibleText} from './guard/visible-text.js';

/** @typedef {{name: string, kind: string, origin: string, scopes: string[], createdAt: number, lastUsedAt: number}} Client */

/** Paired clients and their scopes: pair a client by a short code, revoke one, and log in another browser here. */
export class AcApprovalClients extends Localized(LitElement) {
  static properties = {
    _clients: {state: true},
    _code: {state: true},
    _link: {state: true},
    _failure: {state: true},
  };

  static styles = [base, buttons, badges, fields, css`
    section { display: grid; gap: var(--ac-space-3); }
    h2 { font-size: var(--ac-text-m); }
    li { display: grid; grid-template-columns: minmax(0, 1fr) auto; gap: var(--ac-space-2); align-items: center; padding-block: var(--ac-space-1); border-bottom: 1px solid var(--ac-border); }
    .about { display: flex; flex-wrap: wrap; align-items: center; gap: var(--ac-space-1) var(--ac-space-2); }
    .about .name { flex: 1 1 14rem; font-family: var(--ac-font-mono); overflow-wrap: anywhere; }
    .scopes { display: flex; flex-wrap: wrap; gap: var(--ac-space-1); }
    .code { display: flex; flex-wrap: wrap; align-items: center; gap: var(--ac-space-2); padding: var(--ac-space-3); border-radius: var(--ac-radius-m); background: var(--ac-accent-soft); }
    .code code { font-size: var(--ac-text-l); letter-spacing: 0.08em; overflow-wrap: anywhere; }
    .code p { flex-basis: 100%; }
    .row { display: flex; flex-wrap: wrap; gap: var(--ac-space-2); }
  `];

  constructor() {
    super();
    /** @type {Client[]} */
    this._clients = [];
    this._code = '';
    this._link = '';
    this._failure = '';
    new Listening(this, () => [
      client.on('approvers.changed', () => void this._load()),
      client.on('pairing.requested', () => { this._code = ''; }),
      client.on('connection', (connection) => { if (connection === 'open') void this._load(); }),
    ]);
  }

  render() {
    return html`
      <section>
        <h2>${t('approval.clients')}</h2>
        <p class="muted small">${t('approval.clientsText')}</p>
        ${this._clients.length ? html`<ul>${this._clients.map((known) => this._client(known))}</ul>` : nothing}
        ${this._code ? html`<div class="code" role="status"><code>${this._code}</code><ac-copy .value=${this._code}></ac-copy><p class="small">${t('approval.codeText')}</p></div>` : nothing}
        ${this._link ? html`<div class="code" role="status"><code class="small">${this._link}</code><ac-copy .value=${this._link}></ac-copy><p class="small">${t('approval.linkText')}</p></div>` : nothing}
        ${this._failure ? html`<p class="field-error" role="alert">${this._failure}</p>` : nothing}
        <div class="row">
          <button @click=${this._pair}><ac-icon name="link"></ac-icon>${t('approval.pair')}</button>
          <button class="quiet" @click=${this._invite}><ac-icon name="app-window"></ac-icon>${t('approval.invite')}</button>
        </div>
      </section>`;
  }

  /** @param {Client} client */
  _client({name, kind, origin, scopes, lastUsedAt}) {
    const may = kind === 'mcp' ? ['mcp'] : scopes;
    return html`
      <li>
        <div class="about">
          <span class="name">${name}${origin ? html` <span class="muted small">${visibleText(origin)}</span>` : nothing}</span>
          <span class="scopes">${may.map((scope) => html`<span class="badge">${t(`approval.keyScope.${scope}`)}</span>`)}</span>
          <span class="muted small">${t('approval.lastUsed', {time: formatTime(lastUsedAt, {seconds: false})})}</span>
        </div>
        <button class="small danger" aria-label=${t('approval.revokeNamed', {name})} @click=${(/** @type {Event} */ event) => this._revoke(event, name)}>${t('approval.revoke')}</button>
      </li>`;
  }

  firstUpdated() {
    void this._load();
  }

  async _load() {
    try {
      this._clients = (await client.get('/api/approvers')).approvers;
    } catch {
      // the connection state already shows the failure
    }
  }

  /** @param {Event} event */
  async _pair(event) {
    if (event.isTrusted) await this._try(async () => { this._code = (await client.post('/api/approvers/code', {})).code; });
  }

  /** @param {Event} event */
  async _invite(event) {
    if (event.isTrusted) await this._try(async () => { this._link = `${location.origin}/#code=${(await client.post('/api/session/code', {})).code}`; });
  }

  /** @param {Event} event @param {string} name */
  async _revoke(event, name) {
    if (!event.isTrusted) return;
    await this._try(() => client.del(`/api/approvers/${encodeURIComponent(name)}`));
    await this._load();
  }

  /** Does what a button is for, and shows why it failed. @param {() => Promise<unknown>} work */
  async _try(work) {
    this._failure = '';
    try {
      await work();
    } catch (error) {
      this._failure = /** @type {Error} */ (error).message;
    }
  }
}

customElements.define('ac-approval-clients', AcApprovalClients);
