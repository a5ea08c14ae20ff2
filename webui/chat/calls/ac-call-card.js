import {LitElement, css, html, nothing} from 'lit';
import {PAGE_TARGET, pageAddress} from '../../client/session.js';
import {endSummary, holdsDiffOf, holdsPicture, linesOf, reasonOf} from './call-labels.js';
import {Localized, formatNumber, t} from '../../base/i18n.js';
import {Listening} from '../../base/subscriptions.js';
import {href} from '../../base/router.js';
import {visible} from '../../approval/guard/visible-text.js';
import {deciderText} from '../../tools/decider-text.js';
import {badges, base, buttons} from '../../ui/styles.js';
import {hostOfTool} from '../../client/module-list.js';
import {toolList} from '../../client/tool-list.js';
import './ac-arguments.js';
import {showsWhole} from './ac-call-ask.js';
import './ac-call-thread.js';
import './ac-live-output.js';
import {headline, readDisplay} from '../../results/call-display.js';
import '../../ui/ac-icon.js';
import '../../ui/content/ac-json-tree.js';
import '../../results/ac-call-meaning.js';
import '../../results/ac-result.js';
import '../../tools/ac-tool-effects.js';
import '../../tools/ac-tool-icon.js';
import '../../views/ac-tool-view.js';
import {onWords, wordsOf} from './call-summary.js';

/** @typedef {import('../conversation/items.js').ChatCall} ChatCall */

/** The number of steps that a closed card shows. */
const SHOWN_STEPS = 4;
/** The states in which the view of a tool is shown: the call runs or has run. */
const VIEWED = new Set(['running', 'done', 'failed']);

/** @type {Record<import('../conversation/items.js').CallState, {icon: string, kind: string}>} */
const LOOKS = {
  pending: {icon: 'loader-circle', kind: ''},
  waiting: {icon: 'circle-help', kind: 'warn'},
  running: {icon: 'loader-circle', kind: 'accent'},
  done: {icon: 'check', kind: 'ok'},
  failed: {icon: 'x', kind: 'danger'},
  rejected: {icon: 'ban', kind: ''},
  interrupted: {icon: 'circle-alert', kind: 'warn'},
  cancelled: {icon: 'circle-stop', kind: ''},
};

/**
 * One tool call in a chat: its purpose, state and result.
 */
export class AcCallCard extends Localized(LitElement) {
  static properties = {
    call: {attribute: false},
    _isOpen: {state: true},
    _hasWritten: {state: true},
    _showsJson: {state: true},
  };

  static styles = [base, badges, buttons, css`
    article { border: 1px solid var(--ac-border); border-radius: var(--ac-radius-l); background: var(--ac-surface); overflow: hidden; }
    article.waiting { border-color: var(--ac-warn); }
    .head { display: grid; grid-template-columns: auto auto minmax(0, 1fr) auto; align-items: center; justify-content: start; gap: var(--ac-space-2); width: 100%; min-height: 2.5rem; padding: var(--ac-space-1) var(--ac-space-3); border: 0; border-radius: 0; background: none; box-shadow: none; text-align: start; font-weight: inherit; }
    .head:focus-visible { outline-offset: -2px; border-radius: var(--ac-radius-l); }
    .sign { display: inline-flex; color: var(--ac-text-muted); }
    .sign.ok { color: var(--ac-ok); } .sign.warn { color: var(--ac-warn); } .sign.danger { color: var(--ac-danger); } .sign.accent { color: var(--ac-accent); }
    .name { font-family: var(--ac-font-mono); font-size: var(--ac-text-s); font-weight: var(--ac-weight-bold); overflow: hidden; text-overflow: ellipsis; line-height: var(--ac-line); max-width: 18rem; }
    .brief { min-width: 0; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; color: var(--ac-text-muted); font-family: var(--ac-font-mono); font-size: var(--ac-text-s); line-height: 1.5; }
    .brief.words { font-family: inherit; }
    .brief > span { display: block; overflow: hidden; text-overflow: ellipsis; }
    /* whole: the sentence that helps is often the last one */
    .brief.reason { color: var(--ac-danger); font-family: inherit; white-space: normal; overflow-wrap: anywhere; padding-block: var(--ac-space-1); }
    .about { grid-column: 3 / -1; margin-top: calc(-1 * var(--ac-space-1)); }
    .head:has(.about, .brief > :nth-child(2)) { padding-block: var(--ac-space-2); }
    .head:has(.brief > :nth-child(2)) { align-items: start; }
    .end .bad { color: var(--ac-warn); }
    .steps { display: grid; gap: var(--ac-space-1); font-size: var(--ac-text-s); overflow-wrap: anywhere; white-space: pre-wrap; }
    .live { display: block; padding: 0 var(--ac-space-3) var(--ac-space-3); }
    .json summary { width: fit-content; cursor: pointer; color: var(--ac-text-muted); font-size: var(--ac-text-s); border-radius: var(--ac-radius-s); }
    .json[open] summary { margin-bottom: var(--ac-space-2); }
    .end { grid-column-end: -1; display: inline-flex; align-items: center; gap: var(--ac-space-2); color: var(--ac-text-muted); font-size: var(--ac-text-xs); }
    .end > ac-icon { transition: rotate var(--ac-motion); }
    .head[aria-expanded="true"] .end > ac-icon { rotate: 180deg; }
    .body { display: grid; grid-template-columns: minmax(0, 1fr); gap: var(--ac-space-3); padding: var(--ac-space-3); border-top: 1px solid var(--ac-border); }
    .body h4 { font-size: var(--ac-text-xs); font-weight: var(--ac-weight-medium); color: var(--ac-text-muted); margin-bottom: var(--ac-space-1); }
    .progress { display: grid; gap: var(--ac-space-1); padding: 0 var(--ac-space-3) var(--ac-space-3); color: var(--ac-text-muted); font-size: var(--ac-text-s); overflow-wrap: anywhere; }
    progress { width: 100%; height: 0.25rem; border: 0; border-radius: 999px; overflow: hidden; background: var(--ac-surface-sunken); appearance: none; }
    progress::-webkit-progress-bar { background: var(--ac-surface-sunken); }
    progress::-webkit-progress-value { background: var(--ac-accent); border-radius: 999px; transition: width var(--ac-motion); }
    progress::-moz-progress-bar { background: var(--ac-accent); }
    .facts { display: flex; flex-wrap: wrap; align-items: center; gap: var(--ac-space-1) var(--ac-space-3); color: var(--ac-text-muted); font-size: var(--ac-text-xs); }
    .facts a { color: inherit; }
    ac-call-thread { border-top: 1px solid var(--ac-border); }
    @media (max-width: 40rem) {
      .head { grid-template-columns: auto minmax(0, 1fr) auto; }
      .head:has(.brief) { padding-block: var(--ac-space-2); }
      .name { max-width: none; } .brief { grid-column: 2 / -1; grid-row: 2; } .about { grid-row: 3; }
    }
  `];

