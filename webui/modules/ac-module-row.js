import {LitElement, css, html, nothing} from 'lit';
import {locale, Localized, t} from '../base/i18n.js';
import {Listening} from '../base/subscriptions.js';
import {toolList} from '../client/tool-list.js';
import {isBroken, reasonOf, shownState, waitsForPerson} from '../client/module-list.js';
import {onDisk} from './disk-changes.js';
import {href} from '../base/router.js';
import {badges, base} from '../ui/styles.js';
import '../ui/ac-icon.js';
import '../ui/ac-state.js';
import './ac-module-actions.js';
import './ac-module-icon.js';

/** One module in a list: its description, state and contents, and the reason if it failed. */
export class AcModuleRow extends Localized(LitElement) {
  static properties = {module: {attribute: false}};

  static styles = [badges, base, css`
    article {
      display: grid; grid-template-columns: auto minmax(0, 1fr) auto; gap: var(--ac-space-1) var(--ac-space-4); align-items: start;
      padding: var(--ac-space-4); position: relative; transition: background var(--ac-motion);
    }
    article:hover { background: color-mix(in srgb, var(--ac-hover) 45%, transparent); }
    .sign {
      grid-row: span 2; display: grid; place-items: center; width: 2.25rem; height: 2.25rem; border: 1px solid var(--ac-border);
      border-radius: var(--ac-radius-m); background: var(--ac-surface-sunken); color: var(--ac-text-muted);
    }
    .off { color: var(--ac-text-muted); }
    .name { display: flex; flex-wrap: wrap; align-items: center; gap: var(--ac-space-1) var(--ac-space-3); min-height: 1.75rem; }
    h3 { font-size: var(--ac-text-m); }
    /* the whole row leads to the module; its buttons lie above */
    h3 a { color: inherit; text-decoration: none; }
    h3 a::after { content: ''; position: absolute; inset: 0; }
    h3 a:focus-visible { outline: none; }
    h3 a:focus-visible::after { outline: 2px solid var(--ac-focus); outline-offset: -2px; border-radius: var(--ac-radius-m); }
    ac-module-actions { position: relative; z-index: 1; justify-content: flex-end; }
    .about { grid-column: 2 / -1; display: grid; gap: var(--ac-space-1); }
    .description {
      color: var(--ac-text-muted); display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: 2;
      overflow: hidden;
    }
    .reason {
      color: var(--ac-danger); overflow-wrap: anywhere; display: -webkit-box; -webkit-box-orient: vertical;
      -webkit-line-clamp: 3; overflow: hidden;
    }
    .problems, .waits { color: var(--ac-warn); }
    .facts { display: flex; flex-wrap: wrap; gap: 0 var(--ac-space-4); color: var(--ac-text-muted); font-size: var(--ac-text-s); }
    .facts li { display: inline-flex; align-items: center; gap: var(--ac-space-1); }
    @media (max-width: 40rem) {
      article { grid-template-columns: auto minmax(0, 1fr); }
      ac-module-actions { grid-area: 3 / 2; justify-content: flex-start; margin-inline-start: calc(-1 * var(--ac-space-2)); }
      .sign { grid-row: 1 / 4; }
      .about { grid-column: 2; }
    }
  `];

  constructor() {
    super();
    /** @type {import('../client/module-list.js').Module | null} */
    this.module = null;
    /** The module as of the last time it was ready. @type {import('../client/module-list.js').Module | null} */
    this._known = null;
    new Listening(this, () => [toolList.subscribe(() => this.requestUpdate())]);
  }

  firstUpdated() {
    if (locale() !== 'en' && !toolList.isLoaded) void toolList.load(); // provides the translated texts
  }

  willUpdate() {
    if (this.module?.state === 'ready') this._known = this.module;
  }

  render() {
    if (!this.module) return nothing;
    const {name, listed} = this.module;
    const shown = this._shown(this.module);
    const {version} = shown;
    const {title, description} = toolList.saidOf(shown);
    const waits = waitsForPerson(this.module);
    const disk = onDisk(this.module);
    return html`
      <article class=${listed ? '' : 'off'}>
        <span class="sign"><ac-module-icon .module=${this.module}></ac-module-icon></span>
        <div class="name">
          <h3><a href=${href(['modules', name])}>${title}</a></h3>
          <code class="muted">${name}${version ? html` ${version}` : nothing}</code>
          <ac-state room="modules" .state=${shownState(this.module)} .until=${this.module.waiting?.retryAt ?? null}></ac-state>
          ${disk ? html`<span class="badge warn">${disk}</span>` : nothing}
        </div>
        <ac-module-actions compact .module=${this.module}></ac-module-actions>
        <div class="about">
          ${description ? html`<p class="description">${description}</p>` : nothing}
          ${isBroken(this.module) ? html`<p class=${waits ? 'waits' : 'reason'}>${waits ? t('modules.waitsFor', {sources: this.module.others.map(({source}) => source).join(', ')}) : reasonOf(this.module)}</p>` : nothing}
          ${this._facts()}
        </div>
      </article>`;
  }

  /** Return the module as last ready while it reloads, so that the rows below do not move. @param {import('../client/module-list.js').Module} module */
  _shown(module) {
    const isOnTheWay = module.listed && ['stopping', 'stopped', 'loading'].includes(module.state);
    return isOnTheWay && this._known?.name === module.name ? this._known : module;
  }

  _facts() {
    const {tools, component, routes, problems, state, host} = this._shown(/** @type {import('../client/module-list.js').Module} */ (this.module));
    const where = host ? html`<li><ac-icon name="server"></ac-icon>${t('hosts.inHost', {name: host})}</li>` : nothing;
    if (state !== 'ready') return host ? html`<ul class="facts">${where}</ul>` : nothing;
    return html`
      <ul class="facts">
        <li>${t('modules.toolCount', {n: tools.length})}</li>
        ${where}
        ${component ? html`<li>${t('modules.page')}</li>` : nothing}
        ${routes.length ? html`<li>${t('modules.routeCount', {n: routes.length})}</li>` : nothing}
        ${problems.length ? html`
          <li class="problems"><ac-icon name="triangle-alert"></ac-icon>${t('modules.problemCount', {n: problems.length})}</li>` : nothing}
      </ul>`;
  }
}

customElements.define('ac-module-row', AcModuleRow);
