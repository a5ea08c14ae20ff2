import {LitElement, css, html, nothing} from 'lit';
import {Localized, formatNumber, t} from '../../base/i18n.js';
import {base} from '../../ui/styles.js';
import './ac-chat-text.js';
import '../../ui/ac-icon.js';

/** A notice that from here on the model receives less than the user sees; when open, it shows what the model receives instead. */
export class AcChatCompaction extends Localized(LitElement) {
  static properties = {compaction: {attribute: false}};

  static styles = [base, css`
    summary { display: flex; align-items: center; gap: var(--ac-space-2); width: fit-content; cursor: pointer; color: var(--ac-text-muted); font-size: var(--ac-text-s); border-radius: var(--ac-radius-s); }
    summary::after { content: ''; width: 0.4em; height: 0.4em; flex: none; border: solid currentColor; border-width: 0 1.5px 1.5px 0; transform: rotate(45deg) translate(-0.1em, -0.1em); }
    details[open] > summary::after { transform: rotate(-135deg); }
    .more { display: grid; gap: var(--ac-space-2); margin-top: var(--ac-space-2); padding-inline-start: var(--ac-space-3); border-inline-start: 2px solid var(--ac-border); color: var(--ac-text-muted); font-size: var(--ac-text-s); }
    .written { position: relative; padding: var(--ac-space-3); border-radius: var(--ac-radius-m); background: var(--ac-surface-sunken); color: var(--ac-text); max-height: 24rem; overflow-y: auto; }
    h4 { font-size: var(--ac-text-s); }
  `];

  constructor() {
    super();
    /** @type {import('../conversation/items.js').Compaction | null} */
    this.compaction = null;
  }

  render() {
    if (!this.compaction) return nothing;
    const {summary, tokensBefore, tokensAfter} = this.compaction;
    return html`
      <details>
        <summary><ac-icon name="info"></ac-icon>${whatHappened(this.compaction)}</summary>
        <div class="more">
          <p>${t('chat.compactedWhy', {before: formatNumber(tokensBefore), after: formatNumber(tokensAfter)})}</p>
          ${summary ? html`<h4>${t('chat.compactedSummary')}</h4><div class="written" tabindex="0"><ac-chat-text .text=${summary}></ac-chat-text></div>` : nothing}
        </div>
      </details>`;
  }
}
customElements.define('ac-chat-compaction', AcChatCompaction);

/** @param {import('../conversation/items.js').Compaction} compaction */
function whatHappened({shortenedResults, cutParts, replacedMessages}) {
  const parts = [];
  if (replacedMessages) parts.push(t('chat.compactedMessages', {n: replacedMessages}));
  if (shortenedResults) parts.push(t('chat.compactedResults', {n: shortenedResults}));
  if (cutParts) parts.push(t('chat.compactedParts', {n: cutParts}));
  return parts.join(' · ');
}
