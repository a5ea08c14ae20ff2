import {LitElement, css, html, nothing} from 'lit';
import {classMap} from 'lit/directives/class-map.js';
import {approvalOrigin, approvals} from '../approval/frame/pending-count.js';
import {client} from '../client/client.js';
import {Localized, t} from '../base/i18n.js';
import {Listening} from '../base/subscriptions.js';
import {onRoute, route} from '../base/router.js';
import {findSection} from './sections.js';
import {stopState} from '../client/stop-state.js';
import {resourceTabs} from '../tabs/resource-tabs.js';
import {base, buttons} from '../ui/styles.js';
import '../approval/tray/ac-approval-tray.js';
import './ac-outlet.js';
import './ac-sidebar.js';
import './ac-stop.js';
import '../ui/ac-toasts.js';

const NARROW = matchMedia('(max-width: 48rem)');

/** The application: sidebar, tabs and the view in the address, or the login. */
export class AcApp extends Localized(LitElement) {
  static properties = {
    isStarted: {attribute: false},
    loginError: {attribute: false},
    _isNarrow: {state: true},
  };

  static styles = [base, buttons, css`
    :host { display: grid; grid-template: auto minmax(0, 1fr) / 15.5rem minmax(0, 1fr); height: 100dvh; }
    :host(.narrow) { grid-template-columns: minmax(0, 1fr); }
    :host(.logged-out) { position: relative; display: block; overflow: auto; }
    .side { grid-row: 1 / -1; border-inline-end: 1px solid var(--ac-border); min-height: 0; }
    .top {
      grid-column: 1; display: flex; align-items: center; gap: var(--ac-space-2);
      padding: var(--ac-space-2) var(--ac-space-3); border-bottom: 1px solid var(--ac-border);
      background: var(--ac-surface);
    }
    .top a {
      flex: 1; display: flex; align-items: center; gap: var(--ac-space-2); color: var(--ac-text);
      font-weight: var(--ac-weight-bold); text-decoration: none;
    }
    @media (max-height: 30rem) { .top { padding-block: 2px; } } /* a phone held sideways, or a zoom of 200 % */
    .top img { width: 1.25rem; height: 1.25rem; }
    .content { grid-row: 1 / -1; grid-column: -2; min-width: 0; min-height: 0; display: flex; flex-direction: column; }
    :host(.narrow) .content { grid-row: 2; }
    main { position: relative; flex: 1; min-height: 0; overflow: auto; outline: none; scrollbar-gutter: stable; }
    :host(.narrow) main, main.filled { scrollbar-gutter: auto; }
    /* messages take their room where nothing has its place: below a view, but above one that stands on its bottom */
    .grows-up, .grows-up ~ ac-approval-tray { order: 1; }
    .banner {
      display: flex; gap: var(--ac-space-3); align-items: start; padding: var(--ac-space-3) var(--ac-space-5);
      background: var(--ac-danger-soft); border-bottom: 1px solid var(--ac-border);
    }
    .banner > ac-icon { color: var(--ac-danger); margin-top: 0.125rem; }
    .banner p { flex: 1; }
    .banner button { flex: none; }
    .skip { position: absolute; top: var(--ac-space-2); left: var(--ac-space-2); z-index: 5; transform: translateY(-200%); }
    .skip:focus { transform: none; }
    dialog {
      width: 17rem; max-width: 85vw; height: 100dvh; max-height: none; margin: 0; padding: 0; border: 0;
      border-inline-end: 1px solid var(--ac-border); background: var(--ac-surface-sunken); color: inherit;
    }
    dialog::backdrop { background: var(--ac-scrim); }
  `];

  constructor() {
    super();
    this.isStarted = false;
    /** @type {import('../client/client.js').ApiError | null} */
    this.loginError = null;
    this._isNarrow = NARROW.matches;
    this._path = route().path.join('/');
    new Listening(this, () => {
      const resize = () => { this._isNarrow = NARROW.matches; };
      NARROW.addEventListener('change', resize);
      return [
        () => NARROW.removeEventListener('change', resize),
        client.on('connection', (connection) => {
          this.requestUpdate();
          if (connection === 'open') void lookForMissing();
        }),
        client.on('requirement.changed', ({state}) => { if (state !== 'met') void loadNotice(); }),
        stopState.subscribe(() => this.requestUpdate()),
        approvals.subscribe(() => this.requestUpdate()),
        resourceTabs.subscribe(() => this._loadTabs()),
        onRoute(({path}) => this._arrive(path.join('/'))),
      ];
    });
  }

