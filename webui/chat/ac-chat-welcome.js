import {LitElement, css, html, nothing} from 'lit';
import {approvals} from '../approval/frame/pending-count.js';
import {chatSetup} from '../models/setup.js';
import {Localized, formatDay, t} from '../base/i18n.js';
import {Listening} from '../base/subscriptions.js';
import {base, buttons, cards} from '../ui/styles.js';
import {href} from '../base/router.js';
import {moduleList} from '../client/module-list.js';
import {toolList} from '../client/tool-list.js';
import {advice, putAdviceAway} from './advice.js';
import {sessionList, waitingIn} from './sessions/session-list.js';
import '../models/ac-chat-providers.js';
import '../models/ac-model-picker.js';
import '../ui/ac-icon.js';

/** Suggested prompts; each is shown if a tool that it needs is available. */
const PROMPTS = [
  {id: 'look', icon: 'folder-open', tools: /^(list_dir|glob)$/},
  {id: 'find', icon: 'search', tools: /^grep$/},
  {id: 'write', icon: 'pencil', tools: /^write_file$/},
  {id: 'web', icon: 'globe', tools: /^web_/},
  {id: 'tools', icon: 'wrench', tools: /./},
];
const SHOWN = 4;
const RECENT = 5;
const PATH_CHARS = 40;

/**
 * The content of a new chat, which is the start page: what waits for the user, the last chats, the folder in use, and suggested prompts; or, without a model, the setup of providers or the choice of a model.
 * @fires ac-prompt {text: string}
 * @fires ac-use-model {model: string}
 */
export class AcChatWelcome extends Localized(LitElement) {
  static properties = {
    model: {},
    isAlone: {type: Boolean, attribute: 'alone'},
  };

  static styles = [base, buttons, cards, css`
    :host { display: grid; align-content: safe center; justify-items: center; gap: var(--ac-space-5); min-height: 100%; padding: var(--ac-space-6) var(--ac-space-5); }
    .head { display: grid; justify-items: center; gap: var(--ac-space-2); text-align: center; max-width: 36rem; }
    .head img { width: 2.5rem; height: 2.5rem; }
    .head p { color: var(--ac-text-muted); text-wrap: pretty; }
    .prompts { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(17rem, 100%), 1fr)); gap: var(--ac-space-3); width: min(42rem, 100%); }
    .prompts button { display: grid; grid-template-columns: auto minmax(0, 1fr); justify-content: start; gap: var(--ac-space-1) var(--ac-space-3); height: 100%; width: 100%; padding: var(--ac-space-3) var(--ac-space-4); border-radius: var(--ac-radius-l); text-align: start; white-space: normal; line-height: var(--ac-line); font-weight: inherit; box-shadow: none; }
    .prompts ac-icon { color: var(--ac-accent); margin-top: 0.15rem; }
    .setup { width: min(34rem, 100%); padding: var(--ac-space-5); }
    .work { display: grid; gap: var(--ac-space-2); width: min(42rem, 100%); }
    .work h2 { font-size: var(--ac-text-s); font-weight: var(--ac-weight-medium); color: var(--ac-text-muted); letter-spacing: 0; }
    .list { overflow: hidden; }
    .list li + li { border-top: 1px solid var(--ac-border); }
    .list :is(a, button) { display: flex; align-items: center; justify-content: start; gap: var(--ac-space-3); width: 100%; min-height: 2.5rem; padding: var(--ac-space-1) var(--ac-space-4); border: 0; border-radius: 0; color: inherit; font-weight: inherit; text-align: start; text-decoration: none; outline-offset: -2px; }
    .list :is(a, button):hover { background: var(--ac-hover); }
    .list :is(a, button) > span:not(.note) { flex: 1; min-width: 0; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
    .list ac-icon { color: var(--ac-text-muted); }
    .list ac-icon.waits { color: var(--ac-warn); }
    .note { flex: none; color: var(--ac-text-muted); font-size: var(--ac-text-s); }
    .head .folders { display: flex; flex-wrap: wrap; align-items: center; justify-content: center; gap: var(--ac-space-1) var(--ac-space-2); font-size: var(--ac-text-s); }
    .folders code { min-width: 0; overflow-wrap: anywhere; }
    .advice { display: grid; gap: var(--ac-space-1); width: min(42rem, 100%); color: var(--ac-text-muted); font-size: var(--ac-text-s); }
    .advice li { display: grid; grid-template-columns: auto minmax(0, 1fr) auto auto; align-items: center; gap: var(--ac-space-2); }
    .tip { color: var(--ac-text-muted); font-size: var(--ac-text-s); text-align: center; max-width: 34rem; text-wrap: pretty; }
  `];

  constructor() {
    super();
    /** The model that would be used; empty: none is available. */
    this.model = '';
    /** True if the list of chats is not shown beside this. */
    this.isAlone = false;
    new Listening(this, () => [chatSetup.subscribe(() => this.requestUpdate()), toolList.subscribe(() => this.requestUpdate()), moduleList.subscribe(() => this.requestUpdate()), sessionList.subscribe(() => this.requestUpdate()), approvals.subscribe(() => this.requestUpdate())]);
  }

  render() {
    if (!chatSetup.isLoaded) return nothing;
    if (!chatSetup.isSetUp) return this._renderSetup();
    return this.model && !chatSetup.listed ? this._renderPrompts() : this._renderChoice();
  }

