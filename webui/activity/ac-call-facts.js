import {LitElement, css, html, nothing} from 'lit';
import {allowedText, callerText, chatTitle} from './labels.js';
import {Localized, formatDuration, t} from '../base/i18n.js';
import {hostIn, moduleHref} from '../base/hosted-name.js';
import {href} from '../base/router.js';
import {base} from '../ui/styles.js';
import '../ui/ac-copy.js';

/** Metadata of a recorded call: who made it, who allowed it, its duration, host, module and session. */
export class AcCallFacts extends Localized(LitElement) {
  static properties = {
    call: {attribute: false},
    isRunning: {attribute: false},
  };

  static styles = [base, css`
    dl { display: grid; grid-template-columns: minmax(5rem, 9.5rem) minmax(0, 1fr); border: 1px solid var(--ac-border); border-radius: var(--ac-radius-m); background: var(--ac-surface); }
    dt, dd { padding: var(--ac-space-2) var(--ac-space-3); border-top: 1px solid var(--ac-border); }
    dt:first-of-type, dd:first-of-type { border-top: 0; }
    dt { color: var(--ac-text-muted); font-size: var(--ac-text-s); padding-top: calc(var(--ac-space-2) + 0.0625rem); }
    dd { overflow-wrap: anywhere; font-variant-numeric: tabular-nums; }
    .mono { font-size: var(--ac-text-s); }
    ac-copy { display: inline-block; margin-block: -0.375rem; vertical-align: middle; }
  `];

  constructor() {
    super();
    /** @type {import('./call-log.js').CallRow | null} */
    this.call = null;
    this.isRunning = false;
  }

  render() {
    const {call} = this;
    if (!call) return nothing;
    const digest = call.arguments_digest;
    const host = hostIn(call.module ?? '');
    return html`
      <dl>
        ${call.kind === 'call' && !this.isRunning ? fact('allowedBy', allowedText(call)) : nothing}
        ${fact('calledBy', call.principal_kind && callerText(call.principal_kind, call.principal_id))}
        ${call.duration_ms === null ? nothing : fact('duration', formatDuration(call.duration_ms))}
        ${fact('host', host && html`<a class="mono" href=${href(['hosts'])}>${host}</a>`)}
        ${fact('module', call.module && html`<a class="mono" href=${moduleHref(call.module)}>${call.module}</a>`)}
        ${fact('chat', chatTitle(call.session_id) && html`<a href=${href(['chats', call.session_id])}>${t('activity.openChat')}</a>`)}
        ${fact('session', call.session_id && link(['activity'], {session: call.session_id}, chatTitle(call.session_id) || call.session_id))}
        ${fact('resource', call.resource_id && html`<code>${call.resource_id}</code>`)}
        ${fact('callId', call.call_id && html`<code>${call.call_id}</code> <ac-copy .value=${call.call_id}></ac-copy>`)}
        ${fact('seq', call.seq)}
        ${fact('digest', digest && html`<code title=${t('activity.digestHint')}>${digest.slice(0, 16)}…</code> <ac-copy .value=${digest}></ac-copy>`)}
      </dl>`;
  }
}

/** @param {string} name @param {unknown} value */
const fact = (name, value) => (value ? html`<dt>${t(`activity.${name}`)}</dt><dd>${value}</dd>` : nothing);

/** @param {string[]} path @param {Record<string, string>} query @param {string} text */
const link = (path, query, text) => html`<a class="mono" href=${href(path, query)}>${text}</a>`;

customElements.define('ac-call-facts', AcCallFacts);
