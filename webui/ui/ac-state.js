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
  login: {kind: 'warn', icon: 'log-in'},
  network: {kind: 'warn', icon: 'wifi-off'},
  program: {kind: 'warn', icon: 'package'},
  retry: {kind: 'warn', icon: 'refresh-cw'},
  away: {kind: 'warn', icon: 'wifi-off'},
  failed: {kind: 'danger', icon: 'circle-alert'},
  missing: {kind: 'danger', icon: 'circle-help'},
  waiting: {kind: '', icon: 'clock'},
  drained: {kind: '', icon: 'pause'},
  disconnected: {kind: '', icon: 'ban'},
  stopped: {kind: '', icon: 'power'},
};
const UNKNOWN = {kind: '', icon: 'circle-help'};

/**
 * The state of a module or host, as a word, an icon and a colour; the word is the text `ROOM.state.STATE`. With `until`, when it ends, and while
 * that is not over, it is `ROOM.state.STATEIn` with the seconds left.
 */
export class AcState extends Localized(LitElement) {
  static properties = {
    room: {},
    state: {},
    until: {attribute: false},
  };
  static styles = [base, badges, css`:host { display: inline-flex; }`];

  constructor() {
    super();
    this.room = '';
    this.state = '';
    /** When the state ends, in milliseconds since 1970. @type {number | null} */
    this.until = null;
    this._timer = 0;
  }

  disconnectedCallback() {
    super.disconnectedCallback();
    clearTimeout(this._timer);
  }

  updated() {
    clearTimeout(this._timer);
    if (this._secondsLeft() > 0 && this.isConnected) this._timer = setTimeout(() => this.requestUpdate(), 1000);
  }

  render() {
    const {kind, icon} = LOOKS[this.state] ?? UNKNOWN;
    return html`<span class="badge ${kind}"><ac-icon name=${icon}></ac-icon>${this._word()}</span>`;
  }

  _word() {
    const key = `${this.room}.state.${this.state}`;
    const seconds = this._secondsLeft();
    if (seconds > 0 && hasText(`${key}In`)) return t(`${key}In`, {seconds});
    return hasText(key) ? t(key) : this.state;
  }

  _secondsLeft() {
    return this.until === null ? 0 : Math.round((this.until - Date.now()) / 1000);
  }
}

customElements.define('ac-state', AcState);
