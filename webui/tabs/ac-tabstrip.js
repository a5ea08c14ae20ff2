import {LitElement, css, html, nothing} from 'lit';
import {classMap} from 'lit/directives/class-map.js';
import {repeat} from 'lit/directives/repeat.js';
import {confirm} from '../ui/overlay/confirm.js';
import {Localized, t} from '../base/i18n.js';
import {isComposing} from '../base/input-method.js';
import {Listening} from '../base/subscriptions.js';
import {reopenTab} from './reopen-tab.js';
import {nameOf, resourceTabs} from './resource-tabs.js';
import {href, navigate, onRoute, route} from '../base/router.js';
import {base, buttons, fields} from '../ui/styles.js';
import {TabDrag} from './tab-drag.js';
import {toast, toastError} from '../ui/toasts.js';
import '../ui/ac-icon.js';
import '../ui/overlay/ac-menu.js';
import './ac-resource-icon.js';

/** @typedef {import('./resource-tabs.js').ShownTab} ShownTab */

/** Tabs of resources, in the user's order; hidden while there are none. */
export class AcTabstrip extends Localized(LitElement) {
  static properties = {
    _focused: {state: true},
    _renamed: {state: true},
    _announcement: {state: true},
    _isFull: {state: true},
  };

  static styles = [base, buttons, fields, css`
    nav { display: flex; align-items: end; border-bottom: 1px solid var(--ac-border); background: var(--ac-surface-sunken); }
    ul { position: relative; flex: 1; min-width: 0; display: flex; gap: 2px; overflow-x: auto; padding: var(--ac-space-1) var(--ac-space-2) 0; scroll-padding-inline: var(--ac-space-2); scrollbar-width: none; }
    li {
      position: relative; display: flex; align-items: center; flex: 0 1 13rem; min-width: 9rem; height: 2.25rem;
      border: 1px solid transparent; border-bottom: 0; border-radius: var(--ac-radius-m) var(--ac-radius-m) 0 0;
    }
    li.pinned { flex: none; min-width: 0; max-width: 10rem; }
    li.current { min-width: 12rem; background: var(--ac-bg); border-color: var(--ac-border); box-shadow: 0 1px var(--ac-bg); }
    li.pinned:is(.current, :hover, :focus-within) { min-width: 8rem; }
    li:hover:not(.current) { background: var(--ac-hover); }
    li.dragged { opacity: 0.5; }
    li.before::before, li.after::after {
      content: ""; position: absolute; inset: 0.25rem auto 0.25rem -2px; width: 2px; border-radius: 1px; background: var(--ac-accent);
    }
    li.after::after { inset-inline: auto -2px; }
    a {
      flex: 1; min-width: 0; height: 100%; display: flex; align-items: center; gap: var(--ac-space-2);
      padding: 0 var(--ac-space-2); color: var(--ac-text-muted); text-decoration: none; border-radius: inherit; outline-offset: -2px;
    }
    a:hover, .current a { color: var(--ac-text); }
    .current a { font-weight: var(--ac-weight-medium); }
    .name { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
    .sign { position: relative; display: inline-flex; flex: none; }
    .busy .sign::after {
      content: ""; position: absolute; inset: auto -3px -2px auto; width: 7px; height: 7px; border-radius: 50%;
      background: var(--ac-accent); border: 1px solid var(--ac-surface-sunken);
    }
    .failed .sign { color: var(--ac-danger); }
    .closed .sign { opacity: 0.55; }
    .closed .name { font-style: italic; }
    .pin { flex: none; width: 0.75rem; height: 0.75rem; color: var(--ac-text-muted); }
    .tools { display: none; flex: none; padding-inline-end: var(--ac-space-1); }
    .tools button { min-height: 1.5rem; width: 1.5rem; color: var(--ac-text-muted); }
    li:is(:hover, :focus-within, .current) .tools { display: flex; }
    li.pinned:is(:hover, :focus-within, .current) .pin { display: none; }
    @media (hover: none) { li:not(.current):not(:focus-within) .tools { display: none; } }
    form { flex: 1; min-width: 0; padding: 0 var(--ac-space-1); }
    form input { width: 100%; min-height: 1.75rem; padding: 0 var(--ac-space-2); }
    .all { margin: 0 var(--ac-space-2) var(--ac-space-1) 0; }
  `];

