import {LitElement, css, html} from 'lit';
import {Localized, hasText, t} from '../base/i18n.js';
import {badges, base} from './styles.js';
import './ac-icon.js';

/** @type {Record<string, {kind: string, icon: string}>} */
const LOOKS = {
  ready: {kind: 'ok', icon: 'check'},
  running: {kind: 'ok', icon: 'check'},
  loading: {kind: 'accent', icon: 'loader-circle'},
  starting: {kind: 'accent', icon: 'loader-circle'},
  stopping: {kind: 'accent', icon: 'loader-circle'},
  draining: {kind: 'accent', icon: 'loader-circle'},
  waits: {kind: 'warn', icon: 'shield-alert'},
  away: {kind: 'warn', icon: 'wifi-off'},
  failed: {kind: 'danger', icon: 'circle-alert'},
  missing: {kind: 'danger', icon: 'circle-help'},
  waiting: {kind: '', icon: 'clock'},
  drained: {kind: '', icon: 'pause'},
  disconnected: {kind: '', icon: 'ban'},
  stopped: {kind: '', icon: 'power'},
};
const UNKNOWN = {kind: '', icon: 'circle-help'};

/** The state of a module or host, as a word, an icon and a colour; the word is the text `ROOM.state.STATE`. */
export class AcState extends Localized(LitElement) {
  static properties = {
    room: {},
    state: {},
  };
  static styles = [base, badges, css`:host { display: inline-flex; }`];

  constructor() {
    super();
    this.room = '';
    this.state = '';
  }

  render() {
    const {kind, icon} = LOOKS[this.state] ?? UNKNOWN;
    const key = `${this.room}.state.${this.state}`;
    return html`<span class="badge ${kind}"><ac-icon name=${icon}></ac-icon>${hasText(key) ? t(key) : this.state}</span>`;
  }
}

customElements.define('ac-state', AcState);
