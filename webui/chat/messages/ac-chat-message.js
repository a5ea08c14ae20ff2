import {LitElement, css, html, nothing} from 'lit';
import {repeat} from 'lit/directives/repeat.js';
import {Localized, formatTime, t} from '../../base/i18n.js';
import {base, buttons} from '../../ui/styles.js';
import '../calls/ac-call-card.js';
import './ac-chat-compaction.js';
import './ac-chat-error.js';
import './ac-chat-text.js';
import './ac-user-message.js';
import '../../ui/ac-copy.js';
import '../../ui/ac-icon.js';

/**
 * One message of a chat: a message of the user, an answer with its calls, or a notice.
 * @fires ac-retry
 */
export class AcChatMessage extends Localized(LitElement) {
  static properties = {
    item: {attribute: false},
    isLast: {type: Boolean, attribute: 'last'},
    isBusy: {type: Boolean, attribute: 'busy'},
  };

  static styles = [base, buttons, css`
    :host { display: grid; grid-template-columns: minmax(0, 1fr); gap: var(--ac-space-3); }
    .calls { display: grid; grid-template-columns: minmax(0, 1fr); gap: var(--ac-space-2); }
    .thinking summary { width: fit-content; cursor: pointer; color: var(--ac-text-muted); font-size: var(--ac-text-s); border-radius: var(--ac-radius-s); }
    .thinking p { margin-top: var(--ac-space-2); padding-inline-start: var(--ac-space-3); border-inline-start: 2px solid var(--ac-border); color: var(--ac-text-muted); font-size: var(--ac-text-s); white-space: pre-wrap; overflow-wrap: anywhere; }
    .foot { display: flex; align-items: center; gap: var(--ac-space-1); min-height: 1.75rem; margin: calc(-1 * var(--ac-space-2)) 0 0 calc(-1 * var(--ac-space-2)); color: var(--ac-text-muted); font-size: var(--ac-text-xs); }
    .foot button { color: inherit; }
    .foot time { margin-inline-start: var(--ac-space-1); }
    @media (hover: hover) { .foot:not(.stays) { opacity: 0; transition: opacity var(--ac-motion); } :host(:is(:hover, :focus-within)) .foot { opacity: 1; } }
    .own { display: flex; align-items: center; gap: var(--ac-space-2); color: var(--ac-text-muted); font-size: var(--ac-text-s); }
  `];

  constructor() {
    super();
    /** @type {import('../conversation/items.js').ChatItem | null} */
    this.item = null;
    this.isLast = false;
    this.isBusy = false;
  }

  render() {
    if (!this.item) return nothing;
    if (this.item.role === 'user') return html`<ac-user-message .item=${this.item} ?busy=${this.isBusy}></ac-user-message>`;
    return html`
      ${this.item.role === 'notice' ? this._renderNotice(this.item) : nothing}
      ${this.item.thinking ? html`<details class="thinking"><summary>${t('chat.thinking')}</summary><p>${this.item.thinking}</p></details>` : nothing}
      ${this.item.text && this.item.role !== 'notice' ? html`<ac-chat-text .text=${this.item.text} ?live=${this.item.isLive}></ac-chat-text>` : nothing}
      ${this._renderCalls(this.item.calls)}
      ${this.item.error ? this._renderError(this.item.error) : nothing}
      ${this.item.stopped && this.item.thread ? html`<p class="own"><ac-icon name="circle-stop"></ac-icon>${t('chat.error.cancelled')}</p>` : nothing}
      ${isEmptyAnswer(this.item) ? this._renderEmpty() : nothing}
      ${this._renderFoot(this.item)}`;
  }

  /** @param {import('../conversation/items.js').ChatItem} item */
  _renderNotice({text, calls, compaction}) {
    if (compaction) return html`<ac-chat-compaction .compaction=${compaction}></ac-chat-compaction>`;
    if (calls.length) return html`<p class="own"><ac-icon name="user"></ac-icon>${t('chat.ownCall')} · ${formatTime(/** @type {any} */ (this.item).time, {seconds: false})}</p>`;
    return text ? html`<p class="own"><ac-icon name="info"></ac-icon>${text}</p>` : nothing;
  }

  /** @param {import('../conversation/items.js').ChatCall[]} calls */
  _renderCalls(calls) {
    if (!calls.length) return nothing;
    return html`<div class="calls">${repeat(calls, ({toolId}) => toolId, (call) => html`<ac-call-card .call=${call}></ac-call-card>`)}</div>`;
  }

  /** @param {import('../../client/client.js').ErrorObject} error */
  _renderError(error) {
    return html`<ac-chat-error .error=${error} ?retry=${this.isLast && !this.isBusy} ?choose=${this.isLast && !this.isBusy}></ac-chat-error>`;
  }

  _renderEmpty() {
    return html`
      <p class="own"><ac-icon name="info"></ac-icon>${t('chat.emptyAnswer')}
        ${this.isLast && !this.isBusy ? html`<button class="small" @click=${this._retry}><ac-icon name="rotate-ccw"></ac-icon>${t('chat.retry')}</button>` : nothing}</p>`;
  }

  /** @param {import('../conversation/items.js').ChatItem} item */
  _renderFoot({role, text, calls, time, isLive}) {
    if (role === 'notice' || !text || calls.length || isLive) return nothing;
    return html`
      <div class="foot ${this.isLast ? 'stays' : ''}">
        <ac-copy .value=${text} label=${t('chat.copyAnswer')}></ac-copy>
        ${this.isLast && !this.isBusy ? html`
          <button class="quiet small icon" aria-label=${t('chat.retry')} title=${t('chat.retry')} @click=${this._retry}><ac-icon name="rotate-ccw"></ac-icon></button>` : nothing}
        <time datetime=${new Date(time).toISOString()}>${formatTime(time, {seconds: false})}</time>
      </div>`;
  }

  _retry() {
    this.dispatchEvent(new CustomEvent('ac-retry', {bubbles: true, composed: true}));
  }
}
customElements.define('ac-chat-message', AcChatMessage);

/** True if the answer of the model contains nothing for the user. @param {import('../conversation/items.js').ChatItem} item */
function isEmptyAnswer({role, number, text, calls, error, isLive}) {
  return role === 'assistant' && number !== null && !isLive && !text.trim() && !calls.length && !error;
}
