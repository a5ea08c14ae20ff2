import {LitElement, css, html, nothing} from 'lit';
import {repeat} from 'lit/directives/repeat.js';
import {Localized, t} from '../base/i18n.js';
import {Listening} from '../base/subscriptions.js';
import {client} from '../client/client.js';
import {moduleList} from '../client/module-list.js';
import {base, buttons, cards, views} from '../ui/styles.js';
import '../ui/ac-command.js';
import '../ui/ac-empty.js';
import '../ui/ac-error-card.js';
import '../ui/ac-icon.js';
import '../requirements/ac-requirements.js';
import './ac-module-row.js';
import './ac-view-module.js';
import '../base/later-strings.js';

/** The modules listed in app.json and those that are installed but not listed, or the page of one module. */
export class AcViewModules extends Localized(LitElement) {
  static properties = {
    path: {attribute: false},
    query: {attribute: false},
    _families: {state: true},
    _isAdding: {state: true},
  };

  static styles = [base, buttons, cards, views, css`
    section + section { margin-top: var(--ac-space-6); }
    h2 { display: flex; gap: var(--ac-space-2); margin-bottom: var(--ac-space-2); font-size: var(--ac-text-m); }
    h2 span { font-weight: normal; }
    .card { overflow: hidden; }
    ac-module-row + ac-module-row { border-top: 1px solid var(--ac-border); }
    ac-command { width: min(26rem, 100%); margin: var(--ac-space-3) auto 0; }
    .hint { margin-bottom: var(--ac-space-3); max-width: 42rem; }
  `];

  constructor() {
    super();
    /** @type {string[]} */
    this.path = [];
    this.query = new URLSearchParams();
    /** @type {{key: string}[]} */
    this._families = [];
    this._isAdding = false;
    new Listening(this, () => [moduleList.subscribe(() => this.requestUpdate())]);
  }

  connectedCallback() {
    super.connectedCallback();
    void moduleList.load();
    void this._loadFamilies();
  }

  render() {
    if (this.path.length) return html`<ac-view-module .name=${this.path[0]}></ac-view-module>`;
    const {modules, error, isLoaded} = moduleList;
    const used = modules.filter(({listed, state}) => listed || state !== 'stopped');
    const off = modules.filter((module) => !used.includes(module));
    return html`
      <header class="view-head">
        <div class="titles"><h1>${t('modules.title')}</h1><p class="muted">${t('modules.subtitle')}</p></div>
        ${this._families.length ? html`<div class="actions"><button @click=${this._add}><ac-icon name="plus"></ac-icon>${t('modules.add.open')}</button></div>` : nothing}
      </header>
      ${error && !isLoaded ? this._failed(error) : nothing}
      <ac-requirements></ac-requirements>
      ${isLoaded && !used.length ? this._none(off.length > 0) : nothing}
      ${used.length ? this._group(t('modules.used'), used) : nothing}
      ${off.length ? this._group(t('modules.installed'), off, t('modules.installedHint')) : nothing}
      ${this._isAdding ? html`<ac-block-dialog heading=${t('modules.add.heading')} .families=${this._families} @ac-close=${() => { this._isAdding = false; }}></ac-block-dialog>` : nothing}`;
  }

  async _add() {
    await import('./ac-block-dialog.js');
    this._isAdding = true;
  }

  async _loadFamilies() {
    try {
      this._families = (await client.get('/api/families')).families;
    } catch {
      // the module list shows connection errors already
    }
  }

  /** @param {string} heading @param {import('../client/module-list.js').Module[]} modules @param {string} [hint] */
  _group(heading, modules, hint) {
    return html`
      <section aria-label=${heading}>
        <h2>${heading} <span class="muted">${modules.length}</span></h2>
        ${hint ? html`<p class="muted hint">${hint}</p>` : nothing}
        <div class="card">${repeat(modules, ({name}) => name, (module) => html`<ac-module-row .module=${module}></ac-module-row>`)}</div>
      </section>`;
  }

  /** @param {boolean} hasInstalled */
  _none(hasInstalled) {
    return html`
      <section class="card">
        <ac-empty icon="blocks" heading=${t('modules.none')}>
          ${t(hasInstalled ? 'modules.noneUsed' : 'modules.noneInstalled')}
          ${hasInstalled ? nothing : html`<ac-command command=${`${moduleList.installCommand} agentcore-fs-tools`}></ac-command>`}
        </ac-empty>
      </section>`;
  }

  /** @param {unknown} error */
  _failed(error) {
    return html`
      <ac-error-card heading=${t('modules.notLoaded')} .error=${error}>
        <button slot="actions" @click=${() => moduleList.load()}>${t('ui.again')}</button>
      </ac-error-card>`;
  }
}

customElements.define('ac-view-modules', AcViewModules);