  constructor() {
    super();
    /** The tab that is in the tab order; the others are reached with arrow keys. */
    this._focused = '';
    this._renamed = '';
    this._announcement = '';
    this._isFull = false;
    this._seen = '';
    /** Returns the items of the menu, as they are now. @type {() => import('../ui/overlay/ac-menu.js').MenuItem[]} */
    this._menuItems = () => [];
    this._drag = new TabDrag(this, (shown, before) => void this._change(shown, {before}));
    this._resizes = new ResizeObserver(() => this._measure());
    new Listening(this, () => [resourceTabs.subscribe(() => this._onTabsChanged()), onRoute(() => this.requestUpdate())]);
  }

  disconnectedCallback() {
    this._resizes.disconnect();
    super.disconnectedCallback();
  }

  updated() {
    const list = this.renderRoot.querySelector('ul');
    if (!list) return;
    this._resizes.observe(list);
    const current = `${currentId()} ${this._isFull}`; // the list button takes up space when it appears
    this._measure();
    if (current !== this._seen) list.querySelector('.current')?.scrollIntoView({block: 'nearest', inline: 'nearest'});
    this._seen = current;
  }

  render() {
    const {tabs} = resourceTabs;
    if (!tabs.length) return nothing;
    const reached = tabs.find(({tab}) => tab.tabId === this._focused) ?? tabs.find(isCurrent) ?? tabs[0];
    return html`
      <nav aria-label=${t('tabs.strip')}>
        <ul @wheel=${this._onWheel} @dragleave=${(/** @type {DragEvent} */ event) => this._drag.leave(event)}
          @drop=${(/** @type {DragEvent} */ event) => this._drag.drop(event)} @dragend=${() => this._drag.end()}>
          ${repeat(tabs, ({tab}) => tab.tabId, (shown) => this._tab(shown, shown === reached))}
        </ul>
        ${this._isFull ? html`
          <button class="quiet icon small all" aria-haspopup="menu" aria-label=${t('tabs.all')} title=${t('tabs.all')} @click=${this._openList}>
            <ac-icon name="chevron-down"></ac-icon>
          </button>` : nothing}
        <ac-menu></ac-menu>
        <p class="visually-hidden" id="help">${t('tabs.help')}</p>
        <p class="visually-hidden" role="status">${this._announcement}</p>
      </nav>`;
  }

