import {LitElement, css, html, nothing} from 'lit';
import {client} from '../webui/client/client.js';
import {Localized, t} from '../webui/base/i18n.js';
import {Listening} from '../webui/base/subscriptions.js';
import {onRoute, route} from '../webui/base/router.js';
import {base, buttons} from '../webui/ui/styles.js';
import '../webui/chat/ac-view-chats.js';
import '../webui/ui/ac-icon.js';
import '../webui/ui/ac-toasts.js';
import {keyEnded} from '../worker/servers.js';
import './pairing/ac-panel-pairing.js';
import './pairing/ac-panel-servers.js';
import './calls/ac-panel-tray.js';
// imported eagerly: it must receive the first 'connection' event to report interrupted calls
import './calls/client-calls.js';
import './question/ac-panel-questions.js';
import './tab/ac-panel-context.js';
import './tab/ac-panel-shared.js';
import './ac-panel-stopped.js';
import {onPending} from '../worker/api.js';
import {takeDraft} from './pending.js';

/** The panel: the chat next to a page, or pairing while there is no usable server. */
export class AcPanel extends Localized(LitElement) {
  static properties = {
    server: {attribute: false},
    _isPairing: {state: true},
    _showsSettings: {state: true},
  };

  static styles = [base, buttons, css`
    :host { display: flex; flex-direction: column; height: 100dvh; min-width: 0; overflow: hidden; background: var(--ac-bg); }
    .view { position: relative; flex: 1; min-height: 0; overflow: auto; }
    ac-view-chats { height: 100%; }
    .tools { display: flex; align-items: center; justify-content: flex-end; gap: var(--ac-space-1); }
    .away { display: flex; gap: var(--ac-space-2); padding: var(--ac-space-2) var(--ac-space-3); border-bottom: 1px solid var(--ac-border); background: var(--ac-warn-soft); font-size: var(--ac-text-s); overflow-wrap: anywhere; }
    .away ac-icon { margin-top: 0.125rem; color: var(--ac-warn); }
    .context { display: grid; grid-template-columns: minmax(0, 1fr); gap: var(--ac-space-1); }
    ac-toasts { order: 1; }
  `];

  constructor() {
    super();
    /** The server in use; undefined while unknown. @type {import('../worker/servers.js').Server | null | undefined} */
    this.server = undefined;
    this._isPairing = false;
    this._showsSettings = false;
    new Listening(this, () => [
      client.on('connection', (connection) => this._onConnection(connection)),
      onRoute(() => this.requestUpdate()),
      onPending(() => void this._takePending()),
    ]);
  }

  render() {
    if (this.server === undefined) return nothing;
    const reason = this._pairingReason();
    if (this._isPairing || !this.server || reason) return this._renderPairing(reason);
    return html`
      ${client.connection === 'lost' ? html`<p class="away" role="status"><ac-icon name="wifi-off"></ac-icon><span>${t('panel.away', {origin: this.server.origin})}</span></p>` : nothing}
      <ac-panel-stopped></ac-panel-stopped>
      <ac-panel-tray .sessionId=${this._sessionId}></ac-panel-tray>
      <main class="view">${this._renderChats()}</main>
      <ac-panel-questions></ac-panel-questions>
      <ac-toasts></ac-toasts>
      <ac-panel-servers .open=${this._showsSettings} .used=${this.server} @ac-close=${() => { this._showsSettings = false; }} @ac-pair=${this._pairAnother}></ac-panel-servers>`;
  }

  _renderChats() {
    const {path, query} = route();
    return html`
      <ac-view-chats .path=${path.slice(1)} .query=${query}>
        <div slot="title" class="tools">
          <button class="quiet icon" aria-label=${t('panel.settings')} title=${t('panel.settings')} @click=${() => { this._showsSettings = true; }}><ac-icon name="settings"></ac-icon></button>
        </div>
        <div slot="context" class="context">
          <ac-panel-shared .sessionId=${this._sessionId}></ac-panel-shared>
          <ac-panel-context .sessionId=${this._sessionId}></ac-panel-context>
        </div>
      </ac-view-chats>`;
  }

  /** The id of the chat in view; empty for a chat that has not started. */
  get _sessionId() {
    return route().path[1] ?? '';
  }

  /** @param {Map<string, unknown>} changed */
  updated(changed) {
    if (changed.has('server') && this.server) void this._takePending();
  }

  async _takePending() {
    const chats = this.renderRoot.querySelector('ac-view-chats');
    const text = chats && await takeDraft(this._sessionId);
    if (text) chats.dispatchEvent(new CustomEvent('ac-prompt', {detail: {text}}));
  }

  /** @param {string} reason */
  _renderPairing(reason) {
    const isAnother = this._isPairing && !reason;
    return html`
      <div class="view"><ac-panel-pairing .server=${isAnother ? null : this.server} .reason=${isAnother ? '' : reason} ?leave=${isAnother} @ac-back=${() => { this._isPairing = false; }}></ac-panel-pairing></div>
      <ac-toasts></ac-toasts>`;
  }

  /** Return why the server in use has to be paired again; empty if it does not. */
  _pairingReason() {
    if (!this.server) return '';
    const {origin, key, scopes} = this.server;
    if (!key) return t('panel.revoked', {origin});
    return scopes.includes('chat') ? '' : t('panel.noChatScope', {origin});
  }

  /** @param {import('../webui/client/events.js').Connection} connection */
  _onConnection(connection) {
    const {origin = '', key} = this.server ?? {};
    if (connection === 'unauthorized' && key) void keyEnded(origin, key);
    this.requestUpdate();
  }

  _pairAnother() {
    this._showsSettings = false;
    this._isPairing = true;
  }
}
customElements.define('ac-panel', AcPanel);
