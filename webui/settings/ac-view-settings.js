import {LitElement, css, html, nothing} from 'lit';
import {repeat} from 'lit/directives/repeat.js';
import {Localized, t} from '../base/i18n.js';
import {Listening} from '../base/subscriptions.js';
import {moduleList} from '../client/module-list.js';
import {href} from '../base/router.js';
import {base, buttons, views} from '../ui/styles.js';
import '../ui/ac-empty.js';
import '../ui/ac-icon.js';
import '../approval/grants/ac-grants.js';
import './ac-secrets.js';
import './ac-settings-form.js';
import './ac-storage.js';
import {toolList} from '../client/tool-list.js';
import '../base/later-strings.js';

/** Segment of the address for secrets; no module has a name that begins like this. */
const SECRETS = '-secrets';
/** Segment of the address for what is stored. */
const STORAGE = '-storage';
/** Segment of the address for what runs without asking. */
const ALLOWED = '-allowed';

/** The settings in app.json, of the server and of each module that it lists. */
export class AcViewSettings extends Localized(LitElement) {
  static properties = {
    path: {attribute: false},
    query: {attribute: false},
  };

  static styles = [base, buttons, views, css`
    :host { container: settings / inline-size; }
    .view-head { margin-bottom: var(--ac-space-6); }
    .view-head .muted { max-width: 42rem; }
    .split { display: grid; grid-template-columns: 12rem minmax(0, 1fr); gap: var(--ac-space-6); align-items: start; }
    nav { position: sticky; top: var(--ac-space-5); display: grid; gap: 2px; max-height: calc(100dvh - 2 * var(--ac-space-6)); overflow: auto; }
    nav h2 { margin: var(--ac-space-4) 0 var(--ac-space-1); padding-inline: var(--ac-space-3); color: var(--ac-text-muted); font-size: var(--ac-text-xs); font-weight: var(--ac-weight-medium); letter-spacing: 0; }
    nav a { display: flex; align-items: center; gap: var(--ac-space-2); min-height: 2rem; padding: 0 var(--ac-space-3); border-radius: var(--ac-radius-m); color: var(--ac-text-muted); text-decoration: none; outline-offset: -2px; }
    nav a:hover { background: var(--ac-hover); color: var(--ac-text); }
    nav a[aria-current] { background: var(--ac-hover); color: var(--ac-text); font-weight: var(--ac-weight-medium); }
    nav a span { flex: 1; min-width: 0; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
    nav a ac-icon { color: var(--ac-danger); }
    .heading { display: flex; flex-wrap: wrap; align-items: center; justify-content: space-between; gap: var(--ac-space-2) var(--ac-space-4); margin-bottom: var(--ac-space-4); }
    .heading h2 { min-width: 0; overflow-wrap: anywhere; }
    @container settings (max-width: 48rem) {
      .split { grid-template-columns: minmax(0, 1fr); gap: var(--ac-space-5); }
      nav { position: relative; top: 0; display: flex; gap: var(--ac-space-1); overflow-x: auto; padding-bottom: var(--ac-space-1); border-bottom: 1px solid var(--ac-border); }
      nav h2 { display: none; }
      nav a { flex: none; }
    }
  `];

  constructor() {
    super();
    /** @type {string[]} */
    this.path = [];
    this.query = new URLSearchParams();
    /** @type {Element | null | undefined} the link of the section that is shown */
    this._current = null;
    new Listening(this, () => [moduleList.subscribe(() => this.requestUpdate()), toolList.subscribe(() => this.requestUpdate())]);
  }

  connectedCallback() {
    super.connectedCallback();
    if (!moduleList.isLoaded) void moduleList.load();
  }

  render() {
    const name = this.path[0] ?? '';
    const modules = moduleList.modules.filter(({listed, state}) => listed || state === 'ready');
    const isKnown = !name || name === SECRETS || name === STORAGE || name === ALLOWED || modules.some((module) => module.name === name);
    return html`
      <header class="view-head">
        <div class="titles"><h1>${t('settings.title')}</h1><p class="muted">${t('settings.subtitle')}</p></div>
      </header>
      <div class="split">
        <nav aria-label=${t('settings.sections')}>
          ${this._link([], t('settings.server'), name === '')}
          ${this._link([SECRETS], t('settings.secrets'), name === SECRETS)}
          ${this._link([ALLOWED], t('approval.grants.heading'), name === ALLOWED)}
          ${this._link([STORAGE], t('settings.storage'), name === STORAGE)}
          <h2>${t('settings.modules')}</h2>
          ${repeat(modules, (module) => module.name, (module) => this._link([module.name], toolList.saidOf(module).title, module.name === name, module.state === 'failed'))}
        </nav>
        <div>${isKnown ? this._form(name, modules) : moduleList.isLoaded ? this._unknown(name) : nothing}</div>
      </div>`;
  }

  updated() {
    // on a narrow page the list is one scrolling line: show the current link
    const link = this.renderRoot.querySelector('nav a[aria-current]');
    const list = link?.parentElement;
    if (link !== this._current && list && list.scrollWidth > list.clientWidth) {
      list.scrollLeft += link.getBoundingClientRect().left - list.getBoundingClientRect().left;
    }
    this._current = link;
  }

  /** @param {string[]} path @param {string} text @param {boolean} isCurrent @param {boolean} [isBroken] */
  _link(path, text, isCurrent, isBroken = false) {
    return html`
      <a href=${href(['settings', ...path])} aria-current=${isCurrent ? 'page' : nothing}><span>${text}</span>
        ${isBroken ? html`<ac-icon name="circle-alert"></ac-icon><span class="visually-hidden">${t('settings.broken')}</span>` : nothing}</a>`;
  }

  /** @param {string} name @param {import('../client/module-list.js').Module[]} modules */
  _form(name, modules) {
    if (name === SECRETS) return html`<div class="heading"><h2>${t('settings.secrets')}</h2></div><ac-secrets></ac-secrets>`;
    if (name === ALLOWED) return html`<div class="heading"><h2>${t('approval.grants.heading')}</h2></div><ac-grants></ac-grants>`;
    if (name === STORAGE) return html`<div class="heading"><h2>${t('settings.storage')}</h2></div><ac-storage></ac-storage>`;
    const module = modules.find((one) => one.name === name);
    return html`
      <div class="heading">
        <h2>${module ? toolList.saidOf(module).title : t('settings.server')}</h2>
        ${module ? html`<a class="button small" href=${href(['modules', name])}>${t('settings.aboutModule')}<ac-icon name="arrow-right"></ac-icon></a>` : nothing}
      </div>
      <ac-settings-form module=${name}></ac-settings-form>`;
  }

  /** @param {string} name */
  _unknown(name) {
    return html`<ac-empty icon="settings" heading=${t('settings.noModule')}>${t('settings.noModuleText', {name})}</ac-empty>`;
  }
}

customElements.define('ac-view-settings', AcViewSettings);
