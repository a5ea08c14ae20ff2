import {LitElement, css, html, nothing} from 'lit';
import {repeat} from 'lit/directives/repeat.js';
import {runningCalls} from './running-calls.js';
import {rowSign} from './labels.js';
import {Localized, formatNumber, t} from '../base/i18n.js';
import {Listening} from '../base/subscriptions.js';
import {href} from '../base/router.js';
import {base, buttons} from '../ui/styles.js';
import '../ui/ac-icon.js';

const SHOWN = 12;

/** Running calls in one line of fixed height, so that the layout does not shift as they start and end. */
export class AcRunningCalls extends Localized(LitElement) {
  static styles = [base, buttons, css`
    :host { min-height: 3rem; display: flex; align-items: center; gap: var(--ac-space-3); padding-inline: var(--ac-space-4); border-bottom: 1px solid var(--ac-border); font-size: var(--ac-text-s); }
    .count { flex: none; color: var(--ac-text-muted); white-space: nowrap; }
    ul { position: relative; display: flex; align-items: center; gap: var(--ac-space-2); min-width: 0; overflow-x: auto; scrollbar-width: none; padding-block: var(--ac-space-1); }
    a {
      display: inline-flex; align-items: center; gap: var(--ac-space-2); height: 1.75rem; padding-inline: var(--ac-space-2) var(--ac-space-3); border-radius: 999px;
      background: var(--ac-accent-soft); color: var(--ac-accent); text-decoration: none; white-space: nowrap; font-family: var(--ac-font-mono); font-size: var(--ac-text-xs);
    }
    a:hover { background: var(--ac-hover); }
    a.waiting { background: var(--ac-warn-soft); color: var(--ac-warn); }
  `];

  constructor() {
    super();
    new Listening(this, () => [runningCalls.subscribe(() => this.requestUpdate())]);
  }

  render() {
    const {calls} = runningCalls;
    if (calls.length === 0) return html`<span class="count">${t('activity.noneOnTheWay')}</span>`;
    return html`
      <span class="count">${t('activity.onTheWay', {n: calls.length})}</span>
      <ul aria-label=${t('activity.onTheWayList')}>
        ${repeat(calls.slice(0, SHOWN), ({call_id}) => call_id, (call) => html`<li>${this._call(call)}</li>`)}
        ${calls.length > SHOWN ? html`<li class="count">${t('activity.moreOnTheWay', {n: calls.length - SHOWN})}</li>` : nothing}
      </ul>`;
  }

  /** @param {import('./running-calls.js').RunningCall} call */
  _call({call_id, tool, state, fraction}) {
    const {icon} = rowSign({kind: 'call', outcome: state, decision: ''});
    return html`
      <a class=${state} href=${href(['activity', call_id])}>
        <ac-icon name=${icon}></ac-icon>${tool}${fraction === undefined ? nothing : html` ${formatNumber(fraction, {style: 'percent'})}`}
      </a>`;
  }
}

customElements.define('ac-running-calls', AcRunningCalls);
