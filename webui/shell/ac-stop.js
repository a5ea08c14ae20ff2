import {LitElement, css, html} from 'lit';
import {classMap} from 'lit/directives/class-map.js';
import {confirm} from '../ui/overlay/confirm.js';
import {Localized, formatList, t} from '../base/i18n.js';
import {Listening} from '../base/subscriptions.js';
import {stopState} from '../client/stop-state.js';
import {workState} from '../client/work-state.js';
import {base, buttons} from '../ui/styles.js';
import {toast, toastError} from '../ui/toasts.js';
import '../ui/ac-icon.js';

const ASKABLE_AFTER_MS = 1000;

/** Emergency stop: stops everything that runs, after one confirmation; prominent while something runs. `compact`: an icon with an accessible name. */
export class AcStop extends Localized(LitElement) {
  static properties = {
    isCompact: {type: Boolean, attribute: 'compact'},
    _isStopping: {state: true},
  };

  static styles = [base, buttons, css`
    button { width: 100%; border-color: transparent; color: var(--ac-text-muted); background: none; box-shadow: none; }
    button:hover:not(:disabled), button.busy { background: var(--ac-danger-soft); color: var(--ac-danger); }
    button.busy { border-color: var(--ac-danger); font-weight: var(--ac-weight-bold); }
    button.busy:hover:not(:disabled) { background: var(--ac-danger); color: var(--ac-on-danger); }
    button.icon { width: var(--ac-control); }
  `];

  constructor() {
    super();
    this.isCompact = false;
    this._isStopping = false;
    new Listening(this, () => [stopState.subscribe(() => this.requestUpdate()), workState.subscribe(() => this.requestUpdate())]);
  }

  render() {
    const label = t(stopState.isStopped ? 'shell.stopped' : 'shell.stop');
    return html`
      <button class=${classMap({icon: this.isCompact, busy: workState.isBusy && !stopState.isStopped})} ?disabled=${this._isStopping || stopState.isStopped}
        aria-label=${label} title=${this.isCompact ? label : t('shell.stopHint')} @click=${this._ask}>
        <ac-icon name="octagon-x"></ac-icon>${this.isCompact ? '' : label}
      </button>`;
  }

  firstUpdated() {
    // not needed at startup, but loaded before the server may be too busy to send it
    setTimeout(() => import('../ui/overlay/ac-confirm.js').catch(() => {}), ASKABLE_AFTER_MS); // on failure it is loaded on click
  }

  async _ask() {
    try {
      const goesAhead = await confirm({
        heading: t('shell.stopHeading'), text: t('shell.stopText'), action: t('shell.stop'), isDangerous: true,
      });
      if (!goesAhead) return;
      this._isStopping = true; // not earlier: a disabled button would not regain the focus
      const {calls, resources, rejected} = await stopState.stop();
      const counts = Object.entries({stopCalls: calls, stopResources: resources, stopRejected: rejected}).filter(([, n]) => n);
      toast(t('shell.stopDone'), {detail: counts.length ? formatList(counts.map(([key, n]) => t(`shell.${key}`, {n}))) : t('shell.stopNothing')});
    } catch (error) {
      toastError(t('shell.stopFailed'), error);
    } finally {
      this._isStopping = false;
    }
  }
}

customElements.define('ac-stop', AcStop);
