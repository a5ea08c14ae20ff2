import {LitElement, css, html, nothing} from 'lit';
import {Localized, t} from '../../webui/base/i18n.js';
import {Listening} from '../../webui/base/subscriptions.js';
import {badges, base, buttons} from '../../webui/ui/styles.js';
import '../../webui/ui/ac-icon.js';
import '../../webui/ui/ac-preferences.js';
import '../../webui/ui/overlay/ac-dialog.js';
import {confirm} from '../../webui/ui/overlay/confirm.js';
import {forget, onServersChanged, servers, use} from '../../worker/servers.js';

/**
 * Shows the paired servers, the one in use, and the appearance settings.
 * @fires ac-close
 * @fires ac-pair  when the user wants to pair another server
 */
export class AcPanelServers extends Localized(LitElement) {
  static properties = {
    open: {type: Boolean},
    used: {attribute: false},
    _servers: {state: true},
  };

  static styles = [base, buttons, badges, css`
    .whole { display: grid; gap: var(--ac-space-4); }
    .about { font-size: var(--ac-text-s); }
    ul { display: grid; border: 1px solid var(--ac-border); border-radius: var(--ac-radius-m); }
    li { display: flex; align-items: center; gap: var(--ac-space-2); padding: var(--ac-space-2) var(--ac-space-3); }
    li + li { border-top: 1px solid var(--ac-border); }
    .server { flex: 1; display: flex; flex-wrap: wrap; align-items: center; gap: var(--ac-space-1) var(--ac-space-2); min-width: 0; }
    .origin { min-width: 0; overflow-wrap: anywhere; color: var(--ac-text); font-family: var(--ac-font-mono); font-size: var(--ac-text-s); }
    h3 { font-size: var(--ac-text-m); margin-bottom: var(--ac-space-2); color: var(--ac-text); }
  `];

  constructor() {
    super();
    this.open = false;
    /** @type {import('../../worker/servers.js').Server | null} */
    this.used = null;
    /** @type {import('../../worker/servers.js').Server[]} */
    this._servers = [];
    new Listening(this, () => [onServersChanged(() => void this._load())]);
  }

  firstUpdated() {
    void this._load();
  }

  async _load() {
    this._servers = await servers();
  }

  render() {
    return html`
      <ac-dialog .open=${this.open} heading=${t('panel.settings')} @ac-close=${() => this._fire('ac-close')}>
        <div class="whole">
          <section><h3>${t('panel.servers')}</h3>
            <p class="about">${t('panel.serversText')}</p></section>
          <ul>${this._servers.map((server) => this._renderServer(server))}</ul>
          <button @click=${() => this._fire('ac-pair')}><ac-icon name="plus"></ac-icon>${t('panel.pairAnother')}</button>
          <section><h3>${t('panel.appearance')}</h3><ac-preferences></ac-preferences></section>
        </div>
        <button slot="actions" @click=${() => this._fire('ac-close')}>${t('ui.close')}</button>
      </ac-dialog>`;
  }

  /** @param {import('../../worker/servers.js').Server} server */
  _renderServer({origin, key}) {
    const isUsed = origin === this.used?.origin;
    return html`
      <li>
        <div class="server">
          <span class="origin">${origin}</span>
          ${isUsed ? html`<span class="badge ok">${t('panel.inUse')}</span>` : nothing}
          ${key ? nothing : html`<span class="badge warn">${t('panel.keyGone')}</span>`}
        </div>
        ${isUsed ? nothing : html`<button class="small" aria-label=${t('panel.useServer', {origin})} @click=${() => use(origin)}>${t('panel.use')}</button>`}
        <button class="small danger" aria-label=${t('panel.forgetServer', {origin})} @click=${() => this._forget(origin)}>${t('panel.forget')}</button>
      </li>`;
  }

  /** @param {string} origin */
  async _forget(origin) {
    const question = {heading: t('panel.forgetServer', {origin}), text: t('panel.forgetText'), action: t('panel.forget'), isDangerous: true};
    if (await confirm(question)) await forget(origin);
  }

  /** @param {string} name */
  _fire(name) {
    this.dispatchEvent(new CustomEvent(name));
  }
}
customElements.define('ac-panel-servers', AcPanelServers);
