import {LitElement, css, html, nothing} from 'lit';
import {Localized, formatTime, t} from '../../base/i18n.js';
import {isComposing} from '../../base/input-method.js';
import {growing} from '../../ui/growing-textarea.js';
import {base, buttons, fields} from '../../ui/styles.js';
import '../../ui/ac-copy.js';
import '../../ui/ac-icon.js';
import '../attachments/ac-sent-attachments.js';
import './ac-sent-page.js';

/**
 * A message of the user; editing it removes everything after it.
 * @fires ac-edit {number: number, text: string}
 */
export class AcUserMessage extends Localized(LitElement) {
  static properties = {
    item: {attribute: false},
    isBusy: {type: Boolean, attribute: 'busy'},
    _isEditing: {state: true},
  };

  static styles = [base, buttons, fields, css`
    :host { display: grid; grid-template-columns: minmax(0, 1fr); justify-items: end; gap: var(--ac-space-1); }
    .bubble { max-width: min(36rem, 88%); padding: var(--ac-space-2) var(--ac-space-4); border-radius: var(--ac-radius-l); border-end-end-radius: var(--ac-radius-s); background: var(--ac-accent-soft); white-space: pre-wrap; overflow-wrap: anywhere; line-height: 1.6; }
    .sending { opacity: 0.65; }
    .said { unicode-bidi: plaintext; }
    .foot { display: flex; align-items: center; gap: var(--ac-space-1); min-height: 1.75rem; color: var(--ac-text-muted); font-size: var(--ac-text-xs); }
    .foot button { color: inherit; }
    @media (hover: hover) { .foot { opacity: 0; transition: opacity var(--ac-motion); } :host(:is(:hover, :focus-within)) .foot { opacity: 1; } }
    form { display: grid; gap: var(--ac-space-2); width: min(42rem, 100%); }
    textarea { width: 100%; min-height: 4.5rem; max-height: 50vh; field-sizing: content; resize: none; }
    .row { display: flex; flex-wrap: wrap; align-items: center; justify-content: flex-end; gap: var(--ac-space-2); }
    .row .hint { flex: 1 1 12rem; }
  `];

  constructor() {
    super();
    /** @type {import('../conversation/items.js').ChatItem | null} */
    this.item = null;
    this.isBusy = false;
    this._isEditing = false;
  }

  render() {
    if (!this.item) return nothing;
    if (this._isEditing) return this._renderForm(this.item.text);
    const {text, number, time, isSending, attachments, page} = this.item;
    return html`
      ${attachments?.length ? html`<ac-sent-attachments class=${isSending ? 'sending' : ''} .files=${attachments}></ac-sent-attachments>` : nothing}
      ${text ? html`<div class="bubble ${isSending ? 'sending' : ''}"><span class="visually-hidden">${t('chat.youSaid')} </span><div class="said" dir="auto">${text}</div></div>` : nothing}
      ${page ? html`<ac-sent-page .page=${page}></ac-sent-page>` : nothing}
      <div class="foot">
        <time datetime=${new Date(time).toISOString()}>${formatTime(time, {seconds: false})}</time>
        <ac-copy .value=${text} label=${t('chat.copyMessage')}></ac-copy>
        ${number === null ? nothing : html`
          <button class="quiet small icon edit" aria-label=${t('chat.edit')} title=${t('chat.edit')} ?disabled=${this.isBusy} @click=${this._begin}><ac-icon name="pencil"></ac-icon></button>`}
      </div>`;
  }

  /** @param {string} text */
  _renderForm(text) {
    return html`
      <form @submit=${this._send}>
        <textarea dir="auto" aria-label=${t('chat.edit')} .value=${text} @keydown=${this._onKey} ${growing()}></textarea>
        <div class="row"><span class="hint">${t('chat.editHint')}</span>
          <button type="button" @click=${this._end}>${t('ui.cancel')}</button><button class="primary">${t('chat.send')}</button></div>
      </form>`;
  }

  async _begin() {
    this._isEditing = true;
    await this.updateComplete;
    const area = this._area;
    area.focus();
    area.setSelectionRange(area.value.length, area.value.length);
  }

  async _end() {
    this._isEditing = false;
    await this.updateComplete;
    /** @type {HTMLElement | null} */ (this.renderRoot.querySelector('.edit'))?.focus();
  }

  get _area() {
    return /** @type {HTMLTextAreaElement} */ (this.renderRoot.querySelector('textarea'));
  }

  /** @param {KeyboardEvent} event */
  _onKey(event) {
    if (isComposing(event)) return; // Enter and Escape belong to the input method
    if (event.key === 'Escape') void this._end();
    else if (event.key === 'Enter' && !event.shiftKey) this._send(event);
  }

  /** @param {Event} event */
  _send(event) {
    event.preventDefault();
    const text = this._area.value.trim();
    if (!text) return;
    this._isEditing = false;
    const detail = {number: /** @type {import('../conversation/items.js').ChatItem} */ (this.item).number, text};
    this.dispatchEvent(new CustomEvent('ac-edit', {detail, bubbles: true, composed: true}));
  }
}
customElements.define('ac-user-message', AcUserMessage);
