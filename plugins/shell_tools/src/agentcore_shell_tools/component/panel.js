import {LitElement, css, html, nothing} from 'lit';
import {repeat} from 'lit/directives/repeat.js';
import {badges, base, buttons, cards, fields, views} from 'agentcore/styles.js';
import {oneLine, stateOf} from './process-state.js';
import './terminal.js';
import {word} from './texts.js';

/** @typedef {{path: string, aside: string, why: string, instead: string}} PutAside */

/** All background commands, and a form to start one. */
export class ShellToolsPanel extends LitElement {
  static properties = {
    client: {attribute: false},
    _processes: {state: true},
    _sandbox: {state: true},
    _error: {state: true},
    _isBusy: {state: true},
  };

  static styles = [base, buttons, fields, badges, cards, views, css`
    form { display: flex; flex-wrap: wrap; gap: var(--ac-space-2); margin-bottom: var(--ac-space-5); }
    input { flex: 1 1 14rem; min-width: 0; font-family: var(--ac-font-mono); }
    li {
      display: grid; grid-template-columns: minmax(0, 1fr) auto auto; align-items: center; gap: var(--ac-space-1) var(--ac-space-3);
      padding: var(--ac-space-3) var(--ac-space-4);
    }
    li > .badge { justify-self: start; }
    li + li { border-top: 1px solid var(--ac-border); }
    .what { min-width: 0; display: grid; gap: 2px; }
    .what a { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; font-family: var(--ac-font-mono); font-size: 0.92em; }
    .what span { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
    .end { min-width: 4.5rem; text-align: end; }
    .empty { display: grid; gap: var(--ac-space-1); padding: var(--ac-space-7) var(--ac-space-4); text-align: center; }
    .problem {
      padding: var(--ac-space-3) var(--ac-space-4); margin-bottom: var(--ac-space-4); border-radius: var(--ac-radius-m);
      background: var(--ac-danger-soft); color: var(--ac-danger);
    }
    .aside { padding: var(--ac-space-4); margin-bottom: var(--ac-space-4); overflow-wrap: anywhere; }
    .aside h2 { margin: 0; }
    .aside dl { display: grid; gap: var(--ac-space-2); margin: var(--ac-space-3) 0 0; }
    .aside dd { margin: 0; }
    @media (max-width: 40rem) { li { grid-template-columns: minmax(0, 1fr) auto; } .what { grid-column: 1 / -1; } }
  `];

  constructor() {
    super();
    /** @type {any} */
    this.client = null;
    /** @type {import('./process-state.js').Process[] | null} */
    this._processes = null;
    /** @type {{isSandboxed: boolean, sandboxReason: string, putAside: PutAside[]}} */
    this._sandbox = {isSandboxed: false, sandboxReason: '', putAside: []};
    this._error = '';
    this._isBusy = false;
  }

  connectedCallback() {
    super.connectedCallback();
    this.client.on('resource.stateChanged', (/** @type {any} */ {resourceType}) => { if (resourceType === 'terminal') void this._load(); });
    this.client.on('workspace.quarantined', () => void this._load());
    this.client.on('connection', (/** @type {string} */ connection) => { if (connection === 'open') void this._load(); });
    this.client.on('locale', () => this.requestUpdate());
    void this._load();
  }

  render() {
    const {locale} = this.client;
    return html`
      <div class="view-head">
        <div class="titles"><h1>${word(locale, 'title')}</h1><p class="muted">${word(locale, 'about')} ${this._confinement(locale)}</p></div>
      </div>
      <form @submit=${this._run}>
        <input name="command" aria-label=${word(locale, 'command')} placeholder=${word(locale, 'placeholder')} autocomplete="off"
          autocapitalize="off" spellcheck="false" required>
        <button class="primary" ?disabled=${this._isBusy}>${word(locale, 'run')}</button>
        <button type="button" ?disabled=${this._isBusy} @click=${() => this._start('exec bash', true)}>${word(locale, 'newTerminal')}</button>
      </form>
      ${this._error ? html`<p class="problem" role="alert">${this._error}</p>` : nothing}
      ${this._putAside(locale)}
      ${this._list(locale)}`;
  }

