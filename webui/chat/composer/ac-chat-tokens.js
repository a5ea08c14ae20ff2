import {LitElement, css, html, nothing} from 'lit';
import {Localized, formatDuration, formatNumber, t} from '../../base/i18n.js';
import {base, buttons} from '../../ui/styles.js';

/**
 * @typedef {{inputTokens: number, outputTokens: number, requests: number, cachedTokens: number}} Usage
 * @typedef {{steps: number, maxSteps: number, tokens: number, maxTokens: number, seconds: number, maxSeconds?: number}} TurnProgress  how much of its limits a turn has used
 * @typedef {{model: string, tokens: number, limitTokens: number, isLimitKnown: boolean}} Context
 */

const EDGE_PX = 8;
const FULL = 0.8; // from here on the server compacts the history

/** A small bar that shows how full the model's context is; a click shows the token usage of the chat. */
export class AcChatTokens extends Localized(LitElement) {
  static properties = {
    usage: {attribute: false},
    context: {attribute: false},
    turn: {attribute: false},
  };

  static styles = [base, buttons, css`
    :host { display: inline-flex; flex: none; }
    button { gap: var(--ac-space-2); color: var(--ac-text-muted); font-weight: inherit; font-variant-numeric: tabular-nums; }
    progress { display: block; width: 2rem; height: 0.3125rem; border: 0; border-radius: 999px; overflow: hidden; appearance: none; background: var(--ac-border); }
    progress::-webkit-progress-bar { background: var(--ac-border); }
    progress::-webkit-progress-value { background: var(--ac-accent); border-radius: 999px; }
    progress::-moz-progress-bar { background: var(--ac-accent); border-radius: 999px; }
    .full progress::-webkit-progress-value { background: var(--ac-warn); }
    .full progress::-moz-progress-bar { background: var(--ac-warn); }
    @media (max-width: 30rem) { .percent { display: none; } button { padding-inline: var(--ac-space-1); } button progress { width: 1.25rem; } }
    .panel { position: fixed; inset: auto; margin: 0; width: min(19rem, calc(100vw - 1rem)); padding: var(--ac-space-3) var(--ac-space-4) var(--ac-space-4); border: 1px solid var(--ac-border); border-radius: var(--ac-radius-l); background: var(--ac-surface-raised); color: var(--ac-text); box-shadow: var(--ac-shadow-l); font-size: var(--ac-text-s); }
    .panel h2 { font-size: var(--ac-text-s); margin-bottom: var(--ac-space-2); letter-spacing: 0; }
    .panel progress { width: 100%; height: 0.5rem; margin-bottom: var(--ac-space-1); }
    .panel p { overflow-wrap: anywhere; }
    dl { display: grid; grid-template-columns: minmax(0, 1fr) auto; gap: var(--ac-space-1) var(--ac-space-4); margin-top: var(--ac-space-3); padding-top: var(--ac-space-3); border-top: 1px solid var(--ac-border); }
    .panel h3 { margin-top: var(--ac-space-3); font-size: var(--ac-text-s); letter-spacing: 0; }
    h3 + dl { margin-top: var(--ac-space-1); padding-top: 0; border-top: 0; }
    dt { color: var(--ac-text-muted); }
    dd { text-align: end; font-variant-numeric: tabular-nums; }
  `];

  constructor() {
    super();
    /** @type {Usage | null} */
    this.usage = null;
    /** @type {Context | null} */
    this.context = null;
    /** @type {TurnProgress | null} */
    this.turn = null;
  }

  render() {
    if (!this.usage?.requests || !this.context) return nothing;
    const share = Math.min(this.context.tokens / this.context.limitTokens, 1);
    const percent = formatNumber(share, {style: 'percent'});
    return html`
      <button class="quiet small ${share >= FULL ? 'full' : ''}" popovertarget="panel" aria-label=${t('chat.tokens.full', {percent})} title=${t('chat.tokens.full', {percent})}>${bar(share)}<span class="percent">${percent}</span></button>
      <section id="panel" class="panel ${share >= FULL ? 'full' : ''}" popover aria-label=${t('chat.tokens')} @toggle=${this._place}>${this._renderPanel(this.context, this.usage, share)}</section>`;
  }

  /** @param {Context} context @param {Usage} usage @param {number} share */
  _renderPanel({model, tokens, limitTokens, isLimitKnown}, {inputTokens, outputTokens, cachedTokens, requests}, share) {
    const rows = [['sent', inputTokens], ['cached', cachedTokens], ['came', outputTokens], ['requests', requests]];
    return html`
      <h2>${t('chat.tokens')}</h2>
      ${bar(share)}
      <p>${t(isLimitKnown ? 'chat.tokens.context' : 'chat.tokens.contextAssumed', {tokens, limit: limitTokens})}</p>
      <p class="muted">${model}</p>
      <dl>${rows.map(([name, value]) => html`<dt>${t(`chat.tokens.${name}`)}</dt><dd>${formatNumber(/** @type {number} */ (value))}</dd>`)}</dl>
      ${this.turn ? this._renderTurn(this.turn) : nothing}`;
  }

  /** @param {TurnProgress} turn */
  _renderTurn({steps, maxSteps, tokens, maxTokens, seconds, maxSeconds}) {
    const rows = [['requests', steps, maxSteps], ['tokens', tokens, maxTokens]].map(([name, used, most]) => [name, t('chat.turn.of', {used, most})]);
    const time = formatDuration(seconds * 1000);
    rows.push(['time', maxSeconds ? t('chat.turn.of', {used: time, most: formatDuration(maxSeconds * 1000)}) : time]);
    return html`<h3>${t('chat.turn')}</h3><dl>${rows.map(([name, text]) => html`<dt>${t(`chat.turn.${name}`)}</dt><dd>${text}</dd>`)}</dl>`;
  }

  /** Position the panel above the button, within the window. @param {Event} event */
  _place(event) {
    if (/** @type {any} */ (event).newState !== 'open') return;
    const panel = /** @type {HTMLElement} */ (event.currentTarget);
    const {left, top} = /** @type {HTMLElement} */ (this.renderRoot.querySelector('button')).getBoundingClientRect();
    panel.style.left = `${Math.max(EDGE_PX, Math.min(left, innerWidth - panel.offsetWidth - EDGE_PX))}px`;
    panel.style.top = `${Math.max(EDGE_PX, top - panel.offsetHeight - EDGE_PX / 2)}px`;
  }
}
customElements.define('ac-chat-tokens', AcChatTokens);

/** @param {number} share */
const bar = (share) => html`<progress max="1" .value=${share} aria-hidden="true"></progress>`;
