import {LitElement, css, html, nothing} from 'lit';
import {repeat} from 'lit/directives/repeat.js';
import {client} from '../client/client.js';
import {Localized, formatDuration, formatTime, t} from '../base/i18n.js';
import {Listening} from '../base/listening.js';
import {moduleList} from '../client/module-list.js';
import {href} from '../base/router.js';
import {firstSentence} from '../base/sentences.js';
import {badges, base, buttons, cards, views} from '../ui/styles.js';
import {keepExample} from '../tools/drafts.js';
import {toolList} from '../client/tool-list.js';
import '../ui/ac-empty.js';
import '../ui/ac-error-card.js';
import '../ui/ac-icon.js';
import '../modules/ac-module-row.js';

/** @typedef {import('../client/tool-list.js').Tool} Tool */
/** @typedef {{seq: number, call_id: string, tool: string, outcome: string, time_ms: number, duration_ms: number | null}} RecordedCall */

const TOOLS_SHOWN = 6;
const CALLS_SHOWN = 5;
const LOAD_EVERY_MS = 500;

/** Start page: what runs, what needs attention, a few tools to try and the latest calls. */
export class AcViewWelcome extends Localized(LitElement) {
  static properties = {
    path: {attribute: false},
    query: {attribute: false},
    _calls: {state: true},
  };

  static styles = [base, badges, buttons, cards, views, css`
    section { margin-top: var(--ac-space-6); }
    .section-head {
      display: flex; align-items: baseline; justify-content: space-between; gap: var(--ac-space-4);
      margin-bottom: var(--ac-space-3);
    }
    h2 { font-size: var(--ac-text-m); }
    .card { overflow: hidden; }
    ac-module-row + ac-module-row { border-top: 1px solid var(--ac-border); }
    .tools { display: grid; grid-template-columns: repeat(auto-fill, minmax(17rem, 1fr)); gap: var(--ac-space-3); }
    .tools a {
      display: grid; gap: var(--ac-space-1); height: 100%; align-content: start; padding: var(--ac-space-4);
      color: inherit; text-decoration: none; transition: border-color var(--ac-motion), box-shadow var(--ac-motion);
    }
    .tools a:hover { border-color: var(--ac-border-strong); box-shadow: var(--ac-shadow-s); }
    .tools :is(code, strong) { font-weight: var(--ac-weight-bold); }
    .tools p {
      color: var(--ac-text-muted); font-size: var(--ac-text-s); display: -webkit-box; -webkit-box-orient: vertical;
      -webkit-line-clamp: 2; overflow: hidden;
    }
    .calls li {
      display: grid; grid-template-columns: minmax(0, 1fr) auto 5rem auto; align-items: center; gap: var(--ac-space-4);
      padding: var(--ac-space-2) var(--ac-space-4); font-variant-numeric: tabular-nums;
    }
    a:has(> code) { color: inherit; text-decoration: none; }
    a:has(> code):hover { text-decoration: underline; }
    .calls li + li { border-top: 1px solid var(--ac-border); }
    .calls .took { text-align: end; }
    @media (max-width: 40rem) { .calls .took { display: none; } .calls li { grid-template-columns: minmax(0, 1fr) auto auto; } }
  `];

  constructor() {
    super();
    /** @type {string[]} */
    this.path = [];
    this.query = new URLSearchParams();
    /** @type {RecordedCall[]} */
    this._calls = [];
    this._isLoadingCalls = false;
    this._isStale = false;
    new Listening(this, () => [
      moduleList.subscribe(() => this.requestUpdate()),
      toolList.subscribe(() => this.requestUpdate()),
      client.on('call.finished', () => void this._loadCalls()),
      client.on('events.reset', () => void this._loadCalls()),
    ]);
  }

  connectedCallback() {
    super.connectedCallback();
    if (!toolList.isLoaded) void toolList.load();
    void this._loadCalls();
  }

