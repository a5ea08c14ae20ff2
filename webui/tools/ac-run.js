import {LitElement, css, html, nothing} from 'lit';
import {Localized, formatDuration, formatTime, t} from '../base/i18n.js';
import {href} from '../base/router.js';
import {badges, base, buttons} from '../ui/styles.js';
import '../ui/ac-copy.js';
import '../ui/ac-icon.js';
import '../results/ac-result.js';
import './ac-run-state.js';

const TICK_MS = 100;

/**
 * One run: its progress, or its outcome and result.
 * @fires ac-cancel
 * @fires ac-again
 */
export class AcRun extends Localized(LitElement) {
  static properties = {
    run: {attribute: false},
    _isRaw: {state: true},
    _now: {state: true},
  };

  static styles = [base, badges, buttons, css`
    :host { display: grid; grid-template-columns: minmax(0, 1fr); gap: var(--ac-space-3); min-width: 0; }
    .head { display: flex; flex-wrap: wrap; align-items: center; gap: var(--ac-space-2) var(--ac-space-3); min-height: var(--ac-control); }
    .head .facts { display: flex; flex-wrap: wrap; align-items: center; gap: 0 var(--ac-space-2); flex: 1 1 12rem; color: var(--ac-text-muted); font-size: var(--ac-text-s); font-variant-numeric: tabular-nums; }
    .head .id a { color: inherit; text-decoration: none; }
    .head .id a:hover { color: var(--ac-accent); text-decoration: underline; }
    .head .actions { display: flex; gap: var(--ac-space-1); }
    .progress { display: grid; gap: var(--ac-space-2); padding: var(--ac-space-4); border: 1px solid var(--ac-border); border-radius: var(--ac-radius-m); background: var(--ac-surface); }
    progress { width: 100%; height: 0.375rem; border: 0; border-radius: 999px; overflow: hidden; background: var(--ac-surface-sunken); appearance: none; }
    progress::-webkit-progress-bar { background: var(--ac-surface-sunken); }
    progress::-webkit-progress-value { background: var(--ac-accent); border-radius: 999px; transition: width var(--ac-motion); }
    progress::-moz-progress-bar { background: var(--ac-accent); }
    .message { min-height: 1.5em; overflow-wrap: anywhere; color: var(--ac-text-muted); font-size: var(--ac-text-s); }
    .waiting { display: grid; gap: var(--ac-space-1); padding: var(--ac-space-3); border-radius: var(--ac-radius-m); background: var(--ac-warn-soft); }
    .waiting strong { color: var(--ac-warn); }
  `];

  constructor() {
    super();
    /** @type {import('./runs.js').Run | null} */
    this.run = null;
    this._isRaw = false;
    this._now = Date.now();
    /** @type {ReturnType<typeof setInterval> | undefined} */
    this._ticking = undefined;
  }

  disconnectedCallback() {
    this._tick(false);
    super.disconnectedCallback();
  }

  /** @param {Map<string, unknown>} changed */
  updated(changed) {
    if (changed.has('run')) this._tick(this.run?.state === 'running');
  }

  /** @param {boolean} isOn */
  _tick(isOn) {
    clearInterval(this._ticking);
    if (isOn) this._ticking = setInterval(() => { this._now = Date.now(); }, TICK_MS);
  }

  render() {
    const {run} = this;
    if (!run) return nothing;
    return html`
      ${this._renderHead(run)}
      ${run.state === 'running' ? this._renderProgress(run) : nothing}
      ${run.state === 'lost' ? html`<p class="muted">${t('tools.lost')} ${run.callId ? html`<a href=${href(['activity', run.callId])}>${t('tools.toActivity')}</a>` : nothing}</p>` : nothing}
      ${run.state === 'done' && !run.envelope ? html`<p class="muted">${t('tools.tooLargeToKeep')}</p>` : nothing}
      ${run.envelope ? html`<ac-result .envelope=${run.envelope} ?raw=${this._isRaw}></ac-result>` : nothing}`;
  }

  /** @param {import('./runs.js').Run} run */
  _renderHead(run) {
    const isRunning = run.state === 'running';
    const time = isRunning ? Math.max(0, this._now - run.startedAt) : run.durationMs;
    return html`
      <div class="head">
        <ac-run-state .run=${run}></ac-run-state>
        <span class="facts">
          ${time === null ? nothing : html`<span>${formatDuration(isRunning ? Math.floor(time / TICK_MS) * TICK_MS : time)}</span>`}
          <span>${formatTime(run.startedAt)}</span>
          ${run.callId ? html`<span class="id"><a href=${href(['activity', run.callId])} title=${t('tools.toActivity')}><code>${run.callId}</code></a></span>` : nothing}
        </span>
        <span class="actions">${isRunning ? this._renderCancel(run) : this._renderAfter(run)}</span>
      </div>`;
  }

  /** @param {import('./runs.js').Run} run */
  _renderCancel({isCancelling}) {
    return html`<button class="danger" ?disabled=${isCancelling} @click=${() => this._fire('ac-cancel')}>
      <ac-icon name="circle-stop"></ac-icon>${t(isCancelling ? 'tools.cancelling' : 'tools.cancel')}</button>`;
  }

  /** @param {import('./runs.js').Run} run */
  _renderAfter({envelope}) {
    return html`
      ${envelope ? html`
        <button class="small quiet" aria-pressed=${this._isRaw} @click=${() => { this._isRaw = !this._isRaw; }}><ac-icon name="braces"></ac-icon>${t('tools.raw')}</button>
        <ac-copy .value=${() => JSON.stringify(envelope, null, 2)} label=${t('tools.copyResult')}></ac-copy>` : nothing}
      <button class="small" @click=${() => this._fire('ac-again')}><ac-icon name="rotate-ccw"></ac-icon>${t('tools.runAgain')}</button>`;
  }

  /** @param {import('./runs.js').Run} run */
  _renderProgress({progress, approval}) {
    const fraction = progress?.fraction;
    return html`
      <div class="progress">
        ${approval ? html`
          <div class="waiting" role="alert"><strong>${t('tools.waiting')}</strong>
            <span>${t('tools.waitingText', {reason: approval.reason.charAt(0).toUpperCase() + approval.reason.slice(1)})}</span></div>` : html`
          <progress max="1" .value=${fraction ?? 0} ?hidden=${fraction === undefined} aria-label=${t('tools.running')}></progress>
          <progress ?hidden=${fraction !== undefined} aria-label=${t('tools.running')}></progress>
          <p class="message">${progress?.message || t('tools.running')}</p>`}
      </div>`;
  }

  /** @param {string} name */
  _fire(name) {
    this.dispatchEvent(new CustomEvent(name, {bubbles: true, composed: true}));
  }
}
customElements.define('ac-run', AcRun);
