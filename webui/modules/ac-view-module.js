import {LitElement, css, html, nothing} from 'lit';
import {Localized, formatDuration, formatTime, t} from '../base/i18n.js';
import {Listening} from '../base/subscriptions.js';
import {client} from '../client/client.js';
import {adviceOf, componentTitle, isBroken, moduleList, reasonOf, shownState, waitsForPerson} from '../client/module-list.js';
import {onDisk} from './disk-changes.js';
import {href} from '../base/router.js';
import {firstSentence} from '../base/first-sentence.js';
import {badges, base, buttons, cards, views} from '../ui/styles.js';
import {confirm} from '../ui/overlay/confirm.js';
import {toast, toastError} from '../ui/toasts.js';
import {toolList} from '../client/tool-list.js';
import '../tools/ac-tool-effects.js';
import '../tools/ac-tool-icon.js';
import '../ui/ac-command.js';
import '../ui/ac-empty.js';
import '../ui/ac-error-card.js';
import '../ui/ac-state.js';
import './ac-module-actions.js';
import './ac-module-report.js';
import '../requirements/ac-requirements.js';
import './ac-module-sources.js';

/** @typedef {import('../client/module-list.js').Module} Module */

/** Page of one module: its state and reason, contents, settings and origin. */
export class AcViewModule extends Localized(LitElement) {
  static properties = {
    name: {},
    _families: {state: true},
  };

  static styles = [base, badges, buttons, cards, views, css`
    :host { padding: 0; }
    .back {
      display: inline-flex; align-items: center; gap: var(--ac-space-1); margin-bottom: var(--ac-space-3);
      color: var(--ac-text-muted); text-decoration: none;
    }
    .back:hover { color: var(--ac-text); }
    .line { display: flex; flex-wrap: wrap; align-items: center; gap: var(--ac-space-2) var(--ac-space-3); }
    h1 { display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: 2; overflow: hidden; }
    .host { display: inline-flex; align-items: center; gap: var(--ac-space-1); font-size: var(--ac-text-s); }
    .description { max-width: 46rem; color: var(--ac-text-muted); }
    section { margin-top: var(--ac-space-6); }
    h2 { margin-bottom: var(--ac-space-3); font-size: var(--ac-text-l); }
    .card li {
      display: grid; grid-template-columns: minmax(8rem, 14rem) minmax(0, 1fr);
      gap: var(--ac-space-1) var(--ac-space-4); padding: var(--ac-space-3) var(--ac-space-4);
    }
    .card li + li { border-top: 1px solid var(--ac-border); }
    .card li > :first-child { overflow-wrap: anywhere; }
    .problems { border-color: color-mix(in srgb, var(--ac-warn) 35%, transparent); background: var(--ac-warn-soft); }
    .problems li { display: flex; gap: var(--ac-space-3); color: var(--ac-text); }
    .problems ac-icon { color: var(--ac-warn); margin-top: 0.125rem; }
    .block { overflow: hidden; }
    .block > * { padding: var(--ac-space-3) var(--ac-space-4); }
    .block pre { overflow-x: auto; background: var(--ac-surface-sunken); font-family: var(--ac-font-mono); font-size: var(--ac-text-s); }
    .block p { overflow-wrap: anywhere; font-size: var(--ac-text-s); }
    dl {
      display: grid; grid-template-columns: minmax(8rem, 14rem) minmax(0, 1fr);
      gap: var(--ac-space-2) var(--ac-space-4); padding: var(--ac-space-4);
    }
    dt { color: var(--ac-text-muted); }
    dd { overflow-wrap: anywhere; }
    @media (max-width: 40rem) { .card li, dl { grid-template-columns: minmax(0, 1fr); } dd { margin-bottom: var(--ac-space-2); } }
  `];

  constructor() {
    super();
    this.name = '';
    /** The family of its block while that is being edited, else empty. @type {{key: string}[]} */
    this._families = [];
    new Listening(this, () => [
      moduleList.subscribe(() => this.requestUpdate()),
      toolList.subscribe(() => this.requestUpdate()),
    ]);
  }

  connectedCallback() {
    super.connectedCallback();
    void toolList.load();
  }

  render() {
    const module = moduleList.find(this.name);
    return html`
      <a class="back" href="#/modules"><ac-icon name="chevron-left"></ac-icon>${t('modules.title')}</a>
      ${module ? this._module(module) : moduleList.isLoaded ? this._unknown() : nothing}`;
  }

