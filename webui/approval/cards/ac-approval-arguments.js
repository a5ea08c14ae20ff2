import {LitElement, css, html, nothing} from 'lit';
import {Localized, t} from '../../base/i18n.js';
import {base, buttons} from '../../ui/styles.js';
import {visible} from '../guard/visible.js';

const INLINE_CHARS = 100;

/** The arguments of a call in full length: one by one with their names, or as JSON. */
export class AcApprovalArguments extends Localized(LitElement) {
  static properties = {call: {attribute: false}, _isJson: {state: true}};

  static styles = [base, buttons, css`
    header { display: flex; align-items: center; justify-content: space-between; gap: var(--ac-space-2); }
    h4 { font-size: var(--ac-text-s); color: var(--ac-text-muted); font-weight: var(--ac-weight-medium); }
    dl { display: grid; grid-template-columns: minmax(0, 1fr); gap: var(--ac-space-2); }
    dt { font-family: var(--ac-font-mono); font-size: var(--ac-text-s); color: var(--ac-text-muted); overflow-wrap: anywhere; }
    .inline { display: grid; grid-template-columns: minmax(5rem, auto) minmax(0, 1fr); gap: var(--ac-space-1) var(--ac-space-3); align-items: baseline; }
    .value, pre {
      font-family: var(--ac-font-mono); font-size: var(--ac-text-s); white-space: pre-wrap; overflow-wrap: anywhere; tab-size: 4;
      color: var(--ac-code-text); unicode-bidi: isolate; direction: ltr;
    }
    pre {
      margin-top: var(--ac-space-1); padding: var(--ac-space-2) var(--ac-space-3); max-height: 22rem; overflow: auto;
      background: var(--ac-surface-sunken); border: 1px solid var(--ac-border); border-radius: var(--ac-radius-m);
    }
    /* the order of the characters themselves, whatever letters they are */
    pre.json { unicode-bidi: bidi-override; }
    mark { background: var(--ac-danger-soft); color: var(--ac-danger); font-weight: var(--ac-weight-bold); border-radius: var(--ac-radius-s); }
    .size { font-size: var(--ac-text-xs); color: var(--ac-text-muted); }
  `];

  constructor() {
    super();
    /** @type {import('./waiting.js').WaitingCall | null} */
    this.call = null;
    this._isJson = false;
  }

  render() {
    if (!this.call) return nothing;
    const entries = Object.entries(this.call.arguments);
    return html`
      <header>
        <h4>${t('approval.arguments')}</h4>
        ${entries.length ? html`
          <button class="small quiet" aria-pressed=${this._isJson} @click=${() => { this._isJson = !this._isJson; }}>${t('approval.asJson')}</button>` : nothing}
      </header>
      ${entries.length === 0 ? html`<p class="muted small">${t('approval.noArguments')}</p>` : this._isJson ? this._json() : html`<dl>${entries.map(([key, value]) => this._entry(key, value))}</dl>`}`;
  }

  /** @param {string} key @param {unknown} value */
  _entry(key, value) {
    const about = this.call?.inputSchema?.properties?.[key]?.description ?? '';
    const text = typeof value === 'string' ? value : JSON.stringify(value, null, 2);
    const name = html`<dt title=${about}>${visible(key)}</dt>`;
    if (text.length <= INLINE_CHARS && !text.includes('\n')) {
      return html`<div class="inline">${name}<dd class="value">${text === '' ? html`<span class="muted">${t('approval.emptyText')}</span>` : visible(text)}</dd></div>`;
    }
    const lines = text.split('\n').length;
    return html`
      <div>
        ${name}
        <dd><pre tabindex="0" role="region" aria-label=${key}>${visible(text)}</pre>
          <span class="size">${t('approval.size', {lines, n: [...text].length})}</span></dd>
      </div>`;
  }

  _json() {
    return html`<pre class="json" tabindex="0" role="region" aria-label="JSON">${visible(JSON.stringify(this.call?.arguments, null, 2))}</pre>`;
  }
}

customElements.define('ac-approval-arguments', AcApprovalArguments);
