import {LitElement, css, html, nothing} from 'lit';
import {Localized, t} from '../../base/i18n.js';
import {base} from '../../ui/styles.js';
import '../../ui/ac-icon.js';

/** The page that was sent with a message: its title and host, and how much of it was included. */
export class AcSentPage extends Localized(LitElement) {
  static properties = {page: {attribute: false}};

  static styles = [base, css`
    :host { display: block; min-width: 0; max-width: min(36rem, 88%); }
    .page { display: flex; align-items: center; gap: var(--ac-space-1); width: fit-content; max-width: 100%; min-height: 1.75rem; padding: 0 var(--ac-space-3); border: 1px solid var(--ac-border); border-radius: 999px; color: var(--ac-text-muted); font-size: var(--ac-text-xs); text-decoration: none; }
    a.page:hover { color: var(--ac-text); border-color: var(--ac-border-strong); }
    ac-icon { flex: none; }
    .title, .host { min-width: 0; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
    .title { flex: 0 1 auto; color: var(--ac-text); }
    .title + .host::before { content: '· '; }
  `];

  constructor() {
    super();
    /** @type {import('../conversation/items.js').SentPage | null} */
    this.page = null;
  }

  render() {
    if (!this.page) return nothing;
    const {url, title} = this.page;
    const address = URL.canParse(url) ? new URL(url) : null;
    const isOpenable = ['http:', 'https:'].includes(address?.protocol ?? '');
    const about = this._about(this.page);
    const host = address?.host || (title ? '' : url);
    const inside = html`
      <ac-icon name="globe"></ac-icon><span class="visually-hidden">${t('chat.withPage')} </span>
      ${title ? html`<span class="title" dir="auto">${title}</span>` : nothing}
      ${host ? html`<span class="host">${host}</span>` : nothing}
      ${about ? html`<span class="visually-hidden"> ${about}</span>` : nothing}`;
    const tip = [title, url, about].filter(Boolean).join('\n');
    return isOpenable
      ? html`<a class="page" href=${url} target="_blank" rel="noopener noreferrer" title=${tip}>${inside}</a>`
      : html`<span class="page" title=${tip}>${inside}</span>`;
  }

  /** Return how much of the page was included. @param {import('../conversation/items.js').SentPage} page */
  _about({elements, selectedChars}) {
    const parts = [elements ? t('chat.pageElements', {n: elements}) : '', selectedChars ? t('chat.pageSelected', {n: selectedChars}) : ''];
    return parts.filter(Boolean).join(' · ');
  }
}
customElements.define('ac-sent-page', AcSentPage);
