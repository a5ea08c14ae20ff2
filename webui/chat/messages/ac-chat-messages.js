import {LitElement, css, html, nothing} from 'lit';
import {guard} from 'lit/directives/guard.js';
import {repeat} from 'lit/directives/repeat.js';
import {Localized, formatTime, t} from '../../base/i18n.js';
import {whenIdle} from '../../base/idle.js';
import {grouped} from './message-groups.js';
import {base, buttons} from '../../ui/styles.js';
import './ac-chat-message.js';
import '../../ui/ac-icon.js';
import '../../base/later-strings.js';

const NEAR_PX = 48;     // this close to the end, the view follows it
const ANNOUNCED_CHARS = 2000;
const EARLIER_PX = 1200; // this close to the start, earlier messages are requested
const PIECE = 150; // messages that are removed at once; each time the browser checks all that remain
/** True if the browser keeps the scroll position while content above it grows; Safari does not. */
const holdsPlace = CSS.supports('overflow-anchor', 'auto');

/** @typedef {{element: Element, at: number}} Anchor  a message, and the position of its top in the window */

/**
 * The messages of a chat in a scrolling frame: it follows the newest one until the reader scrolls away.
 * After the user has left the chat (`emptying`), they are removed in batches, as removing them all at once would block the page.
 * Messages out of view are neither laid out nor painted. This is done in groups, as the browser checks each one for each frame.
 * @slot  At the end, after the last message.
 * @fires ac-earlier  the reader is close to the first loaded message
 * @fires ac-emptied  it is `emptying`, and has no messages left
 */
export class AcChatMessages extends Localized(LitElement) {
  static properties = {
    items: {attribute: false},
    isBusy: {type: Boolean, attribute: 'busy'},
    modelWait: {attribute: false},
    turn: {attribute: false},
    hasEarlier: {type: Boolean, attribute: 'earlier'},
    isEmptying: {type: Boolean, attribute: 'emptying'},
    _isAway: {state: true},
  };

  static styles = [base, buttons, css`
    :host { display: flex; flex-direction: column; min-height: 0; }
    .frame { position: relative; flex: 1; min-height: 0; overflow-y: auto; overflow-x: hidden; outline-offset: -2px; scrollbar-gutter: stable both-edges; scrollbar-width: thin; }
    :is(.list, .group) { display: grid; grid-template-columns: minmax(0, 1fr); gap: var(--ac-space-3); }
    .list { max-width: 50rem; margin-inline: auto; padding: var(--ac-space-5) var(--ac-space-5) var(--ac-space-6); }
    .group { contain-intrinsic-size: auto 60rem; }
    .group.measured { content-visibility: auto; }
    /* what is at work is always laid out: its height is what the frame follows */
    .group[data-newest] { content-visibility: visible; }
    .working { display: flex; align-items: center; gap: var(--ac-space-2); min-height: 1.5rem; color: var(--ac-text-muted); font-size: var(--ac-text-s); }
    .dots { display: inline-flex; gap: 0.25rem; }
    .dots i { width: 0.375rem; height: 0.375rem; border-radius: 50%; background: currentColor; }
    @media (prefers-reduced-motion: no-preference) { .dots i { animation: beat 1.2s infinite ease-in-out; } .dots i:nth-child(2) { animation-delay: 0.15s; } .dots i:nth-child(3) { animation-delay: 0.3s; } }
    @keyframes beat { 0%, 60%, 100% { opacity: 0.3; } 30% { opacity: 1; } }
    /* below the messages, not over them: what a decision rests on is never covered */
    .newest { flex: none; align-self: center; margin-top: var(--ac-space-1); border-radius: 999px; }
    .earlier { text-align: center; color: var(--ac-text-muted); font-size: var(--ac-text-s); }
    @media (max-width: 48rem) { .list { padding-inline: var(--ac-space-4); } }
  `];

