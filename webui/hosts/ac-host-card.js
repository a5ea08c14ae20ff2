import {LitElement, css, html, nothing} from 'lit';
import {formatBytes, formatDuration, formatTime, Localized, t} from '../base/i18n.js';
import {href} from '../base/router.js';
import {badges, base, buttons, cards, code} from '../ui/styles.js';
import '../ui/ac-icon.js';
import '../ui/ac-state.js';
import {fact, hostCardStyles, meterOf, meters, sentence} from './host-card-styles.js';

/** @typedef {{name: string, title: string, state: import('../client/module-list.js').Module['state'], isListed: boolean}} HostedModule */
/**
 * @typedef {object} KnownHost  a process on this machine
 * @property {string} name
 * @property {'process'} kind
 * @property {'stopped' | 'starting' | 'running' | 'failed'} state
 * @property {string} reason  why it failed, or why it exited the last time
 * @property {string} lastWords  the end of its output before that
 * @property {number} since
 * @property {number | null} pid
 * @property {string} python
 * @property {string} version
 * @property {number | null} memoryBytes
 * @property {number | null} memoryMaxBytes
 * @property {number | null} latencyMs
 * @property {number} endsInLastHour
 * @property {number} callsInFlight
 * @property {{type: string, count: number}[]} resources
 * @property {HostedModule[]} modules
 */

/** One host on this machine: its state and the reason, its modules, its resource usage.  @fires ac-restart {host: KnownHost} */
export class AcHostCard extends Localized(LitElement) {
  static properties = {
    known: {attribute: false},
    isBusy: {attribute: false},
  };

  static styles = [badges, base, buttons, cards, code, hostCardStyles, meters, css`
    .card.failed { border-color: color-mix(in srgb, var(--ac-danger) 35%, transparent); }
    .why { display: grid; grid-template-columns: minmax(0, 1fr); gap: var(--ac-space-2); }
    .why > p { display: flex; gap: var(--ac-space-2); overflow-wrap: anywhere; }
    .why > p ac-icon { margin-top: 0.125rem; }
    .why > .said { color: var(--ac-danger); }
    .why > .again { color: var(--ac-warn); }
    pre.code { max-height: 12rem; }
    summary { cursor: pointer; width: fit-content; border-radius: var(--ac-radius-s); color: var(--ac-text-muted); font-size: var(--ac-text-s); }
    details[open] summary { margin-bottom: var(--ac-space-2); }
  `];

  constructor() {
    super();
    /** @type {KnownHost | null} */
    this.known = null;
    this.isBusy = false;
  }

  render() {
    if (!this.known) return nothing;
    const {name, state, modules} = this.known;
    const isBusy = this.isBusy || state === 'starting';
    return html`
      <article class="card ${state}" aria-labelledby="name">
        <div class="head">
          <div class="name">
            <h3 id="name">${name}</h3>
            <ac-state room="hosts" .state=${state}></ac-state>
          </div>
          <button class="small quiet" ?disabled=${isBusy} aria-busy=${isBusy} aria-label=${t('hosts.restartNamed', {name})} @click=${this._restart}>
            <ac-icon name=${isBusy ? 'loader-circle' : 'rotate-ccw'}></ac-icon>${t(state === 'stopped' ? 'hosts.start' : 'hosts.restart')}
          </button>
        </div>
        ${this._why(this.known)}
        <div>
          <h4 id="modules">${t('hosts.modules', {n: modules.length})}</h4>
          <ul class="modules" aria-labelledby="modules">${modules.map((module) => this._module(module))}</ul>
        </div>
        ${this._facts(this.known)}
      </article>`;
  }

  /** @param {KnownHost} known */
  _why({state, reason, lastWords, endsInLastHour}) {
    const hasEnded = state !== 'failed' && endsInLastHour > 0 && reason;
    if (state !== 'failed' && !hasEnded) return nothing;
    const said = hasEnded ? t('hosts.ended', {n: endsInLastHour, reason}) : sentence(reason);
    return html`
      <div class="why">
        <p class=${hasEnded ? 'again' : 'said'}><ac-icon name=${hasEnded ? 'triangle-alert' : 'circle-alert'}></ac-icon><span>${said}</span></p>
        ${lastWords ? html`
          <details ?open=${state === 'failed'}>
            <summary>${t('hosts.lastWords')}</summary>
            <pre class="code wrap" tabindex="0" role="group" aria-label=${t('hosts.lastWords')}><code>${lastWords}</code></pre>
          </details>` : nothing}
        ${state === 'failed' ? html`<p class="muted small">${t(endsInLastHour ? 'hosts.failedHint' : 'hosts.neverHint')}</p>` : nothing}
      </div>`;
  }

  /** @param {HostedModule} module */
  _module({name, title, state, isListed}) {
    return html`
      <li>
        <a href=${href(['modules', name])}>${title}</a>
        ${isListed ? html`<ac-state room="modules" .state=${state}></ac-state>` : html`<span class="badge warn">${t('hosts.notListed')}</span>`}
      </li>`;
  }

  /** @param {KnownHost} known */
  _facts(known) {
    const {state, pid, python, version, since, latencyMs, callsInFlight, resources} = known;
    const isUp = state === 'running';
    const held = resources.map(({type, count}) => `${count} ${type}`).join(', ');
    return html`
      <dl>
        ${isUp ? html`
          ${fact(t('hosts.calls'), callsInFlight)}
          ${fact(t('hosts.resources'), held || t('hosts.noResources'))}
          ${this._memory(known)}
          ${fact(t('hosts.latency'), latencyMs === null ? '–' : formatDuration(latencyMs))}` : nothing}
        ${fact(t(`hosts.since.${state}`), formatTime(since, {seconds: false}))}
        ${pid === null ? nothing : fact(t('hosts.pid'), pid)}
        ${fact(t('hosts.python'), html`<code>${python}</code>${version ? html` <span class="muted">agentcore ${version}</span>` : nothing}`, 'wide')}
      </dl>`;
  }

  /** @param {KnownHost} known */
  _memory({memoryBytes, memoryMaxBytes}) {
    if (memoryBytes === null) return fact(t('hosts.memory'), '–');
    if (memoryMaxBytes === null) return fact(t('hosts.memory'), formatBytes(memoryBytes));
    const said = t('hosts.memoryOf', {used: formatBytes(memoryBytes), bound: formatBytes(memoryMaxBytes)});
    return fact(t('hosts.memory'), html`${said}${meterOf(memoryBytes, memoryMaxBytes)}`);
  }

  _restart() {
    this.dispatchEvent(new CustomEvent('ac-restart', {detail: {host: this.known}}));
  }
}

customElements.define('ac-host-card', AcHostCard);