  constructor() {
    super();
    /** @type {ChatCall | null} */
    this.call = null;
    /** @type {boolean | null} What the user chose; null: the default for the state. */
    this._isOpen = null;
    /** True if output was shown while the call ran: it stays visible after the call has ended. */
    this._hasWritten = false;
    this._showsJson = false;
    new Listening(this, () => [toolList.subscribe(() => this.requestUpdate()), onWords(() => this.requestUpdate())]);
  }

  /** True if the card is open: on demand, or for a pending call that nothing else in the card shows completely. */
  get _shows() {
    return this._isOpen ?? Boolean(this.call?.state === 'waiting' && !showsWhole(this.call));
  }

  render() {
    const {call} = this;
    if (!call) return nothing;
    const tool = toolList.find(call.toolName);
    const display = readDisplay(call.arguments, call.result?.data, tool?.display);
    const state = shownState(call);
    return html`
      <article class=${state} aria-label=${t('chat.callNamed', {tool: call.toolName, state: t(`chat.state.${state}`)})}>
        ${this._renderHead(call, display)}
        ${call.state === 'running' && call.progress && !this._hasWritten ? this._renderProgress(call.progress) : nothing}
        ${this._renderLive(call, display)}
        ${this._shows ? this._renderBody(call, display, tool) : this._renderPicture(call)}
        ${tool?.has_view && VIEWED.has(call.state) ? html`<ac-tool-view .call=${call}></ac-tool-view>` : nothing}
        ${call.state === 'waiting' ? html`<ac-call-ask .call=${call}></ac-call-ask>` : nothing}
        ${call.thread?.length ? html`<ac-call-thread .items=${call.thread} ?running=${call.state === 'running'}></ac-call-thread>` : nothing}
      </article>`;
  }

  /** @param {ChatCall} call @param {import('../../results/call-display.js').Display} display */
  _renderHead(call, display) {
    const {exitCode} = display;
    const isBad = call.state === 'done' && exitCode !== null && exitCode !== 0;
    const state = shownState(call);
    const {icon, kind} = isBad ? LOOKS.interrupted : LOOKS[state];
    const [reason, brief] = [reasonOf(call), this._renderBrief(call, display)];
    const end = isBad ? html`<span class="bad">${t('results.exitCode', {code: exitCode})}</span>` : call.state === 'done' ? endSummary(call.result) : t(`chat.state.${state}`);
    return html`
      <button class="head" aria-expanded=${this._shows} @click=${() => { this._isOpen = !this._shows; }}>
        <span class="sign ${kind}"><ac-icon name=${icon}></ac-icon></span>
        <span class="name"><ac-tool-icon .icons=${toolList.find(call.toolName)?.icons}></ac-tool-icon>${call.toolName}</span>
        ${reason ? html`<span class="brief reason">${reason}</span>` : brief}
        <span class="end">${end}<ac-icon name="chevron-down"></ac-icon></span>
        ${reason ? brief : nothing}
      </button>`;
  }

