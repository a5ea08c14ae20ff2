import {LitElement, css, html} from 'lit';
import {approvals} from '../approval/frame/pending-count.js';
import {Localized, formatNumber, t} from '../base/i18n.js';
import {Listening} from '../base/subscriptions.js';
import {onRoute, route} from '../base/router.js';
import {viewTitle} from '../base/view-title.js';
import {findSection} from './sections.js';
import {base, buttons} from '../ui/styles.js';
import '../ui/ac-empty.js';
import '../ui/ac-error-card.js';

/** @type {Record<string, Pick<import('./sections.js').Section, 'tag' | 'load'>>} */
const OTHERS = {
  pages: {tag: 'ac-view-page', load: () => import('../module-pages/ac-view-page.js')},
};

/** The view in the address, loaded on first use. It receives `path`, the segments after the first, and `query`. */
export class AcOutlet extends Localized(LitElement) {
  static styles = [base, buttons, css`
    :host { display: contents; }
    ac-error-card { max-width: 48rem; margin: var(--ac-space-6) auto; padding-inline: var(--ac-space-4); }
  `];

  constructor() {
    super();
    /** @type {HTMLElement | null} */
    this._view = null;
    /** @type {unknown} */
    this._error = null;
    new Listening(this, () => [onRoute(() => this._arrive()), approvals.subscribe(() => this._showTitle()), viewTitle.subscribe(() => this._showTitle())]);
  }

  render() {
    const {path, query} = route();
    const id = path[0] ?? '';
    const wanted = findSection(id) ?? (Object.hasOwn(OTHERS, id) ? OTHERS[id] : null);
    if (!wanted) return this._nothingHere();
    if (!customElements.get(wanted.tag)) return this._load(wanted);
    if (this._view?.localName !== wanted.tag) this._view = document.createElement(wanted.tag);
    return Object.assign(this._view, {path: path.slice(1), query});
  }

  updated() {
    this._showTitle();
  }

  /** Set the document title to the current location, preceded by the number of pending approvals. */
  _showTitle() {
    const [id, ...rest] = route().path;
    const section = findSection(id);
    const shown = viewTitle.text ? [viewTitle.text] : rest.reverse();
    const title = [...shown, section ? t(section.label) : '', 'agentcore'].filter(Boolean).join(' · ');
    document.title = approvals.total ? `(${formatNumber(approvals.total)}) ${title}` : title;
  }

  _arrive() {
    this._error = null;
    viewTitle.say('');
    this.requestUpdate();
  }

  /** @param {Pick<import('./sections.js').Section, 'tag' | 'load'>} wanted */
  _load(wanted) {
    if (this._error) return this._failed();
    wanted.load().then(() => this.requestUpdate(), (error) => {
      this._error = error;
      this.requestUpdate();
    });
    return html``;
  }

  _failed() {
    return html`
      <ac-error-card heading=${t('shell.viewFailed')} .error=${this._error}>
        <button slot="actions" @click=${() => location.reload()}>${t('shell.reloadPage')}</button>
      </ac-error-card>`;
  }

  _nothingHere() {
    return html`
      <ac-empty whole icon="search" heading=${t('shell.nothingHere')}>
        ${t('shell.nothingHereText')}
        <a slot="actions" class="button" href="#/">${t('shell.home')}</a>
      </ac-empty>`;
  }
}

customElements.define('ac-outlet', AcOutlet);
