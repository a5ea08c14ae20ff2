import {LitElement, css, html, nothing} from 'lit';
import {repeat} from 'lit/directives/repeat.js';
import {formatDuration, formatList, formatTime, Localized, t} from '../base/i18n.js';
import {badges, base, buttons} from '../ui/styles.js';
import '../ui/ac-icon.js';
import '../ui/ac-state.js';
import {meterOf, meters} from './host-card-styles.js';
import {saidByHost} from './remote-host.js';

/** @typedef {import('./remote-host.js').RemoteHost & {capacity: number | null, used: number | null, labels: string[]}} PoolHost  `used` of `capacity`, by all servers; null: currently unknown */

/** The hosts of a pool, one per row; on a narrow page, one per block.  @fires ac-act {host: PoolHost, action: Action} */
export class AcPoolHosts extends Localized(LitElement) {
  static properties = {
    pool: {},
    hosts: {attribute: false},
    modules: {attribute: false},
    busy: {attribute: false},
  };

  static styles = [badges, base, buttons, meters, css`
    :host { container: hosts / inline-size; }
    table { width: 100%; border-collapse: collapse; font-variant-numeric: tabular-nums; }
    th, td { padding: var(--ac-space-2) var(--ac-space-4) var(--ac-space-2) 0; text-align: start; vertical-align: top; border-bottom: 1px solid var(--ac-border); }
    thead th { font-size: var(--ac-text-s); font-weight: normal; color: var(--ac-text-muted); white-space: nowrap; }
    tbody th { font-weight: var(--ac-weight-medium); overflow-wrap: anywhere; }
    tbody tr:last-child > * { border-bottom: 0; }
    tbody p { font-weight: normal; }
    .about { min-width: 14rem; overflow-wrap: anywhere; }
    .use { min-width: 6.5rem; }
    .labels { min-width: 6.5rem; max-width: 10rem; }
    .labels .badge { margin: 0 var(--ac-space-1) var(--ac-space-1) 0; }
    .modules { max-width: 14rem; overflow-wrap: anywhere; }
    .said { color: var(--ac-danger); }
    td:last-child { padding-inline-end: 0; padding-block: 0.25rem; text-align: end; }
    .what { display: none; }
    @container hosts (max-width: 46rem) {
      table, tbody { display: block; }
      thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
      tbody tr { display: grid; grid-template-columns: minmax(0, 1fr) auto; gap: var(--ac-space-1) var(--ac-space-3); padding-block: var(--ac-space-3); border-bottom: 1px solid var(--ac-border); }
      tbody tr:last-child { border-bottom: 0; padding-bottom: 0; }
      th, td { padding: 0; border: 0; max-width: none; }
      tbody th, .use, .labels, .latency, .modules { grid-column: 1; }
      td.state { grid-column: 2; grid-row: 1; text-align: end; }
      td.act { grid-column: 2; grid-row: 2 / span 4; align-self: end; margin-inline-end: calc(-1 * var(--ac-space-2)); padding: 0; }
      td.act:empty, td.labels:empty, td.modules.all, .is-out td.use, .is-out td.latency, .is-out td.modules { display: none; }
      .latency, .modules, .what { color: var(--ac-text-muted); font-size: var(--ac-text-s); }
      .what { display: inline; }
      .about { min-width: 0; }
    }
  `];

  constructor() {
    super();
    this.pool = '';
    /** @type {PoolHost[]} */
    this.hosts = [];
    /** Names of the modules listed in app.json. @type {string[]} */
    this.modules = [];
    /** Actions in progress, by host name. @type {Record<string, string>} */
    this.busy = {};
  }

  render() {
    const heads = ['poolHost', 'poolState', 'inUse', 'labels', 'latency', 'poolModules'];
    return html`
      <table role="table" aria-label=${t('hosts.poolHostsOf', {name: this.pool})}>
        <thead role="rowgroup">
          <tr role="row">
            ${heads.map((head) => html`<th role="columnheader" scope="col">${t(`hosts.${head}`)}</th>`)}
            <td role="cell"></td>
          </tr>
        </thead>
        <tbody role="rowgroup">${repeat(this.hosts, ({name}) => name, (host) => this._row(host))}</tbody>
      </table>`;
  }

