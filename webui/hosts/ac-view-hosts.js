import {LitElement, css, html, nothing} from 'lit';
import {repeat} from 'lit/directives/repeat.js';
import {Localized, t} from '../base/i18n.js';
import {Listening} from '../base/subscriptions.js';
import {Soon} from '../base/throttle.js';
import {client} from '../client/client.js';
import {moduleList} from '../client/module-list.js';
import {confirm} from '../ui/overlay/confirm.js';
import {base, buttons, cards, code, views} from '../ui/styles.js';
import {toast, toastError} from '../ui/toasts.js';
import '../ui/ac-copy.js';
import '../ui/ac-empty.js';
import '../ui/ac-error-card.js';
import './ac-add-machine.js';
import './ac-host-card.js';
import './ac-pool-card.js';
import './ac-remote-host-card.js';
import {act, heldBy} from './remote-host.js';
import '../base/later-strings.js';

/** All other kinds are pools, which packages can add: `nats` is one. */
const SINGLE_KINDS = ['process', 'remote', 'member'];

/** @typedef {import('./ac-host-card.js').KnownHost} KnownHost */
/** @typedef {import('./remote-host.js').RemoteHost} RemoteHost */
/** @typedef {import('./ac-pool-card.js').Pool} Pool */
/** @typedef {import('./ac-pool-hosts.js').PoolHost} PoolHost */
/** @typedef {KnownHost | RemoteHost | Pool | PoolHost} AnyHost */
/** @typedef {import('./remote-host.js').Action} Action */

/** Polling interval: no event reports memory and latency. */
const LOOK_MS = 5000;
const OFTEN = ['host.stateChanged', 'module.stateChanged', 'call.*', 'resource.stateChanged', 'tools.changed', 'policy.*', 'events.reset'];

/** The hosts in which modules run outside the server: on other machines and in processes on this one; and how to add one. */
export class AcViewHosts extends Localized(LitElement) {
  static properties = {
    path: {attribute: false},
    query: {attribute: false},
    _hosts: {state: true},
    _error: {state: true},
    _busy: {state: true},
  };

  static styles = [base, buttons, cards, code, views, css`
    .view-head .muted { max-width: 44rem; }
    .hosts { display: grid; grid-template-columns: minmax(0, 1fr); gap: var(--ac-space-4); }
    section + section { margin-top: var(--ac-space-6); }
    h2 { display: flex; gap: var(--ac-space-2); margin-bottom: var(--ac-space-2); font-size: var(--ac-text-m); }
    h2 span { font-weight: normal; }
    .how { display: grid; grid-template-columns: minmax(0, 1fr); gap: var(--ac-space-3); padding: var(--ac-space-4); }
    .how p { max-width: 44rem; }
    .block { position: relative; }
    .block ac-copy { position: absolute; inset: var(--ac-space-1) var(--ac-space-1) auto auto; background: var(--ac-surface-sunken); border-radius: var(--ac-radius-m); }
    pre.code { padding-inline-end: var(--ac-space-7); }
  `];

  constructor() {
    super();
    /** @type {string[]} */
    this.path = [];
    this.query = new URLSearchParams();
    /** @type {AnyHost[] | null} */
    this._hosts = null;
    /** @type {unknown} */
    this._error = null;
    /** Actions in progress, by host name. @type {Record<string, Action | 'restart'>} */
    this._busy = {};
    const soon = new Soon(() => void this._load()); // calls come in bursts
    new Listening(this, () => {
      void this._load();
      const looking = setInterval(() => { if (!document.hidden && this._hosts?.length) void this._load(); }, LOOK_MS);
      return [
        ...OFTEN.map((type) => client.on(type, soon.ask)),
        client.on('hosts.changed', () => void this._load()),
        client.on('connection', (connection) => { if (connection === 'open') void this._load(); }),
        moduleList.subscribe(() => this.requestUpdate()),
        () => clearInterval(looking),
        soon.end,
      ];
    });
  }

  render() {
    return html`
      <header class="view-head">
        <div class="titles"><h1>${t('hosts.title')}</h1><p class="muted">${t('hosts.subtitle')}</p></div>
      </header>
      ${this._error && !this._hosts ? this._failed() : nothing}
      ${this._hosts ? this._all(this._hosts) : nothing}`;
  }

  /** @param {AnyHost[]} hosts */
  _all(hosts) {
    const remote = /** @type {RemoteHost[]} */ (hosts.filter(({kind}) => kind === 'remote'));
    const local = /** @type {KnownHost[]} */ (hosts.filter(({kind}) => kind === 'process'));
    const pools = /** @type {Pool[]} */ (hosts.filter(({kind}) => !SINGLE_KINDS.includes(kind)));
    const members = /** @type {PoolHost[]} */ (hosts.filter(({kind}) => kind === 'member'));
    return html`
      ${hosts.length ? nothing : this._none()}
      ${remote.length ? this._group(t('hosts.elsewhere'), remote, (known) => html`
        <ac-remote-host-card .known=${known} .busy=${this._busy[known.name] ?? ''} @ac-act=${this._act}></ac-remote-host-card>`) : nothing}
      ${pools.length ? this._group(t('hosts.pools'), pools, (pool) => html`
        <ac-pool-card .pool=${pool} .hosts=${members.filter(({name}) => name.startsWith(`${pool.name}.`))} .busy=${this._busy} @ac-act=${this._act}></ac-pool-card>`) : nothing}
      ${local.length ? this._group(t('hosts.here'), local, (known) => html`
        <ac-host-card .known=${known} .isBusy=${known.name in this._busy} @ac-restart=${this._restart}></ac-host-card>`) : nothing}
      <section aria-labelledby="add">
        <h2 id="add">${t('hosts.add')}</h2>
        <ac-add-machine></ac-add-machine>
      </section>
      ${this._how()}`;
  }

