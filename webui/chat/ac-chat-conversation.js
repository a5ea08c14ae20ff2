import {LitElement, css, html, nothing} from 'lit';
import {repeat} from 'lit/directives/repeat.js';
import {Conversation} from './conversation/conversation.js';
import {Localized, t} from '../base/i18n.js';
import {base, buttons} from '../ui/styles.js';
import {toastError} from '../ui/toasts.js';
import {approvals} from '../approval/frame/pending-count.js';
import '../ui/ac-empty.js';
import '../ui/ac-error-card.js';
import './ac-chat-welcome.js';

/** Load the message components: they are large, and a page that opens on a new chat needs them only with its first message. */
export async function loadMessages() {
  try {
    await Promise.all([import('./messages/ac-chat-messages.js'), import('../questions/ac-chat-question.js')]);
  } catch {
    // the server is unreachable: they are loaded with the next message
  }
}

const GONE_AT_ONCE = 100; // this many messages can be removed from the document at once without a delay

/**
 * The content of a chat: its messages, the welcome screen if there are none yet, or the error why they cannot be shown.
 * When the user leaves a chat, its messages are hidden at once and removed from the document while the browser is idle.
 */
export class AcChatConversation extends Localized(LitElement) {
  static properties = {
    chat: {attribute: false},
    model: {},
    isAlone: {type: Boolean, attribute: 'alone'},
  };

  static styles = [base, buttons, css`
    :host { position: relative; flex: 1; display: flex; flex-direction: column; min-height: 0; }
    .middle, ac-chat-messages { flex: 1; }
    /* display: none would take down the layout of all messages at once */
    ac-chat-messages.left { position: absolute; inset: 0; content-visibility: hidden; pointer-events: none; }
    .middle { position: relative; min-height: 0; overflow: auto; }
    .failed { max-width: 50rem; margin: var(--ac-space-6) auto; padding-inline: var(--ac-space-5); }
  `];

  constructor() {
    super();
    this.chat = new Conversation('');
    /** The model that would be used; empty: none is available. */
    this.model = '';
    /** True if the list of chats is not shown beside this. */
    this.isAlone = false;
    /** Chats whose messages are being removed. @type {Conversation[]} */
    this._left = [];
    this._endChat = () => {};
    this._shownQuestion = '';
    /** @type {(() => void) | null} */
    this._endShowing = null;
  }

  connectedCallback() {
    super.connectedCallback();
    if (this.hasUpdated) this._follow();
  }

  disconnectedCallback() {
    this._endChat();
    this._showQuestion('');
    super.disconnectedCallback();
  }

  /** @param {Map<string, unknown>} changed */
  willUpdate(changed) {
    if (!changed.has('chat')) return;
    const before = /** @type {Conversation | undefined} */ (changed.get('chat'));
    if (before && showsMessages(before) && before.items.length > GONE_AT_ONCE) this._left = [...this._left, before];
    this._follow();
  }

  _follow() {
    if (this.chat.id) void loadMessages(); // in parallel with the messages themselves
    this._endChat();
    this._endChat = this.chat.subscribe(() => this.requestUpdate());
  }

  /** Scroll to the newest message and follow it from now on. */
  toNewest() {
    /** @type {import('./messages/ac-chat-messages.js').AcChatMessages | null} */ (this.renderRoot.querySelector('ac-chat-messages:not(.left)'))?.toNewest?.();
  }

  render() {
    const {chat} = this;
    return html`
      ${showsMessages(chat) ? nothing : html`<div class="middle" aria-busy=${chat.isLoaded || chat.error ? nothing : 'true'}>${this._renderInstead(chat)}</div>`}
      ${repeat(showsMessages(chat) ? [...this._left, chat] : this._left, (one) => one, (one) => this._renderMessages(one, one !== chat))}`;
  }

  updated() {
    if (showsMessages(this.chat)) void loadMessages();
    this._showQuestion(showsMessages(this.chat) && this.isConnected ? this.chat.question?.questionId ?? '' : '');
  }

  /** Report which question is shown here, so that the tray leaves it out. @param {string} questionId  empty: none any more */
  _showQuestion(questionId) {
    if (questionId === this._shownQuestion) return;
    this._shownQuestion = questionId;
    this._endShowing?.();
    this._endShowing = questionId ? approvals.showInChat(questionId) : null;
  }

  /** @param {Conversation} chat @param {boolean} isLeft */
  _renderMessages(chat, isLeft) {
    const isThere = this.chat.isLoaded || this.chat.error !== null; // the content of the new chat comes first
    return html`
      <ac-chat-messages class=${isLeft ? 'left' : ''} ?emptying=${isLeft && isThere} .items=${chat.items} .modelWait=${chat.modelWait} .turn=${chat.turn} ?busy=${chat.isRunning} ?earlier=${chat.hasEarlier}
        @ac-earlier=${() => this._loadEarlier(chat)} @ac-emptied=${() => this._remove(chat)} @ac-chat-wanted=${(/** @type {CustomEvent} */ event) => event.detail.take(chat)}>
        ${chat.question ? html`<ac-chat-question .question=${chat.question}></ac-chat-question>` : nothing}
      </ac-chat-messages>`;
  }

  /** @param {Conversation} chat */
  _renderInstead({error, isLoaded}) {
    if (isLoaded) return html`<ac-chat-welcome .model=${this.model} ?alone=${this.isAlone}></ac-chat-welcome>`;
    if (!error) return nothing;
    if (error.type === 'session_not_found') {
      return html`<ac-empty icon="message-square" heading=${t('chat.gone')}>${t('chat.goneText')}<a slot="actions" class="button primary" href="#/chats">${t('chat.new')}</a></ac-empty>`;
    }
    return html`<ac-error-card class="failed" heading=${t('chat.loadFailed')} .error=${error}><button slot="actions" @click=${() => this.chat.load()}>${t('ui.again')}</button></ac-error-card>`;
  }

  /** @param {Conversation} chat */
  async _loadEarlier(chat) {
    try {
      await chat.loadEarlier();
    } catch (error) {
      toastError(t('chat.loadFailed'), error);
    }
  }

  /** @param {Conversation} chat */
  _remove(chat) {
    this._left = this._left.filter((one) => one !== chat);
    this.requestUpdate();
  }
}
customElements.define('ac-chat-conversation', AcChatConversation);

/** @param {Conversation} chat */
function showsMessages({isLoaded, items, isRunning}) {
  return isLoaded && (items.length > 0 || isRunning);
}
