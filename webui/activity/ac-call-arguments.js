import {LitElement, css, html, nothing} from 'lit';
import {MASK} from '../schema/secrets.js';
import {argumentsText} from './labels.js';
import {Localized, t} from '../base/i18n.js';
import {base, buttons, code} from '../ui/styles.js';
import '../ui/ac-copy.js';

/** Arguments of a call as recorded: secrets masked, long arguments truncated. */
export class AcCallArguments extends Localized(LitElement) {
  static properties = {call: {attribute: false}};

  static styles = [base, buttons, code, css`
    h3 { display: flex; align-items: center; justify-content: space-between; min-height: 1.75rem; margin-bottom: var(--ac-space-2); font-size: var(--ac-text-m); }
    pre.code { max-height: 26rem; }
    .note { margin-top: var(--ac-space-2); color: var(--ac-text-muted); font-size: var(--ac-text-s); }
  `];

  constructor() {
    super();
    /** @type {import('./call-log.js').CallRow | null} */
    this.call = null;
  }

  render() {
    if (!this.call) return nothing;
    const {text, isCut} = argumentsText(this.call.arguments);
    const isEmpty = text === '' || text === '{}';
    return html`
      <section aria-labelledby="heading">
        <h3 id="heading">${t(this.call.kind === 'call' ? 'activity.arguments' : 'activity.details')}
          ${isEmpty ? nothing : html`<ac-copy .value=${text} label=${t('activity.copyArguments')}></ac-copy>`}</h3>
        ${isEmpty ? html`<p class="muted">${t('activity.noArguments')}</p>` : html`
          <pre class="code wrap" tabindex="0" role="group" aria-labelledby="heading">${text}</pre>`}
        ${text.includes(MASK) ? html`<p class="note">${t('activity.masked')}</p>` : nothing}
        ${isCut ? html`<p class="note">${t('activity.cut')}</p>` : nothing}
      </section>`;
  }
}

customElements.define('ac-call-arguments', AcCallArguments);
