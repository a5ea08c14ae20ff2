import {LitElement, css, html, nothing} from 'lit';
import '../../ui/content/ac-diff.js';
import {Localized, inLocale, t} from '../../base/i18n.js';
import {partsOf} from '../../ui/content/unified-diff.js';
import {base} from '../../ui/styles.js';
import './ac-approval-arguments.js';
import {argumentsBeside, touchesBeside} from './beside-diff.js';
import {cardStyles} from './card-styles.js';
import {visible, visibleText} from '../guard/visible-text.js';
import {descriptionOf, schemaOf} from './call-texts.js';

/**
 * Complete preview of a call: its diff, if any, with the tool's own summary, which covers the arguments, or else with all
 * arguments that the diff does not contain.
 */
export class AcApprovalPreview extends Localized(LitElement) {
  static properties = {call: {attribute: false}};

  static styles = [base, cardStyles, css`
    :host { display: grid; grid-template-columns: minmax(0, 1fr); gap: var(--ac-space-3); }
  `];

  constructor() {
    super();
    /** @type {import('./pending-requests.js').WaitingCall | null} */
    this.call = null;
  }

  render() {
    const {call} = this;
    if (!call) return nothing;
    const {diff, words} = call.preview ?? {};
    const [entries, touches] = [words ? [] : argumentsBeside(call.arguments, diff ?? ''), touchesBeside(call)];
    return html`
      ${diff || words ? nothing : html`<p class="about">${descriptionOf(call)}</p>`}
      ${touches.length ? html`<dl class="facts">${touches.map(({label, values}) => html`
        <div><dt>${inLocale(label)}</dt><dd>${values.map((value) => html`<div class="mono">${visible(value)}</div>`)}</dd></div>`)}</dl>` : nothing}
      ${words ? html`<ol class="words">${words.split('\n').map((line) => html`<li>${visible(line)}</li>`)}</ol>` : nothing}
      ${diff ? partsOf(diff).map(diffPart) : nothing}
      ${entries.length ? html`<ac-approval-arguments .entries=${entries} .schema=${schemaOf(call)}></ac-approval-arguments>` : nothing}
      ${Object.keys(call.arguments).length ? nothing : html`<p class="muted small">${t('approval.noArguments')}</p>`}`;
  }
}

/** Render a part of a diff: lines of files, or any other text. @param {{isDiff: boolean, text: string}} part */
export function diffPart({isDiff, text}) {
  if (isDiff) return html`<ac-diff whole .text=${visibleText(text)}></ac-diff>`;
  return html`<pre class="lines">${text.trimEnd().split('\n').map((line) => html`<span class=${{'+': 'added', '-': 'removed'}[line[0]] ?? ''}>${visible(line)}\n</span>`)}</pre>`;
}

customElements.define('ac-approval-preview', AcApprovalPreview);
