import {LitElement, css, html} from 'lit';
import {GrowingMarkdown, OPEN} from './growing-markdown.js';
import {Localized, t} from '../../base/i18n.js';
import {AcDiagram} from '../../ui/content/ac-diagram.js';
import {codeColours} from '../../ui/content/code-colours.js';
import {setDirections} from '../../ui/content/direction.js';
import {formulaStyles} from '../../ui/content/formula-styles.js';
import {canDraw} from '../../ui/content/diagram-drawing.js';
import {FOLDED_LINES, foldStyles, isFoldedAt} from '../../ui/content/folding.js';
import {base, buttons, code, tables} from '../../ui/styles.js';
import {AcCopy} from '../../ui/ac-copy.js';

const LIMIT_CHARS = 300_000; // beyond it, rendering would block the page
const SHARE = 4; // while a text grows, rendering takes at most one part in SHARE of the time

/** The Markdown of an answer, also while it is being written (`live`); code blocks have their language and a copy button. */
export class AcChatText extends Localized(LitElement) {
  static properties = {
    text: {attribute: false},
    live: {type: Boolean},
  };

  static styles = [base, buttons, code, tables, codeColours, foldStyles, formulaStyles, css`
    :host { overflow-wrap: anywhere; line-height: 1.6; min-width: 0; }
    .plain { white-space: pre-wrap; unicode-bidi: plaintext; }
    pre { direction: ltr; }
    code { unicode-bidi: isolate; }
    .text > * { margin: 0 0 var(--ac-space-3); }
    :is(p, ul, ol, pre, blockquote, .table-frame, hr) { margin: 0 0 var(--ac-space-3); }
    .text > :is(h1, h2, h3, h4, h5, h6) { margin: var(--ac-space-5) 0 var(--ac-space-2); }
    h1 { font-size: var(--ac-text-xl); letter-spacing: -0.01em; }
    h2 { font-size: 1.125rem; }
    h3 { font-size: var(--ac-text-l); }
    .text > :first-child { margin-top: 0; }
    .text > :last-child, li > :last-child, blockquote > :last-child { margin-bottom: 0; }
    ul { list-style: disc; padding-inline-start: 1.5em; }
    ol { list-style: decimal; padding-inline-start: 1.75em; }
    li + li { margin-top: var(--ac-space-1); }
    :is(ul, ol) :is(ul, ol) { margin: var(--ac-space-1) 0 0; }
    blockquote { padding-inline-start: var(--ac-space-3); border-inline-start: 3px solid var(--ac-border); color: var(--ac-text-muted); }
    :not(pre) > code { padding: 0.1em 0.3em; border-radius: var(--ac-radius-s); background: var(--ac-surface-sunken); border: 1px solid var(--ac-border); }
    hr { border: 0; border-top: 1px solid var(--ac-border); }
    img { max-width: 100%; }
    td p { margin: 0; }
    [align="right"] { text-align: end; } [align="center"] { text-align: center; }
    .block { border: 1px solid var(--ac-border); border-radius: var(--ac-radius-m); overflow: hidden; background: var(--ac-surface-sunken); }
    .block > .head { display: flex; align-items: center; min-height: 2rem; padding-inline: var(--ac-space-3) var(--ac-space-1); border-bottom: 1px solid var(--ac-border); color: var(--ac-text-muted); font-size: var(--ac-text-xs); }
    .block > .head > span { flex: 1; }
    .block > pre.code { margin: 0; border: 0; border-radius: 0; max-height: none; }
    .block.long:not([data-open]) > pre.code { max-height: calc(${FOLDED_LINES} * 1lh + var(--ac-space-3)); overflow-y: hidden; }
    .block.long[data-open] > .more { display: none; }
    .block > .more { border: 0; border-top: 1px solid var(--ac-border); border-radius: 0; }
    .block.diagram > pre.code { border-top: 1px solid var(--ac-border); max-height: 24rem; }
    .block.diagram:not([data-open]) > ac-diagram[drawn] + pre, .block.diagram:not(:has(> ac-diagram[drawn])) .source { display: none; }
    /* what is being written is followed to its end */
    :host([live]) .block.long:last-child > pre.code { max-height: none; }
    :host([live]) .block.long:last-child > .more { display: none; }
  `];

