import {LitElement, css, html, nothing} from 'lit';
import {Localized, t} from '../base/i18n.js';
import {Listening} from '../base/subscriptions.js';
import {client} from '../client/client.js';
import {badges, base, buttons, cards} from '../ui/styles.js';
import '../ui/ac-icon.js';

/**
 * @typedef {{name: string, originalName: string, state: 'accepted' | 'refused' | 'waiting' | '', fingerprint: string}} OfferedTool
 * @typedef {{facts: Record<string, string>, log: string, tools: OfferedTool[], login: import('./ac-module-login.js').Login | null}} Report
 */

const KINDS = {accepted: 'ok', waiting: 'warn', refused: 'danger'};

/** Current report of a module: facts about the service that it talks to, the end of that service's log, and the decisions on its tools. */
export class AcModuleReport extends Localized(LitElement) {
  static properties = {
    module: {},
    _report: {state: true},
    _isBusy: {state: true},
  };

  static styles = [base, badges, buttons, cards, css`
    :host { display: block; }
    section { margin-top: var(--ac-space-6); }
    .head { display: flex; flex-wrap: wrap; align-items: center; gap: var(--ac-space-2) var(--ac-space-3); margin-bottom: var(--ac-space-3); }
    h2 { font-size: var(--ac-text-l); }
    dl { display: grid; grid-template-columns: minmax(8rem, 14rem) minmax(0, 1fr); gap: var(--ac-space-2) var(--ac-space-4); padding: var(--ac-space-4); }
    dt { color: var(--ac-text-muted); }
    dd { overflow-wrap: anywhere; }
    pre { max-height: 20rem; overflow: auto; padding: var(--ac-space-3) var(--ac-space-4); background: var(--ac-surface-sunken); font-size: var(--ac-text-s); white-space: pre-wrap; overflow-wrap: anywhere; }
    details { overflow: hidden; }
    dl + details { border-top: 1px solid var(--ac-border); }
    summary { cursor: pointer; padding: var(--ac-space-3) var(--ac-space-4); color: var(--ac-text-muted); }
    li { display: flex; flex-wrap: wrap; align-items: center; gap: var(--ac-space-1) var(--ac-space-3); padding: var(--ac-space-2) var(--ac-space-4); }
    li + li { border-top: 1px solid var(--ac-border); }
    li > :first-child { flex: 1 1 14rem; min-width: 0; overflow-wrap: anywhere; }
    @media (max-width: 40rem) { dl { grid-template-columns: minmax(0, 1fr); } dd { margin-bottom: var(--ac-space-2); } }
  `];

  constructor() {
    super();
    this.module = '';
    /** @type {Report | null} */
    this._report = null;
    this._isBusy = false;
    new Listening(this, () => [
      client.on('tools.changed', () => void this._load()),
      client.on('module.stateChanged', () => void this._load()),
    ]);
  }

  /** @param {Map<string, unknown>} changed */
  willUpdate(changed) {
    if (changed.has('module') && this.module) void this._load();
  }

  render() {
    if (!this._report) return nothing;
    const {facts, log, tools, login} = this._report;
    if (login) void import('./ac-module-login.js');
    return html`
      ${login ? html`<ac-module-login .module=${this.module} .login=${login} @ac-login-changed=${this._onLogin}></ac-module-login>` : nothing}
      ${this._now(facts, log)} ${this._seen(tools.filter(({state}) => state))}`;
  }

  /** @param {Record<string, string>} facts @param {string} log */
  _now(facts, log) {
    const entries = Object.entries(facts);
    if (!entries.length && !log) return nothing;
    return html`
      <section aria-labelledby="now">
        <div class="head"><h2 id="now">${t('modules.report.now')}</h2>
          <button class="quiet small" ?disabled=${this._isBusy} @click=${() => this._load()}><ac-icon name="refresh-cw"></ac-icon>${t('modules.report.again')}</button></div>
        <div class="card">
          ${entries.length ? html`<dl>${entries.map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`)}</dl>` : nothing}
          ${log ? html`<details><summary>${t('modules.report.log')}</summary><pre tabindex="0" role="group" aria-label=${t('modules.report.log')}>${log}</pre></details>` : nothing}
        </div>
      </section>`;
  }

  /** @param {OfferedTool[]} tools */
  _seen(tools) {
    if (!tools.length) return nothing;
    const accepted = tools.filter(({state}) => state === 'accepted').length;
    return html`
      <section aria-labelledby="seen">
        <div class="head"><h2 id="seen">${t('modules.report.seen')}</h2></div>
        <div class="card"><details ?open=${accepted < tools.length}>
          <summary>${t('modules.report.seenCount', {n: accepted, all: tools.length})}</summary>
          <ul>${tools.map((tool) => html`
            <li><span><code>${tool.name}</code>${tool.originalName && !tool.name.endsWith(`_${tool.originalName}`) ? html` <span class="muted">${t('modules.report.original', {name: tool.originalName})}</span>` : nothing}</span>
              <span class="badge ${KINDS[/** @type {'accepted'} */ (tool.state)]}">${t(`modules.report.${tool.state}`)}</span>
              <code class="muted" title=${t('modules.report.fingerprint')}>${tool.fingerprint}</code></li>`)}</ul>
        </details></div>
      </section>`;
  }

  /** @param {CustomEvent<import('./ac-module-login.js').Login | null>} event */
  _onLogin({detail}) {
    if (detail && this._report) this._report = {...this._report, login: detail};
    else void this._load();
  }

  async _load() {
    const {module} = this;
    this._isBusy = true;
    try {
      const report = await client.get(`/api/modules/${encodeURIComponent(module)}/report`);
      if (module === this.module) this._report = report;
    } catch {
      this._report = null; // the page shows the module's errors above
    } finally {
      this._isBusy = false;
    }
  }
}
customElements.define('ac-module-report', AcModuleReport);
