import {LitElement, css, html, nothing} from 'lit';
import {repeat} from 'lit/directives/repeat.js';
import {confirm} from '../confirm.js';
import {Localized, t} from '../i18n.js';
import {Listening} from '../listening.js';
import {resourceTabs} from '../resource-tabs.js';
import {href, navigate, onRoute, route} from '../router.js';
import {base, buttons} from '../styles.js';
import {toastError} from '../toasts.js';
import './ac-icon.js';
import './ac-module-icon.js';

/** @typedef {(typeof resourceTabs.tabs)[number]} Tab */

/** A tab for each living resource that a module can show; not there while there are none. */
export class AcTabstrip extends Localized(LitElement) {
  static styles = [base, buttons, css`
    nav { border-bottom: 1px solid var(--ac-border); background: var(--ac-surface-sunken); }
    ul { display: flex; gap: 2px; overflow-x: auto; padding: var(--ac-space-1) var(--ac-space-2) 0; scrollbar-width: thin; }
    li {
      display: flex; align-items: center; flex: 0 1 13rem; min-width: 8rem; padding-inline-end: var(--ac-space-1);
      border: 1px solid transparent; border-bottom: 0; border-radius: var(--ac-radius-m) var(--ac-radius-m) 0 0;
    }
    li:hover { background: var(--ac-hover); }
    li:has([aria-current]) { background: var(--ac-bg); border-color: var(--ac-border); margin-bottom: -1px; }
    a {
      flex: 1; min-width: 0; display: flex; align-items: center; gap: var(--ac-space-2); height: 2.25rem;
      padding: 0 var(--ac-space-2); color: var(--ac-text-muted); text-decoration: none; border-radius: inherit;
      outline-offset: -2px;
    }
    a[aria-current] { color: var(--ac-text); font-weight: var(--ac-weight-medium); }
    a span { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
  `];

  constructor() {
    super();
    new Listening(this, () => [resourceTabs.subscribe(() => this.requestUpdate()), onRoute(() => this.requestUpdate())]);
  }

  render() {
    const tabs = resourceTabs.tabs;
    if (!tabs.length) return nothing;
    return html`<nav aria-label=${t('shell.tabs')}><ul>${repeat(tabs, ({resource}) => resource.resourceId, (tab) => this._tab(tab))}</ul></nav>`;
  }

  /** @param {Tab} tab */
  _tab(tab) {
    const {resource, module} = tab;
    const path = ['pages', module.name, resource.resourceId];
    const isCurrent = route().path[0] === 'pages' && route().path[2] === resource.resourceId;
    const name = nameOf(tab);
    return html`
      <li>
        <a href=${href(path)} aria-current=${isCurrent ? 'page' : nothing} title=${resource.lastUrl || name}>
          <ac-module-icon .module=${module}></ac-module-icon><span>${name}</span>
        </a>
        <button class="quiet icon small" aria-label=${t('shell.closeTab', {name})} @click=${() => this._close(tab, isCurrent)}>
          <ac-icon name="x"></ac-icon>
        </button>
      </li>`;
  }

  /** @param {Tab} tab @param {boolean} isCurrent */
  async _close(tab, isCurrent) {
    const name = nameOf(tab);
    const goesAhead = await confirm({heading: t('shell.closeTab', {name}), text: t('shell.closeTabText'), action: t('shell.closeTab', {name})});
    if (!goesAhead) return;
    try {
      await resourceTabs.close(tab.resource.resourceId);
      if (isCurrent) navigate('#/');
    } catch (error) {
      toastError(t('shell.closeTab', {name}), error);
    }
  }
}

/** @param {Tab} tab */
function nameOf({resource}) {
  if (resource.title) return resource.title;
  const type = resource.resourceType.replaceAll('_', ' ');
  return `${type.charAt(0).toUpperCase()}${type.slice(1)} ${resource.index}`;
}

customElements.define('ac-tabstrip', AcTabstrip);
