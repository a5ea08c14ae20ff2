import {LitElement, css, html, nothing} from 'lit';
import {Localized, t} from '../base/i18n.js';
import {Listening} from '../base/subscriptions.js';
import {componentTitle, moduleList} from '../client/module-list.js';
import {reopenTab} from '../tabs/reopen-tab.js';
import {nameOf, resourceTabs} from '../tabs/resource-tabs.js';
import {href, navigate} from '../base/router.js';
import {viewTitle} from '../base/view-title.js';
import {base, buttons} from '../ui/styles.js';
import '../ui/ac-empty.js';
import './ac-module-frame.js';
import {toolList} from '../client/tool-list.js';
import '../base/later-strings.js';

/** The page of a module (`#/pages/NAME`), or its view of one resource (`#/pages/NAME/RESOURCE`). */
export class AcViewPage extends Localized(LitElement) {
  static properties = {
    path: {attribute: false},
    query: {attribute: false},
  };

  static styles = [base, buttons, css`
    :host, ac-module-frame { height: 100%; }
    .url { overflow-wrap: anywhere; }
    button[slot='actions'] { margin-top: var(--ac-space-4); }
  `];

  constructor() {
    super();
    /** @type {string[]} */
    this.path = [];
    this.query = new URLSearchParams();
    this._shown = '';
    new Listening(this, () => [moduleList.subscribe(() => this.requestUpdate()), toolList.subscribe(() => this.requestUpdate()), resourceTabs.subscribe(() => this.requestUpdate())]);
  }

  render() {
    const [name = '', resourceId = ''] = this.path;
    const module = moduleList.find(name);
    if (!module) return moduleList.isLoaded ? this._away(name, t('modules.unknown', {name})) : nothing;
    if (module.state !== 'ready') return this._away(name, t('modules.pageAway', {name: toolList.saidOf(module).title}));
    const tag = resourceId ? resourceTabs.tagOf(resourceId) : module.component?.tag;
    const closed = resourceId && !tag ? resourceTabs.closed(resourceId) : undefined;
    if (closed) return this._closed(closed);
    if (!tag && resourceId) return this._ended(module);
    if (!tag) return this._away(name, t('modules.noPage', {name: toolList.saidOf(module).title}));
    const host = resourceId ? resourceTabs.hostOf(resourceId) : '';
    return html`<ac-module-frame .module=${module} .tag=${tag} .resourceId=${resourceId} .host=${host} aria-label=${componentTitle(module)}></ac-module-frame>`;
  }

  updated() {
    const [name, resourceId = ''] = this.path;
    const tab = resourceTabs.tabs.find(({resource}) => resource.resourceId === resourceId);
    const module = moduleList.find(name);
    viewTitle.say(tab ? nameOf(tab) : module && !resourceId ? componentTitle(module) : '');
    const next = resourceTabs.replaced(resourceId);
    if (next) navigate(href(['pages', name, next]), {replace: true});
    const shown = resourceId && resourceTabs.tagOf(resourceId) ? resourceId : '';
    if (shown === this._shown) return;
    this._shown = shown;
    // on failure, the strip only does not know which tab was last active
    if (shown) resourceTabs.show(shown).catch(() => {});
  }

  /** Render a resource that ended without being closed: its last URL, why it ended, and a button to open a new one there. @param {import('../tabs/resource-tabs.js').ShownTab} shown */
  _closed(shown) {
    const {tab, resource} = shown;
    const opening = resourceTabs.opening(tab.tabId);
    return html`
      <ac-empty whole icon="circle-stop" heading=${nameOf(shown)}>
        <p role="status">${opening ? t(opening === 'waiting' ? 'tabs.endedWaiting' : 'tabs.opening.working') : tab.closed?.lostBy ? t('tabs.endedLost', {reason: tab.closed.lostBy}) : t('tabs.endedWithServer')}</p>
        ${resource.lastUrl ? html`<p class="url mono">${resource.lastUrl}</p>` : html`<p>${t('tabs.endedWithServerText')}</p>`}
        <button slot="actions" class="primary" ?disabled=${Boolean(opening)} @click=${() => reopenTab(shown)}>${t('tabs.openAgain')}</button>
        <button slot="actions" @click=${() => resourceTabs.close(tab.tabId)}>${t('tabs.close')}</button>
      </ac-empty>`;
  }

  /** Render the notice for a resource that no longer exists; others of its kind are on the module's own page. @param {import('../client/module-list.js').Module} module */
  _ended(module) {
    if (!resourceTabs.isLoaded) return nothing;
    return html`
      <ac-empty whole icon="circle-stop" heading=${t('modules.resourceEnded')}>
        ${t('modules.resourceEndedText')}
        ${module.component ? html`<a slot="actions" class="button" href=${href(['pages', module.name])}>${componentTitle(module)}</a>` : nothing}
      </ac-empty>`;
  }

  /** @param {string} name @param {string} text */
  _away(name, text) {
    return html`
      <ac-empty whole icon="plug" heading=${t('modules.pageNotShown')}>
        ${text}
        <a slot="actions" class="button" href=${href(['modules', name])}>${t('modules.showModule')}</a>
      </ac-empty>`;
  }
}

customElements.define('ac-view-page', AcViewPage);
