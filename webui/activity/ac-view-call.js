import {LitElement, css, html, nothing} from 'lit';
import {runningCalls} from './running-calls.js';
import {decisionText, explanation, outcomeText, recordedArguments, rowSign, rowText} from './labels.js';
import {client} from '../client/client.js';
import {keepDraft} from '../tools/drafts.js';
import {Localized, formatDuration, formatTime, t} from '../base/i18n.js';
import {Listening} from '../base/subscriptions.js';
import {hostIn} from '../base/hosted-name.js';
import {href} from '../base/router.js';
import {badges, base, buttons} from '../ui/styles.js';
import {toastError} from '../ui/toasts.js';
import './ac-call-arguments.js';
import './ac-call-facts.js';
import '../ui/ac-empty.js';
import '../ui/ac-error-card.js';
import '../ui/ac-icon.js';

/** @typedef {import('./call-log.js').CallRow} CallRow */
/** @typedef {import('./running-calls.js').RunningCall} RunningCall */

/** Details of one recorded call: its arguments, caller, approval, outcome and related calls. */
export class AcViewCall extends Localized(LitElement) {
  static properties = {
    callId: {attribute: false},
    back: {attribute: false},
    _rows: {state: true},
    _children: {state: true},
    _parent: {state: true},
    _error: {state: true},
    _loadedId: {state: true},
  };

  static styles = [base, badges, buttons, css`
    :host { padding: var(--ac-space-5); }
    article { display: grid; gap: var(--ac-space-5); }
    .top { display: flex; align-items: center; justify-content: space-between; gap: var(--ac-space-3); margin-bottom: var(--ac-space-3); min-height: var(--ac-control); }
    .back { display: none; margin-inline-start: calc(-1 * var(--ac-space-2)); }
    @container activity (max-width: 56rem) { .back { display: inline-flex; } .beside { display: none; } }
    h2 { font-family: var(--ac-font-mono); font-size: var(--ac-text-l); overflow-wrap: anywhere; }
    .state { display: flex; flex-wrap: wrap; align-items: center; gap: var(--ac-space-2); margin-top: var(--ac-space-2); }
    .explain { margin-top: var(--ac-space-2); color: var(--ac-text-muted); text-wrap: pretty; }
    .actions { display: flex; flex-wrap: wrap; gap: var(--ac-space-2); }
    section > h3 { margin-bottom: var(--ac-space-2); font-size: var(--ac-text-m); }
    .calls { border: 1px solid var(--ac-border); border-radius: var(--ac-radius-m); background: var(--ac-surface); overflow: hidden; }
    .calls li + li { border-top: 1px solid var(--ac-border); }
    .calls a, .calls .plain { display: flex; align-items: center; gap: var(--ac-space-3); padding: var(--ac-space-2) var(--ac-space-3); color: inherit; text-decoration: none; }
    .calls a:hover { background: var(--ac-hover); }
    .calls .name { flex: 1; min-width: 0; font-family: var(--ac-font-mono); font-size: var(--ac-text-s); overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
    .calls .plain .name { font-family: inherit; white-space: normal; }
    progress { width: 100%; accent-color: var(--ac-accent); }
    .ok { color: var(--ac-ok); } .warn { color: var(--ac-warn); } .danger { color: var(--ac-danger); } .accent { color: var(--ac-accent); }
    @media (max-width: 48rem) { :host { padding: var(--ac-space-4) var(--ac-space-3); } }
  `];

  constructor() {
    super();
    this.callId = '';
    /** Address of the call list. */
    this.back = '#/activity';
    /** @type {CallRow[]} */
    this._rows = [];
    /** @type {CallRow[]} */
    this._children = [];
    /** @type {CallRow | null} */
    this._parent = null;
    /** @type {unknown} */
    this._error = null;
    this._loadedId = '';
    new Listening(this, () => [
      runningCalls.subscribe(() => this.requestUpdate()),
      client.on('call.finished', ({callId}) => { if (callId === this.callId) void this._load(); }),
      client.on('approval.decided', ({callId}) => { if (callId === this.callId) void this._load(); }),
    ]);
  }

  /** @param {Map<string, unknown>} changed */
  willUpdate(changed) {
    if (!changed.has('callId')) return;
    void this._load();
    void runningCalls.load();
  }

  async _load() {
    const id = this.callId;
    try {
      const [rows, children] = await Promise.all([rowsOf(id), id.startsWith('seq-') ? [] : pageOf({parent_call_id: id, limit: 200})]);
      const parentId = rows.find(({kind}) => kind === 'call')?.parent_call_id;
      const parents = parentId ? await pageOf({call_id: parentId, limit: 20}) : [];
      if (id !== this.callId) return;
      this._rows = rows;
      this._children = children.filter((/** @type {CallRow} */ {kind}) => kind === 'call').reverse();
      this._parent = parents.find((/** @type {CallRow} */ {kind}) => kind === 'call') ?? null;
      this._error = null;
    } catch (error) {
      if (id !== this.callId) return;
      this._error = error;
    }
    this._loadedId = id;
  }

  render() {
    return html`
      <div class="top">
        <a class="button quiet small back" href=${this.back}><ac-icon name="arrow-left"></ac-icon>${t('activity.back')}</a>
        <span class="muted small beside">${t('activity.callHeading')}</span>
        <a class="button quiet small icon beside" href=${this.back} aria-label=${t('activity.closeCall')} title=${t('activity.closeCall')}><ac-icon name="x"></ac-icon></a>
      </div>
      ${this._content()}`;
  }