  /** @param {PoolHost} host */
  _row(host) {
    const {name, state, capacity, used, labels, latencyMs} = host;
    const isOut = used === null;
    return html`
      <tr role="row" class=${isOut ? 'is-out' : ''}>
        <th role="rowheader" scope="row">${name.slice(this.pool.length + 1)}${this._about(host)}</th>
        <td role="cell" class="state"><ac-state room="hosts" .state=${state}></ac-state></td>
        <td role="cell" class="use">${isOut || capacity === null ? '–' : html`${t('hosts.usedOf', {used, capacity})}<span class="what"> ${t('hosts.inUseAfter')}</span>${meterOf(used, capacity)}`}</td>
        <td role="cell" class="labels">${labels.map((label) => html`<span class="badge">${label}</span>`)}</td>
        <td role="cell" class="latency"><span class="what">${t('hosts.latency')} </span>${latencyMs === null ? '–' : formatDuration(latencyMs)}</td>
        <td role="cell" class="modules ${this._hasAll(host) ? 'all' : ''}"><span class="what">${t('hosts.poolModules')}: </span>${isOut ? '–' : this._modules(host)}</td>
        <td role="cell" class="act">${this._action(host)}</td>
      </tr>`;
  }

  /** Render further details: its platform and version, or since when and why it is away. @param {PoolHost} host */
  _about({state, since, reason, platform, version}) {
    const words = state === 'away'
      ? [t('hosts.poolSince', {time: formatTime(since, {seconds: false})}), saidByHost(reason)]
      : [saidByHost(platform), version ? `agentcore ${saidByHost(version)}` : ''];
    const said = words.filter(Boolean).join(' · ');
    return said ? html`<p class="about muted small"><bdi>${said}</bdi></p>` : nothing;
  }

  /** @param {PoolHost} host */
  _hasAll({modules}) {
    return this.modules.every((name) => modules.some((module) => module.name === name && module.state === 'ready'));
  }

  /** Render how many of the listed modules are ready, and which are failed or missing. @param {PoolHost} host */
  _modules(host) {
    const {modules} = host;
    const all = this.modules.length;
    const ready = modules.filter(({state}) => state === 'ready').length;
    const failed = modules.filter(({state}) => state === 'failed');
    const missing = this.modules.filter((name) => !modules.some((module) => module.name === name));
    return html`
      ${this._hasAll(host) ? t('hosts.poolAll', {n: all}) : t('hosts.usedOf', {used: ready, capacity: all})}
      ${failed.map(({title, reason}) => html`<p class="said small"><bdi>${saidByHost(title)}: ${saidByHost(reason)}</bdi></p>`)}
      ${missing.length ? html`<p class="muted small">${t('hosts.poolWithout', {names: formatList(missing)})}</p>` : nothing}`;
  }

  /** @param {PoolHost} host */
  _action(host) {
    const {name, state} = host;
    if (state === 'away') return nothing;
    const action = state === 'running' ? 'drain' : 'undrain';
    const isBusy = this.busy[name] === action;
    return html`<button class="small quiet" ?disabled=${name in this.busy} aria-busy=${isBusy} aria-label=${t(`hosts.${action}Named`, {name})} title=${t('hosts.poolDrainHint')}
      @click=${() => this._act(host, action)}><ac-icon name=${isBusy ? 'loader-circle' : action === 'drain' ? 'pause' : 'play'}></ac-icon>${t(`hosts.${action}`)}</button>`;
  }

  /** @param {PoolHost} host @param {string} action */
  _act(host, action) {
    this.dispatchEvent(new CustomEvent('ac-act', {detail: {host, action}, bubbles: true, composed: true}));
  }
}

customElements.define('ac-pool-hosts', AcPoolHosts);
