import {LitElement, css, html, nothing} from 'lit';
import {Localized, t} from '../base/i18n.js';
import {badges, base} from '../ui/styles.js';
import '../ui/ac-icon.js';

/** @type {Record<string, {icon: string, kind: string}>} */
const LOOKS = {
  running: {icon: 'loader-circle', kind: 'accent'},
  ok: {icon: 'check', kind: 'ok'},
  error: {icon: 'x', kind: 'danger'},
  cancelled: {icon: 'circle-stop', kind: ''},
  lost: {icon: 'circle-help', kind: ''},
};

/** Badge with the state of a run. */
export class AcRunState extends Localized(LitElement) {
  static properties = {run: {attribute: false}};
  static styles = [base, badges, css`:host { display: inline-flex; }`];

  constructor() {
    super();
    /** @type {import('./runs.js').Run | null} */
    this.run = null;
  }

  render() {
    if (!this.run) return nothing;
    const state = stateOf(this.run);
    const {icon, kind} = LOOKS[state];
    return html`<span class="badge ${kind}"><ac-icon name=${icon}></ac-icon>${t(`tools.state.${state}`)}</span>`;
  }
}
customElements.define('ac-run-state', AcRunState);

/** @param {import('./runs.js').Run} run @returns {'running' | 'ok' | 'error' | 'cancelled' | 'lost'} */
export function stateOf({state, envelope}) {
  if (state !== 'done') return state;
  if (!envelope || envelope.ok) return 'ok';
  return envelope.error?.type === 'cancelled' ? 'cancelled' : 'error';
}