  _content() {
    if (this._error) return html`<ac-error-card .error=${this._error}></ac-error-card>`;
    const row = this._loadedId === this.callId ? this._rows.find(({kind}) => kind === 'call') ?? this._rows[0] : undefined;
    const running = runningCalls.find(this.callId);
    if (running && row?.kind !== 'call') return this._call(asRow(running), running);
    if (row) return this._call(row, null);
    if (this._loadedId !== this.callId) return nothing;
    return html`<ac-empty whole icon="search" heading=${t('activity.notFound')}>${t('activity.notFoundText', {id: this.callId})}</ac-empty>`;
  }

  /** @param {CallRow} row @param {RunningCall | null} running */
  _call(row, running) {
    const {icon, tone} = rowSign(row);
    const why = row.kind === 'call' ? explanation(row.outcome) : '';
    return html`
      <article aria-label=${t('activity.callHeading')}>
        <header>
          <h2>${row.tool || rowText(row)}</h2>
          <div class="state">
            <span class="badge ${tone}"><ac-icon name=${icon}></ac-icon>${rowText(row)}</span>
            ${outcomeText(row.outcome) === row.outcome || row.outcome === 'ok' || running || row.kind !== 'call' ? nothing : html`<code class="muted small">${row.outcome}</code>`}
            <span class="muted small">${formatTime(row.time_ms, {full: true})}</span>
          </div>
          ${why ? html`<p class="explain">${why}</p>` : nothing}
          ${running ? this._progress(running) : nothing}
        </header>
        ${row.kind === 'call' ? this._actions(row, running) : nothing}
        <ac-call-arguments .call=${row}></ac-call-arguments>
        <ac-call-facts .call=${row} .isRunning=${Boolean(running)}></ac-call-facts>
        ${this._parent ? this._calls(t('activity.parent'), [this._parent]) : nothing}
        ${this._children.length ? this._calls(t('activity.children'), this._children) : nothing}
        ${this._decisions(row)}
      </article>`;
  }

  /** @param {RunningCall} running */
  _progress({fraction, message}) {
    return html`
      <div class="explain" role="status">
        <progress max="1" .value=${fraction ?? nothing} aria-label=${t('activity.progress')}></progress>
        ${message ?? nothing}
      </div>`;
  }

  /** @param {CallRow} row @param {RunningCall | null} running */
  _actions(row, running) {
    return html`
      <div class="actions">
        ${running ? html`<button class="danger" @click=${this._cancel}><ac-icon name="circle-stop"></ac-icon>${t('activity.cancelCall')}</button>` : nothing}
        <a class="button" href=${href(['tools', row.tool])} title=${t('activity.runAgainHint')} @click=${() => leadToConsole(row)}>
          <ac-icon name="rotate-ccw"></ac-icon>${t('activity.runAgain')}</a>
        <a class="button quiet" href=${href(['activity'], {tool: row.tool})}>${t('activity.allOfTool', {tool: row.tool})}</a>
      </div>`;
  }

  /** @param {string} heading @param {CallRow[]} calls */
  _calls(heading, calls) {
    return html`
      <section aria-label=${heading}>
        <h3>${heading}</h3>
        <ul class="calls">${calls.map((call) => html`
          <li><a href=${this._addressOf(call.call_id)}>${this._sign(call)}<span class="name">${call.tool}</span>
            <span class="muted small">${call.duration_ms === null ? nothing : formatDuration(call.duration_ms)}</span></a></li>`)}</ul>
      </section>`;
  }

  /** @param {CallRow} row */
  _decisions(row) {
    const others = this._rows.filter((one) => one !== row && one.kind === 'decision');
    if (!others.length) return nothing;
    return html`
      <section aria-label=${t('activity.decisions')}>
        <h3>${t('activity.decisions')}</h3>
        <ul class="calls">${others.map((one) => html`
          <li><div class="plain">${this._sign(one)}<span class="name">${decisionText(one)}</span>
            <span class="muted small">${formatTime(one.time_ms)}</span></div></li>`)}</ul>
      </section>`;
  }

  /** @param {CallRow} call */
  _sign(call) {
    const {icon, tone} = rowSign(call);
    return html`<ac-icon class=${tone} name=${icon}></ac-icon><span class="visually-hidden">${rowText(call)}</span>`;
  }

  /** Return the address of another call, with the list's filter unchanged. @param {string} callId */
  _addressOf(callId) {
    return this.back.replace(/^#\/activity/, href(['activity', callId]));
  }

  async _cancel() {
    try {
      await client.cancel(this.callId);
    } catch (error) {
      toastError(t('activity.cancelFailed'), error);
    }
  }
}

/** @param {Record<string, string | number>} wanted @returns {Promise<CallRow[]>} */
async function pageOf(wanted) {
  const entries = Object.entries(wanted).map(([key, value]) => [key, String(value)]);
  return (await client.get(`/api/calls?${new URLSearchParams(entries)}`)).calls;
}

/** Load a call with its decisions, or a row without a call by its sequence number. @param {string} id */
function rowsOf(id) {
  const seq = /^seq-(\d+)$/.exec(id)?.[1];
  return seq ? pageOf({after: Number(seq) - 1, before: Number(seq) + 1}) : pageOf({call_id: id, limit: 20});
}

/** Prefill the console's form with the recorded arguments; masked or truncated ones are left to the user. @param {CallRow} row */
function leadToConsole(row) {
  const args = recordedArguments(row.arguments);
  if (args) keepDraft(row.tool, {args, sessionId: row.session_id, host: hostIn(row.module ?? '') || undefined});
}

/** @param {RunningCall} call @returns {CallRow} */
function asRow(call) {
  return {
    seq: 0, kind: 'call', outcome: call.state, decision: '', decided_by: '', duration_ms: null, arguments_digest: '', resource_id: null,
    principal_id: '', ...call,
  };
}

customElements.define('ac-view-call', AcViewCall);