  /** @param {Module} module */
  _module(module) {
    const {name, version, state} = module;
    const {title, description} = toolList.saidOf(module);
    return html`
      <header class="view-head">
        <div class="titles">
          <h1 title=${title}>${title}</h1>
          <p class="line"><code class="muted">${name}${version ? ` ${version}` : ''}</code><ac-state room="modules" .state=${shownState(module)} .until=${module.waiting?.retryAt ?? null}></ac-state>
            ${onDisk(module) ? html`<span class="badge warn">${onDisk(module)}</span>` : nothing}
            ${module.host ? html`<a class="host" href="#/hosts"><ac-icon name="server"></ac-icon>${t('hosts.inHost', {name: module.host})}</a>` : nothing}</p>
          ${description ? html`<p class="description">${description}</p>` : nothing}
        </div>
        <ac-module-actions .module=${module}></ac-module-actions>
      </header>
      ${this._reason(module)} ${this._notReloaded(module)} ${this._others(module)} ${this._problems(module)} <ac-requirements .module=${name}></ac-requirements> ${this._advice(module)}
      ${state === 'failed' ? this._settings(module) : nothing}
      ${state === 'ready' ? html`<ac-module-report module=${name}></ac-module-report>` : nothing} ${this._block(module)} ${this._tools(module)} ${this._pages(module)} ${this._routes(module)}
      ${state === 'failed' ? nothing : this._settings(module)}
      ${this._about(module)}`;
  }

  /** @param {Module} module */
  _reason(module) {
    const {waiting, output, traceback} = module;
    if (!isBroken(module) || waitsForPerson(module) || waiting?.reason === 'login') return nothing;
    const state = waiting ? waiting.reason : module.state;
    return html`
      <ac-error-card heading=${t(`modules.${waiting ? 'failed' : state}Heading`, {name: toolList.saidOf(module).title})} .error=${reasonOf(module)} .details=${output || traceback}
        .detailsLabel=${output ? t('modules.output') : ''} ?details-open=${Boolean(output || traceback)}>
        <p slot="hint">${t(`modules.${state}Hint`)}</p>
      </ac-error-card>`;
  }

  /** @param {Module} module */
  _notReloaded(module) {
    const {state, reloadError, output, traceback} = module;
    if (!reloadError || state !== 'ready') return nothing;
    return html`
      <ac-error-card heading=${t('modules.notReloaded', {name: toolList.saidOf(module).title})} .error=${reloadError} .details=${output || traceback}
        .detailsLabel=${output ? t('modules.output') : ''} ?details-open=${Boolean(output || traceback)}>
        <p slot="hint">${t('modules.notReloadedHint')}</p>
      </ac-error-card>`;
  }

  /** @param {Module} module */
  _others(module) {
    if (!module.others.length) return nothing;
    return html`
      <section aria-labelledby="others">
        <h2 id="others">${t('modules.others')}</h2>
        <ac-module-sources .module=${module}></ac-module-sources>
      </section>`;
  }

  /** Render the settings; a failed module shows them first, because they are often the fix. @param {Module} module */
  _settings({name, listed, state}) {
    if (state === 'missing' || (!listed && state !== 'ready')) return nothing;
    void import('../settings/ac-settings-form.js');
    return html`
      <section aria-labelledby="settings">
        <h2 id="settings">${t('shell.settings')}</h2>
        <ac-settings-form module=${name}></ac-settings-form>
      </section>`;
  }

  /** @param {Module} module */
  _problems({problems: all, reloadError}) {
    const problems = all.filter((text) => text !== reloadError);
    if (!problems.length) return nothing;
    return html`
      <section aria-labelledby="problems">
        <h2 id="problems">${t('modules.problems')}</h2>
        <ul class="card problems">${problems.map((text) => html`<li><ac-icon name="triangle-alert"></ac-icon><span>${text}</span></li>`)}</ul>
      </section>`;
  }

  /** @param {Module} module */
  _advice(module) {
    const notes = adviceOf(module);
    if (!notes.length) return nothing;
    return html`
      <section aria-labelledby="advice">
        <h2 id="advice">${t('modules.advice')}</h2>
        <ul class="card">${notes.map(({subject, said, advice}) => html`
          <li><span>${subject}</span><span>${said}<br><span class="muted">${advice}</span></span></li>`)}
        </ul>
      </section>`;
  }

  /** @param {Module} module */
  _block(module) {
    const {block} = module;
    if (!block) return nothing;
    const {key, family, file, line, variable, text} = block;
    return html`
      <section aria-labelledby="block">
        <h2 id="block">${t('modules.block')}</h2>
        <div class="card block">
          <pre tabindex="0" role="group" aria-labelledby="block"><code>${text}</code></pre>
          <p class="muted">${t('modules.blockPlace', {key, family, place: file ? `${file}:${line}` : variable})} <a href="#/settings">${t('modules.blockChange')}</a></p>
          ${file ? html`
            <div class="line">
              <button class="small" @click=${() => this._change(family)}><ac-icon name="pencil"></ac-icon>${t('modules.add.change')}</button>
              <button class="small danger" @click=${() => this._remove(module)}><ac-icon name="trash-2"></ac-icon>${t('modules.add.remove')}</button>
            </div>` : nothing}
        </div>
        ${this._families.length ? html`
          <ac-block-dialog heading=${t('modules.add.headingChange', {name: key})} .families=${this._families} .text=${textOf(family, key, text)}
            @ac-close=${() => { this._families = []; }}></ac-block-dialog>` : nothing}
      </section>`;
  }

