import {LitElement, css, html, nothing} from 'lit';
import {formatDay, formatDuration, formatTime, Localized, t} from '../base/i18n.js';
import {badges, base, buttons, cards} from '../ui/styles.js';
import '../ui/ac-command.js';
import '../ui/ac-icon.js';
import '../ui/ac-state.js';
import {fact, hostCardStyles, waitingTools} from './host-card-styles.js';
import {actionsFor, isUp, saidByHost} from './remote-host.js';

/** @typedef {import('./remote-host.js').RemoteHost} RemoteHost */
/** @typedef {import('./remote-host.js').Action} Action */

/** @type {Record<Action, string>} */
const ICONS = {drain: 'pause', undrain: 'play', disconnect: 'ban', connect: 'log-in', forget: 'trash-2'};
const MODULES = 24;
const TITLE_CHARACTERS = 60;
const PROBLEM_CHARACTERS = 500;

/** Compare modules by name; they arrive in the order in which they became ready. @param {{name: string}} one @param {{name: string}} other */
const byName = (one, other) => one.name.localeCompare(other.name);

/** A host on another machine: its state, address, modules and activity.  @fires ac-act {host: RemoteHost, action: Action} */
export class AcRemoteHostCard extends Localized(LitElement) {
  static properties = {
    known: {attribute: false},
    busy: {attribute: false},
  };

  static styles = [badges, base, buttons, cards, hostCardStyles, css`
    .card.away { border-color: color-mix(in srgb, var(--ac-warn) 40%, transparent); }
    .head { flex-wrap: wrap; }
    .name { flex: 1 1 12rem; }
    .actions { display: flex; flex-wrap: wrap; gap: var(--ac-space-1); }
    .state { display: grid; grid-template-columns: minmax(0, 1fr); gap: var(--ac-space-2); }
    .state p { max-width: 44rem; color: var(--ac-text-muted); overflow-wrap: anywhere; }
    .state ac-command { max-width: 34rem; }
    li .badge { text-decoration: none; }
    .said { color: var(--ac-danger); }
    .problems { flex-basis: 100%; font-size: var(--ac-text-s); }
    .problems summary { color: var(--ac-warn); }
    .problems li { display: block; min-height: 0; color: var(--ac-text-muted); }
    code { overflow-wrap: anywhere; }
    .folders code { display: block; }
    summary { width: fit-content; cursor: pointer; border-radius: var(--ac-radius-s); color: var(--ac-text-muted); font-size: var(--ac-text-s); }
    @media (max-width: 40rem) { .actions { flex-basis: 100%; margin-inline: calc(-1 * var(--ac-space-2)); } }
  `];

  constructor() {
    super();
    /** @type {RemoteHost | null} */
    this.known = null;
    /** Action in progress. @type {Action | ''} */
    this.busy = '';
  }

  render() {
    if (!this.known) return nothing;
    const {name, state} = this.known;
    const actions = actionsFor(this.known);
    return html`
      <article class="card ${state}" aria-labelledby="name">
        <div class="head">
          <div class="name">
            <h3 id="name">${name}</h3>
            <ac-state room="hosts" .state=${state}></ac-state>
          </div>
          ${actions.length ? html`<div class="actions">${actions.map((action) => this._action(action, name))}</div>` : nothing}
        </div>
        ${this._state(this.known)}
        ${this._modules(this.known)}
        ${state === 'waiting' ? nothing : this._facts(this.known)}
      </article>`;
  }

  /** @param {Action} action @param {string} name */
  _action(action, name) {
    const isBusy = this.busy === action;
    return html`
      <button class="small quiet ${action === 'forget' ? 'danger' : ''}" ?disabled=${this.busy !== ''} aria-busy=${isBusy}
        aria-label=${t(`hosts.${action}Named`, {name})} title=${t(`hosts.${action}Hint`)} @click=${() => this._act(action)}>
        <ac-icon name=${isBusy ? 'loader-circle' : ICONS[action]}></ac-icon>${t(`hosts.${action}`)}
      </button>`;
  }

