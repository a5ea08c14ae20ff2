import {LitElement, css, html, nothing} from 'lit';
import '../../ui/ac-icon.js';
import {Localized, hasText, t} from '../../base/i18n.js';
import {partsOf} from '../../ui/content/unified-diff.js';
import {base} from '../../ui/styles.js';
import './ac-approval-actions.js';
import './ac-approval-countdown.js';
import {diffPart} from './ac-approval-preview.js';
import {requesterText} from './requester.js';
import {END, Reading} from '../guard/read-tracking.js';
import {cardStyles} from './card-styles.js';
import {visible, visibleText} from '../guard/visible-text.js';
import {waiting} from './pending-requests.js';

/** Keys of warnings by the kind of change. @type {Record<string, string>} */
const WARNINGS = {definitions: 'approval.offerText', install: 'approval.installText', instructions: 'approval.instructionsText', skill: 'approval.skillText'};

/** Keys of who requests changes of these kinds. @type {Record<string, string>} */
const BY_SERVER = {instructions: 'approval.instructionsBy', skill: 'approval.skillBy'};

/** One policy change, with its diff and the buttons to decide on it. */
export class AcApprovalChange extends Localized(LitElement) {
  static properties = {
    change: {attribute: false},
    _isBusy: {state: true},
    _reads: {state: true},
  };

  static styles = [base, cardStyles, css`
    fieldset { margin: 0; padding: 0; border: 0; min-width: 0; display: grid; gap: var(--ac-space-1); font-size: var(--ac-text-s); }
    legend { padding: 0; font-weight: var(--ac-weight-medium); }
    fieldset p { color: var(--ac-text-muted); }
    fieldset label { display: flex; gap: var(--ac-space-2); align-items: baseline; min-height: 1.5rem; cursor: pointer; overflow-wrap: anywhere; }
    fieldset .each { padding-inline-start: var(--ac-space-5); }
    @media (max-width: 36rem) { fieldset label { min-height: 2.25rem; align-items: center; } }
  `];

  constructor() {
    super();
    /** @type {import('./pending-requests.js').WaitingChange | null} */
    this.change = null;
    this._isBusy = false;
    /** Tools that the user has chosen to treat as reading. @type {Set<string>} */
    this._reads = new Set();
    this._reading = new Reading(this);
  }

  /** @param {import('lit').PropertyValues<this>} changed */
  willUpdate(changed) {
    const before = changed.get('change');
    if (before && before.changeId !== this.change?.changeId) this._reads = new Set();
  }

  render() {
    const {change} = this;
    if (!change) return nothing;
    const heading = hasText(`approval.change.${change.kind}`) ? t(`approval.change.${change.kind}`, {name: visibleText(change.subject) || t('approval.untitled')}) : `${change.kind} ${visibleText(change.subject)}`;
    const isOffer = change.kind === 'definitions';
    const isInstallation = change.kind === 'install';
    const warning = WARNINGS[change.kind] ?? 'approval.changeText';
    const byServer = BY_SERVER[change.kind];
    const askedBy = isOffer ? t('approval.offeredBy', {name: visibleText(change.subject)}) : byServer ? t(byServer) : requesterText(change.askedBy);
    return html`
      <article class="grave" aria-labelledby="heading">
        <div class="head"><h3 id="heading">${heading}</h3>${change.expiresAt === null ? nothing : html`<ac-approval-countdown .until=${change.expiresAt}></ac-approval-countdown>`}</div>
        <div class="note warn"><ac-icon name="shield-alert"></ac-icon><span>${t(warning)}</span></div>
        <div class="seen">${END}
        ${change.diff.map(({text}) => partsOf(text).map(diffPart))}
        <dl class="facts">
          ${change.paths.length ? html`<div><dt>${t('approval.changes')}</dt><dd>${change.paths.map((path) => html`<div class="mono">${visible(path)}</div>`)}</dd></div>` : nothing}
          <div><dt>${t('approval.askedBy')}</dt><dd>${askedBy}</dd></div>
        </dl>
        ${change.readingTools.length ? this._choices(change.readingTools) : nothing}
        ${END}</div>
        <ac-approval-actions .yes=${t(isInstallation ? 'approval.install' : 'approval.apply')} .no=${t(isInstallation ? 'approval.decline' : 'approval.refuse')} .subject=${heading} .isBusy=${this._isBusy} .isRead=${this._reading.isDone} @ac-decide=${this._decide}></ac-approval-actions>
      </article>`;
  }

  /** Choose which tools are treated as reading. @param {string[]} tools  those that the server says only read */
  _choices(tools) {
    const {_reads: reads} = this;
    const choose = (/** @type {string[]} */ names) => (/** @type {Event} */ event) => {
      const isOn = /** @type {HTMLInputElement} */ (event.target).checked;
      this._reads = new Set(isOn ? [...reads, ...names] : [...reads].filter((name) => !names.includes(name)));
    };
    const hasAll = tools.every((name) => reads.has(name));
    return html`
      <fieldset>
        <legend>${t('approval.reading')}</legend>
        <p>${t('approval.readingText')}</p>
        ${tools.length > 1 ? html`<label><input type="checkbox" .checked=${hasAll} .indeterminate=${reads.size > 0 && !hasAll} @change=${choose(tools)}>${t('approval.readingAll', {count: tools.length})}</label>` : nothing}
        ${tools.map((name) => html`<label class=${tools.length > 1 ? 'each' : ''}><input type="checkbox" .checked=${reads.has(name)} @change=${choose([name])}><span class="mono">${visible(name)}</span></label>`)}
      </fieldset>`;
  }

  updated() {
    this._reading.watch(this.change?.changeId, this.renderRoot.querySelectorAll('.end'));
  }

  /** @param {CustomEvent<{approved: boolean}>} event */
  async _decide({detail: {approved}}) {
    this._isBusy = true;
    try {
      await waiting.decideChange(/** @type {import('./pending-requests.js').WaitingChange} */ (this.change), approved, approved ? [...this._reads] : []);
    } catch (error) {
      // each change is decided once, so the card is gone by then: the view shows why it was not applied
      this.dispatchEvent(new CustomEvent('ac-failed', {detail: {error}, bubbles: true, composed: true}));
    } finally {
      this._isBusy = false;
    }
  }
}

customElements.define('ac-approval-change', AcApprovalChange);