  constructor() {
    super();
    /** @type {import('../conversation/items.js').ChatItem[]} */
    this.items = [];
    this.isBusy = false;
    /** Until when the provider cannot answer. @type {import('../conversation/conversation.js').ModelWait | null} */
    this.modelWait = null;
    /** How much of its limits the turn has used. @type {import('../conversation/conversation.js').TurnProgress | null} */
    this.turn = null;
    this.hasEarlier = false;
    /** True if the messages are no longer visible and should be removed. */
    this.isEmptying = false;
    /** Those of `items` that are in the document. @type {import('../conversation/items.js').ChatItem[]} */
    this._shown = [];
    this._isAway = false;
    this._follows = true;
    this._lastTop = 0;
    /** The message that is kept in place if the browser does not do so itself. @type {Anchor | null} */
    this._anchor = null;
    this._announcement = '';
    /** The group of each message, by its key. @type {Map<string, number>} */
    this._groups = new Map();
    this._sizes = new ResizeObserver(() => this._keepUp());
  }

  disconnectedCallback() {
    this._sizes.disconnect();
    super.disconnectedCallback();
  }

  firstUpdated() {
    this._sizes.observe(this._frame);
    this._sizes.observe(/** @type {HTMLElement} */ (this.renderRoot.querySelector('.list')));
  }

  get _frame() {
    return /** @type {HTMLElement} */ (this.renderRoot.querySelector('.frame'));
  }

  /** Scroll to the newest message and follow it from now on. */
  toNewest() {
    this._follows = true;
    this._isAway = false;
    this._anchor = null;
    this._keepUp();
  }

  render() {
    const last = this.items.at(-1);
    const isWorking = this.isBusy && !hasEndInSight(last);
    return html`
      <div class="frame" tabindex="0" role="region" aria-label=${t('chat.messages')} @scroll=${this._onScroll} @ac-sized=${this._onSized}>
        <div class="list">
          ${this.hasEarlier ? html`<p class="earlier">${t('chat.loadingEarlier')}</p>` : nothing}
          ${repeat(grouped(this._shown, this._groups), ({id}) => id, ({items}) => html`<div class="group" ?data-newest=${items.includes(/** @type {any} */ (last))}>${this._renderGroup(items)}</div>`)}
          ${isWorking ? this._renderWorking() : nothing}
          <slot></slot>
        </div>
      </div>
      <button class="newest" ?hidden=${!this._isAway} @click=${this.toNewest}><ac-icon name="arrow-down"></ac-icon>${t('chat.toNewest')}</button>
      <div class="visually-hidden" role="status">${this._announcement}</div>`;
  }

  _renderWorking() {
    const wait = this.modelWait;
    const text = wait
      ? html`<span role="status">${t(`chat.modelWait.${wait.reason}`, {done: wait.readTokens ?? 0, total: wait.promptTokens ?? 0})} ${wait.until ? t('chat.modelWaitUntil', {time: formatTime(wait.until)}) : nothing}</span>`
      : html`<span class="visually-hidden">${t('chat.working')}</span>${this.turn ? html`<span class="progress">${t('chat.turn.steps', {n: this.turn.steps, most: this.turn.maxSteps})}</span>` : nothing}`;
    return html`<div class="working"><span class="dots" aria-hidden="true"><i></i><i></i><i></i></span>${text}</div>`;
  }

  /** Render a group; a chunk of an answer does not re-render the messages of other groups. @param {import('../conversation/items.js').ChatItem[]} items */
  _renderGroup(items) {
    const last = items.find((item) => item === this.items.at(-1));
    return guard([this.isBusy, last, ...items], () => repeat(items, ({key}) => key, (item) => html`
      <ac-chat-message .item=${item} ?last=${item === last} ?busy=${this.isBusy && (item === last || item.role === 'user')}></ac-chat-message>`));
  }

  /** @param {Map<string, unknown>} changed */
  willUpdate(changed) {
    if (!this.isEmptying) this._shown = this.items;
    else if (!changed.has('isEmptying')) this._shown = this._shown.slice(0, -PIECE);
    if (changed.has('isBusy')) this._announce(changed.get('isBusy') === true);
    // the first visible message stays in place when others are added before it; not every browser ensures this itself
    const anchor = this.hasUpdated && !this._anchor ? this._topmost() : null;
    if (anchor) void this.updateComplete.then(() => this._hold(anchor));
  }