  /**
   * @template {{name: string}} T
   * @param {string} heading @param {T[]} hosts @param {(known: T) => unknown} card
   */
  _group(heading, hosts, card) {
    return html`
      <section aria-label=${heading}>
        <h2>${heading} <span class="muted">${hosts.length}</span></h2>
        <div class="hosts">${repeat(hosts, ({name}) => name, card)}</div>
      </section>`;
  }

  _none() {
    return html`<section class="card"><ac-empty icon="server" heading=${t('hosts.none')}>${t('hosts.noneText')}</ac-empty></section>`;
  }

  _how() {
    const block = exampleOf(this._hosts ?? []);
    return html`
      <section aria-labelledby="how">
        <h2 id="how">${t('hosts.how')}</h2>
        <div class="card how">
          <p>${t('hosts.howText')}</p>
          <div class="block">
            <pre class="code" tabindex="0" role="group" aria-labelledby="how"><code>${block}</code></pre>
            <ac-copy .value=${block} label=${t('hosts.copyBlock')}></ac-copy>
          </div>
          <p class="muted">${t('hosts.howNext')} <a href="#/settings">${t('hosts.toSettings')}</a></p>
        </div>
      </section>`;
  }

  _failed() {
    return html`
      <ac-error-card heading=${t('hosts.notLoaded')} .error=${this._error}>
        <button slot="actions" @click=${() => this._load()}>${t('ui.again')}</button>
      </ac-error-card>`;
  }

  async _load() {
    try {
      this._hosts = (await client.get('/api/hosts')).hosts;
      this._error = null;
    } catch (error) {
      this._error = error;
    }
  }

  /** @param {CustomEvent<{host: KnownHost}>} event */
  async _restart({detail: {host: {name, callsInFlight, resources}}}) {
    const held = resources.reduce((sum, {count}) => sum + count, 0);
    if (callsInFlight || held) {
      const text = t('hosts.restartText', {calls: callsInFlight, resources: held});
      if (!await confirm({heading: t('hosts.restartHeading', {name}), text, action: t('hosts.restart'), isDangerous: true})) return;
    }
    await this._do(name, 'restart', () => client.post(`/api/hosts/${encodeURIComponent(name)}/restart`));
  }

  /** @param {CustomEvent<{host: RemoteHost, action: Action}>} event */
  async _act({detail: {host, action}}) {
    if (await isMeant(host, action)) await this._do(host.name, action, () => act(host, action));
  }

  /** @param {string} name @param {Action | 'restart'} action @param {() => Promise<unknown>} send */
  async _do(name, action, send) {
    this._busy = {...this._busy, [name]: action};
    try {
      await send();
      toast(t(`hosts.done.${action}`, {name}));
      await this._load();
    } catch (error) {
      const waits = /** @type {import('../client/client.js').ApiError} */ (error).type === 'confirmation_required';
      if (waits) toast(t('approval.waits'), {detail: t('approval.waitsText')});
      else toastError(t(`hosts.notDone.${action}`, {name}), error);
    } finally {
      const {[name]: _, ...others} = this._busy;
      this._busy = others;
    }
  }
}

/** Ask the user before an action that ends something irreversibly. @param {RemoteHost} host @param {Action} action */
async function isMeant(host, action) {
  const {name, callsInFlight: calls} = host;
  const held = heldBy(host);
  if (action !== 'forget' && (action !== 'disconnect' || (!calls && !held))) return true;
  const ends = calls || held ? ` ${t(`hosts.${action}Ends`, {calls, resources: held})}` : '';
  const question = {heading: t(`hosts.${action}Heading`, {name}), text: t(`hosts.${action}Text`, {name}) + ends, action: t(`hosts.${action}`), isDangerous: true};
  return confirm(question);
}

/** Return an example for app.json, with a module that runs in the server now. @param {{name: string}[]} hosts */
function exampleOf(hosts) {
  const free = moduleList.modules.filter(({listed, host, block}) => listed && !host && !block).map(({name}) => name);
  const chosen = free.find((name) => name === 'browser') ?? free[0] ?? 'browser';
  const name = hosts.some((each) => each.name === 'apart') ? 'second' : 'apart';
  const block = {[name]: {kind: 'process', modules: [chosen], memory_mb: 2048}};
  return `"hosts": ${JSON.stringify(block, null, 2).replace(/\[\s+"(.*)"\s+\]/, '["$1"]')}`;
}

customElements.define('ac-view-hosts', AcViewHosts);
