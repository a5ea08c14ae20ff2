import {LitElement, css, html, nothing} from 'lit';
import {approvalOrigin, approvals} from './pending.js';
import {Localized, locale, t} from '../../base/i18n.js';
import {Listening} from '../../base/listening.js';
import {base, buttons} from '../../ui/styles.js';
import {theme} from '../../base/theme.js';
import '../../ui/ac-icon.js';

/**
 * The approval view in a frame, as long as something waits. It stands beside the content and never over it, and nothing
 * of this page reaches into it: the frame is of another origin, which is told the page's look and tells its height.
 */
export class AcApprovalTray extends Localized(LitElement) {
  static properties = {_isHidden: {state: true}, _height: {state: true}};

  static styles = [base, buttons, css`
    :host { display: flex; flex-direction: column; flex: none; min-height: 0; border-top: 1px solid var(--ac-border); background: var(--ac-surface-sunken); }
    header { display: flex; align-items: center; gap: var(--ac-space-2); padding: var(--ac-space-1) var(--ac-space-2) var(--ac-space-1) var(--ac-space-4); background: var(--ac-warn-soft); }
    header ac-icon { color: var(--ac-warn); }
    header button ac-icon, header a ac-icon { color: inherit; }
    header p { flex: 1; min-width: 0; font-weight: var(--ac-weight-medium); }
    iframe { display: block; width: 100%; border: 0; height: min(var(--tray-height), 55dvh); background: var(--ac-bg); color-scheme: inherit; }
  `];

  constructor() {
    super();
    this._isHidden = false;
    this._height = 240;
    this._wasNeeded = false;
    new Listening(this, () => {
      const listen = (/** @type {MessageEvent} */ event) => this._onMessage(event);
      const show = () => void this._show();
      window.addEventListener('message', listen);
      document.addEventListener('ac-show-approvals', show);
      const look = new MutationObserver(() => this._sendLook());
      look.observe(document.documentElement, {attributeFilter: ['data-theme', 'lang']});
      return [() => window.removeEventListener('message', listen), () => document.removeEventListener('ac-show-approvals', show), () => look.disconnect(), approvals.subscribe(() => this.requestUpdate())];
    });
  }

  render() {
    const n = approvals.count;
    this.hidden = n === 0;
    // once it was needed it stays, unseen: the next call is shown without loading it again
    this._wasNeeded ||= n > 0 && approvalOrigin !== '';
    return html`
      <header ?hidden=${n === 0}>
        <ac-icon name="shield"></ac-icon>
        <p role="status">${n ? t('approval.waiting', {n}) : nothing}</p>
        ${approvalOrigin ? html`
          <a class="button quiet small icon" href=${approvalOrigin} target="_blank" rel="noopener" title=${t('approval.ownWindow')} aria-label=${t('approval.ownWindow')}><ac-icon name="external-link"></ac-icon></a>
          <button class="quiet small" aria-expanded=${!this._isHidden} aria-controls="frame" @click=${() => { this._isHidden = !this._isHidden; }}>
            <ac-icon name=${this._isHidden ? 'chevron-up' : 'chevron-down'}></ac-icon>${t(this._isHidden ? 'approval.expand' : 'approval.collapse')}</button>` : nothing}
      </header>
      ${this._wasNeeded ? html`<iframe id="frame" src=${`${approvalOrigin}/`} title=${t('approval.tray')} ?hidden=${this._isHidden || n === 0} @load=${this._sendLook}></iframe>` : nothing}`;
  }

  updated() {
    this.renderRoot.querySelector('iframe')?.style.setProperty('--tray-height', `${this._height}px`);
  }

  /** @param {MessageEvent} event */
  _onMessage({origin, source, data}) {
    const frame = this.renderRoot.querySelector('iframe');
    if (origin !== approvalOrigin || source !== frame?.contentWindow || data?.type !== 'agentcore.approvals') return;
    if (Number.isFinite(data.height)) this._height = Math.max(Number(data.height), 120);
  }

  /** Whoever shows something that waits leads here: the frame comes up, with the focus in it. */
  async _show() {
    this._isHidden = false;
    await this.updateComplete;
    const frame = this.renderRoot.querySelector('iframe');
    if (!frame?.hidden) frame?.focus();
  }

  _sendLook() {
    const frame = this.renderRoot.querySelector('iframe');
    frame?.contentWindow?.postMessage({type: 'agentcore.look', theme: theme(), locale: locale()}, approvalOrigin);
  }
}

customElements.define('ac-approval-tray', AcApprovalTray);