  _renderPrompts() {
    const fitting = PROMPTS.filter(({tools}) => toolList.tools.some(({name}) => tools.test(name))).slice(0, SHOWN);
    return html`
      <div class="head"><img src="/static/icon.svg" alt=""><h1>${t('chat.welcome')}</h1><p>${t('chat.welcomeText')}</p>${this._renderFolders()}</div>
      ${this._renderWaiting()}
      ${fitting.length ? html`<ul class="prompts">${fitting.map(({id, icon}) => html`
        <li><button @click=${() => this._prompt(t(`chat.prompt.${id}`))}><ac-icon name=${icon}></ac-icon>${t(`chat.prompt.${id}`)}</button></li>`)}</ul>` : nothing}
      ${this._renderAdvice()} ${this._renderRecent()} ${this._renderTip()}`;
  }

  _renderWaiting() {
    const waiting = sessionList.sessions.filter((session) => waitingIn(session));
    const inChats = waiting.reduce((n, session) => n + waitingIn(session), 0);
    if (!waiting.length && !approvals.total) return nothing;
    return html`
      <section class="work" aria-labelledby="waiting">
        <h2 id="waiting">${t('chat.waitingForYou')}</h2>
        <ul class="card list">
          ${waiting.slice(0, RECENT).map((session) => this._renderChat(session, t('chat.waits', {n: waitingIn(session)})))}
          ${approvals.total > inChats ? html`<li><button class="quiet" @click=${this._showApprovals}><ac-icon class="waits" name="shield"></ac-icon><span>${t('approval.waiting', {n: approvals.total})}</span><ac-icon name="chevron-right"></ac-icon></button></li>` : nothing}
        </ul>
      </section>`;
  }

  /** Render the last chats, where their list is not beside this. */
  _renderRecent() {
    const recent = this.isAlone ? sessionList.sessions.slice(0, RECENT) : [];
    if (!recent.length || sessionList.query) return nothing;
    return html`
      <section class="work" aria-labelledby="recent">
        <h2 id="recent">${t('chat.recent')}</h2>
        <ul class="card list">${recent.map((session) => this._renderChat(session, formatDay(session.lastUsedAt)))}</ul>
      </section>`;
  }

  /** @param {import('./sessions/session-list.js').Session} session @param {string} note */
  _renderChat(session, note) {
    return html`<li><a href=${href(['chats', session.sessionId])}><ac-icon class=${waitingIn(session) ? 'waits' : ''} name=${waitingIn(session) ? 'circle-help' : 'message-square'}></ac-icon><span dir="auto">${session.title || t('chat.untitled')}</span><span class="note">${note}</span></a></li>`;
  }

  _showApprovals() {
    this.dispatchEvent(new CustomEvent('ac-show-approvals', {detail: {}, bubbles: true, composed: true}));
  }

  /** Render the folders that tools work in, by the last parts of their paths. */
  _renderFolders() {
    const {folders} = chatSetup;
    if (!folders.length) return nothing;
    return html`<p class="folders"><ac-icon name="folder-open"></ac-icon>${t('chat.worksIn')} ${folders.map((folder) => html`<code title=${folder}>${endOf(folder)}</code>`)}</p>`;
  }

  _renderAdvice() {
    const shown = advice();
    if (!shown.length) return nothing;
    return html`<ul class="advice" aria-label=${t('chat.advice')}>${shown.map((each) => {
      const names = {module: toolList.saidOf(each.module).title, subject: each.subject};
      return html`
        <li>
          <ac-icon name="settings"></ac-icon>
          <span><b>${names.module}:</b> ${each.said}</span>
          <a href=${href(['modules', each.module.name])} aria-label=${t('chat.advisedNamed', names)}>${t('chat.advised')}</a>
          <button class="quiet icon" aria-label=${t('chat.notNow', names)} @click=${() => this._putAway(each)}><ac-icon name="x"></ac-icon></button>
        </li>`;
    })}</ul>`;
  }

  /** @param {import('./advice.js').Advice} each */
  _putAway(each) {
    putAdviceAway(each);
    this.requestUpdate();
  }

  _renderSetup() {
    return html`
      <div class="head"><img src="/static/icon.svg" alt=""><h1>${t('models.setUp')}</h1><p>${t('models.setUpText')}</p>${this._renderFolders()}</div>
      ${this._renderWaiting()}
      <div class="card setup"><ac-chat-providers></ac-chat-providers></div>
      ${this._renderRecent()} ${this._renderTip()}`;
  }

  _renderChoice() {
    return html`
      <div class="head"><img src="/static/icon.svg" alt=""><h1>${t('models.choose')}</h1><p>${t('models.chooseText')}</p></div>
      <div class="card setup"><ac-model-picker .inUse=${this.model}></ac-model-picker></div>`;
  }

  _renderTip() {
    if (!toolList.tools.length) return html`<p class="tip">${t('chat.noTools')} <a href="#/modules">${t('tools.toModules')}</a></p>`;
    return html`<p class="tip">${t('chat.slashTip')}</p>`;
  }

  /** @param {string} text */
  _prompt(text) {
    this.dispatchEvent(new CustomEvent('ac-prompt', {detail: {text}, bubbles: true, composed: true}));
  }
}
/** Return a path as it is read at a glance: whole if it is short, else its last two parts. @param {string} path */
function endOf(path) {
  return path.length <= PATH_CHARS ? path : `…/${path.split('/').slice(-2).join('/')}`;
}

customElements.define('ac-chat-welcome', AcChatWelcome);
