import {LitElement, css, html} from 'lit';
import {Localized, t} from '../base/i18n.js';
import {badges, base} from '../ui/styles.js';
import '../ui/ac-icon.js';

const LOOKS = /** @type {const} */ ({
  ready: {kind: 'ok', icon: 'check'},
  loading: {kind: 'accent', icon: 'loader-circle'},
  stopping: {kind: 'accent', icon: 'loader-circle'},
  waits: {kind: 'warn', icon: 'shield-alert'},
  failed: {kind: 'danger', icon: 'circle-alert'},
  missing: {kind: 'danger', icon: 'circle-help'},
  stopped: {kind: '', icon: 'power'},
});

/** A module's state as a word, a sign and a colour. */
export class AcModuleState extends Localized(LitElement) {
  static properties = {state: {}};
  static styles = [base, badges, css`:host { display: inline-flex; }`];

  constructor() {
    super();
    /** @type {import('../client/module-list.js').Module['state'] | 'waits'} */
    this.state = 'stopped';
  }

  render() {
    const {kind, icon} = LOOKS[this.state];
    return html`<span class="badge ${kind}"><ac-icon name=${icon}></ac-icon>${t(`modules.state.${this.state}`)}</span>`;
  }
}

customElements.define('ac-module-state', AcModuleState);
