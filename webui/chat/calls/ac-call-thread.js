import {LitElement, css, html} from 'lit';
import {repeat} from 'lit/directives/repeat.js';
import {Localized, t} from '../../base/i18n.js';
import {base} from '../../ui/styles.js';
import '../../ui/ac-icon.js';

/**
 * The messages and calls of a sub-agent, inside the card of the call that started it. It renders `ac-chat-message`, which is
 * already defined, as it contains this element; importing it here would be circular.
 */
export class AcCallThread extends Localized(LitElement) {
  static properties = {
    items: {attribute: false},
    isRunning: {type: Boolean, attribute: 'running'},
  };

  static styles = [base, css`
    details { padding: var(--ac-space-2) var(--ac-space-3); }
    summary { display: flex; align-items: center; gap: var(--ac-space-2); width: fit-content; cursor: pointer; color: var(--ac-text-muted); font-size: var(--ac-text-s); border-radius: var(--ac-radius-s); }
    .steps { display: grid; grid-template-columns: minmax(0, 1fr); gap: var(--ac-space-3); margin-top: var(--ac-space-3); padding-inline-start: var(--ac-space-3); border-inline-start: 2px solid var(--ac-border); }
  `];

  constructor() {
    super();
    /** @type {import('../conversation/items.js').ChatItem[]} */
    this.items = [];
    this.isRunning = false;
  }

  render() {
    const calls = this.items.reduce((sum, item) => sum + item.calls.length, 0);
    const waits = this.items.some((item) => item.calls.some(({state}) => state === 'waiting'));
    return html`
      <details ?open=${this.isRunning || waits}>
        <summary><ac-icon name="bot"></ac-icon>${t('chat.thread', {n: calls})}</summary>
        <div class="steps">${repeat(this.items, ({key}) => key, (item) => html`<ac-chat-message .item=${item} busy></ac-chat-message>`)}</div>
      </details>`;
  }
}
customElements.define('ac-call-thread', AcCallThread);