  /** Explain its state, unless that is obvious. @param {RemoteHost} known */
  _state({name, state, reason}) {
    if (state === 'running') return nothing;
    return html`
      <div class="state">
        <p>${t(`hosts.means.${state}`)}</p>
        ${state === 'away' && reason ? html`<p class="small">${t('hosts.why')} <bdi>${saidByHost(reason)}</bdi></p>` : nothing}
        ${state === 'waiting' ? html`<ac-command command=${`agentcore host --server ${location.origin} --name ${name}`}></ac-command>` : nothing}
      </div>`;
  }

  /** @param {RemoteHost} known */
  _modules({modules}) {
    if (!modules.length) return nothing;
    const rows = [...modules].sort(byName).map((module) => this._module(module));
    return html`
      <div>
        <h4 id="modules">${t('hosts.modules', {n: modules.length})}</h4>
        <ul class="modules" aria-labelledby="modules">${rows.slice(0, MODULES)}</ul>
        ${rows.length > MODULES ? html`
          <details><summary>${t('hosts.moreModules', {n: rows.length - MODULES})}</summary><ul class="modules">${rows.slice(MODULES)}</ul></details>` : nothing}
      </div>`;
  }

  /** @param {import('./remote-host.js').RemoteModule} module */
  _module({title, state, reason, tools, waiting, problems}) {
    return html`
      <li>
        <bdi>${saidByHost(title, TITLE_CHARACTERS)}</bdi>
        ${state === 'ready' ? nothing : html`<ac-state room="modules" .state=${state}></ac-state>`}
        ${state === 'failed' ? html`<span class="said small"><bdi>${saidByHost(reason)}</bdi></span>` : html`<span class="muted small">${t('hosts.tools', {n: tools})}</span>`}
        ${waiting ? waitingTools(waiting) : nothing}
        ${problems.length ? html`
          <details class="problems"><summary>${t('modules.problemCount', {n: problems.length})}</summary>
            <ul>${problems.map((problem) => html`<li><bdi>${saidByHost(problem, PROBLEM_CHARACTERS)}</bdi></li>`)}</ul></details>` : nothing}
      </li>`;
  }

  /** @param {RemoteHost} known */
  _facts(known) {
    const {state, mayUseChats, since, lastSeen, address, platform, version, pairedAt, latencyMs, callsInFlight, resources, workspace} = known;
    const isConnected = isUp(known);
    const held = resources.map(({type, count}) => `${count} ${saidByHost(type)}`).join(', ');
    return html`
      <dl>
        ${isConnected || callsInFlight ? fact(t('hosts.calls'), callsInFlight) : nothing}
        ${isConnected || held ? fact(t('hosts.resources'), held || t('hosts.noResources')) : nothing}
        ${isConnected ? fact(t('hosts.latency'), latencyMs === null ? '–' : formatDuration(latencyMs)) : nothing}
        ${fact(t(`hosts.since.${state === 'running' ? 'connected' : state}`), formatTime(since, {seconds: false}))}
        ${isConnected || lastSeen === null ? nothing : fact(t('hosts.lastSeen'), formatTime(lastSeen, {seconds: false}))}
        ${address ? fact(t('hosts.address'), html`<bdi>${saidByHost(address)}</bdi>`) : nothing}
        ${platform || version ? fact(t('hosts.platform'), html`<bdi>${saidByHost(platform)}</bdi>${version ? html`<div class="muted">agentcore ${saidByHost(version)}</div>` : nothing}`) : nothing}
        ${mayUseChats ? fact(t('hosts.chats'), t('hosts.usesChats')) : nothing}
        ${pairedAt === null ? nothing : fact(t('hosts.pairedAt'), formatDay(pairedAt))}
        ${workspace.length ? fact(t('hosts.workspace'), workspace.map((folder) => html`<code>${saidByHost(folder)}</code>`), 'wide folders') : nothing}
      </dl>`;
  }

  /** @param {Action} action */
  _act(action) {
    this.dispatchEvent(new CustomEvent('ac-act', {detail: {host: this.known, action}}));
  }
}

customElements.define('ac-remote-host-card', AcRemoteHostCard);