  /** Let the browser skip a group once it knows its height: an estimated height would move the view when the group comes near. */
  updated() {
    if (this.isEmptying) return this._takeOut();
    const fresh = this.renderRoot.querySelectorAll('.group:not(.measured)');
    if (fresh.length) requestAnimationFrame(() => requestAnimationFrame(() => fresh.forEach((group) => group.classList.add('measured'))));
  }

  _takeOut() {
    if (this._shown.length) whenIdle(() => this.requestUpdate());
    else this.dispatchEvent(new CustomEvent('ac-emptied'));
  }

  /** Announce to screen readers that an answer is being written, and the answer once it is complete. @param {boolean} hasEnded */
  _announce(hasEnded) {
    const last = this.items.at(-1);
    if (this.isBusy) this._announcement = t('chat.working');
    else this._announcement = hasEnded && last?.role === 'assistant' ? last.text.slice(0, ANNOUNCED_CHARS) : '';
  }

  /** Return the first visible message. @returns {Anchor | null} */
  _topmost() {
    if (this._follows || this.isEmptying) return null;
    const top = this._frame.getBoundingClientRect().top;
    const ends = (/** @type {Element} */ element) => element.getBoundingClientRect().bottom > top;
    // by groups first: reading the position of a message forces the layout of its group
    const group = [...this.renderRoot.querySelectorAll('.group')].find(ends);
    const element = group && [...group.children].find(ends);
    return element ? {element, at: element.getBoundingClientRect().top} : null;
  }

  /** @param {Anchor} anchor */
  _hold({element, at}) {
    if (!element.isConnected) return;
    const moved = element.getBoundingClientRect().top - at;
    if (Math.abs(moved) <= 1) return;
    this._frame.scrollTop += moved;
    this._lastTop = this._frame.scrollTop;
  }

  /** Undo shifts from content that grew above the view; scrolling by the reader is not undone. */
  _stay() {
    if (!this._anchor) return;
    const {scrollTop} = this._frame;
    this._anchor.at -= scrollTop - this._lastTop;
    this._lastTop = scrollTop;
    this._hold(this._anchor);
  }

  /** Scroll to the start of a question that is taller than the view. @param {Event} event */
  _onSized(event) {
    const [element] = /** @type {HTMLElement[]} */ (event.composedPath());
    if (!this._follows || element.offsetHeight < this._frame.clientHeight - NEAR_PX) return;
    this._follows = false;
    element.scrollIntoView({block: 'start'});
  }

  _keepUp() {
    const frame = this._frame;
    if (this._follows) frame.scrollTop = frame.scrollHeight;
    else this._stay();
    this._lastTop = frame.scrollTop;
    this._wantEarlier();
  }

  _onScroll() {
    this._stay();
    const {scrollTop, scrollHeight, clientHeight} = this._frame;
    const isNear = scrollHeight - scrollTop - clientHeight < NEAR_PX;
    // only the reader scrolls up: content that grows below does not change the position
    if (isNear) this._follows = true;
    else if (scrollTop < this._lastTop) this._follows = false;
    this._lastTop = scrollTop;
    this._isAway = !this._follows && !isNear;
    this._anchor = holdsPlace ? null : this._topmost();
    this._wantEarlier();
  }

  _wantEarlier() {
    if (this.hasEarlier && !this.isEmptying && this._frame.scrollTop < EARLIER_PX) this.dispatchEvent(new CustomEvent('ac-earlier'));
  }
}
customElements.define('ac-chat-messages', AcChatMessages);

/** True if an item already shows that work is in progress: text that grows, or a call that runs or waits. @param {import('../conversation/items.js').ChatItem | undefined} item */
function hasEndInSight(item) {
  if (!item || item.role === 'user') return false;
  return Boolean(item.isLive && item.text && !item.calls.length) || item.calls.some(({state}) => state === 'running' || state === 'waiting');
}
