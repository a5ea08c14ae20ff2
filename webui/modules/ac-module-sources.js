import {LitElement, css, html, nothing} from 'lit';
import {client} from '../client/client.js';
import {Localized, t} from '../base/i18n.js';
import {badges, base, buttons, cards} from '../ui/styles.js';
import {toast, toastError} from '../ui/toasts.js';
import '../ui/ac-icon.js';
import {toolList} from '../client/tool-list.js';

/** @typedef {import('../client/module-list.js').Source} Source */

/** Other sources of a module's name that are not in use: each with its file, and a button that requests the user's approval to use it. */
export class AcModuleSources extends Localized(LitElement) {
  static properties = {
    module: {attribute: false},
    _requested: {state: true},
  };

  static styles = [base, badges, buttons, cards, css`
    .card { overflow: hidden; border-color: color-mix(in srgb, var(--ac-warn) 35%, transparent); }
    .notice { display: flex; gap: var(--ac-space-3); padding: var(--ac-space-4); background: var(--ac-warn-soft); }
    .notice ac-icon { color: var(--ac-warn); margin-top: 0.125rem; }
    li { display: grid; grid-template-columns: minmax(0, 1fr) auto; gap: var(--ac-space-1) var(--ac-space-4); align-items: center; padding: var(--ac-space-3) var(--ac-space-4); border-top: 1px solid var(--ac-border); }
    .name { display: flex; flex-wrap: wrap; align-items: center; gap: var(--ac-space-1) var(--ac-space-3); }
    .file { grid-column: 1; color: var(--ac-text-muted); font-size: var(--ac-text-s); overflow-wrap: anywhere; }
    button { grid-row: 1 / 3; grid-column: 2; }
    @media (max-width: 40rem) { li { grid-template-columns: minmax(0, 1fr); } button { grid-row: auto; grid-column: 1; justify-self: start; } }
  `];

  constructor() {
    super();
    /** @type {import('../client/module-list.js').Module | null} */
    this.module = null;
    this._requested = '';
  }

  render() {
    const {module} = this;
    if (!module || !module.others.length) return nothing;
    const isRunning = module.state === 'ready';
    return html`
      <div class="card">
        <div class="notice"><ac-icon name="shield-alert"></ac-icon><span>${t(isRunning ? 'modules.othersBeside' : 'modules.othersWait', {name: toolList.saidOf(module).title})}</span></div>
        <ul>${module.others.map((source) => this._source(source))}</ul>
      </div>`;
  }

  /** @param {Source} source */
  _source(source) {
    const isRequested = this._requested === source.source;
    return html`
      <li>
        <span class="name"><code>${source.source}</code>${source.version ? html`<span class="muted">${source.version}</span>` : nothing}
          ${source.isRefused ? html`<span class="badge">${t('modules.refused')}</span>` : nothing}</span>
        <code class="file">${source.file}</code>
        <button ?disabled=${isRequested} aria-label=${t('modules.chooseNamed', {name: source.source})} @click=${() => this._choose(source.source)}>${t('modules.choose')}</button>
      </li>`;
  }

  /** @param {string} source */
  async _choose(source) {
    const module = /** @type {import('../client/module-list.js').Module} */ (this.module);
    this._requested = source;
    try {
      await client.post(`/api/modules/${encodeURIComponent(module.name)}/choose`, {source});
    } catch (error) {
      const waits = /** @type {import('../client/client.js').ApiError} */ (error).type === 'confirmation_required';
      if (waits) toast(t('approval.waits'), {detail: t('approval.waitsText')});
      else toastError(t('modules.chooseFailed', {name: toolList.saidOf(module).title}), error);
    } finally {
      this._requested = '';
    }
  }
}

customElements.define('ac-module-sources', AcModuleSources);
