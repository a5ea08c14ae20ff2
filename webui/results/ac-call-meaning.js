import {LitElement, css, html, nothing} from 'lit';
import {diffOf, headline} from './call-display.js';
import {Localized, t} from '../base/i18n.js';
import {base} from '../ui/styles.js';
import '../ui/content/ac-code.js';
import '../ui/content/ac-diff.js';
import './ac-todo-list.js';

/** User-facing summary of a call: its command, file and lines, changes or to-do items. */
export class AcCallMeaning extends Localized(LitElement) {
  static properties = {
    display: {attribute: false},
    hasDiff: {type: Boolean, attribute: 'has-diff'},
  };

  static styles = [base, css`
    :host { display: grid; grid-template-columns: minmax(0, 1fr); gap: var(--ac-space-2); min-width: 0; }
    p { overflow-wrap: anywhere; font-size: var(--ac-text-s); white-space: pre-wrap; }
    p.path { font-family: var(--ac-font-mono); }
  `];

  constructor() {
    super();
    /** @type {import('./call-display.js').Display | null} */
    this.display = null;
    /** True if the result shows the diff already. */
    this.hasDiff = false;
  }

  render() {
    if (!this.display) return nothing;
    const {subject, command, path, todos} = this.display;
    const diff = this.hasDiff ? '' : diffOf(this.display);
    return html`
      ${subject ? html`<p>${subject}</p>` : nothing}
      ${command ? html`<ac-code folds language="bash" .text=${command} label=${t('results.command')} wraps></ac-code>` : nothing}
      ${path && !diff && !this.hasDiff ? html`<p class="path">${headline({...this.display, subject: '', command: ''})}</p>` : nothing}
      ${diff ? html`<ac-diff folds .text=${diff} ?unnumbered=${this.display.content === null}></ac-diff>` : nothing}
      ${todos.length ? html`<ac-todo-list .todos=${todos}></ac-todo-list>` : nothing}`;
  }
}
customElements.define('ac-call-meaning', AcCallMeaning);
