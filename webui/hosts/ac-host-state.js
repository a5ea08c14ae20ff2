import {LitElement, css, html} from 'lit';
import {Localized, t} from '../base/i18n.js';
import {badges, base} from '../ui/styles.js';
import '../ui/ac-icon.js';

/** @typedef {'stopped' | 'starting' | 'running' | 'failed'} HostState */

const LOOKS = /** @type {const} */ ({
  running: {kind: 'ok', icon: 'check'},
  starting: {kind: 'accent', icon: 'loader-circle'},
  failed: {kind: 'danger', icon: 'circle-alert'},
  stopped: {kind: '', icon: 'power'},
});

/** A host's state as a word, a sign and a colour. */
export class AcHostState extends Localized(LitElement) {
  static properties = {state: {}};
  static styles = [base, badges, css`:host { display: inline-flex; }`];

  constructor() {
    super();
    /** @type {HostState} */
    this.state = 'stopped';
  }

  render() {
    const {kind, icon} = LOOKS[this.state];
    return html`<span class="badge ${kind}"><ac-icon name=${icon}></ac-icon>${t(`hosts.state.${this.state}`)}</span>`;
  }
}

customElements.define('ac-host-state', AcHostState);
