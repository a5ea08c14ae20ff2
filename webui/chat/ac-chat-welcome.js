import {LitElement, css, html, nothing} from 'lit';
import {chatSetup} from '../models/setup.js';
import {Localized, t} from '../base/i18n.js';
import {Listening} from '../base/listening.js';
import {base, buttons, cards} from '../ui/styles.js';
import {href} from '../base/router.js';
import {moduleList} from '../client/module-list.js';
import {toolList} from '../client/tool-list.js';
import {advice, putAdviceAway} from './advice.js';
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

/**
 * The content of a new chat: suggested prompts; or, without a model, the setup of providers or the choice of a model.
 * @fires ac-prompt {text: string}
 * @fires ac-use-model {model: string}
 */
export class AcChatWelcome extends Localized(LitElement) {
  static properties = {model: {}};

  static styles = [base, buttons, cards, css`
    :host { display: grid; align-content: safe center; justify-items: center; gap: var(--ac-space-5); min-height: 100%; padding: var(--ac-space-6) var(--ac-space-5); }
    .head { display: grid; justify-items: center; gap: var(--ac-space-2); text-align: center; max-width: 36rem; }
    .head img { width: 2.5rem; height: 2.5rem; }
    .head p { color: var(--ac-text-muted); text-wrap: pretty; }
    .prompts { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(17rem, 100%), 1fr)); gap: var(--ac-space-3); width: min(42rem, 100%); }
    .prompts button { display: grid; grid-template-columns: auto minmax(0, 1fr); justify-content: start; gap: var(--ac-space-1) var(--ac-space-3); height: 100%; width: 100%; padding: var(--ac-space-3) var(--ac-space-4); border-radius: var(--ac-radius-l); text-align: start; white-space: normal; line-height: var(--ac-line); font-weight: inherit; box-shadow: none; }
    .prompts ac-icon { color: var(--ac-accent); margin-top: 0.15rem; }
    .card { width: min(34rem, 100%); padding: var(--ac-space-5); }
    .advice { display: grid; gap: var(--ac-space-1); width: min(42rem, 100%); color: var(--ac-text-muted); font-size: var(--ac-text-s); }
    .advice li { display: grid; grid-template-columns: auto minmax(0, 1fr) auto auto; align-items: center; gap: var(--ac-space-2); }
    .tip { color: var(--ac-text-muted); font-size: var(--ac-text-s); text-align: center; max-width: 34rem; text-wrap: pretty; }
  `];

  constructor() {
    super();
    /** The model that would be used; empty: none is available. */
    this.model = '';
    new Listening(this, () => [chatSetup.subscribe(() => this.requestUpdate()), toolList.subscribe(() => this.requestUpdate()), moduleList.subscribe(() => this.requestUpdate())]);
  }

  render() {
    if (!chatSetup.isLoaded) return nothing;
    if (!chatSetup.isSetUp) return this._renderSetup();
    return this.model && !chatSetup.listed ? this._renderPrompts() : this._renderChoice();
  }

  _renderPrompts() {
    const fitting = PROMPTS.filter(({tools}) => toolList.tools.some(({name}) => tools.test(name))).slice(0, SHOWN);
    return html`
      <div class="head"><img src="/static/icon.svg" alt=""><h1>${t('chat.welcome')}</h1><p>${t('chat.welcomeText')}</p></div>
      ${fitting.length ? html`<ul class="prompts">${fitting.map(({id, icon}) => html`
        <li><button @click=${() => this._prompt(t(`chat.prompt.${id}`))}><ac-icon name=${icon}></ac-icon>${t(`chat.prompt.${id}`)}</button></li>`)}</ul>` : nothing}
      ${this._renderAdvice()} ${this._renderTip()}`;
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
      <div class="head"><img src="/static/icon.svg" alt=""><h1>${t('models.setUp')}</h1><p>${t('models.setUpText')}</p></div>
      <div class="card"><ac-chat-providers></ac-chat-providers></div>
      ${this._renderTip()}`;
  }

  _renderChoice() {
    return html`
      <div class="head"><img src="/static/icon.svg" alt=""><h1>${t('models.choose')}</h1><p>${t('models.chooseText')}</p></div>
      <div class="card"><ac-model-picker .inUse=${this.model}></ac-model-picker></div>`;
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
customElements.define('ac-chat-welcome', AcChatWelcome);