  render() {
    const {modules, isLoaded, error, broken} = moduleList;
    const ready = modules.filter(({state}) => state === 'ready');
    return html`
      <header class="view-head">
        <div class="titles">
          <h1>${t('shell.home')}</h1>
          <p class="muted">${isLoaded ? this._summary(ready.length) : t('shell.tagline')}</p>
        </div>
        <div class="actions"><a class="button primary" href="#/chats"><ac-icon name="message-square"></ac-icon>${t('chat.new')}</a></div>
      </header>
      ${error && !isLoaded ? html`<ac-error-card heading=${t('modules.notLoaded')} .error=${error}></ac-error-card>` : nothing}
      ${isLoaded && !ready.length && !broken.length ? this._nothingRuns() : nothing}
      ${broken.length ? this._attention(broken) : nothing}
      ${toolList.tools.length ? this._try() : nothing}
      ${this._calls.length ? this._recent() : nothing}`;
  }

  /** @param {number} ready */
  _summary(ready) {
    return `${t('modules.readyCount', {n: ready})} · ${t('modules.toolCount', {n: toolList.tools.length})}`;
  }

  _nothingRuns() {
    return html`
      <section class="card">
        <ac-empty icon="blocks" heading=${t('modules.none')}>
          ${t('shell.nothingRuns')}
          <a slot="actions" class="button primary" href="#/modules">${t('shell.toModules')}</a>
        </ac-empty>
      </section>`;
  }

  /** @param {import('../client/module-list.js').Module[]} broken */
  _attention(broken) {
    return html`
      <section aria-labelledby="attention">
        <div class="section-head"><h2 id="attention">${t('shell.attention')}</h2></div>
        <div class="card">${repeat(broken, ({name}) => name, (module) => html`<ac-module-row .module=${module}></ac-module-row>`)}</div>
      </section>`;
  }

  _try() {
    const tried = toolList.examples.slice(0, TOOLS_SHOWN);
    const tools = tried.length ? tried : this._harmless();
    return html`
      <section aria-labelledby="try">
        <div class="section-head">
          <h2 id="try">${t('shell.try')}</h2><a href="#/tools">${t('shell.allTools')}</a>
        </div>
        <ul class="tools">${tools.map(({tool, title, args}) => html`
          <li>
            <a class="card" href=${href(['tools', tool.name])} @click=${() => keepExample(tool.name, args)}>
              ${title ? html`<strong>${title}</strong>` : html`<code>${tool.name}</code>`}<p>${firstSentence(tool.description)}</p>
            </a>
          </li>`)}
        </ul>
      </section>`;
  }

  /** Return tools to try if no module provides examples: read-only tools first. @returns {{tool: Tool, title: string, args: Record<string, unknown>}[]} */
  _harmless() {
    const isCareful = (/** @type {Tool} */ {effects}) => Number(effects.some((effect) => effect !== 'read'));
    return toolList.tools.toSorted((a, b) => isCareful(a) - isCareful(b)).slice(0, TOOLS_SHOWN).map((tool) => ({tool, title: '', args: {}}));
  }

  _recent() {
    return html`
      <section aria-labelledby="recent">
        <div class="section-head">
          <h2 id="recent">${t('shell.recent')}</h2><a href="#/activity">${t('shell.allCalls')}</a>
        </div>
        <ol class="card calls">${repeat(this._calls, ({seq}) => seq, ({call_id, tool, outcome, time_ms, duration_ms}) => html`
          <li>
            <a href=${href(['activity', call_id])}><code>${tool}</code></a>
            <span class="badge ${outcome === 'ok' ? 'ok' : 'danger'}">${outcome}</span>
            <span class="took muted">${duration_ms === null ? '' : formatDuration(duration_ms)}</span>
            <time class="muted" datetime=${new Date(time_ms).toISOString()}>${formatTime(time_ms)}</time>
          </li>`)}
        </ol>
      </section>`;
  }

  /** Load the latest calls. Calls may end a thousand times a second, so this sends one request at a time and a later one for calls that ended meanwhile. */
  async _loadCalls() {
    if (this._isLoadingCalls) {
      this._isStale = true;
      return;
    }
    this._isLoadingCalls = true;
    try {
      do {
        this._isStale = false;
        this._calls = (await client.get(`/api/calls?kind=call&limit=${CALLS_SHOWN}`)).calls;
        await new Promise((resolve) => setTimeout(resolve, LOAD_EVERY_MS));
      } while (this._isStale && this.isConnected);
    } catch {
      // the module list shows whether the server responds
    } finally {
      this._isLoadingCalls = false;
    }
  }
}

customElements.define('ac-view-welcome', AcViewWelcome);