  /** Render the summary: of several steps the first ones, or none if the approval frame below shows them all. @param {ChatCall} call @param {import('../../results/call-display.js').Display} display */
  _renderBrief(call, display) {
    const isAsked = call.state === 'waiting' && showsWhole(call);
    const said = headline(display);
    const lines = said ? [said] : linesOf(call);
    const shown = isAsked && lines.length > 1 ? [] : lines.slice(0, SHOWN_STEPS);
    const more = shown.length && lines.length - shown.length;
    const kinds = [wordsOf(call).length ? 'words' : '', reasonOf(call) ? 'about' : ''].join(' ');
    if (!shown.length) return nothing;
    return html`<span class="brief ${kinds}">${shown.map((line) => html`<span>${line}</span>`)}${more ? html`<span>${t('chat.moreSteps', {n: more})}</span>` : nothing}</span>`;
  }

  /** @param {{fraction?: number, message?: string}} progress */
  _renderProgress({fraction, message}) {
    return html`
      <div class="progress">
        ${fraction === undefined ? nothing : html`<progress max="1" .value=${fraction} aria-label=${t('chat.state.running')}></progress>`}
        <span>${fraction === undefined ? nothing : html`${formatNumber(fraction, {style: 'percent'})} `}${message}</span>
      </div>`;
  }

  /** Render the output while the call runs, and also afterwards if it was shown before. @param {ChatCall} call @param {import('../../results/call-display.js').Display} display */
  _renderLive({state, callId}, {output}) {
    const isRunning = state === 'running';
    if (!callId || this._isOpen === false || !(isRunning || (this._hasWritten && !this._shows))) return nothing;
    return html`<ac-live-output class="live" ?hidden=${!this._hasWritten} .callId=${callId} ?running=${isRunning} .final=${isRunning ? null : output}
      @ac-output=${() => { this._hasWritten = true; }}></ac-live-output>`;
  }

  /** Render a result that is an image or a diff also in a closed card, until the user closes it. @param {ChatCall} call */
  _renderPicture({result}) {
    if (this._isOpen === false || !holdsPicture(result)) return nothing;
    return html`<div class="body"><ac-result brief .envelope=${result ?? null}></ac-result></div>`;
  }

  /** @param {ChatCall} call @param {import('../../results/call-display.js').Display} display @param {import('../../client/tool-list.js').Tool | undefined} tool */
  _renderBody(call, display, tool) {
    const host = call.kind === 'client' ? '' : hostOfTool(call.toolName);
    const [isDeclared, words] = [Boolean(tool?.display), wordsOf(call)];
    const hasRest = Object.keys(display.rest).length > 0;
    const saysAll = display.todos.length > 0 && call.result?.ok;
    return html`
      <div class="body">
        ${tool?.effects.length || host || call.kind === 'client' ? html`<div class="facts">
          ${tool ? html`<ac-tool-effects .effects=${tool.effects}></ac-tool-effects>` : nothing}
          ${tool?.annotations?.openWorldHint ? html`<span>${t('tools.hint.openWorld')}</span>` : nothing}
          ${call.kind === 'client' ? html`<span>${t('chat.clientTool')}</span>` : nothing}
          ${host ? html`<span>${t('hosts.inHost', {name: host})}</span>` : nothing}
        </div>` : nothing}
        ${isDeclared ? html`<ac-call-meaning .display=${display} ?has-diff=${holdsDiffOf(call.result)}></ac-call-meaning>` : nothing}
        ${words.length ? html`<ol class="steps">${words.map((line) => html`<li>${visible(line)}</li>`)}</ol>` : nothing}
        ${words.length || (isDeclared && !hasRest) ? nothing : html`<ac-arguments .value=${isDeclared ? display.rest : call.arguments} .schema=${tool?.input_schema ?? null}></ac-arguments>`}
        ${call.result && !saysAll ? html`<div><h4>${t('chat.result')}</h4><ac-result brief .envelope=${call.result}></ac-result></div>` : nothing}
        ${this._renderJson(call)}
        ${this._renderFacts(call)}
      </div>`;
  }

  /** @param {ChatCall} call */
  _renderJson({arguments: args, result}) {
    return html`
      <details class="json" @toggle=${(/** @type {Event} */ event) => { this._showsJson = /** @type {HTMLDetailsElement} */ (event.target).open; }}>
        <summary>${t('results.asJson')}</summary>
        ${this._showsJson ? html`<ac-json-tree .value=${result ? {arguments: args, result} : {arguments: args}}></ac-json-tree>` : nothing}
      </details>`;
  }

  /** @param {ChatCall} call */
  _renderFacts({callId, answeredBy, state}) {
    if (!callId && !answeredBy) return nothing;
    const by = state === 'rejected' ? 'chat.rejectedBy' : 'chat.approvedBy';
    return html`
      <div class="facts">
        ${answeredBy ? html`<span>${t(by, {by: deciderText(answeredBy)})}</span>` : nothing}
        ${callId && state !== 'waiting' ? html`<a href=${pageAddress(href(['activity', callId]))} target=${PAGE_TARGET}>${t('tools.toActivity')}</a>` : nothing}
      </div>`;
  }
}
customElements.define('ac-call-card', AcCallCard);

/** Return the state to show: a pending call that its client may run without approval appears as running. @param {ChatCall} call */
function shownState({state, kind, needsApproval}) {
  return state === 'waiting' && kind === 'client' && needsApproval === false ? 'running' : state;
}