  /** @param {string} family */
  async _change(family) {
    await import('./ac-block-dialog.js');
    this._families = [{key: family}];
  }

  /** @param {Module} module */
  async _remove({block}) {
    if (!block) return;
    const {family, key} = block;
    if (!await confirm({heading: t('modules.add.removeHeading', {name: key}), text: t('modules.add.removeText'), action: t('modules.add.remove'), isDangerous: true})) return;
    try {
      await client.put(`/api/families/${encodeURIComponent(family)}`, {blocks: {[key]: null}});
    } catch (error) {
      const waits = /** @type {import('../client/client.js').ApiError} */ (error).type === 'confirmation_required';
      if (waits) toast(t('approval.waits'), {detail: t('approval.waitsText')});
      else toastError(t('modules.add.removeFailed', {name: key}), error);
    }
  }

  /** @param {Module} module */
  _tools({tools}) {
    if (!tools.length) return nothing;
    return html`
      <section aria-labelledby="tools">
        <h2 id="tools">${t('modules.toolCount', {n: tools.length})}</h2>
        <ul class="card">${tools.map((tool) => html`
          <li>
            <a href=${href(['tools', tool])}><ac-tool-icon .icons=${toolList.find(tool)?.icons}></ac-tool-icon><code>${tool}</code></a>
            <span><span class="muted">${firstSentence(toolList.find(tool)?.description ?? '')}</span>
              <ac-tool-effects .effects=${toolList.find(tool)?.effects ?? []}></ac-tool-effects></span>
          </li>`)}
        </ul>
      </section>`;
  }

  /** @param {Module} module */
  _pages(module) {
    if (!module.component) return nothing;
    const types = Object.keys(module.component.resourceViews);
    return html`
      <section aria-labelledby="page">
        <h2 id="page">${t('modules.page')}</h2>
        <ul class="card">
          <li><a href=${href(['pages', module.name])}>${componentTitle(module)}</a><code class="muted">&lt;${module.component.tag}&gt;</code></li>
          ${types.map((type) => html`
            <li>
              <span>${t('modules.viewOf', {type})}</span>
              <code class="muted">&lt;${module.component?.resourceViews[type]}&gt;</code>
            </li>`)}
          ${module.pageAdditions.map((line) => html`<li><span>${t('modules.addsToPage')}</span><code class="muted">${line}</code></li>`)}
        </ul>
      </section>`;
  }

  /** @param {Module} module */
  _routes({routes}) {
    if (!routes.length) return nothing;
    return html`
      <section aria-labelledby="routes">
        <h2 id="routes">${t('modules.routeCount', {n: routes.length})}</h2>
        <ul class="card">${routes.map(({method, path, kind}) => html`
          <li>
            <code>${method}</code>
            <span><code>${path}</code> ${kind === 'json' ? nothing : html`<span class="badge">${kind}</span>`}</span>
          </li>`)}
        </ul>
      </section>`;
  }

  /** @param {Module} module */
  _about(module) {
    const facts = [
      [t('modules.distribution'), module.distribution && `${module.distribution} ${module.version}`],
      [t('modules.before'), module.versionBefore && t('modules.beforeText', {version: module.versionBefore, time: formatTime(/** @type {number} */ (module.versionSince))})],
      [t('modules.file'), module.file],
      [t('modules.requires'), module.requires.join(', ')],
      [t('hosts.runsIn'), module.host && t('hosts.runsInHost', {name: module.host})],
      [t('modules.readySince'), module.readyAt && formatTime(module.readyAt)],
      [t('modules.startTook'), module.startMs !== null && formatDuration(module.startMs)],
    ].filter(([, value]) => value);
    return html`
      <section aria-labelledby="about">
        <h2 id="about">${t('modules.about')}</h2>
        <dl class="card">${facts.map(([label, value]) => html`<dt>${label}</dt><dd>${value}</dd>`)}</dl>
      </section>`;
  }

  _unknown() {
    return html`<ac-empty whole icon="search" heading=${t('modules.unknownHeading')}>${t('modules.unknown', {name: this.name})}</ac-empty>`;
  }
}

/** Return a block as text that can be pasted. @param {string} family @param {string} key @param {string} text */
function textOf(family, key, text) {
  return JSON.stringify({[family]: {[key]: JSON.parse(text)}}, null, 2);
}

customElements.define('ac-view-module', AcViewModule);