  constructor() {
    super();
    this.text = '';
    this.live = false;
    /** @type {GrowingMarkdown | null} */
    this._growing = null;
    this._notBefore = 0;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this._timer = undefined;
  }

  disconnectedCallback() {
    clearTimeout(this._timer);
    super.disconnectedCallback();
  }

  render() {
    return this.text.length > LIMIT_CHARS ? html`<div class="plain">${this.text}</div>` : html`<div class="text" @click=${unfold}></div>`;
  }

  updated() {
    const target = /** @type {HTMLElement | null} */ (this.renderRoot.querySelector('.text'));
    clearTimeout(this._timer);
    if (!target) return void (this._growing = null);
    this._growing ??= new GrowingMarkdown(target, dressed);
    const waitMs = this.live ? this._notBefore - performance.now() : 0;
    if (waitMs > 0) this._timer = setTimeout(() => this._show(), waitMs);
    else this._show();
  }

  _show() {
    const start = performance.now();
    this._growing?.show(this.text, !this.live);
    const end = performance.now();
    this._notBefore = end + (end - start) * (SHARE - 1);
  }
}

/** Add a header to each code block of rendered Markdown, and fold long ones. @param {DocumentFragment} fragment */
function dressed(fragment) {
  setDirections(fragment);
  for (const pre of fragment.querySelectorAll('pre')) {
    const block = document.createElement('div');
    block.className = 'block';
    pre.replaceWith(block);
    if (canDraw && pre.dataset.language === 'mermaid' && !('unfinished' in pre.dataset)) {
      addDiagram(block, pre);
      continue;
    }
    block.append(head(pre), pre);
    const lines = (pre.textContent ?? '').replace(/\n$/, '').split('\n').length;
    if (!isFoldedAt(FOLDED_LINES, lines)) continue;
    block.classList.add('long');
    block.append(more(lines));
  }
  return fragment;
}

/** Draw a block's source above it; once it is drawn, a button shows and hides the source. @param {HTMLElement} block @param {HTMLPreElement} pre */
function addDiagram(block, pre) {
  block.classList.add('diagram');
  const diagram = new AcDiagram();
  diagram.setAttribute('source', pre.textContent ?? '');
  const line = head(pre);
  const button = document.createElement('button');
  button.className = 'source quiet small';
  button.textContent = t('ui.source');
  button.setAttribute('aria-expanded', 'false');
  line.insertBefore(button, line.lastChild);
  block.append(line, diagram, pre);
}

/** @param {number} lines */
function more(lines) {
  const button = document.createElement('button');
  button.className = 'more small';
  button.textContent = t('ui.showAllLines', {n: lines});
  return button;
}

/** Handle clicks for all blocks: while the text grows, the element of a block may be reused for another one. @param {Event} event */
function unfold({target}) {
  const button = /** @type {Element} */ (target).closest('.more, .source');
  const block = button?.closest('.block');
  if (!button || !block) return;
  const isOpen = block.toggleAttribute(OPEN, button.matches('.more') || undefined);
  if (button.matches('.source')) button.setAttribute('aria-expanded', String(isOpen));
}

/** @param {HTMLPreElement} pre */
function head(pre) {
  const line = document.createElement('div');
  line.className = 'head';
  const name = document.createElement('span');
  name.textContent = pre.dataset.language ?? '';
  const copy = new AcCopy();
  copy.label = t('chat.copyCode');
  // read when it is pressed: while the text grows, the element of the block may be reused for another one
  copy.value = () => copy.closest('.block')?.querySelector('pre')?.textContent?.replace(/\n$/, '') ?? '';
  line.append(name, copy);
  return line;
}
customElements.define('ac-chat-text', AcChatText);