  render() {
    if (!this.isStarted) return nothing;
    if (client.connection === 'unauthorized') return this._logIn();
    return html`
      ${this._isNarrow ? this._top() : html`<div class="side"><ac-sidebar>${this._renderSkip('first')}</ac-sidebar></div>`}
      <div class="visually-hidden" role="status">${approvals.total ? t('approval.waiting', {n: approvals.total}) : nothing}</div>
      <div class="content">
        ${stopState.isStopped ? this._stopped() : nothing}
        <ac-tabstrip></ac-tabstrip>
        <ac-requirement-notice></ac-requirement-notice>
        <main id="main" class=${classMap({filled: isFilled(), 'grows-up': growsUp()})} tabindex="-1" aria-label=${t('shell.main')}><ac-outlet></ac-outlet></main>
        <ac-toasts></ac-toasts>
        <ac-approval-tray></ac-approval-tray>
      </div>`;
  }

  /** Load the strip of tabs with the first tab. */
  _loadTabs() {
    if (resourceTabs.tabs.length) void import('../tabs/ac-tabstrip.js');
  }

  /** Render the skip link past the parts that all views share; it is first in the tab order. @param {string} [slot] */
  _renderSkip(slot) {
    return html`<a class="button skip" slot=${slot ?? nothing} href="#main" @click=${this._skip}>${t('shell.skip')}</a>`;
  }

  _logIn() {
    void import('./ac-view-log-in.js');
    return html`<main><ac-view-log-in .error=${this.loginError}></ac-view-log-in></main>`;
  }

  updated() {
    const isLoggedOut = client.connection === 'unauthorized';
    this.classList.toggle('logged-out', isLoggedOut);
    this.classList.toggle('narrow', this._isNarrow && !isLoggedOut);
  }

  _top() {
    return html`
      <header class="top">
        ${this._renderSkip()}
        <button class="quiet icon" aria-label=${t('shell.menu')} @click=${() => this._drawer()?.showModal()}><ac-icon name="menu"></ac-icon></button>
        <a href="#/"><img src="/static/icon.svg" alt=""> agentcore</a>
        ${client.connection === 'open' ? nothing : html`<ac-connection></ac-connection>`}
        <ac-stop compact></ac-stop>
      </header>
      <dialog aria-label=${t('shell.menu')} @click=${this._closeBeside} @ac-show-approvals=${() => this._drawer()?.close()}><ac-sidebar></ac-sidebar></dialog>`;
  }

  _stopped() {
    return html`
      <div class="banner" role="alert">
        <ac-icon name="octagon-x"></ac-icon>
        <p><strong>${t('shell.stoppedHeading')}</strong> ${t('shell.stoppedText')}</p>
        ${approvalOrigin ? html`<button @click=${this._showResume}><ac-icon name="play"></ac-icon>${t('shell.resume')}</button>` : nothing}
      </div>`;
  }

  /** Show the approval view, which has the button that resumes. */
  _showResume() {
    this.dispatchEvent(new CustomEvent('ac-show-approvals', {detail: {}, bubbles: true, composed: true}));
  }

  /** Scroll to the top if the path changed, but not if only the query changed. @param {string} path */
  _arrive(path) {
    this._drawer()?.close();
    if (path !== this._path) this.renderRoot.querySelector('main')?.scrollTo(0, 0);
    this._path = path;
    this.requestUpdate();
  }

  /** @returns {HTMLDialogElement | null} */
  _drawer() {
    return this.renderRoot.querySelector('dialog');
  }

  /** @param {Event} event */
  _closeBeside(event) {
    if (event.target === event.currentTarget) this._drawer()?.close();
  }

  /** Move the focus by script, because the fragment holds the address of the view. @param {Event} event */
  _skip(event) {
    event.preventDefault();
    /** @type {HTMLElement} */ (this.renderRoot.querySelector('main')).focus();
  }
}

/** Load the notice about missing requirements, which is needed only if something is missing. */
function loadNotice() {
  return import('../requirements/ac-requirement-notice.js');
}

/** Load the notice if something is missing. */
async function lookForMissing() {
  try {
    const {requirements} = await client.get('/api/requirements');
    if (requirements.some((/** @type {{state: string}} */ {state}) => state !== 'met')) await loadNotice();
  } catch {
    // the connection state shows the problem, and this is repeated on reconnect
  }
}

/** Return true if the view scrolls internally, so that no space is reserved for a scroll bar. */
function isFilled() {
  const [id] = route().path;
  return id === 'pages' || Boolean(findSection(id)?.fills);
}

/** Return true if the view is anchored to its bottom. */
function growsUp() {
  const [id] = route().path;
  return Boolean(findSection(id)?.growsUp);
}

customElements.define('ac-app', AcApp);
