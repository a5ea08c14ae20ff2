import {LitElement, css, html, nothing} from 'lit';
import {Localized, formatBytes, formatNumber, t} from '../../base/i18n.js';
import {FILE_BYTES} from './attachments.js';
import {base, buttons} from '../../ui/styles.js';
import '../../ui/ac-icon.js';
import './ac-attachment-preview.js';

/**
 * The attachments of the next message, with the progress of their upload and buttons to remove them.
 * @fires ac-emptied  the last of them was removed
 */
export class AcAttachments extends Localized(LitElement) {
  static properties = {
    attachments: {attribute: false},
    items: {attribute: false},
    problem: {attribute: false},
  };

  static styles = [base, buttons, css`
    ul { position: relative; display: flex; flex-wrap: wrap; gap: var(--ac-space-2); padding: var(--ac-space-3) var(--ac-space-3) 0; max-height: 11rem; overflow-y: auto; }
    li { position: relative; display: grid; grid-template-columns: 2.75rem minmax(0, 1fr) auto; align-items: center; gap: var(--ac-space-2); width: min(15rem, 100%); padding: var(--ac-space-1); border: 1px solid var(--ac-border); border-radius: var(--ac-radius-m); background: var(--ac-surface-raised); overflow: hidden; }
    li.failed { border-color: var(--ac-danger); }
    ac-attachment-preview { width: 2.75rem; height: 2.75rem; border-radius: var(--ac-radius-s); }
    .names { display: grid; font-size: var(--ac-text-s); line-height: 1.35; min-width: 0; }
    .names > span { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
    .names .about { color: var(--ac-text-muted); font-size: var(--ac-text-xs); font-variant-numeric: tabular-nums; }
    .failed .about { color: var(--ac-danger); white-space: normal; }
    .buttons { display: flex; }
    progress { position: absolute; inset: auto 0 0; width: 100%; height: 3px; border: 0; appearance: none; background: var(--ac-surface-sunken); }
    progress::-webkit-progress-value, progress::-webkit-progress-bar { background: none; }
    progress::-webkit-progress-value { background: var(--ac-accent); }
    progress::-moz-progress-bar { background: var(--ac-accent); }
    @media (max-width: 48rem) { li { width: 100%; } }
    .problem { padding: var(--ac-space-2) var(--ac-space-4) 0; color: var(--ac-danger); font-size: var(--ac-text-s); overflow-wrap: anywhere; }
  `];

  constructor() {
    super();
    /** @type {import('./attachments.js').Attachments | null} */
    this.attachments = null;
    /** @type {import('./attachments.js').Attachment[]} */
    this.items = [];
    /** @type {import('./attachments.js').Problem | null} */
    this.problem = null;
  }

  render() {
    const {problem} = this;
    return html`
      ${this.items.length ? html`<ul aria-label=${t('chat.attach.list')}>${this.items.map((one) => this._renderOne(one))}</ul>` : nothing}
      <p class="problem" role="alert" ?hidden=${!problem}>${problem ? t(`chat.attach.${problem.key}`, worded(problem.values)) : nothing}</p>
      <span class="visually-hidden" role="status">${this._state}</span>`;
  }

  /** @param {Map<string, any>} changed */
  updated(changed) {
    const before = changed.get('items');
    if (!before) return;
    const isNews = this.items.length > before.length || this.items.some(({state}, at) => state === 'failed' && before[at]?.state !== 'failed');
    if (isNews) [...this.renderRoot.querySelectorAll('li.failed, li:last-child')].at(-1)?.scrollIntoView({block: 'nearest'});
  }

  /** The status for screen readers. */
  get _state() {
    if (!this.items.length) return '';
    const sending = this.items.filter(({state}) => state === 'sending').length;
    return sending ? t('chat.attach.sendingFiles', {n: sending}) : t('chat.attach.attached', {n: this.items.length});
  }

  /** @param {import('./attachments.js').Attachment} one */
  _renderOne(one) {
    const {key, name, bytes, state, progress, error} = one;
    const isFailed = state === 'failed';
    const about = isFailed ? error?.message || t('chat.attach.failed') : state === 'sending' ? t('chat.attach.progress', {percent: formatNumber(progress, {style: 'percent'})}) : formatBytes(bytes);
    return html`
      <li class=${state}>
        <ac-attachment-preview .file=${one}></ac-attachment-preview>
        <span class="names"><span title=${name}>${name}</span><span class="about">${about}</span></span>
        <span class="buttons">
          ${isFailed && one.file ? html`<button class="quiet small icon" aria-label=${t('chat.attach.retry', {name})} title=${t('chat.attach.retry', {name})} @click=${() => this.attachments?.retry(key)}><ac-icon name="refresh-cw"></ac-icon></button>` : nothing}
          <button class="quiet small icon remove" aria-label=${t('chat.attach.remove', {name})} title=${t('chat.attach.remove', {name})} @click=${() => this._remove(key)}><ac-icon name="x"></ac-icon></button>
        </span>
        ${state === 'sending' ? html`<progress max="1" .value=${progress} aria-label=${t('chat.attach.sendingNamed', {name})}></progress>` : nothing}
      </li>`;
  }

  /** Remove one; the focus moves to the next. @param {string} key */
  async _remove(key) {
    const at = this.items.findIndex((one) => one.key === key);
    this.attachments?.remove(key);
    await new Promise((done) => requestAnimationFrame(done));
    const buttons = /** @type {NodeListOf<HTMLElement>} */ (this.renderRoot.querySelectorAll('.remove'));
    if (buttons.length) buttons[Math.min(at, buttons.length - 1)].focus();
    else this.dispatchEvent(new CustomEvent('ac-emptied'));
  }
}

/** @param {Record<string, any>} values */
function worded({size, ...values}) {
  return {...values, size: size === undefined ? '' : formatBytes(size), limit: formatBytes(FILE_BYTES)};
}
customElements.define('ac-attachments', AcAttachments);
