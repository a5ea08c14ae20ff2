import {LitElement, css, html, nothing} from 'lit';
import {Localized, formatDuration, t} from '../base/i18n.js';
import {moduleHref} from '../base/hosted-name.js';
import {withCode} from '../form/fields/field-element.js';
import {base} from '../ui/styles.js';
import '../ui/content/ac-json-tree.js';
import './ac-tool-effects.js';
import './ac-tool-icon.js';

/** Description of a tool, its effects and the properties of its calls. */
export class AcToolAbout extends Localized(LitElement) {
  static properties = {tool: {attribute: false}};

  static styles = [base, css`
    :host { display: grid; grid-template-columns: minmax(0, 1fr); gap: var(--ac-space-3); overflow-wrap: anywhere; }
    h1 { font-family: var(--ac-font-mono); font-size: var(--ac-text-xl); letter-spacing: 0; overflow-wrap: anywhere; }
    .line { display: flex; flex-wrap: wrap; align-items: center; gap: var(--ac-space-2) var(--ac-space-3); }
    .description { max-width: 70ch; display: grid; gap: var(--ac-space-2); text-wrap: pretty; }
    .description code { padding: 0 0.2em; background: var(--ac-surface-sunken); border-radius: var(--ac-radius-s); }
    summary { cursor: pointer; width: fit-content; color: var(--ac-text-muted); font-size: var(--ac-text-s); border-radius: var(--ac-radius-s); }
    summary:hover { color: var(--ac-text); }
    .facts { display: grid; gap: var(--ac-space-1); margin-top: var(--ac-space-2); padding-inline-start: 1.25em; list-style: disc; font-size: var(--ac-text-s); max-width: 70ch; }
    .output { margin-top: var(--ac-space-2); padding: var(--ac-space-3); border: 1px solid var(--ac-border); border-radius: var(--ac-radius-m); background: var(--ac-surface); }
  `];

  constructor() {
    super();
    /** @type {import('../client/tool-list.js').Tool | null} */
    this.tool = null;
  }

  render() {
    if (!this.tool) return nothing;
    const {name, module, description, effects, icons, output_schema: output} = this.tool;
    return html`
      <h1><ac-tool-icon .icons=${icons}></ac-tool-icon>${name}</h1>
      <p class="line"><a href=${moduleHref(module)}>${module}</a><ac-tool-effects .effects=${effects}></ac-tool-effects></p>
      <div class="description">${description.split(/\n\s*\n/).map((text) => html`<p>${withCode(text)}</p>`)}</div>
      <details>
        <summary>${t('tools.about')}</summary>
        <ul class="facts">${this._facts(this.tool).map((text) => html`<li>${text}</li>`)}</ul>
        ${output ? html`<div class="output"><p class="small muted">${t('tools.output')}</p><ac-json-tree .value=${output.properties ?? output} depth="1"></ac-json-tree></div>` : nothing}
      </details>`;
  }

  /** @param {import('../client/tool-list.js').Tool} tool */
  _facts({effects, annotations, timeout_ms: timeoutMs, resource}) {
    return [
      ...effects.map((effect) => t(`tools.effectText.${effect}`)),
      annotations.destructiveHint === true && t('tools.hint.destructive'),
      annotations.destructiveHint === false && t('tools.hint.notDestructive'),
      annotations.idempotentHint && t('tools.hint.idempotent'),
      annotations.openWorldHint && t('tools.hint.openWorld'),
      resource && t('tools.hint.resource', {type: resource.type}),
      t('tools.hint.timeout', {time: formatDuration(timeoutMs)}),
    ].filter(Boolean);
  }
}
customElements.define('ac-tool-about', AcToolAbout);