  /** @param {ShownTab} shown @param {boolean} isReached */
  _tab(shown, isReached) {
    const {tab, resource, module} = shown;
    const {tabId, pinned} = tab;
    const classes = {pinned, current: isCurrent(shown), [resource.status]: true, ...this._drag.classes(shown)};
    const name = nameOf(shown);
    const opening = resourceTabs.opening(tabId);
    const state = opening ? t(`tabs.opening.${opening}`) : ['starting', 'busy', 'failed', 'finished', 'closed'].includes(resource.status) ? t(`tabs.state.${resource.status}`) : '';
    return html`
      <li class=${classMap(classes)} data-tab=${tabId} draggable=${this._renamed === tabId ? 'false' : 'true'} @dragstart=${(/** @type {DragEvent} */ event) => this._drag.begin(event, shown)}
        @dragover=${(/** @type {DragEvent} */ event) => this._drag.over(event, shown)}>
        ${this._renamed === tabId ? this._form(shown, name) : html`
          <a href=${pathOf(shown)} draggable="false" aria-current=${isCurrent(shown) ? 'page' : nothing} aria-describedby="help" tabindex=${isReached ? 0 : -1}
            title=${[name, resource.lastUrl, titleOfClosed(tab)].filter(Boolean).join('\n')} @click=${() => { if (tab.closed) void reopenTab(shown); }} @focus=${() => { this._focused = tabId; }}
            @keydown=${(/** @type {KeyboardEvent} */ event) => this._onKey(event, shown)} @dblclick=${() => this._rename(shown)}
            @contextmenu=${(/** @type {Event} */ event) => this._onContextMenu(event, shown)} @auxclick=${(/** @type {MouseEvent} */ event) => this._onAuxClick(event, shown)}>
            <span class="sign">${resource.status === 'starting' || opening ? html`<ac-icon name="loader-circle"></ac-icon>` : html`<ac-resource-icon .resource=${resource} .module=${module} .from=${tab.closed ? `/api/tabs/${tabId}` : ''}></ac-resource-icon>`}</span>
            <span class="name">${name}</span>${state ? html`<span class="visually-hidden">(${state})</span>` : nothing}
            ${pinned ? html`<ac-icon class="pin" name="pin"></ac-icon>` : nothing}
          </a>
          <span class="tools">
            <button class="quiet icon small" tabindex=${isReached ? 0 : -1} aria-haspopup="menu" aria-label=${t('tabs.menu', {name})} @click=${() => this._openMenu(shown)}>
              <ac-icon name="ellipsis"></ac-icon>
            </button>
            ${pinned ? html`
              <button class="quiet icon small" tabindex=${isReached ? 0 : -1} aria-label=${t('tabs.unpinNamed', {name})} title=${t('tabs.unpin')}
                @click=${() => this._change(shown, {pinned: false})}><ac-icon name="pin"></ac-icon></button>` : html`
              <button class="quiet icon small" tabindex=${isReached ? 0 : -1} aria-label=${t('tabs.closeNamed', {name})} title=${t('tabs.close')}
                @click=${() => this._close(shown)}><ac-icon name="x"></ac-icon></button>`}
          </span>`}
      </li>`;
  }

  /** @param {ShownTab} shown @param {string} name */
  _form(shown, name) {
    const keep = (/** @type {Event} */ event) => this._keepName(event, shown);
    return html`
      <form @submit=${keep}>
        <input aria-label=${t('tabs.rename')} maxlength="80" .value=${shown.tab.title ?? name} @blur=${keep} @keydown=${(/** @type {KeyboardEvent} */ event) => {
          if (event.key === 'Escape' && !isComposing(event)) void this._endRename(shown);
        }}>
      </form>`;
  }

  // -- tab actions ----------------------------------------------------------------------------------------------

  _onTabsChanged() {
    this.requestUpdate();
    void this._menu?.change(this._menuItems());
  }

  /** @param {() => import('../ui/overlay/ac-menu.js').MenuItem[]} items @param {HTMLElement} anchor @param {string} label */
  _showMenu(items, anchor, label) {
    this._menuItems = items;
    return this._menu?.open(items(), anchor, label);
  }

  /** @param {ShownTab} shown */
  _openMenu(shown) {
    const {tabId} = shown.tab;
    const items = () => {
      const now = resourceTabs.tabs.find(({tab}) => tab.tabId === tabId);
      return now ? this._itemsOf(now) : [];
    };
    return this._showMenu(items, this._link(tabId), t('tabs.menu', {name: nameOf(shown)}));
  }

