import {LitElement, css, html} from 'lit';
import {Localized, t} from '../base/i18n.js';
import {base} from '../ui/styles.js';
import {textOf} from './actions.js';

/** Progress of an installation: a bar and the current step. */
export class AcRequirementProgress extends Localized(LitElement) {
  static properties = {requirement: {attribute: false}};

  static styles = [base, css`
    :host { display: grid; gap: var(--ac-space-1); min-width: 0; }
    progress { appearance: none; display: block; width: 100%; height: 0.375rem; border: 0; border-radius: var(--ac-radius-s); overflow: hidden; background: color-mix(in srgb, var(--ac-accent) 22%, transparent); }
    progress::-webkit-progress-bar { background: transparent; }
    progress::-webkit-progress-value { background: var(--ac-accent); border-radius: inherit; transition: inline-size var(--ac-duration, 150ms); }
    progress::-moz-progress-bar { background: var(--ac-accent); }
    progress:not([value]) { animation: pulse 1.6s ease-in-out infinite; }
    @keyframes pulse { 50% { background: color-mix(in srgb, var(--ac-accent) 60%, transparent); } }
    @media (prefers-reduced-motion: reduce) { progress { animation: none; } progress::-webkit-progress-value { transition: none; } }
    p { color: var(--ac-text-muted); font-size: var(--ac-text-s); font-variant-numeric: tabular-nums; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
  `];

  constructor() {
    super();
    /** @type {import('../client/requirement-list.js').Requirement | null} */
    this.requirement = null;
  }

  render() {
    const {progress = null, fraction = null} = this.requirement ?? {};
    const text = textOf(progress);
    const bar = fraction === null
      ? html`<progress aria-label=${t('requirements.progress')}></progress>`
      : html`<progress max="1" .value=${fraction} aria-label=${t('requirements.progress')}></progress>`;
    return html`${bar}<p title=${text}>${text || '…'}</p>`;
  }
}

customElements.define('ac-requirement-progress', AcRequirementProgress);
