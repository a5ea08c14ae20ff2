import {LitElement, css, html, nothing} from 'lit';
import '../ui/ac-empty.js';
import '../ui/ac-error-card.js';
import '../ui/ac-icon.js';
import './ac-run-state.js';
import './ac-tool-list.js';
import {search} from '../base/fuzzy.js';
import {keepExample} from './drafts.js';
import {runs} from './runs.js';
import {firstSentence} from '../base/first-sentence.js';
import {Localized, formatTime, t} from '../base/i18n.js';
import {Listening} from '../base/subscriptions.js';
import {href, navigate} from '../base/router.js';
import {base, buttons, cards} from '../ui/styles.js';
import {toolList} from '../client/tool-list.js';
import './ac-view-tool.js';
import '../base/later-strings.js';

const RECENT = 6;
const SUGGESTED = 6;
const WIDE = matchMedia('(min-width: 64rem)');

/** Console: the tool list, and the page of the tool in the address. */
export class AcViewTools extends Localized(LitElement) {
  static properties = {
    path: {attribute: false},
    query: {attribute: false},
  };

  static styles = [base, buttons, cards, css`
    :host { display: grid; height: 100%; }
    :host(.wide) { grid-template-columns: 19rem minmax(0, 1fr); }
    /* what is hidden for the eye is placed absolutely, and must not make the document scroll */
    .list, .page { position: relative; }
    .list { position: relative; border-inline-end: 1px solid var(--ac-border); overflow: auto; min-height: 0; height: 100%; }
    :host(:not(.wide)) .list { border: 0; }
    .page { position: relative; overflow: auto; min-width: 0; min-height: 0; padding: var(--ac-space-5) var(--ac-space-6) 0; }
    .page > * { max-width: 110rem; }
    .recent { display: grid; gap: var(--ac-space-2); max-width: 30rem; margin: 0 auto; }
    .recent h2 { font-size: var(--ac-text-s); color: var(--ac-text-muted); font-weight: var(--ac-weight-medium); }
    .recent li a { display: flex; align-items: center; gap: var(--ac-space-3); padding: var(--ac-space-2) var(--ac-space-3); color: var(--ac-text); text-decoration: none; border-bottom: 1px solid var(--ac-border); }
    .recent li:last-child a { border-bottom: 0; }
    .recent li a:hover { background: var(--ac-hover); }
    .try { display: grid; gap: var(--ac-space-2); max-width: 60rem; margin: 0 auto var(--ac-space-5); }
    .try h2 { font-size: var(--ac-text-s); color: var(--ac-text-muted); font-weight: var(--ac-weight-medium); }
    .try ul { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(17rem, 100%), 1fr)); gap: var(--ac-space-3); }
    .try a { display: grid; gap: var(--ac-space-1); height: 100%; align-content: start; padding: var(--ac-space-4); color: inherit; text-decoration: none; transition: border-color var(--ac-motion), box-shadow var(--ac-motion); }
    .try a:hover { border-color: var(--ac-border-strong); box-shadow: var(--ac-shadow-s); }
    .try strong { font-weight: var(--ac-weight-bold); }
    .try code { overflow-wrap: anywhere; }
    .try p { color: var(--ac-text-muted); font-size: var(--ac-text-s); display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: 2; overflow: hidden; }
    .recent code { flex: 1; overflow-wrap: anywhere; }
    .recent .card { overflow: hidden; }
    .page::after { content: ''; display: block; height: var(--ac-space-7); }
    .back { display: inline-flex; align-items: center; gap: var(--ac-space-1); margin-bottom: var(--ac-space-3); color: var(--ac-text-muted); text-decoration: none; font-size: var(--ac-text-s); }
    .near { display: flex; flex-wrap: wrap; justify-content: center; gap: var(--ac-space-2) var(--ac-space-3); margin-top: var(--ac-space-2); }
    h1.visually-hidden { position: absolute; }
    @media (max-width: 48rem) { .page { padding: var(--ac-space-4) var(--ac-space-4) 0; } }
  `];

