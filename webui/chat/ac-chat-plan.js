import {LitElement, css, html, nothing} from 'lit';
import {Localized, formatNumber, t} from '../base/i18n.js';
import {isComposing} from '../base/input-method.js';
import {chatSetup} from '../models/setup.js';
import {isDone} from '../results/call-display.js';
import {todoText} from '../results/ac-todo-list.js';
import {growing} from '../ui/growing-textarea.js';
import {base, buttons, fields} from '../ui/styles.js';
import '../ui/ac-icon.js';

/** Modes in which nothing of a plan could be done. */
const REFUSING = ['plan', 'deny'];
const STEP_CHARS = 2000;

/**
 * The plan of a chat in the mode `plan`: the user edits its steps, chooses the mode to go on in, and approves it.
 * @fires ac-approve-plan {steps: string[], mode: string}
 */
export class AcChatPlan extends Localized(LitElement) {
  static properties = {
    todos: {attribute: false},
    isSending: {type: Boolean, attribute: 'sending'},
    _steps: {state: true},
    _mode: {state: true},
  };

  static styles = [base, buttons, fields, css`
    section { border: 1px solid color-mix(in srgb, var(--ac-accent) 45%, var(--ac-border)); border-radius: var(--ac-radius-l); background: var(--ac-surface); font-size: var(--ac-text-s); }
    header { display: flex; align-items: center; gap: var(--ac-space-2); padding: var(--ac-space-2) var(--ac-space-3); }
    h2 { font-size: inherit; letter-spacing: 0; }
    header p { min-width: 0; color: var(--ac-text-muted); }
    ol { position: relative; display: grid; gap: var(--ac-space-1); max-height: min(18rem, 35dvh); overflow: auto; padding: var(--ac-space-1) var(--ac-space-3); }
    li { display: flex; align-items: start; gap: var(--ac-space-1); }
    .number { flex: none; min-width: 1.5rem; padding-top: 0.375rem; color: var(--ac-text-muted); font-variant-numeric: tabular-nums; }
    textarea { flex: 1; min-width: 0; min-height: 2rem; max-height: 8rem; padding-block: 0.25rem; field-sizing: content; resize: none; font-size: inherit; }
    li button { color: var(--ac-text-muted); }
    li:first-child .arrow-up { visibility: hidden; }
    footer { display: flex; flex-wrap: wrap; align-items: center; justify-content: flex-end; gap: var(--ac-space-2); padding: var(--ac-space-2) var(--ac-space-3) var(--ac-space-3); }
    footer label { display: flex; flex-wrap: wrap; align-items: center; gap: var(--ac-space-1) var(--ac-space-2); margin-inline-start: auto; }
    @media (pointer: coarse) { li button.small { min-width: 2.5rem; min-height: 2.5rem; } }
    @media (max-width: 30rem) { header p { display: none; } footer { justify-content: stretch; } footer .primary { flex: 1; } }
  `];

  constructor() {
    super();
    /** @type {any[]} */
    this.todos = [];
    this.isSending = false;
    /** @type {string[]} */
    this._steps = [];
    this._mode = 'ask';
    this._shown = '';
  }

  /** @param {Map<string, unknown>} changed */
  willUpdate(changed) {
    if (!changed.has('todos')) return;
    const steps = this.todos.filter((todo) => !isDone(todo)).map(todoText);
    const shown = JSON.stringify(steps);
    if (shown === this._shown) return; // read again, and not written anew: what the user edited stays
    this._shown = shown;
    this._steps = steps;
  }

  render() {
    const modes = chatSetup.modes.filter((mode) => !REFUSING.includes(mode));
    return html`
      <section aria-labelledby="title">
        <header><ac-icon name="list"></ac-icon><h2 id="title">${t('chat.plan')}</h2><p>${t(this._steps.length ? 'chat.plan.hint' : 'chat.plan.hintEmpty')}</p></header>
        ${this._steps.length ? html`<ol>${this._steps.map((step, at) => this._renderStep(step, at))}</ol>` : nothing}
        <footer>
          <button class="quiet small" @click=${() => this._insert(this._steps.length)}><ac-icon name="plus"></ac-icon>${t('chat.plan.add')}</button>
          <label>${t('chat.plan.mode')}
            <select .value=${this._mode} @change=${(/** @type {Event} */ event) => { this._mode = /** @type {HTMLSelectElement} */ (event.target).value; }}>
              ${modes.map((mode) => html`<option value=${mode} ?selected=${mode === this._mode}>${t(`chat.mode.${mode}`)}</option>`)}
            </select>
          </label>
          <button class="primary" ?disabled=${this.isSending} @click=${this._approve}>${t('chat.plan.approve')}</button>
        </footer>
      </section>`;
  }

  /** @param {string} step @param {number} at */
  _renderStep(step, at) {
    const n = formatNumber(at + 1);
    const button = (/** @type {string} */ icon, /** @type {string} */ label, /** @type {() => void} */ act) => html`
      <button class="quiet small icon ${icon}" aria-label=${t(`${label}Named`, {n})} title=${t(label)} @click=${act}><ac-icon name=${icon}></ac-icon></button>`;
    return html`
      <li>
        <span class="number" aria-hidden="true">${n}.</span>
        <textarea ${growing()} rows="1" maxlength=${STEP_CHARS} aria-label=${t('chat.plan.step', {n})} .value=${step}
          @input=${(/** @type {Event} */ event) => this._change(at, 1, /** @type {HTMLTextAreaElement} */ (event.target).value)}
          @keydown=${(/** @type {KeyboardEvent} */ event) => this._onKey(event, at)}></textarea>
        ${button('arrow-up', 'chat.plan.up', () => this._moveUp(at))}
        ${button('x', 'chat.plan.remove', () => this._remove(at))}
      </li>`;
  }

  /** Replace steps. @param {number} at @param {number} count @param {string[]} steps */
  _change(at, count, ...steps) {
    this._steps = this._steps.toSpliced(at, count, ...steps);
  }

  /** @param {number} at */
  _insert(at) {
    this._change(at, 0, '');
    void this._focus(at);
  }

  /** @param {number} at */
  _remove(at) {
    this._change(at, 1);
    void this._focus(Math.min(at, this._steps.length - 1));
  }

  /** @param {number} at */
  _moveUp(at) {
    this._change(at - 1, 2, this._steps[at], this._steps[at - 1]);
    void this._focus(at - 1);
  }

  /** Begin a step below on Enter. @param {KeyboardEvent} event @param {number} at */
  _onKey(event, at) {
    if (event.key !== 'Enter' || event.shiftKey || isComposing(event)) return;
    event.preventDefault();
    this._insert(at + 1);
  }

  /** @param {number} at */
  async _focus(at) {
    await this.updateComplete;
    this.renderRoot.querySelectorAll('textarea')[at]?.focus();
  }

  _approve() {
    const steps = this._steps.map((step) => step.trim()).filter(Boolean);
    this.dispatchEvent(new CustomEvent('ac-approve-plan', {detail: {steps, mode: this._mode}}));
  }
}
customElements.define('ac-chat-plan', AcChatPlan);
