import {LitElement, css, html, nothing} from 'lit';
import {approvalOrigin} from '../approval/frame/pending-count.js';
import {Localized, t} from '../base/i18n.js';
import {base, buttons, cards} from '../ui/styles.js';
import '../ui/ac-command.js';
import '../ui/ac-icon.js';

const LOOPBACK = /^(localhost|127\.|\[::1\])/;

/** Instructions for adding another machine as a host, in two steps. The page itself cannot add one: that requires an approver. */
export class AcAddMachine extends Localized(LitElement) {
  static styles = [base, buttons, cards, css`
    .card { padding: var(--ac-space-4); }
    ol { display: grid; grid-template-columns: minmax(0, 1fr); gap: var(--ac-space-4); max-width: 44rem; counter-reset: step; }
    li { display: grid; grid-template-columns: 1.5rem minmax(0, 1fr); gap: var(--ac-space-2) var(--ac-space-3); align-items: baseline; counter-increment: step; }
    li::before {
      content: counter(step); display: grid; place-items: center; height: 1.5rem; border-radius: 999px;
      background: var(--ac-surface-sunken); color: var(--ac-text-muted); font-size: var(--ac-text-s); font-weight: var(--ac-weight-medium);
    }
    li > :not(p:first-child) { grid-column: 2; }
    ac-command { max-width: 34rem; }
    .button { justify-self: start; }
  `];

  render() {
    return html`
      <div class="card">
        <ol>
          <li>
            <p>${t('hosts.addStart')}</p>
            <ac-command command=${`agentcore host --server ${location.origin}`}></ac-command>
            ${LOOPBACK.test(location.hostname) ? html`<p class="muted small">${t('hosts.addLoopback', {address: location.origin})}</p>` : nothing}
          </li>
          <li>
            <p>${t('hosts.addCode')}</p>
            ${approvalOrigin ? html`<a class="button small" href=${`${approvalOrigin}/#add-host`} target="_blank" rel="noopener"><ac-icon name="shield"></ac-icon>${t('hosts.toApprovals')}</a>` : nothing}
          </li>
        </ol>
      </div>`;
  }
}

customElements.define('ac-add-machine', AcAddMachine);
