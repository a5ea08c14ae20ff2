import {LitElement, css, html} from 'lit';
import {base} from './styles.js';
import './ac-copy.js';

/** A terminal command with a button that copies it. */
export class AcCommand extends LitElement {
  static properties = {command: {}};

  static styles = [base, css`
    :host {
      display: flex; align-items: center; gap: var(--ac-space-2); padding: var(--ac-space-1) var(--ac-space-1) var(--ac-space-1) var(--ac-space-3);
      background: var(--ac-surface-sunken); border: 1px solid var(--ac-border); border-radius: var(--ac-radius-m); text-align: start;
    }
    code { flex: 1; min-width: 0; overflow-wrap: anywhere; color: var(--ac-code-text); }
    code::before { content: '$ '; color: var(--ac-text-muted); }
  `];

  constructor() {
    super();
    this.command = '';
  }

  render() {
    return html`<code>${this.command}</code><ac-copy .value=${this.command}></ac-copy>`;
  }
}

customElements.define('ac-command', AcCommand);