  /** @param {ShownTab} shown */
  _itemsOf(shown) {
    const {tab, resource} = shown;
    const kin = resourceTabs.tabs.filter((other) => other.tab.pinned === tab.pinned);
    const at = kin.findIndex((other) => other.tab.tabId === tab.tabId);
    const keeps = resource.keepRunning;
    return [
      {label: t(tab.pinned ? 'tabs.unpin' : 'tabs.pin'), icon: tab.pinned ? 'pin-off' : 'pin', run: () => this._change(shown, {pinned: !tab.pinned})},
      {label: t('tabs.rename'), icon: 'pencil', run: () => this._rename(shown)},
      {label: t('tabs.moveLeft'), icon: 'arrow-left', isOff: at === 0, run: () => this._step(shown, -1)},
      {label: t('tabs.moveRight'), icon: 'arrow-right', isOff: at === kin.length - 1, run: () => this._step(shown, 1)},
      ...(tab.closed ? [{label: t('tabs.openAgain'), icon: 'refresh-cw', isApart: true, run: () => reopenTab(shown)}] : []),
      ...(tab.closed ? [] : [{label: t('tabs.keepRunning'), isChecked: keeps, isApart: true, run: () => this._try(() => resourceTabs.keepRunning(resource.resourceId, !keeps))}]),
      {label: t('tabs.close'), icon: 'x', run: () => this._close(shown)},
    ];
  }

  /** @param {Event} event */
  _openList(event) {
    const items = () => resourceTabs.tabs.map((shown) => ({
      label: nameOf(shown), isChosen: isCurrent(shown), run: () => navigate(pathOf(shown)),
    }));
    return this._showMenu(items, /** @type {HTMLElement} */ (event.currentTarget), t('tabs.all'));
  }

  /** @param {ShownTab} shown @param {Parameters<typeof resourceTabs.change>[1]} wanted */
  async _change({tab}, wanted) {
    await this._try(() => resourceTabs.change(tab.tabId, wanted));
    if (!this._menu?.isOpen) await this._focus(tab.tabId);
  }

  /** Move a tab by one position, within the pinned or the unpinned tabs. @param {ShownTab} shown @param {-1 | 1} by */
  async _step(shown, by) {
    const {tab} = shown;
    const kin = resourceTabs.tabs.filter((other) => other.tab.pinned === tab.pinned);
    const place = kin.findIndex((other) => other.tab.tabId === tab.tabId) + by;
    if (place < 0 || place >= kin.length) return;
    const next = by < 0 ? kin[place] : kin[place + 1];
    await this._change(shown, {before: next ? next.tab.tabId : ''});
    const order = resourceTabs.tabs.map((other) => other.tab.tabId);
    this._announcement = t('tabs.moved', {name: nameOf(shown), place: order.indexOf(tab.tabId) + 1, n: order.length});
  }

  /** @param {ShownTab} shown */
  async _close(shown) {
    const {tab, resource} = shown;
    const name = nameOf(shown);
    const goesOn = !tab.closed && (tab.pinned || resource.keepRunning);
    if (!goesOn && !tab.closed && !(await confirm({heading: t('tabs.closeHeading', {name}), text: t('tabs.closeText'), action: t('tabs.close')}))) return;
    const [wasCurrent, hadFocus, place] = [isCurrent(shown), Boolean(this.shadowRoot?.activeElement), resourceTabs.tabs.findIndex((other) => other.tab.tabId === tab.tabId)];
    await this._try(async () => {
      const {released} = await resourceTabs.close(tab.tabId);
      if (wasCurrent) navigate(pathOf(lastUsed()) || '#/');
      const next = resourceTabs.tabs.at(place) ?? resourceTabs.tabs.at(-1);
      if (hadFocus && next) await this._focus(next.tab.tabId);
      if (released) return;
      const show = () => { navigate(pathOf(shown)); void this._try(() => resourceTabs.show(resource.resourceId)); };
      toast(t('tabs.goesOn', {name}), {kind: 'info', action: {label: t('tabs.reopen'), run: show}});
    });
  }

  /** @param {ShownTab} shown */
  async _rename({tab}) {
    this._renamed = tab.tabId;
    await this.updateComplete;
    /** @type {HTMLInputElement | null} */ (this.renderRoot.querySelector('form input'))?.select();
  }

