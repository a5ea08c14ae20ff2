import {LitElement, css, html, nothing} from 'lit';
import {abilities} from '../../client/abilities.js';
import {hostList} from '../../client/host-list.js';
import {chatSetup} from '../../models/setup.js';
import {Localized, inLocale, t} from '../../base/i18n.js';
import {Listening} from '../../base/subscriptions.js';
import {base, buttons} from '../../ui/styles.js';
import '../../ui/overlay/ac-choice-menu.js';

/** @type {Record<string, string>} */
const SHIELDS = {allow: 'shield-alert', deny: 'ban'};

/** Models of one provider in the menu. */
const OFFERED = 12;

/**
 * The choices of a chat: its model and agent, the approval mode, and the host that its calls go to.
 * @fires ac-change {model?: string, agentId?: string, mode?: string, host?: string}
 * @fires ac-open-providers
 * @fires ac-open-system
 */
export class AcChatChoices extends Localized(LitElement) {
  static properties = {
    model: {},
    agentId: {attribute: 'agent-id'},
    mode: {},
    host: {attribute: false},
  };

  static styles = [base, buttons, css`
    :host { display: flex; flex-wrap: wrap; min-width: 0; }
    /* on one line, shortened, unless too little would be left of each */
    @media (max-width: 30rem) { :host(:not([many])) { flex-wrap: nowrap; } :host(:not([many])) .mode { flex: none; } }
    .told { flex: none; }
    .told { color: var(--ac-text-muted); }
    .settings { justify-content: flex-start; gap: var(--ac-space-2); width: 100%; border-top: 1px solid var(--ac-border); border-radius: 0; padding-block: var(--ac-space-2); color: var(--ac-text-muted); font-weight: inherit; }
  `];

  constructor() {
    super();
    this.model = '';
    this.agentId = '';
    this.mode = '';
    /** The host that calls go to; '': the server; undefined: the agent's default. @type {string | undefined} */
    this.host = undefined;
    new Listening(this, () => {
      if (abilities.setup) void hostList.begin();
      return [chatSetup.subscribe(() => this.requestUpdate()), hostList.subscribe(() => this.requestUpdate())];
    });
  }

  render() {
    const {agents, modes} = chatSetup;
    const mode = this.mode || chatSetup.agent(this.agentId)?.mode || 'ask';
    this.toggleAttribute('many', agents.length > 1 || this._hasHosts);
    return html`
      ${this._renderModels()}
      ${agents.length > 1 ? html`
        <ac-choice-menu icon="bot" label=${t('chat.agent')} .choices=${agents.map(({id, instructions}) => ({value: id, label: id, text: firstWords(instructions)}))} .value=${this.agentId || 'default'}
          @ac-choose=${(/** @type {CustomEvent} */ event) => this._change({agentId: event.detail.value})}></ac-choice-menu>` : nothing}
      <ac-choice-menu class="mode" icon=${SHIELDS[mode] ?? 'shield'} label=${t('chat.mode')} ?warning=${mode === 'allow'}
        .choices=${modes.map((value) => ({value, label: t(`chat.mode.${value}`), text: t(`chat.modeText.${value}`)}))} .value=${mode}
        @ac-choose=${(/** @type {CustomEvent} */ event) => this._change({mode: event.detail.value})}></ac-choice-menu>
      ${this._renderHosts()}
      ${abilities.setup ? html`<button class="quiet small icon told" aria-label=${t('chat.told.title')} title=${t('chat.told.title')} aria-haspopup="dialog" @click=${() => this._fire('ac-open-system', {})}><ac-icon name="file-text"></ac-icon></button>` : nothing}`;
  }

  _renderModels() {
    const wanted = this.model || chatSetup.modelOf(this.agentId);
    const own = chatSetup.models.map(({name, isUsable, hint, baseUrl}) => ({value: name, label: name, text: isUsable ? baseUrl ?? '' : hint ?? t('models.notUsable'), isOff: !isUsable}));
    const offered = abilities.setup ? chatSetup.usable.flatMap(choicesOf) : [];
    const models = [...(offered.length ? own.map((choice) => ({...choice, group: t('models.own')})) : own), ...offered];
    if (wanted && !models.some(({value}) => value === wanted)) models.unshift({value: wanted, label: wanted, text: '', isOff: false});
    return html`
      <ac-choice-menu icon="sparkles" label=${t('chat.model')} shown=${wanted || t('chat.noModel')} .choices=${models} .value=${wanted} @ac-opened=${() => { if (abilities.setup) void chatSetup.loadOffered(); }}
        @ac-choose=${(/** @type {CustomEvent} */ event) => this._change({model: event.detail.value})}>
        ${abilities.setup ? html`<button class="quiet settings" role="menuitem" tabindex="-1" @click=${() => this._fire('ac-open-providers', {})}><ac-icon name="key"></ac-icon>${t('models.providers')}…</button>` : nothing}
      </ac-choice-menu>`;
  }

  /** The host that calls go to; '': the server. */
  get _host() {
    return this.host ?? hostList.choose(chatSetup.agent(this.agentId)?.hosts ?? []);
  }

  /** True if there is a host to choose, or to show. */
  get _hasHosts() {
    return hostList.hosts.length > 0 || Boolean(this._host);
  }

  _renderHosts() {
    if (!this._hasHosts) return nothing;
    const host = this._host;
    const choices = [
      {value: '', label: t('chat.host.server'), text: t('chat.host.serverText')},
      ...hostList.hosts.map(({name, state, platform, size}) => ({value: name, label: name, text: [t(`chat.host.state.${state}`), size === undefined ? platform : size ? t('chat.host.pool', {n: size}) : t('chat.host.poolEmpty')].filter(Boolean).join(' · ')})),
    ];
    if (host && !hostList.find(host)) choices.push({value: host, label: host, text: t(hostList.isLoaded ? 'chat.host.unknown' : 'chat.host.state.unknown')});
    const isAway = Boolean(host) && hostList.isLoaded && hostList.find(host)?.state !== 'running';
    // a client that may not choose still shows where calls go
    return html`
      <ac-choice-menu class="host" icon="server" label=${t('chat.host.label')} ?warning=${isAway} shown=${isAway ? t('chat.host.away', {name: host}) : ''}
        .choices=${choices.map((choice) => ({...choice, isOff: !abilities.setup && choice.value !== host}))} .value=${host}
        @ac-choose=${(/** @type {CustomEvent} */ event) => this._change({host: event.detail.value})}></ac-choice-menu>`;
  }

  /** @param {Record<string, string>} change */
  _change(change) {
    this._fire('ac-change', change);
  }

  /** @param {string} name @param {Record<string, string>} detail */
  _fire(name, detail) {
    this.dispatchEvent(new CustomEvent(name, {detail, bubbles: true, composed: true}));
  }
}
/** Return the models that a provider lists, at most a few; all of them are in the dialog of providers. @param {import('../../models/setup.js').Provider} given */
function choicesOf({provider, label}) {
  const names = chatSetup.offered.get(provider) ?? [];
  return names.slice(0, OFFERED).map((name) => ({value: `${provider}:${name}`, label: name, text: '', isOff: false, group: inLocale(label) ?? provider}));
}
customElements.define('ac-chat-choices', AcChatChoices);

const WORDS_CHARS = 100;

/** @param {string} instructions */
function firstWords(instructions) {
  const line = (instructions ?? '').trim().split('\n', 1)[0];
  return line.length > WORDS_CHARS ? `${line.slice(0, WORDS_CHARS)}…` : line;
}
