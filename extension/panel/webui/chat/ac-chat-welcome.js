import {LitElement, css, html, nothing} from 'lit';
import {chatSetup} from '../models/setup.js';
import {Localized, t} from '../base/i18n.js';
import {Listening} from '../base/subscriptions.js';
import {PAGE_TARGET, pageAddress} from '../client/session.js';
import {base, buttons} from '../ui/styles.js';
import '../ui/ac-icon.js';

/** Suggested first prompts about the page next to the panel. */
const PROMPTS = [{id: 'about', icon: 'file-text'}, {id: 'mark', icon: 'pencil'}, {id: 'fill', icon: 'mouse-pointer'}];

/**
 * The start screen of a chat: suggested prompts, or a link to agentcore's page, where models are set up.
 * @fires ac-prompt {text: string}
 */
export class AcChatWelcome extends Localized(LitElement) {
  static properties = {model: {}};

  static styles = [base, buttons, css`
    :host { display: grid; align-content: safe center; justify-items: center; gap: var(--ac-space-4); min-height: 100%; padding: var(--ac-space-5) var(--ac-space-4); }
    .head { display: grid; justify-items: center; gap: var(--ac-space-2); text-align: center; max-width: 24rem; }
    .head img { width: 2.25rem; height: 2.25rem; }
    .head h1 { font-size: var(--ac-text-xl); }
    .head p { color: var(--ac-text-muted); text-wrap: pretty; }
    ul { display: grid; gap: var(--ac-space-2); width: min(24rem, 100%); }
    ul button { display: grid; grid-template-columns: auto minmax(0, 1fr); justify-content: start; gap: var(--ac-space-3); width: 100%; padding: var(--ac-space-2) var(--ac-space-3); border-radius: var(--ac-radius-l); text-align: start; white-space: normal; line-height: var(--ac-line); font-weight: inherit; box-shadow: none; }
    ul ac-icon { color: var(--ac-accent); margin-top: 0.15rem; }
  `];

  constructor() {
    super();
    /** The model that would be used; empty if none is available. */
    this.model = '';
    new Listening(this, () => [chatSetup.subscribe(() => this.requestUpdate())]);
  }

  render() {
    if (!chatSetup.isLoaded) return nothing;
    return chatSetup.isSetUp && this.model ? this._renderPrompts() : this._renderSetup();
  }

  _renderPrompts() {
    return html`
      <div class="head"><img src="/static/icon.svg" alt=""><h1>${t('chat.welcome')}</h1><p>${t('panel.welcomeText')}</p></div>
      <ul>${PROMPTS.map(({id, icon}) => html`
        <li><button @click=${() => this._prompt(t(`panel.prompt.${id}`))}><ac-icon name=${icon}></ac-icon>${t(`panel.prompt.${id}`)}</button></li>`)}</ul>`;
  }

  _renderSetup() {
    return html`
      <div class="head"><img src="/static/icon.svg" alt=""><h1>${t('models.setUp')}</h1><p>${t('panel.setUpText')}</p></div>
      <a class="button primary" href=${pageAddress('#/chats')} target=${PAGE_TARGET}><ac-icon name="external-link"></ac-icon>${t('panel.openPage')}</a>`;
  }

  /** @param {string} text */
  _prompt(text) {
    this.dispatchEvent(new CustomEvent('ac-prompt', {detail: {text}, bubbles: true, composed: true}));
  }
}
customElements.define('ac-chat-welcome', AcChatWelcome);