  /** @param {Event} event @param {ShownTab} shown */
  async _keepName(event, shown) {
    event.preventDefault();
    if (this._renamed !== shown.tab.tabId) return; // cancelled with Escape, or sent already
    const title = /** @type {HTMLInputElement} */ (this.renderRoot.querySelector('form input')).value.trim();
    const isSame = title === (shown.tab.title ?? nameOf(shown));
    await this._endRename(shown);
    if (!isSame) await this._change(shown, {title});
  }

  /** @param {ShownTab} shown */
  async _endRename({tab}) {
    this._renamed = '';
    await this._focus(tab.tabId);
  }

  /** @param {() => Promise<unknown>} work */
  async _try(work) {
    try {
      await work();
    } catch (error) {
      toastError(t('tabs.failed'), error);
    }
  }

  // -- keyboard and mouse ---------------------------------------------------------------------------------------

  /** @param {KeyboardEvent} event @param {ShownTab} shown */
  _onKey(event, shown) {
    const ids = resourceTabs.tabs.map(({tab}) => tab.tabId);
    const at = ids.indexOf(shown.tab.tabId);
    const wanted = {ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: ids.length - 1}[event.key];
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.shiftKey && (event.key === 'ArrowLeft' || event.key === 'ArrowRight')) void this._step(shown, event.key === 'ArrowLeft' ? -1 : 1);
    else if (event.shiftKey) return;
    else if (event.key === 'Delete') void this._close(shown);
    else if (event.key === 'F2') void this._rename(shown);
    else if (wanted !== undefined) this._link(ids[(wanted + ids.length) % ids.length]).focus();
    else return;
    event.preventDefault();
  }

  /** @param {Event} event @param {ShownTab} shown */
  _onContextMenu(event, shown) {
    event.preventDefault();
    void this._openMenu(shown);
  }

  /** @param {MouseEvent} event @param {ShownTab} shown */
  _onAuxClick(event, shown) {
    if (event.button !== 1) return;
    event.preventDefault();
    void this._close(shown);
  }

  /** Scroll the strip horizontally with the mouse wheel. @param {WheelEvent} event */
  _onWheel(event) {
    const list = /** @type {HTMLElement} */ (event.currentTarget);
    if (!this._isFull || event.deltaX || event.ctrlKey) return;
    event.preventDefault();
    list.scrollLeft += event.deltaY;
  }

  // -- elements -------------------------------------------------------------------------------------------------

  get _menu() {
    return /** @type {import('../ui/overlay/ac-menu.js').AcMenu | null} */ (this.renderRoot.querySelector('ac-menu'));
  }

  /** @param {string} tabId */
  _link(tabId) {
    return /** @type {HTMLElement} */ (this.renderRoot.querySelector(`[data-tab="${tabId}"] a`));
  }

  /** @param {string} tabId */
  async _focus(tabId) {
    await this.updateComplete;
    this._link(tabId)?.focus();
  }

  _measure() {
    const list = this.renderRoot.querySelector('ul');
    this._isFull = Boolean(list && list.scrollWidth > list.clientWidth + 1);
  }
}

function currentId() {
  const {path} = route();
  return path[0] === 'pages' ? path[2] ?? '' : '';
}

/** @param {ShownTab} shown */
function isCurrent({resource}) {
  return currentId() === resource.resourceId;
}

/** @param {ShownTab | undefined} shown */
function pathOf(shown) {
  return shown ? href(['pages', shown.module.name, shown.resource.resourceId]) : '';
}

/** Return the tooltip of a tab whose resource has ended: the effect of a click and the reason it was lost; '' for an open one. @param {ShownTab['tab']} tab */
function titleOfClosed({closed}) {
  if (!closed) return '';
  return closed.lostBy ? t('tabs.openAgainLost', {reason: closed.lostBy}) : t('tabs.openAgainTitle');
}

/** Return the most recently active tab. */
function lastUsed() {
  return resourceTabs.tabs.toSorted((a, b) => b.tab.lastActiveAt - a.tab.lastActiveAt)[0];
}

customElements.define('ac-tabstrip', AcTabstrip);