  constructor() {
    super();
    /** @type {string[]} */
    this.path = [];
    this.query = new URLSearchParams();
    new Listening(this, () => {
      const resize = () => this.requestUpdate();
      WIDE.addEventListener('change', resize);
      return [toolList.subscribe(() => this.requestUpdate()), runs.subscribe(() => this.requestUpdate()), () => WIDE.removeEventListener('change', resize)];
    });
  }

  connectedCallback() {
    super.connectedCallback();
    void toolList.load();
  }

  updated() {
    this.classList.toggle('wide', WIDE.matches && toolList.tools.length > 0);
  }

  render() {
    const name = this.path[0] ?? '';
    if (!toolList.isLoaded) return toolList.error ? this._renderFailed() : nothing;
    if (!toolList.tools.length) return this._renderEmpty();
    return html`
      ${WIDE.matches || !name ? this._renderList(name) : nothing}
      ${WIDE.matches || name ? html`<div class="page">${name ? this._renderTool(name) : this._renderChoose()}</div>` : nothing}`;
  }

  /** @param {string} name */
  _renderList(name) {
    return html`<div class="list">
      ${name ? nothing : html`<h1 class="visually-hidden">${t('tools.title')}</h1>`}
      <ac-tool-list .tools=${toolList.tools} selected=${name} query=${this.query.get('q') ?? ''} @ac-query=${this._onQuery}></ac-tool-list>
    </div>`;
  }

  /** @param {string} name */
  _renderTool(name) {
    const tool = toolList.find(name);
    return html`
      ${WIDE.matches ? nothing : html`<a class="back" href="#/tools"><ac-icon name="chevron-left"></ac-icon>${t('tools.back')}</a>`}
      ${tool ? html`<ac-view-tool .tool=${tool}></ac-view-tool>` : this._renderUnknown(name)}`;
  }

  /** @param {string} name */
  _renderUnknown(name) {
    const near = search(name.slice(0, 4), toolList.tools, (tool) => [tool.name]).slice(0, 3);
    return html`
      <ac-empty whole icon="search" heading=${t('tools.unknown', {name})}>
        ${t('tools.unknownText')}
        ${near.length ? html`<p class="near">${t('tools.near')} ${near.map(({thing}) => html`<a href=${href(['tools', thing.name])}><code>${thing.name}</code></a>`)}</p>` : nothing}
      </ac-empty>`;
  }

  _renderChoose() {
    const recent = runs.recent(RECENT);
    return html`
      <ac-empty icon="wrench" heading=${t('tools.choose')}>${t('tools.chooseText')}</ac-empty>
      ${toolList.examples.length ? html`
        <section class="try" aria-labelledby="try"><h2 id="try">${t('tools.tryFirst')}</h2>
          <ul>${toolList.examples.slice(0, SUGGESTED).map(({tool, title, args}) => html`
            <li>
              <a class="card" href=${href(['tools', tool.name])} @click=${() => keepExample(tool.name, args)}>
                <strong>${title}</strong><code class="muted small">${tool.name}</code><p>${firstSentence(tool.description)}</p>
              </a>
            </li>`)}
          </ul>
        </section>` : nothing}
      ${recent.length ? html`
        <section class="recent"><h2>${t('tools.recent')}</h2><ul class="card">${recent.map((run) => html`
          <li><a href=${href(['tools', run.tool])}><code>${run.tool}</code><span class="muted small">${formatTime(run.startedAt)}</span><ac-run-state .run=${run}></ac-run-state></a></li>`)}</ul>
        </section>` : nothing}`;
  }

  _renderEmpty() {
    return html`
      <div class="page"><ac-empty icon="wrench" heading=${t('tools.none')}>
        ${t('tools.noneText')}<a slot="actions" class="button primary" href="#/modules">${t('tools.toModules')}</a>
      </ac-empty></div>`;
  }

  _renderFailed() {
    return html`
      <div class="page"><ac-error-card heading=${t('tools.loadFailed')} .error=${toolList.error}>
        <button slot="actions" @click=${() => toolList.load()}>${t('tools.tryAgain')}</button>
      </ac-error-card></div>`;
  }

  /** @param {CustomEvent<{query: string}>} event */
  _onQuery({detail: {query}}) {
    navigate(href(['tools', ...this.path.slice(0, 1)], {q: query}), {replace: true});
  }
}
customElements.define('ac-view-tools', AcViewTools);
