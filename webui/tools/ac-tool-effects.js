import {LitElement, css, html} from 'lit';
import {Localized, t} from '../base/i18n.js';
import {badges, base} from '../ui/styles.js';
import '../ui/ac-icon.js';

/** @type {Record<import('../client/tool-list.js').Effect, {icon: string, kind: string}>} */
const LOOKS = {
  session: {icon: 'message-square', kind: 'ok'},
  read: {icon: 'eye', kind: 'ok'},
  write: {icon: 'pencil', kind: 'warn'},
  egress: {icon: 'cloud', kind: 'warn'},
  execute: {icon: 'terminal', kind: 'warn'},
  dangerous: {icon: 'shield-alert', kind: 'danger'},
};

/** Effects of a tool, as labelled badges, or with `brief` as icons only. */
export class AcToolEffects extends Localized(LitElement) {
  static properties = {
    effects: {attribute: false},
    brief: {type: Boolean},
  };

  static styles = [base, badges, css`
    :host { display: inline-flex; flex-wrap: wrap; gap: var(--ac-space-1); }
    .sign { color: var(--ac-text-muted); display: inline-flex; }
    .sign.danger { color: var(--ac-danger); }
  `];

  constructor() {
    super();
    /** @type {import('../client/tool-list.js').Effect[]} */
    this.effects = [];
    this.brief = false;
  }

  render() {
    return this.effects.map((effect) => {
      const {icon, kind} = LOOKS[effect];
      const word = t(`tools.effect.${effect}`);
      if (!this.brief) return html`<span class="badge ${kind}" title=${t(`tools.effectText.${effect}`)}><ac-icon name=${icon}></ac-icon>${word}</span>`;
      return html`<span class="sign ${kind}" title=${word}><ac-icon name=${icon}></ac-icon><span class="visually-hidden">${word}</span></span>`;
    });
  }
}
customElements.define('ac-tool-effects', AcToolEffects);
