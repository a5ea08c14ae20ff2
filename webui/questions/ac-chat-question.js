import {LitElement, css, html, nothing} from 'lit';
import {Localized, t} from '../base/i18n.js';
import {initialValue} from '../schema/initial-values.js';
import {base, buttons, fields} from '../ui/styles.js';
import '../form/ac-schema-form.js';
import '../ui/ac-icon.js';
import '../base/later-strings.js';

/**
 * @typedef {object} Question
 * @property {string} questionId
 * @property {'text' | 'form' | 'address' | 'sample'} kind
 * @property {string} text
 * @property {string} askedBy  The module that asks.
 * @property {string} host  The host on another machine that asks; empty: the server.
 * @property {string[]} options
 * @property {import('../schema/shape.js').Schema} [form]
 * @property {string} [url]
 * @property {string} [toolId]
 * @typedef {{text?: string, content?: Record<string, any>, isDeclined?: boolean}} Answer
 */

/**
 * A question of a tool to the user: for a text, with suggested answers; for a form to be filled in; to open a URL; or for
 * permission to have the model write a text.
 * @fires ac-answer {questionId: string, answer: Answer, failed: () => void}
 */
export class AcChatQuestion extends Localized(LitElement) {
  static properties = {
    question: {attribute: false},
    _isSent: {state: true},
    _value: {state: true},
    _hasOpened: {state: true},
  };

  static styles = [base, buttons, fields, css`
    section { display: grid; grid-template-columns: minmax(0, 1fr); gap: var(--ac-space-3); padding: var(--ac-space-4); border: 1px solid var(--ac-accent); border-radius: var(--ac-radius-l); background: var(--ac-surface); }
    .asked { display: flex; gap: var(--ac-space-2); font-weight: var(--ac-weight-medium); white-space: pre-wrap; overflow-wrap: anywhere; }
    .asked ac-icon { flex: none; color: var(--ac-accent); margin-top: 0.15rem; }
    .options, .end { display: flex; flex-wrap: wrap; gap: var(--ac-space-2); }
    .options button { white-space: normal; line-height: var(--ac-line-tight); padding-block: var(--ac-space-1); text-align: start; }
    form { display: flex; gap: var(--ac-space-2); }
    input { flex: 1; min-width: 0; }
    ac-schema-form { --ac-form-label-font: var(--ac-font-sans); }
    .long { max-height: min(24rem, 50vh); overflow: auto; }
    pre { margin: 0; padding: var(--ac-space-3); border-radius: var(--ac-radius-m); background: var(--ac-surface-sunken); font-size: var(--ac-text-s); white-space: pre-wrap; overflow-wrap: anywhere; }
    code { overflow-wrap: anywhere; }
  `];

  constructor() {
    super();
    /** @type {Question | null} */
    this.question = null;
    this._isSent = false;
    /** @type {Record<string, any>} */
    this._value = {};
    this._hasOpened = false;
    /** @type {import('../schema/shape.js').Schema} */
    this._form = {};
  }

  /** @param {Map<string, any>} changed */
  willUpdate(changed) {
    if (!changed.has('question')) return;
    this._isSent = false;
    if (changed.get('question')?.questionId === this.question?.questionId) return;
    this._hasOpened = false;
    this._form = labelled(this.question?.form ?? {});
    this._value = initialValue(this._form, this._form) ?? {};
  }

  render() {
    if (!this.question) return nothing;
    const {kind, text, askedBy, host} = this.question;
    const asked = kind === 'sample' ? t('questions.sampleAsked', {module: askedBy}) : text;
    return html`
      <section aria-label=${t('questions.title')}>
        <div role="status">
          ${host ? html`<p class="hint host">${t('questions.hostAsks', {host})}</p>` : nothing}
          <p class="asked"><ac-icon name="message-square"></ac-icon>${asked}</p>
        </div>
        ${this._renderAnswers()}
      </section>`;
  }

  _renderAnswers() {
    switch (this.question?.kind) {
      case 'form': return this._renderForm();
      case 'address': return this._renderAddress();
      case 'sample': return this._renderSample();
      default: return this._renderWords();
    }
  }

