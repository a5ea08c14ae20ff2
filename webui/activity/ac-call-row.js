import {LitElement, css, html, nothing} from 'lit';
import {callerText, chatTitle, rowSign, rowText} from './labels.js';
import {sessionList} from '../chat/sessions/session-list.js';
import {Listening} from '../base/subscriptions.js';
import {Localized, formatDuration, formatTime} from '../base/i18n.js';
import {base} from '../ui/styles.js';
import '../ui/ac-icon.js';

/** Column layout of the call list, shared with its header. */
export const columns = css`
  .columns {
    display: grid; align-items: center; column-gap: var(--ac-space-3); padding-inline: var(--ac-space-4);
    grid-template-columns: 9rem minmax(8rem, 14rem) minmax(4rem, 1fr) minmax(4rem, 7rem) minmax(4rem, 6.5rem) 4.5rem 6rem;
  }
  .end { text-align: end; }
  @container calls (max-width: 60rem) {
    .columns { grid-template-columns: 9rem minmax(7rem, 11rem) minmax(4rem, 1fr) 4.5rem 6rem; }
    .columns > .session, .columns > .by { display: none; }
  }
  @container calls (max-width: 38rem) {
    .columns { grid-template-columns: minmax(0, 1fr) auto; padding-inline: var(--ac-space-3); row-gap: 0; align-content: center; }
    .columns > .duration { display: none; }
    .columns > .outcome { grid-area: 1 / 1 / 3 / 1; justify-self: start; }
  }
`;

/** One row of the call list. */
export class AcCallRow extends Localized(LitElement) {
  static properties = {call: {attribute: false}};

  static styles = [base, columns, css`
    :host { height: 100%; }
    .columns { height: 100%; border-bottom: 1px solid var(--ac-border); font-size: var(--ac-text-s); white-space: nowrap; }
    .columns > * { min-width: 0; overflow: hidden; text-overflow: ellipsis; }
    .outcome { display: flex; align-items: center; gap: var(--ac-space-2); }
    .outcome span { overflow: hidden; text-overflow: ellipsis; }
    .tool { font-family: var(--ac-font-mono); color: var(--ac-text); }
    .arguments, .session { font-family: var(--ac-font-mono); font-size: var(--ac-text-xs); color: var(--ac-text-muted); }
    .session.titled { font-family: inherit; font-size: inherit; }
    .by, .time { color: var(--ac-text-muted); }
    .duration, .time { font-variant-numeric: tabular-nums; }
    .ok { color: var(--ac-ok); } .warn { color: var(--ac-warn); } .danger { color: var(--ac-danger); } .accent { color: var(--ac-accent); }
    .outcome.ok span { color: var(--ac-text-muted); }
    .nested { color: var(--ac-text-muted); margin-inline-end: var(--ac-space-1); }
    .blank { height: 0.625rem; border-radius: var(--ac-radius-s); background: var(--ac-surface-sunken); }
    @container calls (max-width: 38rem) {
      .columns { grid-template-columns: 1.25rem minmax(0, 1fr) auto; }
      .outcome { align-self: start; padding-top: 0.125rem; }
      .outcome.ok span { display: none; }
      .outcome span { display: none; }
      .arguments { grid-area: 2 / 2 / 3 / 4; }
      .tool { grid-area: 1 / 2; }
      .time { grid-area: 1 / 3; }
    }
  `];

  constructor() {
    super();
    /** @type {import('./call-log.js').CallRow | null} null: not loaded yet */
    this.call = null;
    new Listening(this, () => [sessionList.subscribe(() => this.requestUpdate())]); // titles of chats
  }

  render() {
    const {call} = this;
    if (!call) return html`<div class="columns"><div class="blank"></div><div class="blank"></div><div class="blank arguments"></div></div>`;
    const {icon, tone} = rowSign(call);
    return html`
      <div class="columns">
        <div class="outcome ${tone}"><ac-icon name=${icon}></ac-icon><span>${rowText(call)}</span></div>
        <div class="tool">${call.parent_call_id ? html`<span class="nested">↳</span>` : nothing}${call.tool || call.module || '—'}</div>
        <div class="arguments">${shortened(call.arguments)}</div>
        <div class="session ${chatTitle(call.session_id) ? 'titled' : ''}" title=${call.session_id}>${chatTitle(call.session_id) || call.session_id}</div>
        <div class="by">${call.principal_kind ? callerText(call.principal_kind, call.principal_id) : nothing}</div>
        <div class="duration end">${call.duration_ms === null ? nothing : formatDuration(call.duration_ms)}</div>
        <div class="time end">${formatTime(call.time_ms)}</div>
      </div>`;
  }
}

/** Return as much of the arguments as is visible, without the outer braces. @param {string} text */
function shortened(text) {
  return text === '{}' ? '' : text.slice(0, 240).replace(/^\{/, '').replace(/\}$/, '');
}

customElements.define('ac-call-row', AcCallRow);
