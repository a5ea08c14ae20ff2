import {LitElement, css, html, nothing} from 'lit';
import {Localized, t} from '../base/i18n.js';
import {badges, base, buttons, cards} from '../ui/styles.js';
import '../ui/ac-command.js';
import '../ui/ac-icon.js';
import '../ui/ac-state.js';
import './ac-pool-hosts.js';
import {fact, hostCardStyles, meterOf, meters, sentence, waitingTools} from './host-card-styles.js';
import {saidByHost} from './remote-host.js';

/** @typedef {import('./ac-pool-hosts.js').PoolHost} PoolHost */
/** @typedef {import('./remote-host.js').RemoteModule} RemoteModule */
/**
 * @typedef {object} Pool  hosts that servers share over NATS
 * @property {string} name
 * @property {string} kind  `nats`, or another kind that a package adds
 * @property {'running' | 'away' | 'failed'} state
 * @property {string} reason
 * @property {string} address  NATS servers, separated by `, `
 * @property {string[]} labels  required of its hosts here
 * @property {RemoteModule[]} modules  those listed in app.json; `stopped`: none of its hosts has it
 */

/** A pool: its state, address, modules and hosts.  @fires ac-act {host: PoolHost, action: Action} */
export class AcPoolCard extends Localized(LitElement) {
  static properties = {
    pool: {attribute: false},
    hosts: {attribute: false},
    busy: {attribute: false},
  };

  static styles = [badges, base, buttons, cards, hostCardStyles, meters, css`
    .card.failed { border-color: color-mix(in srgb, var(--ac-danger) 35%, transparent); }
    .card.away { border-color: color-mix(in srgb, var(--ac-warn) 40%, transparent); }
    .state { display: grid; grid-template-columns: minmax(0, 1fr); gap: var(--ac-space-2); }
    .state p { max-width: 44rem; color: var(--ac-text-muted); overflow-wrap: anywhere; }
    .state .said { display: flex; gap: var(--ac-space-2); color: var(--ac-danger); }
    .said ac-icon { margin-top: 0.125rem; }
    .none { display: grid; grid-template-columns: minmax(0, 1fr); gap: var(--ac-space-2); }
    .none h4 { margin: 0; color: var(--ac-text); font-weight: var(--ac-weight-medium); }
    .none p, details p { max-width: 44rem; color: var(--ac-text-muted); }
    ac-command { max-width: 44rem; margin-block: var(--ac-space-2); }
    summary { width: fit-content; cursor: pointer; border-radius: var(--ac-radius-s); color: var(--ac-text-muted); font-size: var(--ac-text-s); }
    details[open] summary { margin-bottom: var(--ac-space-2); }
    dd .badge + .badge { margin-inline-start: var(--ac-space-1); }
  `];

  constructor() {
    super();
    /** @type {Pool | null} */
    this.pool = null;
    /** @type {PoolHost[]} */
    this.hosts = [];
    /** Actions in progress, by host name. @type {Record<string, string>} */
    this.busy = {};
  }

  render() {
    if (!this.pool) return nothing;
    const {name, state, modules} = this.pool;
    return html`
      <article class="card ${state}" aria-labelledby="name">
        <div class="head">
          <div class="name">
            <h3 id="name">${name}</h3>
            <ac-state room="hosts" .state=${state}></ac-state>
          </div>
        </div>
        ${this._state(this.pool)}
        ${this._facts(this.pool)}
        <div>
          <h4 id="modules">${t('hosts.modules', {n: modules.length})}</h4>
          <ul class="modules" aria-labelledby="modules">${modules.map((module) => this._module(module))}</ul>
        </div>
        ${this.hosts.length ? html`<ac-pool-hosts .pool=${name} .hosts=${this.hosts} .modules=${modules.map((module) => module.name)} .busy=${this.busy}></ac-pool-hosts>` : nothing}
        ${state === 'failed' ? nothing : this._start(this.pool)}
      </article>`;
  }

  /** Explain its state, unless that is obvious. @param {Pool} pool */
  _state({state, reason}) {
    if (state === 'running') return nothing;
    if (state === 'failed') {
      return html`
        <div class="state">
          <p class="said"><ac-icon name="circle-alert"></ac-icon><span>${sentence(reason)}</span></p>
          <p class="small">${t('hosts.poolFailedHint')}</p>
        </div>`;
    }
    if (!this.hosts.length) return html`<div class="state"><p>${sentence(reason)}</p></div>`;
    return html`
      <div class="state">
        <p>${t('hosts.means.poolAway')}</p>
        ${reason ? html`<p class="small">${t('hosts.why')} <bdi>${reason}</bdi></p>` : nothing}
      </div>`;
  }

  /** @param {Pool} pool */
  _facts({address, labels}) {
    const there = this.hosts.filter(({used}) => used !== null);
    const used = there.reduce((sum, host) => sum + (host.used ?? 0), 0);
    const capacity = there.reduce((sum, host) => sum + (host.capacity ?? 0), 0);
    return html`
      <dl>
        ${fact(t('hosts.poolAddress'), html`<code>${address}</code>`, 'wide')}
        ${this.hosts.length ? fact(t('hosts.poolHosts'), t('hosts.poolThere', {there: there.length, all: this.hosts.length})) : nothing}
        ${capacity ? fact(t('hosts.inUse'), html`${t('hosts.usedOf', {used, capacity})}${meterOf(used, capacity)}`) : nothing}
        ${labels.length ? fact(t('hosts.poolLabels'), labels.map((label) => html`<span class="badge">${label}</span>`)) : nothing}
      </dl>`;
  }

  /** @param {RemoteModule} module */
  _module({title, state, reason, tools, waiting}) {
    const isMissing = state === 'stopped';
    return html`
      <li>
        <bdi>${saidByHost(title)}</bdi>
        ${state === 'ready' || isMissing ? nothing : html`<ac-state room="modules" .state=${state}></ac-state>`}
        ${state === 'failed' ? html`<span class="small"><bdi>${saidByHost(reason)}</bdi></span>` : html`<span class="muted small">${isMissing ? this.hosts.length ? t('hosts.poolMissing') : nothing : t('hosts.tools', {n: tools})}</span>`}
        ${waiting ? waitingTools(waiting) : nothing}
      </li>`;
  }

  /** Explain how to start a host; folded if there are hosts already. @param {Pool} pool */
  _start({name, address, labels}) {
    const words = ['agentcore host', `--pool ${name}`, `--server ${address.replaceAll(', ', ',')}`, ...labels.map((label) => `--label ${label}`)];
    const how = html`
      <p>${t('hosts.poolStart')}</p>
      <ac-command command=${words.join(' ')}></ac-command>
      <p class="small">${t('hosts.poolStartMore')}</p>`;
    if (this.hosts.length) return html`<details><summary>${t('hosts.poolAdd')}</summary>${how}</details>`;
    return html`<div class="none"><h4>${t('hosts.poolNone')}</h4>${how}</div>`;
  }
}

customElements.define('ac-pool-card', AcPoolCard);
