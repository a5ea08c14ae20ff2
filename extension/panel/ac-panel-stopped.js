import {LitElement, css, html, nothing} from 'lit';
import {Localized, t} from '../webui/base/i18n.js';
import {Listening} from '../webui/base/subscriptions.js';
import {client} from '../webui/client/client.js';
import {PAGE_TARGET, pageAddress} from '../webui/client/session.js';
import {stopState} from '../webui/client/stop-state.js';
import {base, buttons} from '../webui/ui/styles.js';
import {toastError} from '../webui/ui/toasts.js';
import '../webui/ui/ac-icon.js';
import {server} from './server.js';

/** Shows that everything was stopped; with the `approve` scope, calls can be resumed here. */
export class AcPanelStopped extends Localized(LitElement) {
  static properties = {_isBusy: {state: true}};

  static styles = [base, buttons, css`
    div { display: grid; grid-template-columns: auto minmax(0, 1fr); gap: var(--ac-space-1) var(--ac-space-2); padding: var(--ac-space-2) var(--ac-space-3); border-bottom: 1px solid var(--ac-border); background: var(--ac-danger-soft); font-size: var(--ac-text-s); overflow-wrap: anywhere; }
    ac-icon { margin-top: 0.125rem; }
    div > ac-icon { color: var(--ac-danger); }
    button, .button { grid-column: 2; justify-self: start; }
  `];

  constructor() {
    super();
    this._isBusy = false;
    new Listening(this, () => [stopState.subscribe(() => this.requestUpdate())]);
  }

  connectedCallback() {
    super.connectedCallback();
    void stopState.load();
  }

  render() {
    if (!stopState.isStopped) return nothing;
    const mayResume = server()?.scopes.includes('approve');
    return html`
      <div role="alert">
        <ac-icon name="octagon-x"></ac-icon>
        <p><strong>${t('shell.stoppedHeading')}</strong> ${t(mayResume ? 'approval.stoppedText' : 'shell.stoppedText')}</p>
        ${mayResume
    ? html`<button class="small" ?disabled=${this._isBusy} @click=${this._resume}><ac-icon name="play"></ac-icon>${t('approval.resume')}</button>`
    : html`<a class="button small" href=${pageAddress('#/')} target=${PAGE_TARGET}><ac-icon name="external-link"></ac-icon>${t('panel.openPage')}</a>`}
      </div>`;
  }

  /** @param {Event} event */
  async _resume(event) {
    if (!event.isTrusted) return;
    this._isBusy = true;
    try {
      await client.post('/api/resume', {});
      await stopState.load();
    } catch (error) {
      toastError(t('panel.resumeFailed'), error);
    }
    this._isBusy = false;
  }
}
customElements.define('ac-panel-stopped', AcPanelStopped);
