import {LitElement, css, html, nothing} from 'lit';
import {formatTime, Localized, t} from '../base/i18n.js';
import {href} from '../base/router.js';
import {badges, base, buttons} from '../ui/styles.js';
import '../ui/ac-icon.js';

/**
 * @typedef {object} Connection
 * @property {string} sessionId
 * @property {string} program
 * @property {string} version
 * @property {string} revision
 * @property {number} lastUsedAt
 * @property {boolean} connected
 */

/**
 * @typedef {object} KnownClient
 * @property {string} name
 * @property {string} kind
 * @property {string[]} scopes
 * @property {number} createdAt
 * @property {number} lastUsedAt
 * @property {number} calls
 * @property {number} running
 * @property {number} waiting
 * @property {boolean} connected
 * @property {Connection[]} connections
 * @property {{tools: string[], mode: string | null, callsInFlight: number} | null} bounds
 */

const CONNECTIONS = 5;

/** One client: since when it exists, its connections, its calls and its limits.  @fires ac-revoke {name: string} */
export class AcClientRow extends Localized(LitElement) {
  static properties = {
    known: {attribute: false},
    isBusy: {attribute: false},
  };

  static styles = [badges, base, buttons, css`
    article { display: grid; grid-template-columns: minmax(0, 1fr) auto; gap: var(--ac-space-2) var(--ac-space-4); align-items: start; padding: var(--ac-space-4); }
    .name { display: flex; flex-wrap: wrap; align-items: center; gap: var(--ac-space-1) var(--ac-space-3); min-height: 1.75rem; }
    h3 { font-size: var(--ac-text-m); overflow-wrap: anywhere; min-width: 0; }
    .about { grid-column: 1 / -1; display: grid; gap: var(--ac-space-2); min-width: 0; }
    .facts { display: flex; flex-wrap: wrap; gap: 0 var(--ac-space-4); color: var(--ac-text-muted); font-size: var(--ac-text-s); }
    .waits { color: var(--ac-warn); }
    .open { display: grid; gap: var(--ac-space-1); font-size: var(--ac-text-s); }
    .open li { display: flex; flex-wrap: wrap; gap: 0 var(--ac-space-3); overflow-wrap: anywhere; }
    .bounds { font-size: var(--ac-text-s); color: var(--ac-text-muted); overflow-wrap: anywhere; }
    .bounds code { color: var(--ac-text); }
  `];

  constructor() {
    super();
    /** @type {KnownClient | null} */
    this.known = null;
    this.isBusy = false;
  }

  render() {
    if (!this.known) return nothing;
    const {name, kind, scopes, connected, connections, createdAt, lastUsedAt} = this.known;
    const may = kind === 'mcp' ? [] : scopes;
    return html`
      <article>
        <div class="name">
          <h3>${name}</h3>
          ${kind === 'mcp' ? html`<span class="badge ${connected ? 'ok' : ''}">${t(connected ? 'clients.connected' : 'clients.notConnected')}</span>` : nothing}
          ${may.map((scope) => html`<span class="badge">${t(`approval.keyScope.${scope}`)}</span>`)}
        </div>
        <button class="small quiet danger" ?disabled=${this.isBusy} aria-label=${t('clients.revokeNamed', {name})} @click=${this._revoke}>
          <ac-icon name="ban"></ac-icon>${t('clients.revoke')}
        </button>
        <div class="about">
          ${connections.length ? html`<ul class="open">${connections.slice(0, CONNECTIONS).map((one) => this._connection(one))}</ul>` : nothing}
          ${connections.length > CONNECTIONS ? html`<p class="muted small">${t('clients.moreConnections', {n: connections.length - CONNECTIONS})}</p>` : nothing}
          <ul class="facts">
            <li>${t('clients.since', {time: formatTime(createdAt, {seconds: false})})}</li>
            <li>${lastUsedAt > createdAt || connections.length ? t('clients.lastUsed', {time: formatTime(lastUsedAt, {seconds: false})}) : t('clients.neverUsed')}</li>
            ${kind === 'mcp' ? this._calls(this.known) : nothing}
          </ul>
          ${this._bounds(this.known)}
        </div>
      </article>`;
  }

  /** @param {Connection} connection */
  _connection({program, version, revision, lastUsedAt, connected}) {
    return html`
      <li>
        <span>${program || t('clients.unnamedProgram')}${version ? html` <span class="muted">${version}</span>` : nothing}</span>
        <span class="muted">MCP ${revision}</span>
        <span class="muted">${connected ? t('clients.isThere') : t('clients.wasThere', {time: formatTime(lastUsedAt, {seconds: false})})}</span>
      </li>`;
  }

  /** @param {KnownClient} known */
  _calls({name, calls, running, waiting}) {
    return html`
      <li>${calls ? html`<a href=${href(['activity'], {client: name})}>${t('clients.calls', {n: calls})}</a>` : t('clients.calls', {n: 0})}</li>
      ${running ? html`<li>${t('clients.running', {n: running})}</li>` : nothing}
      ${waiting ? html`<li class="waits">${t('clients.waiting', {n: waiting})}</li>` : nothing}`;
  }

  /** @param {KnownClient} known */
  _bounds({bounds}) {
    if (!bounds) return nothing;
    return html`
      <p class="bounds">
        ${t('clients.bounds')} <code>${bounds.tools.join(', ')}</code>
        ${bounds.mode ? html` · ${t('clients.mode')} <code>${bounds.mode}</code>` : nothing}
        · ${t('clients.atOnce', {n: bounds.callsInFlight})}
      </p>`;
  }

  _revoke() {
    this.dispatchEvent(new CustomEvent('ac-revoke', {detail: {name: this.known?.name}}));
  }
}

customElements.define('ac-client-row', AcClientRow);