  /** @param {string} locale */
  _confinement(locale) {
    const {isSandboxed, sandboxReason} = this._sandbox;
    if (isSandboxed) return html`<span class="badge ok">${word(locale, 'sandboxed')}</span>`;
    return sandboxReason ? html`<span class="badge warn">${word(locale, 'unconfined', {reason: sandboxReason})}</span>` : nothing;
  }

  /** @param {string} locale */
  _putAside(locale) {
    const {putAside} = this._sandbox;
    if (!putAside.length) return nothing;
    return html`
      <section class="card aside" aria-labelledby="aside">
        <h2 id="aside">${word(locale, 'putAside')}</h2>
        <p class="muted">${word(locale, 'putAsideText')}</p>
        <dl>${putAside.toReversed().map(({path, aside, why}) => html`
          <div><dt><code>${path}</code></dt>
            <dd><span class="muted">${why}</span><br>${aside ? html`→ <code>${aside}</code>` : word(locale, 'notPutAside')}</dd></div>`)}
        </dl>
      </section>`;
  }

  /** @param {string} locale */
  _list(locale) {
    if (!this._processes) return nothing;
    if (!this._processes.length) {
      return html`<div class="card empty"><h2>${word(locale, 'none')}</h2><p class="muted">${word(locale, 'noneText')}</p></div>`;
    }
    const newestFirst = this._processes.toSorted((one, other) => Number(other.isRunning) - Number(one.isRunning) || other.startedAt - one.startedAt);
    return html`<ul class="card" aria-label=${word(locale, 'processes')}>${repeat(newestFirst, ({processId}) => processId, (process) => this._row(process, locale))}</ul>`;
  }

  /** @param {import('./process-state.js').Process} process @param {string} locale */
  _row(process, locale) {
    const command = oneLine(process.command);
    const state = stateOf(process, locale);
    const time = new Date(process.startedAt).toLocaleTimeString(locale, {timeStyle: 'short'});
    return html`
      <li>
        <div class="what">
          <a href="#/pages/${this.client.name}/${encodeURIComponent(process.processId)}" title=${process.command}>${command}</a>
          <span class="muted small">${word(locale, 'folder', {folder: process.cwd})} · ${word(locale, 'started', {time})}</span>
        </div>
        <span class="badge ${state.kind}">${state.text}</span>
        <div class="end">${process.isRunning ? html`
          <button class="small danger" aria-label=${word(locale, 'endNamed', {command})} @click=${() => this._end(process)}>${word(locale, 'end')}</button>` : nothing}
        </div>
      </li>`;
  }

  /** @param {SubmitEvent} event */
  async _run(event) {
    event.preventDefault();
    const form = /** @type {HTMLFormElement} */ (event.target);
    const command = String(new FormData(form).get('command')).trim();
    if (command && await this._start(command, false)) form.reset();
  }

  /** @param {string} command @param {boolean} terminal */
  async _start(command, terminal) {
    this._isBusy = true;
    const {locale} = this.client;
    try {
      const {ok, data, error} = await this.client.call('bash', {command, terminal, background: true});
      if (!ok) throw new Error(error.message);
      this.client.navigate(`/pages/${this.client.name}/${data.process_id}`);
      return true;
    } catch (error) {
      this.client.toast(word(locale, 'failed', {command: oneLine(command)}), error);
      return false;
    } finally {
      this._isBusy = false;
    }
  }

  /** @param {import('./process-state.js').Process} process */
  async _end({processId, command}) {
    try {
      const {ok, error} = await this.client.call('bash_kill', {process_id: processId});
      if (!ok) throw new Error(error.message);
    } catch (error) {
      this.client.toast(word(this.client.locale, 'endFailed', {command: oneLine(command)}), error);
    }
  }

  async _load() {
    try {
      const {processes, ...sandbox} = await this.client.get('processes');
      this._processes = processes;
      this._sandbox = sandbox;
      this._error = '';
    } catch (error) {
      this._error = `${word(this.client.locale, 'listFailed')}: ${/** @type {Error} */ (error).message}`;
    }
  }
}

customElements.define('shell-tools-panel', ShellToolsPanel);