  _renderWords() {
    const {options} = /** @type {Question} */ (this.question);
    return html`
      ${options.length ? html`<div class="options">${options.map((option) => html`<button ?disabled=${this._isSent} @click=${() => this._answer({text: option})}>${option}</button>`)}</div>` : nothing}
      <form @submit=${this._onSubmit}>
        <input aria-label=${t('questions.yourAnswer')} placeholder=${t(options.length ? 'questions.otherAnswer' : 'questions.yourAnswer')} ?disabled=${this._isSent}>
        <button class=${options.length ? '' : 'primary'} ?disabled=${this._isSent}>${t('questions.answer')}</button>
      </form>`;
  }

  _renderForm() {
    return html`
      <div class="long"><ac-schema-form only-form .schema=${this._form} .value=${this._value} ?disabled=${this._isSent}
        @ac-change=${(/** @type {CustomEvent} */ event) => { event.stopPropagation(); this._value = event.detail.value; }}></ac-schema-form></div>
      ${this._renderEnd(t('questions.answer'), this._onFilled)}`;
  }

  _renderAddress() {
    const url = this.question?.url ?? '';
    return html`
      <pre>${url}</pre>
      <p class="hint">${t('questions.opensAt', {host: URL.canParse(url) ? new URL(url).host : url})}</p>
      <div class="end">
        <button class=${this._hasOpened ? '' : 'primary'} ?disabled=${this._isSent} @click=${this._open}><ac-icon name="external-link"></ac-icon>${t('questions.openAddress')}</button>
        ${this._renderLast(t('questions.addressDone'), () => this._answer({}), !this._hasOpened)}
      </div>`;
  }

  _renderSample() {
    const {text, askedBy} = /** @type {Question} */ (this.question);
    return html`
      <pre class="long" tabindex="0">${text}</pre>
      <p class="hint">${t('questions.sampleHint', {module: askedBy})}</p>
      ${this._renderEnd(t('questions.allowSample'), () => this._answer({}))}`;
  }

  /** @param {string} label @param {() => void} answer */
  _renderEnd(label, answer) {
    return html`<div class="end">${this._renderLast(label, answer, false)}</div>`;
  }

  /** @param {string} label @param {() => void} answer @param {boolean} isTooEarly */
  _renderLast(label, answer, isTooEarly) {
    return html`
      <button class=${isTooEarly ? '' : 'primary'} ?disabled=${this._isSent || isTooEarly} @click=${answer}>${label}</button>
      <button ?disabled=${this._isSent} @click=${() => this._answer({isDeclined: true})}>${t('questions.decline')}</button>`;
  }

  _open() {
    // no opener and no referrer: the opened site is not trusted
    window.open(this.question?.url, '_blank', 'noopener,noreferrer');
    this._hasOpened = true;
  }

  _onFilled() {
    const form = /** @type {import('../form/ac-schema-form.js').AcSchemaForm} */ (this.renderRoot.querySelector('ac-schema-form'));
    if (form.check()) this._answer({content: this._value});
  }

  /** @param {Event} event */
  _onSubmit(event) {
    event.preventDefault();
    const text = /** @type {HTMLInputElement} */ (this.renderRoot.querySelector('input')).value.trim();
    if (text) this._answer({text});
  }

  /** @param {Answer} answer */
  _answer(answer) {
    this._isSent = true;
    const failed = () => { this._isSent = false; };
    this.dispatchEvent(new CustomEvent('ac-answer', {detail: {questionId: this.question?.questionId, answer, failed}, bubbles: true, composed: true}));
  }
}

/** Return the form with its fields labelled by their titles instead of the names that the tool receives. @param {import('../schema/shape.js').Schema} form */
function labelled(form) {
  const entries = Object.entries(form.properties ?? {}).map(([name, field]) => [name, field.title ? {...field, 'x-label': field.title} : field]);
  return {...form, properties: Object.fromEntries(entries)};
}

customElements.define('ac-chat-question', AcChatQuestion);
