import {LitElement, css, html, nothing} from 'lit';
import {repeat} from 'lit/directives/repeat.js';
import {approvals} from '../approval/frame/pending-count.js';
import {desktopNotices} from '../approval/tray/desktop-notices.js';
import {client} from '../client/client.js';
import {Localized, t} from '../base/i18n.js';
import {Listening} from '../base/subscriptions.js';
import {componentTitle, moduleList} from '../client/module-list.js';
import {href, onRoute, route} from '../base/router.js';
import {SECTIONS} from './sections.js';
import {base, buttons} from '../ui/styles.js';
import {toastError} from '../ui/toasts.js';
import '../ui/ac-connection.js';
import '../ui/ac-icon.js';
import '../modules/ac-module-icon.js';
import '../ui/ac-preferences.js';
import './ac-stop.js';

const GROUPS = /** @type {const} */ (['work', 'manage']);

/** Navigation: what the user works with and what the user manages, with controls that are always available below. */
export class AcSidebar extends Localized(LitElement) {
  static styles = [base, buttons, css`
    :host {
      position: relative; display: flex; flex-direction: column; gap: var(--ac-space-4); height: 100%; overflow: auto; scrollbar-width: thin;
      padding: var(--ac-space-4) var(--ac-space-3); background: var(--ac-surface-sunken);
    }
    .brand {
      display: flex; align-items: center; gap: var(--ac-space-2); width: fit-content; padding: var(--ac-space-1) var(--ac-space-2);
      border-radius: var(--ac-radius-m); color: var(--ac-text); font-weight: var(--ac-weight-bold); font-size: var(--ac-text-l);
      letter-spacing: -0.01em; text-decoration: none;
    }
    .brand img { width: 1.5rem; height: 1.5rem; }
    .brand:hover { color: var(--ac-text); }
    nav { flex: 1; display: grid; gap: var(--ac-space-5); align-content: start; }
    ul { display: grid; gap: 2px; }
    h2 {
      padding: 0 var(--ac-space-2) var(--ac-space-1); font-size: var(--ac-text-xs);
      font-weight: var(--ac-weight-medium); color: var(--ac-text-muted); letter-spacing: 0;
    }
    .item {
      display: flex; align-items: center; gap: var(--ac-space-3); min-height: 2.125rem; padding: 0 var(--ac-space-2); border-radius: var(--ac-radius-m);
      color: var(--ac-text-muted); text-decoration: none; transition: background var(--ac-motion), color var(--ac-motion);
    }
    .item:hover { background: var(--ac-hover); color: var(--ac-text); }
    .item[aria-current] {
      background: var(--ac-surface); color: var(--ac-text); font-weight: var(--ac-weight-medium);
      box-shadow: var(--ac-shadow-s), 0 0 0 1px var(--ac-border);
    }
    .item[aria-current] > :is(ac-icon, ac-module-icon) { color: var(--ac-accent); }
    .item > span { flex: 1; min-width: 0; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
    .count {
      flex: none !important; color: var(--ac-danger); display: inline-flex; align-items: center; gap: var(--ac-space-1);
      font-size: var(--ac-text-s);
    }
    button.waiting { justify-content: start; width: 100%; white-space: normal; text-align: start; background: var(--ac-warn-soft); border-color: color-mix(in srgb, var(--ac-warn) 40%, transparent); }
    button.waiting ac-icon { color: var(--ac-warn); }
    footer { display: grid; grid-template-columns: minmax(0, 1fr); gap: var(--ac-space-3); }
    footer .row { display: flex; align-items: center; gap: var(--ac-space-2); }
    footer ac-preferences { flex: 1; min-width: 0; }
    footer ac-connection { flex: 1; min-width: 0; padding-inline: var(--ac-space-2); }
  `];

  constructor() {
    super();
    new Listening(this, () => [
      onRoute(() => this.requestUpdate()),
      moduleList.subscribe(() => this.requestUpdate()),
      approvals.subscribe(() => this.requestUpdate()),
      desktopNotices.subscribe(() => this.requestUpdate()),
    ]);
  }

  render() {
    const pages = moduleList.modules.filter(({component, state}) => component && state === 'ready');
    return html`
      <header><slot name="first"></slot><a class="brand" href="#/"><img src="/static/icon.svg" alt=""> agentcore</a></header>
      <nav aria-label=${t('shell.navigation')}>
        ${GROUPS.map((group) => this._group(group, pages.filter(({component}) => component?.group === group)))}
      </nav>
      <footer>
        ${approvals.total ? html`<button class="waiting" @click=${this._showApprovals}><ac-icon name="shield"></ac-icon>${t('approval.waiting', {n: approvals.total})}</button>` : nothing}
        <div class="row">
          <ac-connection></ac-connection>
          ${desktopNotices.isPossible ? html`
            <button class="quiet icon" aria-pressed=${desktopNotices.isOn} aria-label=${t('approval.noticesSwitch')} title=${t('approval.noticesSwitch')} @click=${() => desktopNotices.choose(!desktopNotices.isOn)}>
              <ac-icon name="bell"></ac-icon>
            </button>` : nothing}
        </div>
        <ac-stop></ac-stop>
        <div class="row">
          <ac-preferences></ac-preferences>
          <button class="quiet icon" aria-label=${t('shell.logOut')} title=${t('shell.logOut')} @click=${this._logOut}>
            <ac-icon name="log-out"></ac-icon>
          </button>
        </div>
      </footer>`;
  }

  /** @param {'work' | 'manage'} group @param {import('../client/module-list.js').Module[]} pages  the pages of modules that belong to it */
  _group(group, pages) {
    return html`
      <div>
        <h2 id=${group}>${t(`shell.${group}`)}</h2>
        <ul aria-labelledby=${group}>
          ${SECTIONS.filter((section) => section.group === group).map((section) => this._section(section))}
          ${repeat(pages, ({name}) => name, (module) => this._page(module))}
        </ul>
      </div>`;
  }

  _showApprovals() {
    // on small screens this also closes the menu
    this.dispatchEvent(new CustomEvent('ac-show-approvals', {detail: {}, bubbles: true, composed: true}));
  }

  async _logOut() {
    try {
      await client.logOut();
    } catch (error) {
      toastError(t('shell.logOut'), error);
    }
  }

  /** @param {import('./sections.js').Section} section */
  _section({id, icon, label}) {
    const broken = id === 'modules' ? moduleList.broken.length : 0;
    return html`<li>${this._link([id], html`<ac-icon name=${icon}></ac-icon>`, t(label), broken ? html`
      <span class="count" title=${t('shell.brokenModules', {n: broken})}>
        <ac-icon name="circle-alert"></ac-icon><span class="visually-hidden">${t('shell.brokenModules', {n: broken})}</span>
      </span>` : nothing)}</li>`;
  }

  /** @param {import('../client/module-list.js').Module} module */
  _page(module) {
    return html`<li>${this._link(['pages', module.name], html`<ac-module-icon .module=${module}></ac-module-icon>`, componentTitle(module))}</li>`;
  }

  /** @param {string[]} path @param {unknown} icon @param {string} label @param {unknown} [end] */
  _link(path, icon, label, end = nothing) {
    const current = route().path.length ? route().path : ['chats'];
    const isCurrent = path.every((segment, i) => current[i] === segment);
    return html`<a class="item" href=${href(path)} aria-current=${isCurrent ? 'page' : nothing}>${icon}<span>${label}</span>${end}</a>`;
  }
}

customElements.define('ac-sidebar', AcSidebar);
